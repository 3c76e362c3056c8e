// Converts between protobuf bytes and values of the contract, by the messages of
// `openapi/protobuf.ts`. The values are those of JSON, with instants and payloads as texts, so that
// all later rules apply to both encodings.

import { setImmediate as nextRound } from "node:timers/promises";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { formatDuration, parseDuration } from "../../engine/model/duration.ts";
import type { Kind } from "../../openapi/fields.ts";
import type { Field, Message } from "../../openapi/protobuf.ts";
import {
  BodyCount,
  bodyLimits,
  requireFewFields,
  requireFewKeys,
} from "../http/body/body-limits.ts";

type Values = Record<string, unknown>;

/** Seconds of 0001-01-01T00:00:00Z, which encodes an instant that was never set. */
const yearOneSeconds = -62_135_596_800;

const int32Max = 2 ** 31 - 1;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface ReadField {
  readonly key: string;
  readonly wireType: WireType;
  readonly isList: boolean;
  readonly isMap: boolean;
  /** A function reads the whole value; a message is only started, and its fields are read next. */
  readonly read: ((reader: CountingReader) => unknown) | MessageFields;
}

interface MessageFields {
  readonly byNumber: ReadonlyMap<number, ReadField>;
  readonly unset: Values;
  /** Keys of lists that are present even if they are empty. */
  readonly lists: readonly string[];
}

/** A message that is being read. */
interface OpenMessage {
  readonly fields: MessageFields;
  readonly values: Values;
  readonly end: number;
  mapped: number;
}

/** Refuses a body with too many parts before these are allocated. */
class CountingReader extends BinaryReader {
  readonly count = new BodyCount();
}

type Write = (writer: BinaryWriter, values: Values) => void;

/** Returns the reader of a message. It throws on malformed bytes and does not validate values. */
export function messageReader(message: Message): (bytes: Uint8Array) => unknown {
  const fields = fieldsOf(message);
  return (bytes) => {
    const reading = new MessageReader(bytes, fields);
    reading.continue(Number.POSITIVE_INFINITY);
    return reading.values;
  };
}

/** For large messages: other requests are served between two pieces. */
export function piecewiseReader(message: Message): (bytes: Uint8Array) => Promise<unknown> {
  const fields = fieldsOf(message);
  return async (bytes) => {
    const reading = new MessageReader(bytes, fields);
    while (!reading.continue(bodyLimits.pieceBytes)) await nextRound();
    return reading.values;
  };
}

/** Can pause between any two fields, even within a nested message. */
class MessageReader {
  readonly values: Values;
  readonly #reader: CountingReader;
  /** The innermost message is the last. */
  readonly #open: OpenMessage[] = [];

  constructor(bytes: Uint8Array, fields: MessageFields) {
    this.#reader = new CountingReader(bytes, (text) => utf8.decode(text));
    this.values = this.#begin(fields, bytes.length);
  }

  /** Reads about `bytes` more; returns whether the message is complete. */
  continue(bytes: number): boolean {
    const until = this.#reader.pos + bytes;
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (this.#reader.pos >= last.end) {
        requireEnd(this.#reader, last.end);
        this.#open.pop();
      } else if (this.#reader.pos >= until) return false;
      else this.#readField(last);
    }
    return true;
  }

  #begin(fields: MessageFields, end: number): Values {
    this.#reader.count.addContainer();
    const values: Values = { ...fields.unset };
    for (const key of fields.lists) values[key] = [];
    this.#open.push({ fields, values, end, mapped: 0 });
    return values;
  }

  #readField(of: OpenMessage): void {
    const reader = this.#reader;
    reader.count.addValue();
    const [number, wireType] = reader.tag();
    const field = of.fields.byNumber.get(number);
    if (field === undefined || field.wireType !== wireType) {
      skip(reader, wireType, number);
      return;
    }
    const { key, isList, isMap, read } = field;
    const { values } = of;
    const value = typeof read === "function" ? read(reader) : this.#begin(read, endOf(reader));
    if (isList) {
      values[key] ??= [];
      (values[key] as unknown[]).push(value);
    } else if (isMap) {
      of.mapped += 1;
      requireFewKeys(of.mapped);
      values[key] = Object.assign(values[key] ?? Object.create(null), value);
    } else values[key] = value;
  }
}

/** Returns the writer of a message's values. */
export function messageWriter(message: Message): (values: unknown) => Uint8Array<ArrayBuffer> {
  const write = fieldsWriter(message);
  return (values) => {
    const writer = new BinaryWriter();
    write(writer, values as Values);
    return writer.finish() as Uint8Array<ArrayBuffer>;
  };
}

function fieldsOf({ fields }: Message): MessageFields {
  const byNumber = new Map<number, ReadField>();
  const unset: Values = {};
  const lists: string[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const isMap = field.kind === "texts";
    byNumber.set(field.number, {
      ...{ key, isMap, isList: field.isList === true },
      ...readerOf(field.kind),
    });
    if (field.unset !== undefined) unset[key] = field.unset;
    if (field.isList && !field.hasPresence) lists.push(key);
  }
  return { byNumber, unset, lists };
}

/** Refuses groups, which could contain any number of fields, and which proto3 does not have. */
function skip(reader: BinaryReader, wireType: WireType, number: number): void {
  if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) {
    throw new RangeError(`expected no groups, got one in field ${number}`);
  }
  // Unlike `skip`, `uint32` stops after ten bytes.
  if (wireType === WireType.Varint) reader.uint32();
  else reader.skip(wireType, number);
}

function requireEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new RangeError("a field reaches beyond its message");
}

function readerOf(kind: Kind | Message): Pick<ReadField, "wireType" | "read"> {
  const delimited = (read: (reader: CountingReader) => unknown) => ({
    wireType: WireType.LengthDelimited,
    read,
  });
  if (typeof kind !== "string") {
    return { wireType: WireType.LengthDelimited, read: fieldsOf(kind) };
  }
  switch (kind) {
    case "text":
    case "duration":
      return delimited((reader) => reader.string());
    case "bytes":
      return delimited((reader) => reader.bytes().toBase64());
    case "instant":
      return delimited(readInstant);
    case "texts":
      return delimited(readEntry);
    case "whole":
      return { wireType: WireType.Varint, read: (reader) => reader.int32() };
    case "long":
      return { wireType: WireType.Varint, read: (reader) => Number(reader.int64()) };
    case "flag":
      return { wireType: WireType.Varint, read: (reader) => reader.bool() };
  }
}

function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/** Reads an entry of a map of texts. */
function readEntry(reader: CountingReader): Record<string, string> {
  const entry = ["", ""];
  readLeaf(reader, (number, wireType) => {
    if (wireType !== WireType.LengthDelimited || (number !== 1 && number !== 2)) return false;
    entry[number - 1] = reader.string();
    return true;
  });
  return Object.fromEntries([entry]);
}

function readInstant(reader: CountingReader): string | null {
  let seconds = 0;
  let nanoseconds = 0;
  readLeaf(reader, (number, wireType) => {
    if (wireType !== WireType.Varint) return false;
    if (number === 1) seconds = Number(reader.int64());
    else if (number === 2) nanoseconds = reader.int32();
    else return false;
    return true;
  });
  if (seconds <= yearOneSeconds) return null;
  // Fractions of a millisecond are rounded up, as in JSON.
  return new Date(seconds * 1_000 + Math.ceil(nanoseconds / 1_000_000)).toISOString();
}

/** Reads a message of few fields at once; `read` returns false for unknown fields. */
function readLeaf(
  reader: CountingReader,
  read: (number: number, wireType: WireType) => boolean,
): void {
  const end = endOf(reader);
  for (let fields = 1; reader.pos < end; fields += 1) {
    requireFewFields(fields);
    reader.count.addValue();
    const [number, wireType] = reader.tag();
    if (!read(number, wireType)) skip(reader, wireType, number);
  }
  requireEnd(reader, end);
}

function fieldsWriter({ fields }: Message): Write {
  const writes = Object.entries(fields)
    .sort(([, a], [, b]) => a.number - b.number)
    .map(([key, field]) => fieldWriter(key, field));
  return (writer, values) => {
    for (const write of writes) write(writer, values);
  };
}

function fieldWriter(key: string, field: Field): Write {
  const { constant } = field;
  const write = valueWriter(field);
  if (constant !== undefined) return (writer) => write(writer, constant);
  if (!field.isList) return (writer, values) => write(writer, values[key]);
  return (writer, values) => {
    for (const value of (values[key] ?? []) as readonly unknown[]) write(writer, value);
  };
}

/** Proto3 writes no zeros, except in lists and in fields with presence. */
function valueWriter({
  number,
  kind,
  isList,
  hasPresence,
  isAlwaysSent,
}: Field): (writer: BinaryWriter, value: unknown) => void {
  const delimited = (writer: BinaryWriter) => writer.tag(number, WireType.LengthDelimited);
  const isWritten = (value: unknown, zero: unknown): boolean =>
    isList || (hasPresence ? value !== null && value !== undefined : (value ?? zero) !== zero);
  if (typeof kind !== "string") {
    const write = fieldsWriter(kind);
    return (writer, value) => {
      if (value === null || value === undefined) return;
      write(delimited(writer).fork(), value as Values);
      writer.join();
    };
  }
  switch (kind) {
    case "text":
      return (writer, value) => {
        if (isWritten(value, "")) delimited(writer).string(value as string);
      };
    case "duration":
      return (writer, value) => {
        if (isWritten(value, "")) delimited(writer).string(canonical(value as string));
      };
    case "bytes":
      return (writer, value) => {
        if (value !== "") delimited(writer).bytes(Uint8Array.fromBase64(value as string));
      };
    case "whole":
      return (writer, value) => {
        if (isWritten(value, 0))
          writer.tag(number, WireType.Varint).int32(inInt32(value as number));
      };
    case "long":
      return (writer, value) => {
        if (value !== 0 || isList) writer.tag(number, WireType.Varint).int64(value as number);
      };
    case "flag":
      return (writer, value) => {
        if (value === true) writer.tag(number, WireType.Varint).bool(true);
      };
    case "instant":
      return (writer, value) => {
        const instant = (value ?? null) as string | null;
        if (instant !== null || isAlwaysSent) {
          writeInstant(delimited(writer).fork(), instant);
          writer.join();
        }
      };
    case "texts":
      return (writer, value) => {
        for (const [name, reason] of Object.entries((value ?? {}) as Record<string, string>)) {
          delimited(writer).fork();
          writer.tag(1, WireType.LengthDelimited).string(name);
          writer.tag(2, WireType.LengthDelimited).string(reason);
          writer.join();
        }
      };
  }
}

/** Caps a count that exceeds the field, because the call has already taken effect. */
function inInt32(value: number): number {
  return Math.min(value, int32Max);
}

function writeInstant(writer: BinaryWriter, text: string | null): void {
  const ms = text === null ? yearOneSeconds * 1_000 : Date.parse(text);
  const seconds = Math.floor(ms / 1_000);
  const nanoseconds = (ms - seconds * 1_000) * 1_000_000;
  if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds);
  if (nanoseconds !== 0) writer.tag(2, WireType.Varint).int32(nanoseconds);
}

/** Normalizes a queue's timeout, which in JSON is as it was given. */
function canonical(text: string): string {
  const parsed = parseDuration(text);
  return parsed.ok ? formatDuration(parsed.ms) : text;
}
