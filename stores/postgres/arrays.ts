// Arrays of PostgreSQL. They are written in binary form, because a commit passes thousands of
// values.

const int8 = 20;
const bytea = 17;
/** Dimensions, whether there are nulls, type, length, lower bound: 4 bytes each. */
const headBytes = 20;
const absent = -1;

const utf8 = new TextEncoder();

export function int8Array(values: readonly (number | null)[]): Buffer {
  const nulls = values.reduce<number>((sum, value) => sum + (value === null ? 1 : 0), 0);
  const bytes = begun(int8, values.length, 12 * values.length - 8 * nulls);
  let at = headBytes;
  for (const value of values) {
    at = bytes.writeInt32BE(value === null ? absent : 8, at);
    if (value !== null) at = bytes.writeBigInt64BE(BigInt(value), at);
  }
  return bytes;
}

/** Encodes a text as UTF-8. */
export function bytesIn(value: Uint8Array | string): Uint8Array {
  return typeof value === "string" ? utf8.encode(value) : value;
}

/** Texts are encoded as UTF-8. */
export function byteaArray(values: readonly (Uint8Array | string | null)[]): Buffer {
  const parts = values.map((value) => (value === null ? null : bytesIn(value)));
  const size = parts.reduce((sum, part) => sum + 4 + (part?.length ?? 0), 0);
  const bytes = begun(bytea, values.length, size);
  let at = headBytes;
  for (const part of parts) {
    at = bytes.writeInt32BE(part?.length ?? absent, at);
    if (part === null) continue;
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function begun(type: number, length: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + size);
  // An empty array should have no dimension, but PostgreSQL accepts one.
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(type, 8);
  bytes.writeInt32BE(length, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}

// Arrays are read as text, the only form that the client library supports.

const hex = "\\x";

/** Throws if the session writes bytes in another form than `bytea_output = hex`. */
export function readBytea(text: string): Uint8Array {
  if (!text.startsWith(hex)) throw new Error("bytes are not in the form of bytea_output = hex");
  return Uint8Array.fromHex(text.slice(hex.length));
}

/** Reads the form `{1,2}`. */
export function readInt8s(text: string): number[] {
  return elements(text).map(Number);
}

/** Reads the form `{"\\\\x6162",NULL}`. */
export function readByteas(text: string): (Uint8Array | null)[] {
  return elements(text).map((element) =>
    element === "NULL" ? null : readBytea(element.slice('"\\'.length, -1)),
  );
}

function elements(text: string): string[] {
  return text === "{}" ? [] : text.slice(1, -1).split(",");
}
