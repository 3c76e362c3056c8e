// Generates the TypeScript declarations of the published client: the types that `Static` makes of
// the schemas, with the description of each key, and without TypeBox. A test compares them with
// the types that the sources use.

import type { TSchema } from "@sinclair/typebox";
import { messageName } from "./fields.ts";
import { messages } from "./messages.ts";
import { operations } from "./operations.ts";

/** Declares the same as `client/wire.ts`, without imports. */
export function wireDeclarations(): string {
  const rows = Object.entries(operations);
  return [
    "// Generated from the contract; do not edit.",
    ...[...messages].map(
      ([name, schema]) =>
        `${comment(schema, "")}export interface ${name} ${objectText(schema, "")}`,
    ),
    "/** The request of each call. */",
    `export interface Requests {\n${rows.map(([id, { request }]) => `  ${id}: ${typeText(request, "  ")};\n`).join("")}}`,
    "/** The reply of each call. */",
    `export interface Replies {\n${rows.map(([id, { response }]) => `  ${id}: ${typeText(response, "  ")};\n`).join("")}}`,
    "export type Operation = keyof Requests;",
    "/** A request without its `request_timeout`, which the client sets from `timeoutMs`. */",
    'export type RequestFor<Id extends Operation> = Omit<Requests[Id], "request_timeout">;',
    "export type ReplyFor<Id extends Operation> = Replies[Id];",
    "/** One method for each call of the contract; every method also accepts `Options`. */",
    `export interface Calls<Options> {\n${rows
      .map(
        ([id, { summary, description }]) =>
          `${commentOf(`${summary}.\n\n${description}`, "  ")}  readonly ${id}: (request: RequestFor<"${id}">, options?: Options) => Promise<ReplyFor<"${id}">>;\n`,
      )
      .join("")}}`,
    "export declare const operationPaths: Readonly<Record<Operation, string>>;",
    "export declare const timedOperations: readonly Operation[];",
    "export declare const keyedOperations: readonly Operation[];",
    "export declare const readOperations: readonly Operation[];",
    "export declare const nonIdempotentOperations: readonly Operation[];",
    "",
  ].join("\n");
}

function typeText(schema: TSchema, indent: string): string {
  const name = messageName(schema);
  if (name !== undefined) return name;
  const choices: readonly TSchema[] | undefined = schema["anyOf"];
  switch (schema["type"]) {
    case "string":
    case "boolean":
    case "null":
      return schema["type"];
    case "integer":
      return "number";
    case "array":
      return `${typeText(schema["items"], indent)}[]`;
    case "object":
      return objectText(schema, indent);
  }
  if (choices === undefined) throw new Error(`a schema has no type; got ${JSON.stringify(schema)}`);
  return choices.map((choice) => typeText(choice, indent)).join(" | ");
}

function objectText(schema: TSchema, indent: string): string {
  const { additionalProperties: others, required = [] } = schema;
  const properties = Object.entries<TSchema>(schema["properties"]);
  if (properties.length === 0 && typeof others === "object") {
    return `{ [key: string]: ${typeText(others, indent)} }`;
  }
  const inner = `${indent}  `;
  const keys = properties.map(([key, property]) => {
    const mark = required.includes(key) ? "" : "?";
    return `${comment(property, inner)}${inner}${key}${mark}: ${typeText(property, inner)};\n`;
  });
  return `{\n${keys.join("")}${indent}}`;
}

function comment(schema: TSchema, indent: string): string {
  return schema.description === undefined ? "" : commentOf(schema.description, indent);
}

function commentOf(text: string, indent: string): string {
  const lines = text.replaceAll("*/", "* /").split("\n");
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
