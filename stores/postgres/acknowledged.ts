// The last row of each shard's chain that a process has acknowledged. It outlives the store and its
// thread: a database that lacks it afterwards has lost what callers were told is safe.

const ownerBytes = 16;
const entryBytes = 8 + ownerBytes;

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
  const owner = new Uint8Array(all, shard * entryBytes + 8, ownerBytes).slice();
  return position === 0 ? null : { position, owner };
}

export function acknowledge(all: Acknowledged, shard: number, { position, owner }: Place): void {
  new Float64Array(all, shard * entryBytes, 1)[0] = position;
  new Uint8Array(all, shard * entryBytes + 8, ownerBytes).set(owner);
}
