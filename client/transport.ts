// One call as HTTP: sent, bounded in time, judged, and sent again where that is right.

import { bounds } from "../openapi/bounds.ts";
import {
  Busy,
  errorOf,
  HoldfastError,
  OutcomeUnknown,
  type Refused,
  Unavailable,
} from "./errors.ts";
import { mayRepeat, type Pace, pause, pauseMs } from "./repeat.ts";
import { isUnsent, reasonOf } from "./unsent.ts";
import {
  type Operation,
  operationPaths,
  type ReplyFor,
  type RequestFor,
  timedOperations,
} from "./wire.ts";

export interface CallOptions {
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * How long the call may take, repeats included; it is the `request_timeout` of the calls that
   * have one. Default 1 minute for a lease, 5 minutes for any other.
   */
  readonly timeoutMs?: number;
  /**
   * Send it again also when it may have been carried out already, and doing so would do it
   * twice: a produce then may make its items twice. Default false.
   */
  readonly repeatUnknown?: boolean;
}

/** For the client's own use. */
export interface InnerOptions extends CallOptions {
  /** Like `signal`, but what has begun to be answered is still read. */
  readonly leave?: AbortSignal;
  /** Sent at most so often: who goes on after an error wants to hear of it before its time is up. */
  readonly attemptsMax?: number;
}

export interface TransportOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly random: () => number;
  readonly attemptsMax: number;
  readonly pace: Pace;
}

export interface Answered<T> {
  readonly reply: T;
  /** How far the server's clock is ahead of this one's, as far as can be told; usually 0. */
  readonly clockAheadMs: number;
}

export interface Transport {
  call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    options?: InnerOptions,
  ): Promise<Answered<ReplyFor<Id>>>;
  /** Text of a page of the server, such as `/metrics`. */
  page(path: string, options?: CallOptions, method?: "GET" | "POST"): Promise<string>;
  random(): number;
}

const timeoutMsDefault = 5 * 60_000;
const leaseTimeoutMsDefault = 60_000;
/** The server answers by `request_timeout`; until that has come here, giving up would be hasty. */
const graceMs = 5_000;

export function timeoutMsOf(operation: Operation): number {
  return operation === "lease" ? leaseTimeoutMsDefault : timeoutMsDefault;
}

/** When no answer is expected any more. */
export function giveUpMsOf(operation: Operation, timeoutMs: number): number {
  return timedOperations.includes(operation) ? timeoutMs + graceMs : timeoutMs;
}

export function openTransport(options: TransportOptions): Transport {
  const { fetch, random, attemptsMax, pace, apiKey } = options;
  const headers: Record<string, string> = { accept: "application/json" };
  if (apiKey) headers["authorization"] = `Bearer ${apiKey}`;
  const place = { base: baseOf(options.url), headers, fetch };

  return {
    random,

    async call<Id extends Operation>(
      operation: Id,
      request: RequestFor<Id>,
      callOptions: InnerOptions = {},
    ): Promise<Answered<ReplyFor<Id>>> {
      const { timeoutMs = timeoutMsOf(operation), repeatUnknown = false } = callOptions;
      const isTimed = timedOperations.includes(operation);
      const endsAt = Date.now() + timeoutMs;
      let followsUnknown = false;
      for (let attempt = 1; ; attempt += 1) {
        const leftMs =
          attempt === 1 ? timeoutMs : Math.max(endsAt - Date.now(), bounds.requestTimeoutMsMin);
        const timed = isTimed ? { request_timeout: `${Math.ceil(leftMs)}ms` } : {};
        try {
          const { reply, clockAheadMs } = await send(place, {
            ...callOptions,
            operation,
            method: "POST",
            path: operationPaths[operation],
            body: JSON.stringify({ ...request, ...timed }),
            giveUpMs: giveUpMsOf(operation, leftMs),
          });
          return { reply: parsed<ReplyFor<Id>>(operation, reply), clockAheadMs };
        } catch (error) {
          if (!(error instanceof HoldfastError)) throw error;
          error.followsUnknown = followsUnknown;
          followsUnknown ||= error.code === "unknown";
          const isLast = attempt >= Math.min(attemptsMax, callOptions.attemptsMax ?? attemptsMax);
          if (isLast || !mayRepeat({ operation, request, error, repeatUnknown })) throw error;
          const askedMs = error instanceof Busy ? error.retryAfterMs : 0;
          const spareMs = endsAt - Date.now() - askedMs - bounds.requestTimeoutMsMin;
          if (spareMs <= 0) throw error;
          // What is left is halved, so that the last attempt is not long before the end.
          const waitMs = askedMs + Math.min(pauseMs(attempt, pace, random), spareMs / 2);
          await pause(waitMs, callOptions.leave ?? callOptions.signal);
        }
      }
    },

    async page(path, callOptions = {}, method = "GET") {
      const { timeoutMs: giveUpMs = timeoutMsDefault } = callOptions;
      const operation = path.slice(1);
      const body = method === "POST" ? { body: "{}" } : {};
      return (await send(place, { ...callOptions, operation, method, path, giveUpMs, ...body }))
        .reply;
    },
  };
}

/** Where requests go, and what all of them carry. */
interface Place extends Pick<TransportOptions, "fetch"> {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Sent extends InnerOptions {
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly giveUpMs: number;
}

async function send({ base, headers, fetch }: Place, sent: Sent): Promise<Answered<string>> {
  const { operation, method, path, body, signal, leave, giveUpMs } = sent;
  signal?.throwIfAborted();
  leave?.throwIfAborted();
  const ending = endingOf(sent);
  const sentAt = Date.now();
  try {
    const response = await fetch(base + path, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      redirect: "error",
      signal: ending.signal,
      ...(body === undefined ? {} : { body }),
      // Bun's own limit is five minutes; others do not know the key.
      ...{ timeout: false },
    });
    ending.stay();
    const clockAheadMs = clockAhead(response.headers.get("date"), sentAt, Date.now());
    const text = await response.text();
    if (response.status !== 200) throw refusalOf(operation, response, text);
    return { reply: text, clockAheadMs };
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    signal?.throwIfAborted();
    leave?.throwIfAborted();
    throw ending.isLate() ? noAnswer(operation, giveUpMs) : brokenOff(operation, base, error);
  } finally {
    ending.forget();
  }
}

/** What may end an exchange before its end: who gives it up, who leaves, and its time. */
function endingOf({ signal, leave, giveUpMs }: Sent) {
  const ending = new AbortController();
  let isLate = false;
  const giveUp = (): void => ending.abort(signal?.reason);
  const goAway = (): void => ending.abort(leave?.reason);
  const timer = setTimeout(() => {
    isLate = true;
    ending.abort();
  }, giveUpMs);
  signal?.addEventListener("abort", giveUp);
  leave?.addEventListener("abort", goAway);
  /** From now on leaving does not end it. */
  const stay = (): void => leave?.removeEventListener("abort", goAway);
  const forget = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    stay();
  };
  return { signal: ending.signal, isLate: () => isLate, stay, forget };
}

/** Throws a `TypeError` where no request could ever be sent, which repeating would hide. */
function baseOf(url: string): string {
  // A page may name its own server by a path.
  const page = "location" in globalThis ? globalThis.location?.href : undefined;
  if (/^https?:$/.test(protocolOf(url, page))) return url.replace(/\/+$/, "");
  throw new TypeError(`url is invalid; expected one such as http://localhost:9090, got '${url}'`);
}

function protocolOf(url: string, page: string | undefined): string {
  try {
    return new URL(url, page).protocol;
  } catch {
    return "";
  }
}

/** A 200 that is not JSON was not answered by the server. */
function parsed<T>(operation: string, text: string): T {
  const reply = jsonOf(text);
  if (typeof reply === "object" && reply !== null) return reply as T;
  const message = `the answer is not the server's; expected JSON, got '${text.slice(0, 40)}'`;
  throw new OutcomeUnknown({ operation, status: 200, message });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusalOf(operation: string, { status, headers }: Response, text: string): HoldfastError {
  const body = jsonOf(text);
  const isReply =
    typeof body === "object" && body !== null && "code" in body && body.code === status;
  const said: Refused = {
    operation,
    status,
    message: `the answer is not the server's; expected a reply, got status ${status}`,
    retryAfterMs: (Number(headers.get("retry-after")) || 0) * 1_000,
  };
  if (!isReply) return errorOf(said, false);
  const { message, reason, details } = body as Pick<Refused, "reason" | "details"> & {
    message?: string;
  };
  return errorOf({ ...said, message: message ?? "", reason, details }, true);
}

function noAnswer(operation: string, giveUpMs: number): OutcomeUnknown {
  const message = `no answer came in time; expected one within ${Math.round(giveUpMs)} ms`;
  return new OutcomeUnknown({ operation, status: null, message });
}

function brokenOff(operation: string, url: string, cause: unknown): HoldfastError {
  const refused = { operation, status: null, cause };
  const reason = reasonOf(cause);
  return isUnsent(cause)
    ? new Unavailable({ ...refused, message: `the server cannot be reached at ${url}; ${reason}` })
    : new OutcomeUnknown({ ...refused, message: `the connection broke; ${reason}` });
}

/** A date in a header is cut to its second. */
const secondMs = 1_000;
/** Servers write the header ahead of time, and one that is busy writes it anew late. */
const staleMs = 5_000;

/** What the clocks must differ by; 0 as long as they may agree, else on the side of haste. */
export function clockAhead(date: string | null, sentAt: number, receivedAt: number): number {
  const server = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(server)) return 0;
  const mayAgree = server <= receivedAt && server + secondMs + staleMs >= sentAt;
  return mayAgree ? 0 : server + secondMs - receivedAt;
}
