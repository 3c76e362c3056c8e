// From the messages of the contract to the text of holdfast.proto. Pure, so that a test
// can hold the file on disk against it.

import { operations } from "./operations.ts";
import { type Field, type Kind, type Message, operationMessages, textCodes } from "./protobuf.ts";

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
same rules, texts and reply codes; only the encoding differs. Written by \`bun run openapi\`
from the contract: do not edit it here.

Every operation is a POST to its path with \`Content-Type: application/protobuf\`
(\`application/x-protobuf\` says the same). The reply is in protobuf too, unless \`Accept\` asks
for \`application/json\`. With any status but 200 the body is a \`Reply\`, save for ${[...textCodes].join(", ")}:
clients of the protocol take these for a proxy's, so they are the message as \`text/plain\`.

A field that is not set is an absent key of JSON; where JSON requires the key, and in an update
where zero means something, it is the zero of its type. An instant is a Timestamp, which is
rounded up to milliseconds, and one in year one or before it counts as not set. A duration is a
text such as \`300ms\`, \`1h30m\` or \`7d\`. Fields that the server does not know are passed over.`;

/** The file as it stands on disk. */
export function protoFileText(): string {
  const paths = Object.entries(operationMessages).map(
    ([id, { request, reply }]) =>
      `  ${operations[id as keyof typeof operations].path.padEnd(26)} ${request.name.padEnd(20)} ${reply.name}`,
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

/** Those that others are made of come first. */
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
  const kept = reserved.map((number) => `  reserved ${number};`);
  return `${wrapped(description, "")}\nmessage ${name} {\n${[...kept, ...rows].join("\n")}\n}`;
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
