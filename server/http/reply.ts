// Builds responses, and turns errors into error replies. Only this file maps `ErrorCode` to reply codes.
// Errors that are not meant for clients go to the log instead.

import { type ErrorCode, QueueError } from "../../engine/model/errors.ts";
import { type ReplyCode, replyCodes } from "../../openapi/codes.ts";
import { type Reason, reasons } from "../../openapi/reasons.ts";
import type { Reply } from "../../openapi/schemas.ts";
import type { Log } from "../observability/log.ts";

const replyCodeOf: Readonly<Record<ErrorCode, ReplyCode>> = {
  invalid: 400,
  refused: 453,
  empty: 454,
  full: 429,
  store: 500,
  unknown: 504,
  closing: 503,
};

/** Long enough for a turn to end, short enough that a client does not idle. */
const retryAfterSeconds = 1;
/**
 * Replies with a `Retry-After`. It also suits a server that stops: another node, or the restarted
 * server, may answer by then.
 */
const laterCodes: ReadonlySet<ReplyCode> = new Set([429, 503]);

/** Keeps browsers from guessing that a response is a page. */
export const noGuessing = { "x-content-type-options": "nosniff" };
export const jsonType = "application/json";

/** An error of the HTTP layer; those of the engine are `QueueError`s. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: ReplyCode;
  readonly reason: Reason;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: Reason, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = reasons[reason].codes[0];
    this.reason = reason;
    this.headers = headers;
  }
}

/** Encodes an error reply. */
export type ReplyEncoder = (reply: Reply) => {
  readonly contentType: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
};

export const encodeJson: ReplyEncoder = (reply) => ({
  contentType: jsonType,
  body: JSON.stringify(reply),
});

/** The reply of an operation that has nothing to return. */
export const doneReply = {
  code: 200,
  code_text: replyCodes[200].text,
  message: "",
} satisfies Reply;
export const doneText = JSON.stringify(doneReply);

/** A 200 with the text of a JSON value. */
export function jsonResponse(text: string): Response {
  return answerResponse(text, jsonType);
}

/** A 200 in one of the encodings. */
export function answerResponse(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(sentWhole(body), initsByType.get(type) ?? initOf(type));
}

/** Headers are built once per type; each response copies them. */
const initsByType = new Map<string, ResponseInit>();

function initOf(type: string): ResponseInit {
  const init = { headers: new Headers({ "content-type": type, ...noGuessing }) };
  initsByType.set(type, init);
  return init;
}

const encoder = new TextEncoder();

/** Bun 1.4.5 collects head and body of a response in 16 KiB; the head takes some of that. */
const gatheredBytesMax = 15_000;

/**
 * Returns a body that Bun sends together with the head in one system call. If a longer body follows
 * an await, Bun makes about twenty calls: a packet for each header's name, colon and value. A
 * stream that ends at once is sent whole, and still has a content length.
 */
export function sentWhole(body: string | Uint8Array<ArrayBuffer>): BodyInit {
  if (body.length <= gatheredBytesMax) return body;
  // Encode once: counting the bytes of a text costs as much.
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(sink) {
      sink.write(bytes);
      sink.end();
    },
  };
  // The browser's types take precedence and lack direct streams.
  return new ReadableStream(source as unknown as UnderlyingSource, {
    highWaterMark: bytes.length + 1,
  });
}

export function htmlResponse(text: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(text, {
    headers: { "content-type": "text/html; charset=utf-8", ...noGuessing, ...headers },
  });
}

export function codeOf(error: unknown): ReplyCode {
  if (error instanceof QueueError) return replyCodeOf[error.code];
  return error instanceof HttpError ? error.code : reasons.internal.codes[0];
}

/** Returns the response to an error. An unexpected error is logged, and its text is not sent. */
export function errorResponse(error: unknown, log: Log, encode: ReplyEncoder): Response {
  const isExpected = error instanceof HttpError || error instanceof QueueError;
  if (!isExpected) log.error("request failed", error);
  const { reason, message } = isExpected ? error : new HttpError("internal", "Internal Error");
  const details = error instanceof QueueError ? error.details : undefined;
  const code = codeOf(error);
  const code_text = replyCodes[code].text;
  const reply: Reply = { code, code_text, message, reason, ...(details && { details }) };
  const { contentType, body } = encode(reply);
  return new Response(sentWhole(body), {
    status: code,
    headers: {
      "content-type": contentType,
      ...noGuessing,
      ...(laterCodes.has(code) ? { "retry-after": String(retryAfterSeconds) } : {}),
      ...(error instanceof HttpError && error.headers),
    },
  });
}
