// Generates the text of holdfast.proto from the messages of the contract.

import type { Kind } from "./fields.ts";
import { operations } from "./operations.ts";
import { type Field, type Message, operationMessages, textCodes } from "./protobuf.ts";

const widthMax = 100;

const typeNames: Readonly<Record<Kind, string>> = {
  text: "string",
  whole: "int32",
  long: "int64",
  flag: "bool",
  bytes: "bytes",
  instant: "google.protobuf.Timestamp",
  duration: "string",
  texts: "map<string, string>",
};

const introduction = `The Holdfast API in Protocol Buffers. It is the same API as in openapi.json, with the
same rules, texts and reply codes; only the encoding differs. Generated from the contract by
\`bun run openapi\`; do not edit.

Every operation is a POST to its path with \`Content-Type: application/protobuf\`
or \`application/x-protobuf\`. The reply is in protobuf too, unless \`Accept\` asks for
\`application/json\`. With any status except 200 the body is a \`Reply\`. The exceptions are
${[...textCodes].join(", ")}: clients of the protocol assume that a proxy sent them, so their body is the
message as \`text/plain\`.

A field that is not set is an absent key of JSON. If JSON requires the key, or if zero has a
meaning in an update, it is the zero of its type. An instant is a Timestamp, which is rounded up
to milliseconds; an instant in year one or earlier counts as not set. A duration is a text such
as \`300ms\`, \`1h30m\` or \`7d\`. Unknown fields are ignored.`;

/** The contents of holdfast.proto. */
export function protoFileText(): string {
  const paths = Object.entries(operationMessages).map(
    ([id, { request, reply }]) =>
      `  ${operations[id as keyof typeof operations].path.padEnd(27)} ${request.name.padEnd(21)} ${reply.name}`,
  );
  const parts = [
    `${commented(introduction)}\n//\n${commented(`Path, request and reply:\n\n${paths.join("\n")}`)}`,
    'syntax = "proto3";',
    "package holdfast.v1;",
    'import "google/protobuf/timestamp.proto";',
    ...[...allMessages()].map(messageText),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Each message after the messages that it contains. */
function allMessages(): ReadonlySet<Message> {
  const found = new Set<Message>();
  const visit = (message: Message): void => {
    for (const { kind } of Object.values(message.fields)) {
      if (typeof kind !== "string") visit(kind);
    }
    found.add(message);
  };
  for (const { request, reply } of Object.values(operationMessages)) {
    visit(request);
    visit(reply);
  }
  return found;
}

function messageText({ name, description, fields, reserved }: Message): string {
  const rows = Object.entries(fields).map(([key, field]) => {
    return `${wrapped(field.description, "  ")}\n  ${declared(key, field)}`;
  });
  const reservations = reserved.map((number) => `  reserved ${number};`);
  return `${wrapped(description, "")}\nmessage ${name} {\n${[...reservations, ...rows].join("\n")}\n}`;
}

function declared(key: string, { number, kind, isList, hasPresence }: Field): string {
  const type = typeof kind === "string" ? typeNames[kind] : kind.name;
  const label = isList ? "repeated " : hasPresence ? "optional " : "";
  const form = isList && (kind === "whole" || kind === "long") ? " [packed = false]" : "";
  return `${label}${type} ${key} = ${number}${form};`;
}

function wrapped(text: string, indent: string): string {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (indent.length + 3 + longer.length <= widthMax) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}// ${line}`).join("\n");
}

function commented(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "//" : `// ${line}`))
    .join("\n");
}
