// From what was thrown to what is answered. `ErrorCode` becomes a reply code
// here and nowhere else; what is not meant for clients goes to the log instead.

import { type Details, type ErrorCode, QueueError } from "../../engine/model/errors.ts";
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
/** Also sent by a server that stops: another one, or its next start, may answer by then. */
const laterCodes: ReadonlySet<ReplyCode> = new Set([429, 503]);

/** Browsers then do not guess that an answer is a page. */
export const noGuessing = { "x-content-type-options": "nosniff" };
export const jsonType = "application/json";

/** What HTTP itself has to refuse; queues are not its business. */
export class Refusal extends Error {
  override readonly name = "Refusal";
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

/** How a refusal is written. */
export type ReplyForm = (reply: Reply) => {
  readonly contentType: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
};

export const jsonForm: ReplyForm = (reply) => ({
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

/** Headers are made once for each type; a response copies them. */
const initsByType = new Map<string, ResponseInit>();

function initOf(type: string): ResponseInit {
  const init = { headers: new Headers({ "content-type": type, ...noGuessing }) };
  initsByType.set(type, init);
  return init;
}

const encoder = new TextEncoder();

/** Bun 1.4.5 gathers head and body of an answer in a buffer of 16 KiB; the head takes some of it. */
const gatheredBytesMax = 15_000;

/**
 * The body of a response, so that it leaves in one system call together with the head. Bun
 * sends a longer one that comes after an await in about twenty: each header's name, colon
 * and value is a packet of its own. As a stream that ends at once it is not cut up, and has
 * its length still.
 */
export function sentWhole(body: string | Uint8Array<ArrayBuffer>): BodyInit {
  if (body.length <= gatheredBytesMax) return body;
  // Encoded once: to count the bytes of a text costs as much.
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(sink) {
      sink.write(bytes);
      sink.end();
    },
  };
  // The browser's types, which come first, know no such streams.
  return new ReadableStream(source as unknown as UnderlyingSource, {
    highWaterMark: bytes.length + 1,
  });
}

export function htmlResponse(text: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(text, {
    headers: { "content-type": "text/html; charset=utf-8", ...noGuessing, ...headers },
  });
}

/** The code by which it is answered. */
export function codeOf(error: unknown): ReplyCode {
  if (error instanceof QueueError) return replyCodeOf[error.code];
  return error instanceof Refusal ? error.code : reasons.internal.codes[0];
}

/** Answers for whatever was thrown; what no one foresaw is logged, and its text kept inside. */
export function refusalResponse(error: unknown, log: Log, form: ReplyForm): Response {
  if (error instanceof Refusal) {
    return response(error, form, error.headers);
  }
  if (error instanceof QueueError) {
    const { reason, message, details } = error;
    return response({ code: codeOf(error), reason, message, details }, form);
  }
  log.error("request failed", error);
  return response(new Refusal("internal", "Internal Error"), form);
}

interface Refused {
  readonly code: ReplyCode;
  readonly reason: Reason;
  readonly message: string;
  readonly details?: Details | undefined;
}

function response(
  refused: Refused,
  form: ReplyForm,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { contentType, body } = form(replyOf(refused));
  return new Response(sentWhole(body), {
    status: refused.code,
    headers: {
      "content-type": contentType,
      ...noGuessing,
      ...(laterCodes.has(refused.code) ? { "retry-after": String(retryAfterSeconds) } : {}),
      ...headers,
    },
  });
}

function replyOf({ code, reason, message, details }: Refused): Reply {
  const code_text = replyCodes[code].text;
  return { code, code_text, message, reason, ...(details && { details }) };
}
