// The API as one Markdown document, for those who read it as text: every operation with
// its fields, its replies and their codes.

import openapi from "../../openapi/openapi.json" with { type: "json" };
import { type MediaType, operations, type PlacedOperation, type Reply } from "./operations.ts";
import { type Field, fieldsOf, rulesOf, typeText } from "./schema-fields.ts";

export function apiMarkdown(): string {
  const { info, servers, tags } = openapi;
  const parts = [
    `# ${info.title}`,
    // The document's own sections, a level down, beside those of the operations.
    info.description,
    "## Servers",
    servers.map(({ url, description }) => `- \`${url}\`: ${description}`).join("\n"),
    ...tags.flatMap(({ name, description }) => [
      `## ${name}`,
      description,
      ...operations.filter((one) => one.tags.includes(name)).flatMap(operationText),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function operationText(operation: PlacedOperation): readonly string[] {
  const { method, path, operationId, summary, description, requestBody, responses } = operation;
  const replies = Object.entries(responses);
  const refusals = replies.filter(([code]) => code !== "200");
  return [
    `### ${summary}`,
    `\`${method} ${path}\` (operation \`${operationId}\`)`,
    description,
    ...(requestBody === undefined
      ? []
      : ["#### Request", requestBody.description ?? "", ...contentText(requestBody.content)]),
    "#### Reply",
    ...replies
      .filter(([code]) => code === "200")
      .flatMap(([, reply]) => [`200: ${reply.description}`, ...contentText(reply.content ?? {})]),
    ...(refusals.length === 0 ? [] : ["#### Other codes"]),
    refusals.map(refusalText).join("\n"),
  ].filter((text) => text !== "");
}

/** A refusal has the one form that the introduction describes, but for what `/health` answers. */
function refusalText([code, reply]: readonly [string, Reply]): string {
  const headers = Object.entries(reply.headers ?? {}).map(
    ([name, { description = "" }]) => ` Header \`${name}\`: ${description}`,
  );
  const message = Object.values(reply.content ?? {})
    .flatMap(({ example }) => (isRefusal(example) ? [` \`message\`: \`${example.message}\``] : []))
    .join("");
  return `- ${code}: ${reply.description}${headers.join("")}${message}`;
}

function isRefusal(example: unknown): example is { readonly message: string } {
  return typeof example === "object" && example !== null && "message" in example;
}

type Content = Readonly<Record<string, MediaType>>;

function contentText(content: Content): readonly string[] {
  return Object.entries(content).flatMap(([type, media]) => {
    const schema = media.schema ?? {};
    const fields = fieldsOf(schema);
    return [
      fields.length === 0 ? `\`${type}\`: ${typeText(schema)}` : `\`${type}\`:\n\n${table(fields)}`,
      exampleText(type, media),
    ];
  });
}

function exampleText(type: string, { example }: MediaType): string {
  if (example === undefined) return "";
  const isText = typeof example === "string";
  const language = type.includes("json") ? "json" : "text";
  return `\`\`\`${language}\n${isText ? example.trimEnd() : JSON.stringify(example, null, 2)}\n\`\`\``;
}

function table(fields: readonly Field[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
  const rows = fields.map(({ path, schema, type, isRequired, description }) =>
    [
      `\`${path}\``,
      [type, ...rulesOf(schema)].join(", "),
      isRequired ? "yes" : "no",
      cell(description),
    ].join(" | "),
  );
  return ["Field | Type | Required | Meaning", "--- | --- | --- | ---", ...rows]
    .map((row) => `| ${row} |`)
    .join("\n");
}
