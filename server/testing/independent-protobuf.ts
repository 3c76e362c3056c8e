// A second protobuf implementation for tests. It reads `holdfast.proto` itself, and shares only the
// contract's values with the codec.

import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";
import type { Field, Message } from "../../openapi/protobuf.ts";

export type Values = Readonly<Record<string, unknown>>;

const file = fileURLToPath(new URL("../../openapi/holdfast.proto", import.meta.url));
export const protoFile = new protobuf.Root().loadSync(file, { keepCase: true });

interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

/** Encodes a message from JSON values. */
export function encoded(message: Message, values: Values): Uint8Array<ArrayBuffer> {
  const type = protoFile.lookupType(`holdfast.v1.${message.name}`);
  return new Uint8Array(type.encode(type.fromObject(outward(message, values))).finish());
}

/** Decodes a message to JSON values, with all fields. */
export function decoded(message: Message, bytes: Uint8Array): Values {
  const type = protoFile.lookupType(`holdfast.v1.${message.name}`);
  const options = { longs: Number, defaults: true, bytes: String };
  return inward(message, type.toObject(type.decode(bytes), options));
}

function outward(message: Message, values: Values): Values {
  return each(message, values, (value) => {
    const ms = Date.parse(String(value));
    const seconds = Math.floor(ms / 1_000);
    return { seconds, nanos: (ms - seconds * 1_000) * 1_000_000 } satisfies Timestamp;
  });
}

function inward(message: Message, values: Values): Values {
  return each(message, values, (value) => {
    const { seconds, nanos } = value as Timestamp;
    return new Date(seconds * 1_000 + nanos / 1_000_000).toISOString();
  });
}

/** Copies the values, with `instant` applied to the instants. */
function each(message: Message, values: Values, instant: (value: unknown) => unknown): Values {
  const one = ({ kind }: Field, value: unknown): unknown => {
    if (kind === "instant") return instant(value);
    return typeof kind === "string" ? value : each(kind, value as Values, instant);
  };
  const entries = Object.entries(message.fields).flatMap(([key, field]) => {
    const value = values[key];
    if (value === undefined) return [];
    if (value === null) return [[key, null] as const];
    const copied = field.isList
      ? (value as readonly unknown[]).map((inner) => one(field, inner))
      : one(field, value);
    return [[key, copied] as const];
  });
  return Object.fromEntries(entries);
}
