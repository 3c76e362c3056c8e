// Works through long lists in pieces of a few milliseconds each. Other requests get a turn in
// between.

import { setImmediate as nextRound } from "node:timers/promises";

export const pieceLimits = {
  bytesMax: 256 * 1024,
  /** An item's fields cost about as much as this many bytes of payload. */
  itemBytes: 512,
} as const;

/** `payloadBytes`: roughly the bytes that an element has besides its fields. */
export async function mapInPieces<From, To>(
  list: readonly From[],
  payloadBytes: (one: From) => number,
  map: (one: From, index: number) => To,
): Promise<To[]> {
  const mapped: To[] = [];
  let bytes = 0;
  for (const [index, one] of list.entries()) {
    if (bytes >= pieceLimits.bytesMax) {
      await nextRound();
      bytes = 0;
    }
    bytes += pieceLimits.itemBytes + payloadBytes(one);
    mapped.push(map(one, index));
  }
  return mapped;
}
