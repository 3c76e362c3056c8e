// From the bytes of a request to a value of the contract: a bounded body, strict
// UTF-8, JSON or protobuf, and one compiled check. Elysia's own way of doing this was tried
// and left: it fills in defaults, converts types, strips unknown keys, takes
// broken UTF-8 for text, and builds its errors out of the whole body.

import { t } from "elysia";
import { refuse } from "../engine/validate.ts";
import { sizeText } from "../openapi/bounds.ts";
import { compileCheck, firstFault } from "../openapi/check.ts";
import type { Operation } from "../openapi/operations.ts";
import { takesNull } from "../openapi/schemas.ts";
import { Refusal } from "./reply.ts";

type Schema = Operation["request"];

/** A byte order mark is left in for the JSON parser to refuse. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The only way for half of a surrogate pair to come out of text that was valid UTF-8. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Characters of the JSON parser's words, which may quote the body. */
const parserWordsMax = 100;

/**
 * Returns the reader of one operation's requests, whose result is of the schema. A body
 * larger than the bound is refused, while it is read if its length was not declared.
 */
export function requestReader<T>(
  requestSchema: Schema,
  bodyBytesMax: number,
  readProtobuf: (bytes: Uint8Array) => unknown,
): (request: Request, isProtobuf: boolean) => Promise<T> {
  const schema = wireShape(requestSchema);
  // At its first request: those of all operations take 3 MB.
  let isOfSchema: ((value: unknown) => boolean) | undefined;
  const checked = (value: unknown): T => {
    isOfSchema ??= compileCheck(schema);
    if (isOfSchema(value)) return value as T;
    refuse(firstFault(schema, value)?.message ?? "request is invalid");
  };
  return async (request, isProtobuf) => {
    const bytes = await readBody(request, bodyBytesMax);
    if (isProtobuf) {
      refuseCoding(request);
      return checked(parseProtobuf(bytes, readProtobuf));
    }
    const text = decodeText(bytes, request);
    const value = checked(parseJson(text));
    if (surrogateEscape.test(text)) checkWellFormed(value, "");
    return value;
  };
}

export function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal("too_large", `request body exceeds ${sizeText(bodyBytesMax)} limit`);
}

/**
 * What of a schema is a matter of the wire: keys and types. Bounds are left to the engine,
 * which checks them in the order of the contract and with its texts.
 */
function wireShape(schema: Schema): Schema {
  const { minimum: _1, maximum: _2, minItems: _3, maxItems: _4, ...shape } = schema;
  if (shape["type"] === "array") return { ...shape, items: wireShape(shape["items"]) } as Schema;
  if (shape["type"] !== "object") return shape as Schema;
  const properties = Object.entries<Schema>(shape["properties"]).map(([key, property]) => {
    const inner = wireShape(property);
    return [key, takesNull(schema, key) ? t.Union([inner, t.Null()]) : inner] as const;
  });
  return { ...shape, properties: Object.fromEntries(properties) } as unknown as Schema;
}

async function readBody(request: Request, bodyBytesMax: number): Promise<Uint8Array> {
  try {
    // A declared length was checked before, and the server holds the client to it.
    if (request.headers.has("content-length")) return await request.bytes();
    return await readCounted(request, bodyBytesMax);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      "malformed",
      "request body could not be read; the connection ended before it did",
    );
  }
}

async function readCounted(request: Request, bodyBytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > bodyBytesMax) throw tooLarge(bodyBytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function decodeText(bytes: Uint8Array, request: Request): string {
  if (bytes.byteLength === 0) refuse("request body is empty; expected a JSON object");
  try {
    return utf8.decode(bytes);
  } catch {
    refuseCoding(request);
    refuse("request body is not valid UTF-8; expected a JSON object in UTF-8");
  }
}

function refuseCoding(request: Request): void {
  const coding = request.headers.get("content-encoding") ?? "identity";
  if (coding === "identity") return;
  const expected = "send the body as it is";
  throw new Refusal(
    "unsupported_content",
    `content encoding is not supported; ${expected}, got '${coding}'`,
  );
}

/** No bytes at all are a message too: one of which nothing is set. */
function parseProtobuf(bytes: Uint8Array, read: (bytes: Uint8Array) => unknown): unknown {
  try {
    return read(bytes);
  } catch (error) {
    const words = error instanceof Error ? error.message : "";
    refuse(`request body is not valid protobuf; ${words.slice(0, parserWordsMax)}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const words = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    refuse(`request body is not valid JSON; ${words.slice(0, parserWordsMax)}`);
  }
}

/** SQLite, and UTF-8 itself, would turn half of a pair into another character. */
function checkWellFormed(value: unknown, path: string): void {
  if (typeof value === "string" && !value.isWellFormed()) {
    refuse(`${path} is invalid; expected well-formed Unicode, got half of a surrogate pair`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) checkWellFormed(key, path);
    const step = Array.isArray(value) ? `[${key}]` : `.${key}`;
    checkWellFormed(inner, path === "" ? key : path + step);
  }
}
