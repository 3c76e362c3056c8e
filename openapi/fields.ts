// Fields of messages: a JSON schema with its protobuf number and type. Clients of the protocol have
// the numbers compiled in, so a number must never change. Holdfast's own keys start at 100.

import {
  type SchemaOptions,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";

/**
 * How a value is encoded. `long`: a whole number that may exceed 32 bits. `instant`: a
 * `google.protobuf.Timestamp`, in JSON a date-time. `duration`: a text, in protobuf replies in its
 * canonical form. `texts`: texts by name.
 */
export type Kind = "text" | "whole" | "long" | "flag" | "bytes" | "instant" | "duration" | "texts";

/** The protobuf encoding of a field, besides its number and kind. */
export interface Encoding {
  /** The value of an absent field in a request; by default zero if JSON requires the key. */
  readonly unset?: string | number | boolean;
  /** Distinguishes zero from an absent field, and an empty list from an absent one. */
  readonly hasPresence?: true;
  /** An instant that is not set is sent as the start of year one, instead of being omitted. */
  readonly isAlwaysSent?: true;
}

const numberKeyword = "x-number";
const kindKeyword = "x-kind";
const encodingKeyword = "x-encoding";
const messageKeyword = "x-message";
const protobufKeyword = "x-protobuf";

/** Keywords that are not published. */
export const fieldKeywords: ReadonlySet<string> = new Set([
  ...[numberKeyword, kindKeyword, encodingKeyword, messageKeyword, protobufKeyword],
]);

/** Sets the kind of a schema whose JSON type does not determine it. */
export function ofKind(kind: "instant" | "duration" | "long") {
  return { [kindKeyword]: kind };
}

/** Makes the schema a field with this number. */
export function at<S extends TSchema>(number: number, schema: S, encoding: Encoding = {}): S {
  return { ...schema, [numberKeyword]: number, ...encoded({ ...encodingOf(schema), ...encoding }) };
}

/** The keywords of a schema with this encoding. */
export function encoded(encoding: Encoding) {
  return { [encodingKeyword]: encoding };
}

export function text(number: number, options: SchemaOptions) {
  return at(number, Type.String(options));
}

export function whole(number: number, options: SchemaOptions) {
  return at(number, Type.Integer(options));
}

export function long(number: number, options: SchemaOptions) {
  return at(number, Type.Integer({ ...options, ...ofKind("long") }));
}

export function flag(number: number, options: SchemaOptions) {
  return at(number, Type.Boolean(options));
}

/** Base64 in JSON. */
export function bytes(number: number, options: SchemaOptions) {
  return at(number, Type.String({ ...options, contentEncoding: "base64" }));
}

export function instant(number: number, options: SchemaOptions) {
  return at(number, Type.String({ ...options, ...ofKind("instant") }));
}

export function duration(number: number, options: SchemaOptions) {
  return at(number, Type.String({ ...options, ...ofKind("duration") }));
}

export function list<S extends TSchema>(number: number, item: S, options: SchemaOptions) {
  return at(number, Type.Array(item, options));
}

/** A text, or `null`. */
export function orNull(options: SchemaOptions) {
  return Type.Union([Type.String(), Type.Null()], options);
}

/** Fields whose JSON may be `null`. */
export const nullable = {
  text: (number: number, options: SchemaOptions) => at(number, orNull(options)),
  instant: (number: number, options: SchemaOptions) =>
    at(number, orNull({ ...options, ...ofKind("instant") })),
  duration: (number: number, options: SchemaOptions) =>
    at(number, orNull({ ...options, ...ofKind("duration") })),
};

/** Fields that may be absent. */
export const optional = {
  text: (number: number, options: SchemaOptions) => Type.Optional(text(number, options)),
  whole: (number: number, options: SchemaOptions) => Type.Optional(whole(number, options)),
  flag: (number: number, options: SchemaOptions) => Type.Optional(flag(number, options)),
  bytes: (number: number, options: SchemaOptions) => Type.Optional(bytes(number, options)),
  list: <S extends TSchema>(number: number, item: S, options: SchemaOptions) =>
    Type.Optional(list(number, item, options)),
  instantOrNull: (number: number, options: SchemaOptions) =>
    Type.Optional(nullable.instant(number, options)),
  durationOrNull: (number: number, options: SchemaOptions) =>
    Type.Optional(nullable.duration(number, options)),
};

/** The protobuf encoding of a message, besides its fields. */
export interface MessageEncoding {
  /** Numbers that clients of the protocol send and the server ignores. */
  readonly reserved?: readonly number[];
  /** Fields with a constant value, which exist in protobuf only. */
  readonly constants?: Readonly<
    Record<string, { readonly number: number; readonly value: string }>
  >;
}

/** An object of the contract that has these keys and no others. */
export function message<T extends TProperties>(
  name: string,
  description: string,
  properties: T,
  { reserved, constants, ...options }: SchemaOptions & MessageEncoding = {},
): TObject<T> {
  return Type.Object(properties, {
    ...options,
    additionalProperties: false,
    description,
    [messageKeyword]: name,
    [protobufKeyword]: { reserved, constants },
  });
}

/** The name of a message; `undefined` for any other schema. */
export function messageName(schema: TSchema): string | undefined {
  return schema[messageKeyword];
}

export function messageEncoding(schema: TSchema): MessageEncoding {
  return schema[protobufKeyword];
}

/** The protobuf number of a property; `undefined` if it exists in JSON only. */
export function numberOf(schema: TSchema): number | undefined {
  return schema[numberKeyword];
}

export function isRequired(schema: TSchema, key: string): boolean {
  const required: readonly string[] = schema["required"] ?? [];
  return required.includes(key);
}

export function encodingOf(schema: TSchema): Encoding {
  return schema[encodingKeyword] ?? {};
}

/** The kind of a field, or of the items of a list; for a message, its schema. */
export function kindOf(schema: TSchema): Kind | TSchema {
  if (messageName(schema) !== undefined) return schema;
  if (schema[kindKeyword] !== undefined) return schema[kindKeyword];
  if (schema["contentEncoding"] === "base64") return "bytes";
  const choices: readonly TSchema[] = schema["anyOf"] ?? [];
  const { type } = choices[0] ?? schema;
  switch (type) {
    case "string":
      return "text";
    case "integer":
      return "whole";
    case "boolean":
      return "flag";
    case "array":
      return kindOf(schema["items"]);
    case "object":
      return "texts";
    default:
      throw new Error(`a field has no kind; got ${JSON.stringify(schema)}`);
  }
}
