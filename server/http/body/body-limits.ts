// Bounds on the structure of a request body. A few bytes can stand for a value of many, so the
// length of a body bounds neither the memory nor the time that it takes.

import { refuse } from "../../../engine/model/validate.ts";

export const bodyLimits = {
  /** More than any request has. */
  depthMax: 16,
  /** Keys of one object. Only headers have keys of the client's own, and their bytes are bounded. */
  keysMax: 1_000,
  /** Lists and objects of a body: an import has two for each item, and a margin. */
  containersMax: 50_000,
  /** Keys and values of a body. */
  valuesMax: 1_000_000,
  /** Fields of one header or instant in protobuf, which has two. They are read in one go. */
  leafFieldsMax: 100,
  /** A body up to this size is read at once, a larger one in pieces of about this size. */
  pieceBytes: 64 * 1024,
  /** JSON up to this size is read at once too, if it has few lists and objects. */
  plainBytesMax: 512 * 1024,
  /** Brackets and braces of such JSON, those within texts included. */
  plainOpenersMax: 10_000,
} as const;

const { keysMax, containersMax, valuesMax, leafFieldsMax } = bodyLimits;

/**
 * Whether JSON is so plain that it is read at once: in a few milliseconds, and three times as fast as in
 * pieces. A produce of a thousand items usually is.
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

/** Counts the parts of one body while it is read; throws `invalid` at the first one too many. */
export class BodyCount {
  #containers = 0;
  #values = 0;

  container(): void {
    this.#containers += 1;
    if (this.#containers > containersMax) refuseMore(containersMax, "lists and objects");
  }

  value(): void {
    this.#values += 1;
    if (this.#values > valuesMax) refuseMore(valuesMax, "values");
  }
}

/** Throws `invalid` unless an object may have so many keys. */
export function requireFewKeys(count: number): void {
  if (count <= keysMax) return;
  refuse(`request body has an object with too many keys; expected at most ${keysMax}`);
}

/** Throws `invalid` unless a header or an instant in protobuf may have so many fields. */
export function requireFewFields(count: number): void {
  if (count <= leafFieldsMax) return;
  refuse(`request body has a message with too many fields; expected at most ${leafFieldsMax}`);
}

function refuseMore(max: number, what: string): never {
  refuse(`request body has too many ${what}; expected at most ${max}, send fewer items`);
}
