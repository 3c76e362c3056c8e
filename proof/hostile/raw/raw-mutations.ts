// Damages the corpus: a few random edits of random rows, determined by the seed.

import type { Random } from "../../../engine/model/random.ts";
import type { RawRow } from "./raw-corpus.ts";

/** Larger rows are left out: they would be sent thousands of times without new findings. */
const rowBytesMax = 20_000;
const editsMax = 4;
const spanMax = 40;

/** Tokens that parsers look for. */
const tokens = [
  "\r\n",
  "\r\n\r\n",
  "\n",
  "\r",
  "\0",
  " ",
  ":",
  ",",
  ";",
  "%00",
  "%2e%2e/",
  "Content-Length: 1\r\n",
  "Content-Length: 99999999999\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Host: localhost\r\n",
  "Expect: 100-continue\r\n",
  "Connection: close\r\n",
  "HTTP/1.1",
  "0\r\n\r\n",
  "-1",
  "18446744073709551616",
  '"',
  "\\u0000",
  "\\ud800",
  "[[[[",
  "}",
  "null",
  "\u00ff",
];

type Edit = (bytes: Buffer, random: Random, rows: readonly RawRow[]) => Buffer;

const edits: readonly Edit[] = [
  // Flip a bit.
  (bytes, random) => {
    const at = random.below(bytes.length);
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  // Replace a byte.
  (bytes, random) => splice(bytes, spanOf(bytes, random, 1), Buffer.from([random.below(256)])),
  // Remove a span.
  (bytes, random) => splice(bytes, spanOf(bytes, random), Buffer.alloc(0)),
  // Repeat a span.
  (bytes, random) => {
    const span = spanOf(bytes, random);
    return splice(bytes, { start: span.end, end: span.end }, bytes.subarray(span.start, span.end));
  },
  // Insert a token, or replace a span by one.
  (bytes, random) => {
    const token = Buffer.from(tokens[random.below(tokens.length)] ?? "", "latin1");
    return splice(bytes, spanOf(bytes, random, random.below(2) * spanMax), token);
  },
  // Truncate.
  (bytes, random) => Buffer.from(bytes.subarray(0, random.below(bytes.length))),
  // Append the end of another request.
  (bytes, random, rows) => {
    const other = rows[random.below(rows.length)]?.bytes ?? bytes;
    const head = bytes.subarray(0, random.below(bytes.length));
    return Buffer.concat([head, other.subarray(random.below(other.length))]);
  },
  // Replace a number.
  (bytes, random) => {
    const number = String([0, 1, 2 ** 31, 2 ** 53, random.below(1_000)][random.below(5)]);
    return Buffer.from(bytes.toString("latin1").replace(/\d+(?=\r)/, number), "latin1");
  },
];

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Mutations {
  readonly rows: readonly RawRow[];
  readonly random: Random;
}

/** One more damaged request. */
export function mutated({ rows, random }: Mutations): Uint8Array {
  const small = rows.filter(({ bytes }) => bytes.length <= rowBytesMax);
  const row = small[random.below(small.length)];
  let bytes: Buffer = Buffer.from(row?.bytes ?? []);
  for (let count = 1 + random.below(editsMax); count > 0 && bytes.length > 0; count -= 1) {
    const edit = edits[random.below(edits.length)];
    bytes = edit === undefined ? bytes : edit(bytes, random, small);
  }
  return bytes;
}

function spanOf(bytes: Buffer, random: Random, lengthMax = spanMax): Span {
  const start = random.below(bytes.length);
  return { start, end: Math.min(bytes.length, start + random.below(lengthMax + 1)) };
}

function splice(bytes: Buffer, { start, end }: Span, between: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), between, bytes.subarray(end)]);
}
