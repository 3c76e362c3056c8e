// Reads a lease reply from its bytes: the positions of the ids, and the number in each payload. The
// items of a reply have the same shape, so each field is expected at the offset of the previous
// item, and searched for if it is elsewhere.

import type { ReplyBytes } from "../../testing/http-client.ts";
import { readNumber } from "./delivery.ts";

const idKey = Buffer.from('"id":"');
const bytesKey = Buffer.from('"bytes":"');
const partitionKey = '"partition":';
const digitZero = 48;

export class LeaseReader {
  partition = 0;
  count = 0;
  /** The offset of each id, and each item's number. */
  readonly idAt: Int32Array;
  readonly numbers: Int32Array;
  #bytesAfterId = 0;
  #stride = 0;

  constructor(itemsMax: number) {
    this.idAt = new Int32Array(itemsMax);
    this.numbers = new Int32Array(itemsMax);
  }

  read({ bytes, start, end }: ReplyBytes): void {
    this.count = 0;
    this.partition = partitionIn(bytes, start);
    let expected = 0;
    let from = start;
    for (;;) {
      const id = find(bytes, idKey, { expected, from, end });
      if (id < 0) return;
      const payload = find(bytes, bytesKey, { expected: id + this.#bytesAfterId, from: id, end });
      if (payload < 0) throw new Error("a leased item has no bytes");
      if (this.count === this.idAt.length)
        throw new Error("a lease returned more items than requested");
      this.#bytesAfterId = payload - id;
      if (this.count > 0) this.#stride = id - (this.idAt[this.count - 1] as number);
      this.idAt[this.count] = id;
      this.numbers[this.count] = readNumber(bytes, payload);
      this.count += 1;
      expected = this.#stride === 0 ? 0 : id + this.#stride;
      from = payload;
    }
  }
}

interface SearchRange {
  /** The offset of the value if this item has the shape of the last one. */
  readonly expected: number;
  readonly from: number;
  readonly end: number;
}

/** The offset of the key's value; -1 if there is none before `end`. */
function find(bytes: Buffer, key: Buffer, { expected, from, end }: SearchRange): number {
  if (expected > from && expected < end && precedes(bytes, key, expected)) return expected;
  const at = bytes.indexOf(key, from);
  return at < 0 || at >= end ? -1 : at + key.length;
}

function precedes(bytes: Buffer, key: Buffer, at: number): boolean {
  const start = at - key.length;
  for (let index = 0; index < key.length; index += 1) {
    if (bytes[start + index] !== key[index]) return false;
  }
  return true;
}

function partitionIn(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(partitionKey, start) + partitionKey.length;
  let partition = 0;
  for (;;) {
    const digit = (bytes[at] ?? 0) - digitZero;
    if (digit < 0 || digit > 9) return partition;
    partition = partition * 10 + digit;
    at += 1;
  }
}
