// Turns the bytes of a body into a value of the contract: bounds of its structure, strict UTF-8,
// JSON or protobuf, and one compiled check. Elysia's own validation is not used: it fills in
// defaults, converts types, strips unknown keys, accepts invalid UTF-8, and builds errors from the
// whole body.

import { setImmediate as nextRound } from "node:timers/promises";
import { t } from "elysia";
import { QueueError } from "../../engine/model/errors.ts";
import { refuse } from "../../engine/model/validate.ts";
import { compileCheck, firstFault } from "../../openapi/check.ts";
import type { Operation } from "../../openapi/operations.ts";
import { takesNull } from "../../openapi/schemas.ts";
import type { ParsedBody } from "../routes/route.ts";
import { bodyLimits, isPlain } from "./body/body-limits.ts";
import { parseJsonInPieces } from "./body/json-pieces.ts";
import { HttpError } from "./reply.ts";

type Schema = Operation["request"];

/** Keeps a byte order mark, so that the JSON parser refuses it. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The only source of half a surrogate pair in text that was valid UTF-8. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** The most characters of a parser's message, which may quote the body. */
const parserMessageMax = 100;

/**
 * Returns the reader of one operation's bodies, whose values match the schema. The reader returns a
 * promise only if it needs one: nearly every body is small JSON. `readProtobuf` may return a
 * promise.
 */
export function requestReader<T>(
  requestSchema: Schema,
  readProtobuf: (bytes: Uint8Array) => unknown,
): (
  bytes: Uint8Array,
  request: Request,
  isProtobuf: boolean,
) => ParsedBody<T> | Promise<ParsedBody<T>> {
  const schema = wireShape(requestSchema);
  // Compiled at the first request: the checks of all operations take 3 MB.
  let isOfSchema: ((value: unknown) => boolean) | undefined;
  const checked = (value: unknown, { list, start }: Part = whole): T => {
    isOfSchema ??= compileCheck(schema);
    if (isOfSchema(value)) return value as T;
    const message = firstFault(schema, value)?.message ?? "request is invalid";
    if (!message.startsWith(`${list}[`)) refuse(message);
    refuse(message.replace(/\d+/, (index) => String(start + Number(index))));
  };
  const checkedInPieces = async (value: unknown): Promise<T> => {
    for (const part of partsOf(schema, value)) {
      checked(part.value, part);
      await nextRound();
    }
    return value as T;
  };
  const readMessage = async (bytes: Uint8Array): Promise<ParsedBody<T>> => {
    const value = await parseProtobuf(bytes, readProtobuf);
    const isSmall = bytes.byteLength <= bodyLimits.pieceBytes;
    return { body: isSmall ? checked(value) : await checkedInPieces(value), text: null };
  };
  const readInPieces = async (bytes: Uint8Array, request: Request): Promise<ParsedBody<T>> => {
    let hasSurrogates = false;
    const parsed = await parseJsonInPieces(bytes, (piece, [before, behind] = ["", ""]) => {
      const text = before + decodeText(piece, request) + behind;
      hasSurrogates ||= surrogateEscape.test(text);
      return parseJson(text);
    });
    const value = await checkedInPieces(parsed);
    if (hasSurrogates) requireWellFormed(value);
    return { body: value, text: null };
  };
  return (bytes, request, isProtobuf) => {
    if (isProtobuf) {
      refuseCoding(request);
      return readMessage(bytes);
    }
    if (bytes.byteLength === 0) refuse("request body is empty; expected a JSON object");
    if (!isPlain(bytes)) return readInPieces(bytes, request);
    const text = decodeText(bytes, request);
    const body = checked(parseJson(text));
    if (surrogateEscape.test(text)) requireWellFormed(body);
    return { body, text };
  };
}

/** A part of a request whose lists are checked in parts. */
interface Part {
  /** The key of the list that the part has a slice of. */
  readonly list: string;
  /** The index in the list at which the slice begins. */
  readonly start: number;
}

const whole: Part = { list: "", start: 0 };
/** Members per slice. */
const partLength = 500;

/**
 * Yields the value with one slice of each long list in turn. If all parts are valid, so is the
 * whole, because the engine checks the lengths of lists.
 */
function* partsOf(schema: Schema, value: unknown): Generator<Part & { readonly value: unknown }> {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const lists = Object.keys(schema["properties"]).filter(
    (key) => Array.isArray(fields[key]) && fields[key].length > partLength,
  );
  const emptied = { ...fields, ...Object.fromEntries(lists.map((key) => [key, []])) };
  yield { ...whole, value: lists.length === 0 ? value : emptied };
  for (const list of lists) {
    const all = fields[list] as readonly unknown[];
    for (let start = 0; start < all.length; start += partLength) {
      yield { list, start, value: { ...emptied, [list]: all.slice(start, start + partLength) } };
    }
  }
}

/**
 * Reduces a schema to keys and types. The engine checks the bounds, in the contract's order and
 * with the contract's messages.
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

function decodeText(bytes: Uint8Array, request: Request): string {
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
  throw new HttpError(
    "unsupported_content",
    `content encoding is not supported; ${expected}, got '${coding}'`,
  );
}

/** An empty body is valid: a message without any field. */
async function parseProtobuf(
  bytes: Uint8Array,
  read: (bytes: Uint8Array) => unknown,
): Promise<unknown> {
  try {
    return await read(bytes);
  } catch (error) {
    if (error instanceof QueueError) throw error;
    const message = error instanceof Error ? error.message : "";
    refuse(`request body is not valid protobuf; ${message.slice(0, parserMessageMax)}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    refuse(`request body is not valid JSON; ${message.slice(0, parserMessageMax)}`);
  }
}

/** SQLite and UTF-8 encoders would replace half a surrogate pair with another character. */
function requireWellFormed(value: unknown): void {
  const path = illFormedIn(value);
  if (path === null) return;
  const expected = "expected well-formed Unicode, got half of a surrogate pair";
  refuse(`${path.replace(/^\./, "")} is invalid; ${expected}`);
}

/** The path of the first text that is not well-formed; `null` = none. */
function illFormedIn(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : "";
  if (typeof value !== "object" || value === null) return null;
  for (const key in value) {
    if (!key.isWellFormed()) return "";
    const inner = illFormedIn((value as Readonly<Record<string, unknown>>)[key]);
    if (inner !== null) return Array.isArray(value) ? `[${key}]${inner}` : `.${key}${inner}`;
  }
  return null;
}
