// Bounds on the structure of a request body. A short body can encode a large value, so its length
// bounds neither the memory nor the time that parsing takes.

import { refuse } from "../../../engine/model/validate.ts";

export const bodyLimits = {
  /** Levels of nesting; more than any request needs. */
  depthMax: 16,
  /** Keys per object. Clients choose only the keys of headers, whose bytes are bounded too. */
  keysMax: 1_000,
  /** Lists and objects per body: an import has two per item; the rest is a margin. */
  containersMax: 50_000,
  /** Keys and values per body. */
  valuesMax: 1_000_000,
  /** Fields per header or instant in protobuf, which defines two. They are read in one step. */
  leafFieldsMax: 100,
  /** A body up to this size is parsed at once, a larger one in pieces of about this size. */
  pieceBytes: 64 * 1024,
  /** JSON up to this size is parsed at once too if it has few lists and objects. */
  plainBytesMax: 512 * 1024,
  /** Opening brackets and braces of such JSON, including those within strings. */
  plainOpenersMax: 10_000,
} as const;

const { keysMax, containersMax, valuesMax, leafFieldsMax } = bodyLimits;

/**
 * Whether JSON is simple enough to parse at once, as a produce of a thousand items usually is. That
 * takes a few milliseconds, a third of the time that parsing in pieces takes.
 */
export function isPlain(json: Uint8Array): boolean {
  const { pieceBytes, plainBytesMax, plainOpenersMax } = bodyLimits;
  if (json.byteLength <= pieceBytes) return true;
  if (json.byteLength > plainBytesMax) return false;
  return countOf(openObject, json) + countOf(openList, json) <= plainOpenersMax;
}

const openObject = 0x7b;
const openList = 0x5b;

function countOf(byte: number, bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1;
  return count;
}

/** Counts the parts of one body while it is parsed; throws `invalid` beyond a bound. */
export class BodyCount {
  #containers = 0;
  #values = 0;

  addContainer(): void {
    this.#containers += 1;
    if (this.#containers > containersMax) refuseMore(containersMax, "lists and objects");
  }

  addValue(): void {
    this.#values += 1;
    if (this.#values > valuesMax) refuseMore(valuesMax, "values");
  }
}

/** Throws `invalid` if an object has too many keys. */
export function requireFewKeys(count: number): void {
  if (count <= keysMax) return;
  refuse(`request body has an object with too many keys; expected at most ${keysMax}`);
}

/** Throws `invalid` if a header or an instant in protobuf has too many fields. */
export function requireFewFields(count: number): void {
  if (count <= leafFieldsMax) return;
  refuse(`request body has a message with too many fields; expected at most ${leafFieldsMax}`);
}

function refuseMore(max: number, what: string): never {
  refuse(`request body has too many ${what}; expected at most ${max}, send fewer items`);
}
