// Collects the messages of the contract from its operations.

import type { TSchema } from "@sinclair/typebox";
import { messageName } from "./fields.ts";
import { operations, pages } from "./operations.ts";
import { Reply } from "./schemas.ts";

const pageReplies: readonly TSchema[] = Object.values(pages).flatMap(({ response }) =>
  response === null ? [] : [response],
);

/** Messages by name, each after the messages that it contains. */
export const messages: ReadonlyMap<string, TSchema> = byName([
  Reply,
  ...Object.values(operations).flatMap(({ request, response }) => [request, response]),
  ...pageReplies,
]);

/** The messages in replies, of which some are in requests too. */
export const replyMessages: ReadonlyMap<string, TSchema> = byName([
  Reply,
  ...Object.values(operations).map(({ response }) => response),
  ...pageReplies,
]);

function byName(schemas: readonly TSchema[]): ReadonlyMap<string, TSchema> {
  return new Map(schemas.flatMap(messagesIn).map((schema) => [messageName(schema) ?? "", schema]));
}

/** The messages in a schema, including itself, each after the messages that it contains. */
export function messagesIn(schema: TSchema): readonly TSchema[] {
  const properties: Readonly<Record<string, TSchema>> = schema["properties"] ?? {};
  const items: readonly TSchema[] = schema["items"] === undefined ? [] : [schema["items"]];
  const within = [...items, ...Object.values(properties)].flatMap(messagesIn);
  return messageName(schema) === undefined ? within : [...within, schema];
}
