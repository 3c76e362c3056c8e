// The last row of each shard's chain that a process has acknowledged. It outlives the store and its
// thread: a database that lacks it afterwards has lost what callers were told is safe, which is counted.

const ownerBytes = 16;
const ownerAt = 16;
const entryBytes = ownerAt + ownerBytes;

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

/** `null` = nothing was acknowledged yet. */
export function lastAcknowledged(all: Acknowledged, shard: number): Place | null {
  const position = new Float64Array(all, shard * entryBytes, 1)[0] ?? 0;
  const owner = new Uint8Array(all, shard * entryBytes + ownerAt, ownerBytes).slice();
  return position === 0 ? null : { position, owner };
}

export function acknowledge(all: Acknowledged, shard: number, { position, owner }: Place): void {
  new Float64Array(all, shard * entryBytes, 1)[0] = position;
  new Uint8Array(all, shard * entryBytes + ownerAt, ownerBytes).set(owner);
}

/** So many commits more are gone. */
export function addLost(all: Acknowledged, shard: number, count: number): void {
  const lost = new Float64Array(all, shard * entryBytes + 8, 1);
  lost[0] = (lost[0] ?? 0) + count;
}

/** Of all shards, since the process began. */
export function lostOf(all: Acknowledged): number {
  let sum = 0;
  for (let at = 8; at < all.byteLength; at += entryBytes) {
    sum += new Float64Array(all, at, 1)[0] ?? 0;
  }
  return sum;
}
