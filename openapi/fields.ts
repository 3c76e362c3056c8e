// The fields of a message: its JSON key and schema together with its protobuf number and type. The
// numbers are those that clients of the protocol have compiled in, so none of them may ever change;
// those of Holdfast's own keys begin at 100.

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

/** What protobuf needs to know of a field besides its number and kind. */
export interface Encoding {
  /** The value of a request without the field; by default zero if JSON requires the key, else none. */
  readonly unset?: string | number | boolean;
  /** Distinguishes a zero that was sent from one that was not; for a list, an empty one from none. */
  readonly hasPresence?: true;
  /** An instant that is not set is sent as the first of year one, not left out. */
  readonly isAlwaysSent?: true;
}

/** The number of a property; a property without one is in JSON alone. */
export const numberKeyword = "x-number";
const kindKeyword = "x-kind";
const encodingKeyword = "x-encoding";
const messageKeyword = "x-message";
const protobufKeyword = "x-protobuf";

/** Keywords that no published document has. */
export const fieldKeywords: ReadonlySet<string> = new Set([
  ...[numberKeyword, kindKeyword, encodingKeyword, messageKeyword, protobufKeyword],
]);

/** Marks a schema whose kind its JSON type does not show. */
export function ofKind(kind: "instant" | "duration" | "long") {
  return { [kindKeyword]: kind };
}

/** The schema as the field of this number. */
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
  text: (number: number, options: SchemaOptions, encoding?: Encoding) =>
    at(number, orNull(options), encoding),
  instant: (number: number, options: SchemaOptions, encoding?: Encoding) =>
    at(number, orNull({ ...options, ...ofKind("instant") }), encoding),
  duration: (number: number, options: SchemaOptions, encoding?: Encoding) =>
    at(number, orNull({ ...options, ...ofKind("duration") }), encoding),
};

/** What protobuf needs to know of a message besides its fields. */
export interface MessageEncoding {
  /** Numbers that clients of the protocol send and that mean nothing here. */
  readonly reserved?: readonly number[];
  /** Fields with one value, which only protobuf has. */
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

export function encodingOf(schema: TSchema): Encoding {
  return schema[encodingKeyword] ?? {};
}

/** The kind of a field, of an item of a list, or the schema of the message that it is. */
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
    default:
      return "texts";
  }
}
