// Long lists are worked on in pieces of some milliseconds each. Between two of them other requests
// have their turn.

import { setImmediate as othersTurn } from "node:timers/promises";

export const pieceLimits = {
  bytesMax: 256 * 1024,
  /** An item without payload costs about as much as one of so many bytes. */
  itemBytes: 512,
} as const;

/** Maps each of the list; `payloadBytes` is about what one of them has besides its fields. */
export async function mapInPieces<From, To>(
  list: readonly From[],
  payloadBytes: (one: From) => number,
  map: (one: From, index: number) => To,
): Promise<To[]> {
  const mapped: To[] = [];
  let bytes = 0;
  for (const [index, one] of list.entries()) {
    if (bytes >= pieceLimits.bytesMax) {
      await othersTurn();
      bytes = 0;
    }
    bytes += pieceLimits.itemBytes + payloadBytes(one);
    mapped.push(map(one, index));
  }
  return mapped;
}
