// Generates the OpenAPI 3.1 document from the table of operations.

import type { TSchema } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import { type ReplyCode, replyCodes } from "./codes.ts";
import { fieldKeywords, messageName } from "./fields.ts";
import { firstCalls } from "./first-calls.ts";
import { messages, replyMessages } from "./messages.ts";
import { type Needs, type OperationReply, operations, pages, tags } from "./operations.ts";
import { textCodes } from "./protobuf.ts";
import {
  defaultKeyword,
  publishedKeyword,
  queueKeyword,
  Reply,
  takesNull,
  withoutNullKeyword,
} from "./schemas.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

const keyScheme = "apiKey";

/** Independent of the version of the server. */
const contractVersion = "1.0.0";

/** Later versions may add fields to a reply; a generated client must not refuse them. */
function withUnknownFields(keywords: JsonObject): JsonObject {
  const entries = Object.entries(keywords)
    .filter(([keyword, value]) => keyword !== "additionalProperties" || value !== false)
    .map(([keyword, value]) => [keyword, isObject(value) ? withUnknownFields(value) : value]);
  return Object.fromEntries(entries);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The server that serves the document; by default a local one without keys. */
interface Served {
  /** The path prefix of a proxy. */
  readonly basePath?: string;
  /** Whether the operations require an API key. */
  readonly hasKeys?: boolean;
}

export function document({ basePath = "", hasKeys = false }: Served = {}) {
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast API",
      version: contractVersion,
      summary:
        "A durable, partitioned message queue with lease-based, almost exactly once delivery.",
      description: introduction(),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [
      { url: `http://localhost:9090${basePath}`, description: "A server on your own machine." },
      {
        url: `https://{host}${basePath}`,
        description: "A server in production, behind a proxy that speaks TLS.",
        variables: {
          host: {
            default: "queue.example.com",
            description: "Host name, with the port if it is not 443.",
          },
        },
      },
    ],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: { ...operationPaths(), ...pagePaths(hasKeys) },
    ...(hasKeys && { security: [{ [keyScheme]: [] }] }),
    components: {
      ...(hasKeys && {
        securitySchemes: {
          [keyScheme]: {
            type: "http",
            scheme: "bearer",
            description: "An API key from the server's operator.",
          },
        },
      }),
      schemas: Object.fromEntries(
        [...messages].map(([name, schema]) => {
          const keywords = { title: name, ...publishedKeywords(schema) };
          return [name, replyMessages.has(name) ? withUnknownFields(keywords) : keywords];
        }),
      ),
    },
  };
}

/** The contents of openapi.json, which is for a server without keys. */
export function documentText(served: Served = {}): string {
  return `${JSON.stringify(document(served), null, 2)}\n`;
}

function operationPaths() {
  return Object.fromEntries(
    Object.entries(operations).map(([operationId, operation]) => [
      operation.path,
      {
        post: {
          operationId,
          tags: [operation.tag],
          summary: operation.summary,
          description: operation.description,
          ...roleOf(operation),
          ...(operation.keyed && { parameters: [keyParameter] }),
          requestBody: {
            required: true,
            description: `At most ${grouped(operation.bodyBytesMax)} bytes, unless the server is configured for more.`,
            content: {
              "application/json": {
                schema: published(operation.request),
                example: operation.example as Json,
              },
            },
          },
          responses: responses(withUnauthorized(operation.replies), {
            success: operation.response,
            successType: "application/json",
            successHeaders: operation.keyed ? { "Idempotency-Replayed": replayed } : {},
          }),
        },
      },
    ]),
  );
}

/** The header is required because a page of another site cannot send it without a preflight. */
const anyBody = {
  required: false,
  description: "Ignored. The header `Content-Type: application/json` is still required.",
  content: { "application/json": { schema: { type: "object" }, example: {} } },
} as const;

function pagePaths(hasKeys: boolean) {
  return Object.fromEntries(
    Object.entries(pages).map(([operationId, page]) => [
      page.path,
      {
        [page.method.toLowerCase()]: {
          operationId,
          tags: [page.tag],
          summary: page.summary,
          description: page.description,
          ...("needs" in page && roleOf(page.needs)),
          ...(hasKeys && !("needs" in page) && { security: [] }),
          ...(page.method === "POST" ? { requestBody: anyBody } : {}),
          responses: responses("needs" in page ? withUnauthorized(page.replies) : page.replies, {
            success: page.response,
            successType: page.contentType,
            successHeaders: {},
          }),
        },
      },
    ]),
  );
}

/** The required role, as extensions of OpenAPI. */
function roleOf({ role, reach = "named" }: Needs) {
  return { "x-role": role, "x-role-queues": reach };
}

/** Adds the 401 of an operation that requires a key. */
function withUnauthorized(replies: { readonly [Code in ReplyCode]?: OperationReply }) {
  const { text, meaning, reaction } = replyCodes[401];
  const example = {
    code: 401,
    code_text: text,
    message: "API key is required; expected 'Authorization: Bearer KEY', got none",
    reason: "unauthorized",
  };
  return { ...replies, 401: { meaning, reaction, example } };
}

function responses(
  replies: { readonly [Code in ReplyCode]?: OperationReply },
  {
    success,
    successType,
    successHeaders,
  }: {
    readonly success: TSchema | null;
    readonly successType: string;
    readonly successHeaders: JsonObject;
  },
) {
  return Object.fromEntries(
    codesOf(replies).map(([code, reply]) => {
      const schema =
        code === 200
          ? success === null
            ? { type: "string" }
            : published(success)
          : published(Reply);
      const headers =
        code === 200
          ? successHeaders
          : code === 429 || code === 503
            ? { "Retry-After": retryAfter }
            : {};
      return [
        code,
        {
          description: describe(code, reply),
          ...(Object.keys(headers).length > 0 && { headers }),
          content: {
            [code === 200 ? successType : "application/json"]: {
              schema,
              example: reply.example as Json,
            },
          },
        },
      ];
    }),
  );
}

const keyParameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Identifies this call, so that it can be repeated: the same call with the same idempotency key is carried out once.",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
} as const;

const replayed = {
  description: "This is the reply of an earlier call with the same idempotency key.",
  schema: { type: "string", examples: ["true"] },
} as const;

const retryAfter = {
  description: "Seconds to wait before the request is sent again.",
  required: true,
  schema: { type: "integer", minimum: 1, examples: [1] },
} as const;

function describe(code: ReplyCode, reply: OperationReply): string {
  const heading = `**${replyCodes[code].text}.** ${reply.meaning}`;
  return reply.reaction === replyCodes[200].reaction ? heading : `${heading} ${reply.reaction}`;
}

/** Ascending, because objects keep integer keys in that order. */
function codesOf(replies: { readonly [Code in ReplyCode]?: OperationReply }) {
  return Object.entries(replies).map(
    ([code, reply]) => [Number(code) as ReplyCode, reply] as const,
  );
}

/** A reference if the schema is a message, otherwise the schema itself. */
function published(schema: TSchema): JsonObject {
  const name = messageName(schema);
  return name === undefined ? publishedKeywords(schema) : { $ref: `#/components/schemas/${name}` };
}

function publishedKeywords(schema: TSchema): JsonObject {
  const keywords: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === withoutNullKeyword || keyword === queueKeyword) continue;
    if (fieldKeywords.has(keyword)) continue;
    if (keyword === publishedKeyword) Object.assign(keywords, value);
    else if (keyword === defaultKeyword) keywords["default"] = value;
    else if (keyword === "items") keywords[keyword] = published(value);
    else if (keyword === "properties") keywords[keyword] = publishedProperties(schema);
    else if (keyword === "anyOf" && isChoiceOfTypes(value)) {
      const choices: readonly TSchema[] = value;
      Object.assign(keywords, ...choices, { type: choices.map((choice) => choice["type"]) });
    } else keywords[keyword] = value;
  }
  return keywords;
}

function publishedProperties(schema: TSchema): JsonObject {
  const properties: Readonly<Record<string, TSchema>> = schema["properties"];
  return Object.fromEntries(
    Object.entries(properties).map(([key, property]) => {
      const keywords = published(property);
      return [key, takesNull(schema, key) ? orNull(keywords) : keywords];
    }),
  );
}

function orNull(keywords: JsonObject): JsonObject {
  const { type } = keywords;
  if (type === undefined) return { anyOf: [keywords, { type: "null" }] };
  const types = [type].flat();
  return types.includes("null") ? keywords : { ...keywords, type: [...types, "null"] };
}

/** Such a choice is published as `["integer", "null"]`, which is easier to read than `anyOf`. */
function isChoiceOfTypes(choices: readonly TSchema[]): boolean {
  const areTyped = choices.every((choice) => typeof choice["type"] === "string");
  return areTyped && choices.filter((choice) => Object.keys(choice).length > 1).length <= 1;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** Calls that accept an idempotency key, by their paths without `/v1/`. */
function keyedNames(): string {
  const names = Object.values(operations)
    .filter(({ keyed }) => keyed === true)
    .map(({ path }) => `\`${path.slice("/v1/".length)}\``);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function introduction(): string {
  const codes = Object.entries(replyCodes).map(
    ([code, { text, meaning, reaction }]) => `| ${code} | ${text} | ${meaning} | ${reaction} |`,
  );
  return `Holdfast is a durable message queue over plain HTTP. Producers add items to a named queue; consumers lease them, do the work, and complete or retry them. A leased item belongs to one consumer until it is completed, it is retried, or its lease passes its deadline.

**A 200 is a proof.** The work that it acknowledges is in the store, exactly one holder can finish an item, and the server can report where every item is. Any other code means that nothing changed, with three exceptions: 504, the reason \`in_part\`, and a 400 with an empty body.

\`\`\`sh
${firstCalls}\`\`\`

## Requests

Every operation under \`/v1/\` is a POST with a JSON body in UTF-8 and the header \`Content-Type: application/json\`. A request that lacks a required field or has an unknown field is refused. An optional field may also be \`null\`, which means the same as absent; only \`queues.update\`, where an absent field keeps its value, refuses \`null\`. There are no accounts, and on your own machine no credentials. A server that others can reach usually has API keys: every request except the probes (\`/health\`, \`/livez\`, \`/readyz\`) then needs the header \`Authorization: Bearer KEY\`. An API key may be limited to some operations and queues. \`x-role\` is the role that an operation requires: \`produce\`, \`consume\`, \`read\`, \`admin\` (which includes all others), or \`any\` of them. \`x-role-queues\` are the queues for which it is required: those \`named\` by the request, those \`visible\` to the key, or \`all\`. Other calls are refused with 403 \`not_allowed\`.

A request with a \`request_timeout\` is answered within it. Do not cancel it sooner: a lease would be lost, and you would not know whether a produce was carried out.

The same operations are available in Protocol Buffers, with the same rules: send \`Content-Type: application/protobuf\` and messages of \`holdfast.proto\`, which is next to this document. The reply is then in protobuf too, unless \`Accept\` asks for JSON. A request in JSON is answered in protobuf if \`Accept\` asks for it. In protobuf an unset field is an absent field, except in an update: there, unset \`dead_queue\`, \`reference\` and \`max_attempts\` mean empty or 0, because proto3 sends no zeros. The refusals ${[...textCodes].join(", ")} are sent to a protobuf client as \`text/plain\` with the message, because such clients assume that a proxy sent them.

## Repeating a call

${keyedNames()} accept a header \`Idempotency-Key\` of 1 to 255 visible ASCII characters, which the caller chooses for that call; all other calls ignore it. The same call with the same idempotency key is carried out once and gets the same reply each time, with \`Idempotency-Replayed: true\` from the second time on. This holds across lost connections, restarts and crashes, for five minutes unless the server is configured otherwise. So if a reply was lost, send the call again. A key is scoped to a queue and an operation; \`request_timeout\` and \`client_id\` may differ. A different call with a used key is refused with 400. A refusal is not remembered. A repeated lease returns its items that are still held, or 454 \`that lease is over\`; while the first lease waits, the repetition takes its place in line. If the server already remembers its maximum number of keys, calls with a new key are refused with 429; no key is forgotten early.

## Replies

An operation that returns no data replies \`{"code", "code_text", "message"}\`. Every refusal has the same form, with \`reason\`, a stable word for programs, and \`details\` if single item ids were refused. The meaning of a word never changes. Later versions may add words, and fields to replies: ignore those that you do not know. Every field of a reply is always present: an empty list is \`[]\`, an absent text \`""\`, an instant that is not set \`null\`.

| Code | \`code_text\` | Meaning | What to do |
|---|---|---|---|
${codes.join("\n")}

A response with an empty body, such as a 400 with \`Connection: close\`, is not a reply to the call: the HTTP parser sends it for bytes that it cannot parse, such as a trailer field or a line break after a body. The outcome of a call in progress is then unknown; send it again with the same idempotency key. Send one request at a time on a connection, and keep the sending side open until the reply has arrived.

The code is the HTTP status and \`code\` in the body. HTTP has no words for 453 and 454, so do not rely on the status text: \`code_text\` in the body is always right. 404 and 405 are not listed with the operations, because no operation returns them.

## Durations

A duration is a text of numbers with units: \`ms\`, \`s\`, \`m\`, \`h\` or \`d\` for 24 hours, such as \`300ms\`, \`1.5s\`, \`1h30m\` or \`7d\`. An \`expire_timeout\` may also be \`never\`: its items have the \`expire_deadline\` \`9999-12-31T23:59:59.999Z\`. A queue's timeouts are returned as they were written.

## Date-times

A date-time is an RFC 3339 text with a zone, such as \`2026-03-01T12:00:00Z\` or \`2026-03-01T13:00:00.5+01:00\`; \`2026-03-01 12:00:00.0000\`, without a zone, is read as UTC. A date that does not exist is refused. Replies are in UTC with milliseconds: \`2026-03-01T12:00:00.000Z\`. A finer instant is rounded up to the next millisecond, so that nothing is offered, lapses or expires before it; \`created_at\` and \`updated_at\` are rounded up too, so that they do not precede the call.

## Item ids

An id is a text of ${bounds.idLength} letters and digits. Treat it as opaque; only its order has a meaning: within a partition, the order of ids is the order of the queue. An id is never reused. An item gets a new id whenever it returns to a queue: when it is retried, its lease lapses, it becomes due, or it moves to the dead queue. An old id can therefore never finish an item.`;
}
