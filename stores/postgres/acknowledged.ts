// The last row of each shard's chain that a process has acknowledged, and the one it asked for last.
// Both outlive the store and its thread: a database that lacks the first afterwards has lost what
// callers were told is safe, and of the second it tells what became of it. Either is counted.

const ownerBytes = 16;
/** Numbers of an entry, by their place. */
const at = { position: 0, asked: 1, lost: 2, held: 3, notHeld: 4 } as const;
const numberBytes = 8;
const ownerAt = 5 * numberBytes;
const askedOwnerAt = ownerAt + ownerBytes;
const entryBytes = askedOwnerAt + ownerBytes;

/** Shared by the threads of a process; each shard is written by one of them at a time. */
export type Acknowledged = SharedArrayBuffer;

export function acknowledgedOf(shardsMax: number): Acknowledged {
  return new SharedArrayBuffer(shardsMax * entryBytes);
}

/** A row of the chain, and who wrote it. */
export interface Place {
  readonly position: number;
  readonly owner: Uint8Array;
}

/** Of all shards, since the process began. */
export interface CommitFates {
  /** Commits that were acknowledged and are gone, at least. */
  readonly lost: number;
  /** Commits of which no answer came, and the database turned out to have them. */
  readonly held: number;
  /** And those that it turned out never to have got. */
  readonly notHeld: number;
}

function numbersOf(all: Acknowledged, shard: number): Float64Array {
  return new Float64Array(all, shard * entryBytes, ownerAt / numberBytes);
}

function placeOf(all: Acknowledged, shard: number, name: "position" | "asked"): Place | null {
  const position = numbersOf(all, shard)[at[name]] ?? 0;
  const begin = shard * entryBytes + (name === "position" ? ownerAt : askedOwnerAt);
  return position === 0
    ? null
    : { position, owner: new Uint8Array(all, begin, ownerBytes).slice() };
}

/** `null` = nothing was acknowledged yet. */
export function lastAcknowledged(all: Acknowledged, shard: number): Place | null {
  return placeOf(all, shard, "position");
}

/** Of which it is not known whether the database has it; `null` = there is none. */
export function unsettled(all: Acknowledged, shard: number): Place | null {
  return placeOf(all, shard, "asked");
}

/** A row is about to be asked for. */
export function ask(all: Acknowledged, shard: number, { position, owner }: Place): void {
  numbersOf(all, shard)[at.asked] = position;
  new Uint8Array(all, shard * entryBytes + askedOwnerAt, ownerBytes).set(owner);
}

/** What was asked for is known not to be there. */
export function refuse(all: Acknowledged, shard: number): void {
  numbersOf(all, shard)[at.asked] = 0;
}

export function acknowledge(all: Acknowledged, shard: number, { position, owner }: Place): void {
  const numbers = numbersOf(all, shard);
  numbers[at.position] = position;
  numbers[at.asked] = 0;
  new Uint8Array(all, shard * entryBytes + ownerAt, ownerBytes).set(owner);
}

/** Nothing is known of the shard any more. */
export function forget(all: Acknowledged, shard: number): void {
  numbersOf(all, shard)[at.position] = 0;
}

/** Counts what became of the row that was asked for; `null` = nobody can know any more. */
export function settle(all: Acknowledged, shard: number, fate: "held" | "notHeld" | null): void {
  refuse(all, shard);
  if (fate !== null) add(all, shard, at[fate], 1);
}

/** So many commits more are gone. */
export function addLost(all: Acknowledged, shard: number, count: number): void {
  add(all, shard, at.lost, count);
}

function add(all: Acknowledged, shard: number, place: number, count: number): void {
  const numbers = numbersOf(all, shard);
  numbers[place] = (numbers[place] ?? 0) + count;
}

export function fatesOf(all: Acknowledged): CommitFates {
  const shards = Array.from({ length: all.byteLength / entryBytes }, (_, shard) =>
    numbersOf(all, shard),
  );
  const sum = (place: number): number =>
    shards.reduce((total, numbers) => total + (numbers[place] ?? 0), 0);
  return { lost: sum(at.lost), held: sum(at.held), notHeld: sum(at.notHeld) };
}
