// Between protobuf bytes and values of the contract, by the field numbers of
// `openapi/protobuf.ts`. The values are those of JSON, instants and payloads as texts
// included, so that every rule behind this is one rule for both encodings.

import { setImmediate as othersTurn } from "node:timers/promises";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { formatDuration, parseDuration } from "../../engine/duration.ts";
import type { Field, Kind, Message } from "../../openapi/protobuf.ts";
import { BodyCount, bodyLimits, requireFewKeys } from "../body-limits.ts";

type Values = Record<string, unknown>;

/** Seconds of 0001-01-01T00:00:00Z, which is how an instant that was never set is sent. */
const yearOneSeconds = -62_135_596_800;

const int32Max = 2 ** 31 - 1;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface ReadField {
  readonly key: string;
  readonly wireType: WireType;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly read: (reader: CountingReader) => unknown;
}

/** Reads a message into its values, up to the first field that begins at `until` or behind it. */
type ReadFields = (reader: CountingReader, values: Values, until: number) => void;

/** Refuses a body of too many parts before they are made. */
class CountingReader extends BinaryReader {
  readonly count = new BodyCount();
}

type Write = (writer: BinaryWriter, values: Values) => void;

/** Returns the reader of a message; what it reads still has to be checked. Throws on bytes that are none. */
export function messageReader(message: Message): (bytes: Uint8Array) => unknown {
  const { begin, read } = fieldsReader(message);
  return (bytes) => {
    const reader = readerFor(bytes);
    const values = begin(reader);
    read(reader, values, reader.len);
    requireEnd(reader, reader.len);
    return values;
  };
}

/** The same for a large message: other requests are served between two pieces of it. */
export function piecewiseReader(message: Message): (bytes: Uint8Array) => Promise<unknown> {
  const { begin, read } = fieldsReader(message);
  return async (bytes) => {
    const reader = readerFor(bytes);
    const values = begin(reader);
    while (reader.pos < reader.len) {
      read(reader, values, Math.min(reader.len, reader.pos + bodyLimits.pieceBytes));
      await othersTurn();
    }
    requireEnd(reader, reader.len);
    return values;
  };
}

function readerFor(bytes: Uint8Array): CountingReader {
  return new CountingReader(bytes, (text) => utf8.decode(text));
}

/** Returns the writer of values that the contract describes. */
export function messageWriter(message: Message): (values: unknown) => Uint8Array<ArrayBuffer> {
  const write = fieldsWriter(message);
  return (values) => {
    const writer = new BinaryWriter();
    write(writer, values as Values);
    return writer.finish() as Uint8Array<ArrayBuffer>;
  };
}

function fieldsReader({ fields }: Message): {
  readonly begin: (reader: CountingReader) => Values;
  readonly read: ReadFields;
} {
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
  const begin = (reader: CountingReader): Values => {
    reader.count.container();
    const values: Values = { ...unset };
    for (const key of lists) values[key] = [];
    return values;
  };
  const read: ReadFields = (reader, values, until) => {
    let mapped = 0;
    while (reader.pos < until) {
      reader.count.value();
      const [number, wireType] = reader.tag();
      const field = byNumber.get(number);
      if (field === undefined || field.wireType !== wireType) reader.skip(wireType, number);
      else if (field.isList) {
        values[field.key] ??= [];
        (values[field.key] as unknown[]).push(field.read(reader));
      } else if (field.isMap) {
        mapped += 1;
        requireFewKeys(mapped);
        values[field.key] = Object.assign(
          values[field.key] ?? Object.create(null),
          field.read(reader),
        );
      } else values[field.key] = field.read(reader);
    }
  };
  return { begin, read };
}

function requireEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new RangeError("a field reaches beyond its message");
}

function readerOf(kind: Kind | Message): Pick<ReadField, "wireType" | "read"> {
  const delimited = (read: ReadField["read"]) => ({ wireType: WireType.LengthDelimited, read });
  if (typeof kind !== "string") {
    const { begin, read } = fieldsReader(kind);
    return delimited((reader) => {
      const end = endOf(reader);
      const values = begin(reader);
      read(reader, values, end);
      requireEnd(reader, end);
      return values;
    });
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

/** One of texts by text. */
function readEntry(reader: BinaryReader): Record<string, string> {
  const end = endOf(reader);
  const entry = ["", ""];
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited && (number === 1 || number === 2)) {
      entry[number - 1] = reader.string();
    } else reader.skip(wireType, number);
  }
  requireEnd(reader, end);
  return Object.fromEntries([entry]);
}

function readInstant(reader: BinaryReader): string | null {
  const end = endOf(reader);
  let seconds = 0;
  let nanoseconds = 0;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.Varint) seconds = Number(reader.int64());
    else if (number === 2 && wireType === WireType.Varint) nanoseconds = reader.int32();
    else reader.skip(wireType, number);
  }
  requireEnd(reader, end);
  if (seconds <= yearOneSeconds) return null;
  // As in JSON, a part of a millisecond counts as a whole one.
  return new Date(seconds * 1_000 + Math.ceil(nanoseconds / 1_000_000)).toISOString();
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

/** As proto3 has it, a zero is not written, unless it stands in a list or is not the same as none. */
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
        if (value !== "") delimited(writer).string(canonical(value as string));
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

/** What was counted may be more than the field holds; what was done is answered all the same. */
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

/** JSON has a queue's timeouts as they were written. */
function canonical(text: string): string {
  const parsed = parseDuration(text);
  return parsed.ok ? formatDuration(parsed.ms) : text;
}
