// For each shard, the last row of its chain that this process has acknowledged, and the last one it
// requested. Both outlive the store and its thread. A database that later lacks the first has lost
// acknowledged commits. Whether it has the second settles an unknown outcome. Both are counted.

const ownerBytes = 16;
/** Index of each number in an entry. */
const at = { position: 0, asked: 1, lost: 2, held: 3, notHeld: 4 } as const;
const numberBytes = 8;
const ownerAt = 5 * numberBytes;
const askedOwnerAt = ownerAt + ownerBytes;
const entryBytes = askedOwnerAt + ownerBytes;

/** Shared by the threads of a process; one of them writes the entry of a shard at a time. */
export type Acknowledged = SharedArrayBuffer;

export function acknowledgedOf(shardsMax: number): Acknowledged {
  return new SharedArrayBuffer(shardsMax * entryBytes);
}

/** A row of the chain and its owner. */
export interface CommitPlace {
  readonly position: number;
  readonly owner: Uint8Array;
}

/** Totals of all shards since the process started. */
export interface CommitFates {
  /** Lower bound of the acknowledged commits that are lost. */
  readonly lost: number;
  /** Commits without an answer that the database turned out to have. */
  readonly held: number;
  /** Commits without an answer that the database turned out not to have. */
  readonly notHeld: number;
}

function numbersOf(all: Acknowledged, shard: number): Float64Array {
  return new Float64Array(all, shard * entryBytes, ownerAt / numberBytes);
}

function placeOf(all: Acknowledged, shard: number, name: "position" | "asked"): CommitPlace | null {
  const position = numbersOf(all, shard)[at[name]] ?? 0;
  const begin = shard * entryBytes + (name === "position" ? ownerAt : askedOwnerAt);
  return position === 0
    ? null
    : { position, owner: new Uint8Array(all, begin, ownerBytes).slice() };
}

/** `null` = none yet. */
export function lastAcknowledged(all: Acknowledged, shard: number): CommitPlace | null {
  return placeOf(all, shard, "position");
}

/** The requested row whose outcome is unknown; `null` = none. */
export function unsettled(all: Acknowledged, shard: number): CommitPlace | null {
  return placeOf(all, shard, "asked");
}

/** Records that a row is about to be requested. */
export function ask(all: Acknowledged, shard: number, { position, owner }: CommitPlace): void {
  numbersOf(all, shard)[at.asked] = position;
  new Uint8Array(all, shard * entryBytes + askedOwnerAt, ownerBytes).set(owner);
}

/** Records that the requested row was certainly not written. */
export function refuse(all: Acknowledged, shard: number): void {
  numbersOf(all, shard)[at.asked] = 0;
}

export function acknowledge(
  all: Acknowledged,
  shard: number,
  { position, owner }: CommitPlace,
): void {
  const numbers = numbersOf(all, shard);
  numbers[at.position] = position;
  numbers[at.asked] = 0;
  new Uint8Array(all, shard * entryBytes + ownerAt, ownerBytes).set(owner);
}

/** Forgets the last acknowledged row. */
export function forget(all: Acknowledged, shard: number): void {
  numbersOf(all, shard)[at.position] = 0;
}

/** Counts the outcome of the requested row; `null` = it can no longer be determined. */
export function settle(all: Acknowledged, shard: number, fate: "held" | "notHeld" | null): void {
  refuse(all, shard);
  if (fate !== null) add(all, shard, at[fate], 1);
}

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
