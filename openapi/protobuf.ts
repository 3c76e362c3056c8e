// Derives protobuf messages from the schemas. `proto-file.ts` writes them as a .proto file.

import type { TSchema } from "@sinclair/typebox";
import type { ReplyCode } from "./codes.ts";
import {
  type Encoding,
  encodingOf,
  isRequired,
  type Kind,
  kindOf,
  messageEncoding,
  messageName,
  numberOf,
} from "./fields.ts";
import { type OperationId, operations } from "./operations.ts";
import { Reply } from "./schemas.ts";

export interface Field extends Encoding {
  readonly number: number;
  readonly kind: Kind | Message;
  readonly isList: boolean;
  /** The value in every reply; JSON has no such key. */
  readonly constant?: string;
  readonly description: string;
}

export interface Message {
  readonly name: string;
  readonly description: string;
  /** By key, in the order of their numbers. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Numbers that clients of the protocol send and the server ignores. */
  readonly reserved: readonly number[];
}

export interface OperationMessages {
  readonly request: Message;
  readonly reply: Message;
}

const zeros: Partial<Record<Kind, string | number | boolean>> = {
  ...{ text: "", duration: "", whole: 0, long: 0, flag: false },
};

const byName = new Map<string, Message>();

function messageOf(schema: TSchema): Message {
  const name = messageName(schema) ?? "";
  const known = byName.get(name);
  if (known !== undefined) return known;
  const { reserved = [], constants = {} } = messageEncoding(schema);
  const fields = [
    ...Object.entries(schema["properties"] as Record<string, TSchema>).flatMap(
      ([key, property]) => {
        const number = numberOf(property);
        if (number === undefined) return [];
        const isNeeded = isRequired(schema, key);
        return [[key, { number, ...fieldOf(property, isNeeded) }] as const];
      },
    ),
    ...Object.entries(constants).map(([key, constant]) => [key, constantField(constant)] as const),
  ].toSorted(([, a], [, b]) => a.number - b.number);
  const description = String(schema["description"]);
  const made = { name, description, fields: Object.fromEntries(fields), reserved };
  byName.set(name, made);
  return made;
}

function fieldOf(property: TSchema, isNeeded: boolean): Omit<Field, "number"> {
  const kind = kindOf(property);
  const isList = property["type"] === "array";
  const unset = isNeeded && !isList && typeof kind === "string" ? zeros[kind] : undefined;
  return {
    isList,
    kind: typeof kind === "string" ? kind : messageOf(kind),
    description: withoutNull(String(property["description"])),
    ...(unset !== undefined && { unset }),
    ...encodingOf(property),
  };
}

function constantField({
  number,
  value,
}: {
  readonly number: number;
  readonly value: string;
}): Field {
  const description = `Always \`${value}\`.`;
  return { number, kind: "text", isList: false, constant: value, description };
}

/** A key that is absent, `null` or `""` in JSON is a field that is not set in protobuf. */
function withoutNull(description: string): string {
  return description
    .replace(/Absent(,? (or )?`(null|"")`)*/g, "Not set")
    .replaceAll(". `null`", ". Not set")
    .replaceAll("`null`", "not set");
}

/** The message of every refusal. */
export const replyMessage = messageOf(Reply);

/**
 * Codes whose message is sent as plain text: clients of the protocol assume that a proxy sent
 * them, and show the body unchanged.
 */
export const textCodes: ReadonlySet<number> = new Set<ReplyCode>([413, 503, 504]);

export const operationMessages = Object.fromEntries(
  Object.entries(operations).map(([id, { request, response }]) => [
    id,
    { request: messageOf(request), reply: messageOf(response) },
  ]),
) as Readonly<Record<OperationId, OperationMessages>>;
