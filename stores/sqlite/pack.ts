// Encodes and decodes packs: several items in one row. A row costs SQLite more than the bytes of a
// small item, and items that were written together are mostly removed together.

import type { Item } from "../item.ts";

/** Maximum payload bytes of a pack; an item with more has its own row. */
export const packBytesMax = 16_384;

/** Maximum UTF-8 bytes of a UTF-16 unit. */
const bytesPerUnitMax = 3;
/** Per item of a pack: its payload size and its checksum. */
const numbersPerItem = 2;
const sizesBytesPerItem = numbersPerItem * Uint32Array.BYTES_PER_ELEMENT;
const textsPerItem = 3;

/** The fields in which the items of a pack differ. */
export interface Contents {
  /** Little-endian pairs of payload size and checksum. */
  readonly sizes: Uint8Array;
  /**
   * Kind, encoding and reference of each item as a JSON array; if an item has headers, an object of
   * that array and the headers. `null` = all are empty.
   */
  readonly texts: string | null;
  /** The `past` of each item, one a line; `null` = all are empty. */
  readonly pasts: string | null;
  /** The payloads, concatenated; valid until the next call. */
  readonly payload: Uint8Array;
}

let scratch = Buffer.alloc(bytesPerUnitMax * packBytesMax);

export function packContents(items: readonly Item[], sumOf: (item: Item) => number): Contents {
  const numbers = new Uint32Array(items.length * numbersPerItem);
  const end = writeTexts(items, numbers) ?? writeEach(items, numbers);
  let isPlain = true;
  let hasHeaders = false;
  let hasPasts = false;
  let at = 1;
  for (const item of items) {
    numbers[at] = sumOf(item);
    at += numbersPerItem;
    if (item.kind !== "" || item.encoding !== "" || item.reference !== "") isPlain = false;
    if (item.headers !== "") hasHeaders = true;
    if (item.past !== "") hasPasts = true;
  }
  return {
    sizes: new Uint8Array(numbers.buffer),
    texts: isPlain && !hasHeaders ? null : JSON.stringify(textsOf(items, hasHeaders)),
    pasts: hasPasts ? items.map(({ past }) => past).join("\n") : null,
    payload: scratch.subarray(0, end),
  };
}

/** Writes ASCII texts, where a unit is a byte, in one call: faster. `null` = not all ASCII. */
function writeTexts(items: readonly Item[], numbers: Uint32Array): number | null {
  let all = "";
  let at = 0;
  for (const { payload } of items) {
    if (typeof payload !== "string") return null;
    all += payload;
    numbers[at] = payload.length;
    at += numbersPerItem;
  }
  return write(all, 0) === all.length ? all.length : null;
}

/** Returns where the last payload ends. */
function writeEach(items: readonly Item[], numbers: Uint32Array): number {
  let end = 0;
  let at = 0;
  for (const { payload } of items) {
    const bytes = write(payload, end);
    numbers[at] = bytes;
    end += bytes;
    at += numbersPerItem;
  }
  return end;
}

/** Returns how many bytes it took. */
function write(payload: Item["payload"], start: number): number {
  const need = start + bytesPerUnitMax * payload.length;
  if (need > scratch.length) {
    const larger = Buffer.alloc(2 * need);
    larger.set(scratch.subarray(0, start));
    scratch = larger;
  }
  if (typeof payload === "string") return scratch.write(payload, start, "utf8");
  scratch.set(payload, start);
  return payload.length;
}

/** The number of items that these sizes describe; not an integer if they are damaged. */
export function countOf(sizes: Uint8Array): number {
  return sizes.length / sizesBytesPerItem;
}

/** One item of a pack, possibly damaged. */
export interface Piece {
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  readonly headers: string;
  readonly past: string;
  readonly payload: Uint8Array;
  readonly checkSum: number;
}

/** Reads a pack piece by piece. The caller checks their checksums. */
export class PackReader {
  readonly #numbers: Uint32Array;
  readonly #texts: readonly string[] | null;
  readonly #headers: readonly string[] | null;
  readonly #pasts: readonly string[];
  readonly #payload: Uint8Array;
  readonly #starts: Float64Array;

  constructor({ sizes, texts, pasts, payload }: Contents) {
    // A typed array needs aligned bytes.
    const aligned = sizes.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? sizes : sizes.slice();
    this.#numbers = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
    const { described, headers } = texts === null ? noTexts : readTexts(texts);
    this.#texts = described;
    this.#headers = headers;
    this.#pasts = readPasts(pasts);
    this.#payload = payload;
    this.#starts = new Float64Array(countOf(sizes) + 1);
    let start = 0;
    for (let index = 0; index + 1 < this.#starts.length; index += 1) {
      start += this.#numbers[index * numbersPerItem] ?? 0;
      this.#starts[index + 1] = start;
    }
  }

  /** Sum of the payload sizes. */
  get bytes(): number {
    return this.#starts.at(-1) ?? 0;
  }

  piece(index: number): Piece {
    const at = index * textsPerItem;
    return {
      kind: this.#texts?.[at] ?? "",
      encoding: this.#texts?.[at + 1] ?? "",
      reference: this.#texts?.[at + 2] ?? "",
      headers: this.#headers?.[index] ?? "",
      past: this.#pasts[index] ?? "",
      payload: this.#payload.subarray(this.#starts[index] ?? 0, this.#starts[index + 1] ?? 0),
      checkSum: this.#numbers[index * numbersPerItem + 1] ?? 0,
    };
  }
}

interface Texts {
  readonly described: readonly string[];
  readonly headers: readonly string[];
}

const noTexts = { described: null, headers: null };

function textsOf(items: readonly Item[], hasHeaders: boolean): readonly string[] | Texts {
  const described = items.flatMap(({ kind, encoding, reference }) => [kind, encoding, reference]);
  return hasHeaders ? { described, headers: items.map(({ headers }) => headers) } : described;
}

/** Damaged texts are read as empty; the items' own checksums reveal it. */
function readTexts(text: string): Texts {
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read)) return { described: read.map(String), headers: [] };
    const { described, headers } = read as Partial<Texts>;
    return { described: (described ?? []).map(String), headers: (headers ?? []).map(String) };
  } catch {
    return { described: [], headers: [] };
  }
}

export function readPasts(text: string | null): readonly string[] {
  return text?.split("\n") ?? [];
}
