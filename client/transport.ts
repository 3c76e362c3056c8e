// Sends one call over HTTP within its time, classifies the answer, and repeats the call if that is
// safe.

import { bounds } from "../openapi/bounds.ts";
import { besideSilence } from "./beside.ts";
import { type Connections, openConnections, type Share } from "./connections.ts";
import {
  Busy,
  errorOf,
  HoldfastError,
  InvalidRequest,
  NotInTime,
  OutcomeUnknown,
  type Refused,
  Unavailable,
} from "./errors.ts";
import { Gatherer } from "./gather.ts";
import { Hosts } from "./hosts.ts";
import { keyOf, receiptsMs } from "./keys.ts";
import { anything, type Checks, checkOptions, count, length, signal } from "./options.ts";
import { type Echo, echoOf, mayRepeat, type Pace, pause, pauseMs } from "./repeat.ts";
import { startTimer, steadyNow } from "./time.ts";
import type { Tracing } from "./tracing.ts";
import { type ClientNotice, Trouble } from "./trouble.ts";
import { isUnsent, reasonOf } from "./unsent.ts";
import {
  type Operation,
  operationPaths,
  type ReplyFor,
  type RequestFor,
  readOperations,
  timedOperations,
} from "./wire.ts";

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds that the call may take, including repeats. Also sent as `request_timeout`, for
   * operations that have one. Default 1 minute for a lease, 5 minutes for any other call.
   */
  readonly timeoutMs?: number;
  /**
   * Idempotency key of a produce, lease, retry, complete, extend, release or transact: 1 to 255
   * visible ASCII characters. For 5 minutes after the call, the server answers the same call with
   * the same key as before, and does nothing. So a program that was killed can repeat its call.
   * Default a random key.
   */
  readonly key?: string;
}

export const callChecks: Checks<CallOptions> = { signal, timeoutMs: length, key: anything };
const innerChecks: Checks<InnerOptions> = { ...callChecks, leave: signal, attemptsMax: count };

/** Throws `InvalidRequest` for unknown or invalid call options. */
function checkCall(operation: string, options: InnerOptions): void {
  refusing(operation, () => checkOptions(options, innerChecks, ["leave", "attemptsMax"]));
  const { timeoutMs = 0 } = options;
  const isTimed = (timedOperations as readonly string[]).includes(operation);
  if (isTimed && timeoutMs === Number.POSITIVE_INFINITY) {
    const message = `timeoutMs is invalid; expected at most ${bounds.requestTimeoutMsMax}, got Infinity`;
    throw new InvalidRequest({ operation, status: null, message });
  }
}

/** Converts the `TypeError` of a check to the call's `InvalidRequest`. */
export function refusing(operation: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new InvalidRequest({ operation, status: null, message: cause.message, cause });
  }
}

/** Options for the client's own calls. */
export interface InnerOptions extends CallOptions {
  /** Like `signal`, but an answer that has begun is still read. */
  readonly leave?: AbortSignal;
  /** Maximum attempts, for callers that need an error before the time is up. */
  readonly attemptsMax?: number;
}

export interface Outgoing extends RequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** The parts of a `Response` that the client needs. */
export interface Incoming {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export type Fetch = (url: string, init: Outgoing) => Promise<Incoming>;

export interface TransportOptions {
  readonly url: string | readonly string[];
  readonly apiKey?: string | undefined;
  readonly fetch: Fetch;
  readonly random: () => number;
  readonly attemptsMax: number;
  readonly pace: Pace;
  /** Maximum number of concurrent calls, and so of connections. */
  readonly connectionsMax: number;
  /** Whether calls without the caller's key get a random one. */
  readonly keys: boolean;
  /** Whether concurrent produces are combined into one call. */
  readonly gather: boolean;
  readonly notice: (notice: ClientNotice) => void;
}

export interface Answered<T> {
  readonly reply: T;
  /** When the answer began to arrive, in `steadyNow()` time. */
  readonly receivedAt: number;
}

/**
 * Encodes a request, once per attempt. `isSame`: an earlier attempt may have been carried out, so
 * the content must be the same.
 */
export type Encode = (timed: { readonly request_timeout?: string }, isSame: boolean) => string;

export interface Transport {
  call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    options?: InnerOptions,
  ): Promise<Answered<ReplyFor<Id>>>;
  /** Like `call`, but may be combined with other produces. */
  produce(
    request: RequestFor<"produce">,
    options?: CallOptions,
  ): Promise<Answered<ReplyFor<"produce">>>;
  /** The text of a server page, such as `/metrics`. */
  page(path: string, options?: CallOptions, method?: "GET" | "POST"): Promise<string>;
  random(): number;
  /** Set if the program traces. */
  readonly tracing?: Tracing;
}

const timeoutMsDefault = 5 * 60_000;
const leaseTimeoutMsDefault = 60_000;
/** Time for the answer to arrive, which the server sends by `request_timeout`. */
const graceMs = 5_000;
/** The connection may be dead without an error; a call with a key is then repeated on another. */
const silenceMsMax = 60_000;
/** After this time without an answer the call is also sent on another connection. */
const silentMsMax = 5_000;
/** A large request gets more time, for slow connections. */
const bytesPerMs = 100;

export function timeoutMsOf(operation: Operation): number {
  return operation === "lease" ? leaseTimeoutMsDefault : timeoutMsDefault;
}

/** How long to wait for an answer, in milliseconds. */
export function giveUpMsOf(operation: Operation, timeoutMs: number, hasKey: boolean): number {
  const giveUpMs = timedOperations.includes(operation) ? timeoutMs + graceMs : timeoutMs;
  const isAskedAgain = hasKey && operation !== "lease";
  return isAskedAgain ? Math.min(giveUpMs, silenceMsMax) : giveUpMs;
}

export function openTransport(options: TransportOptions): Transport {
  const place = placeOf(options);

  async function call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    callOptions: InnerOptions = {},
  ): Promise<Answered<ReplyFor<Id>>> {
    const echo = echoOf(operation, request);
    const encode: Encode = (timed) => JSON.stringify({ ...request, ...timed });
    return carryOut(place, { operation, echo, encode, options: callOptions });
  }

  const gatherer = new Gatherer((encode, callOptions) =>
    carryOut(place, { operation: "produce", echo: "twice", encode, options: callOptions }),
  );

  return {
    random: options.random,
    call,

    async produce(request, callOptions = {}) {
      checkCall("produce", callOptions);
      const { timeoutMs = timeoutMsOf("produce"), signal, key } = callOptions;
      const isAlone = !options.gather || key !== undefined || !gatherer.takes(request, timeoutMs);
      if (isAlone) return call("produce", request, callOptions);
      return gatherer.produce(request, { timeoutMs, signal });
    },

    async page(path, callOptions = {}, method = "GET") {
      checkCall(path.slice(1), callOptions);
      const { timeoutMs = timeoutMsDefault } = callOptions;
      const body = method === "POST" ? { body: "{}" } : {};
      const goesTwice = method === "GET";
      const silentMs = goesTwice ? silentMsMax : null;
      const ends = { ...callOptions, giveUpMs: timeoutMs, silentMs, goesTwice };
      const sent = { ...ends, operation: path.slice(1), method, path, ...body };
      const { reply } = await sendSafely(place, sent);
      return reply;
    },
  };
}

/** The addresses, headers and rules of repetition that all requests share. */
interface Place
  extends Pick<TransportOptions, "fetch" | "random" | "attemptsMax" | "pace" | "keys"> {
  readonly hosts: Hosts;
  readonly trouble: Trouble;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: Connections;
}

function placeOf({ url, apiKey, connectionsMax, notice, ...options }: TransportOptions): Place {
  const headers: Record<string, string> = { accept: "application/json" };
  if (apiKey) headers["authorization"] = `Bearer ${apiKey}`;
  return {
    ...options,
    headers,
    hosts: new Hosts(url),
    trouble: new Trouble(notice),
    connections: openConnections(connectionsMax),
  };
}

interface Call<Id extends Operation> {
  readonly operation: Id;
  readonly echo: Echo;
  readonly encode: Encode;
  readonly options: InnerOptions;
}

/** Sends a call until it has a final answer, or its time is up. */
async function carryOut<Id extends Operation>(
  place: Place,
  call: Call<Id>,
): Promise<Answered<ReplyFor<Id>>> {
  const { operation, options } = call;
  checkCall(operation, options);
  const { timeoutMs = timeoutMsOf(operation), signal, leave } = options;
  const attemptsMax = Math.min(place.attemptsMax, options.attemptsMax ?? place.attemptsMax);
  const key = keyOf({ operation, given: options.key, keys: place.keys });
  const echo = key === null ? call.echo : "same";
  let endsAt = steadyNow() + timeoutMs;
  let followsUnknown = false;
  let begunFirst = 0;
  for (let attempt = 1; ; attempt += 1) {
    const begunAt = steadyNow();
    const dayAt = Date.now();
    const leftMs = Math.max(endsAt - begunAt, bounds.requestTimeoutMsMin);
    const attemptMs = attempt === 1 ? timeoutMs : leftMs;
    try {
      const answered = await attempted(place, call, { key, attemptMs, isSame: followsUnknown });
      place.trouble.answered();
      return answered;
    } catch (cause) {
      if (!(cause instanceof HoldfastError)) throw cause;
      const error = followsUnknown ? afterUnknown(cause, key) : cause;
      if (error.code === "unknown" && !followsUnknown) {
        followsUnknown = true;
        begunFirst = dayAt;
        if (key !== null) endsAt = Math.min(endsAt, begunAt + receiptsMs);
      }
      if (attempt >= attemptsMax || !mayRepeat({ operation, echo, error: cause })) throw error;
      const askedMs = cause instanceof Busy ? cause.retryAfterMs : 0;
      const spareMs = endsAt - steadyNow() - askedMs - bounds.requestTimeoutMsMin;
      if (spareMs <= 0) throw error;
      if (reportsTrouble(options)) {
        place.trouble.repeated(attempt, { operation, error: cause, leftMs: endsAt - steadyNow() });
      }
      // At most half of the time left, so that the last attempt is close to the end.
      const pausedMs = Math.min(pauseMs(attempt, place.pace, place.random), spareMs / 2);
      await pause(askedMs + pausedMs, leave ?? signal);
      if (followsUnknown && key !== null && isForgotten(begunFirst)) throw error;
    }
  }
}

/**
 * By wall-clock time, because the steady clock stops while a machine is suspended, and the server
 * forgets keys meanwhile. A clock that is set ahead only ends a call early.
 */
function isForgotten(begunAt: number): boolean {
  return Date.now() - begunAt > receiptsMs;
}

/** The error to throw if an earlier attempt had no answer. */
function afterUnknown(error: HoldfastError, key: string | null): HoldfastError {
  // The server's refusal of the call itself: it would have recognized a call that was carried out.
  const isWord = error.status === 400 && error.reason !== undefined;
  if (error.code === "failed" || error.code === "empty" || isWord) {
    error.followsUnknown = key === null;
    return error;
  }
  if (error.code === "unknown") return error;
  const { operation, status, message } = error;
  const explained = `${message}; an attempt before had no answer`;
  return new OutcomeUnknown({ operation, status, message: explained, cause: error });
}

interface Attempt {
  readonly key: string | null;
  readonly attemptMs: number;
  /** The content must be that of the earlier attempts. */
  readonly isSame: boolean;
}

/** Makes one attempt, as soon as a connection is free. */
async function attempted<Id extends Operation>(
  place: Place,
  { operation, echo, encode, options }: Call<Id>,
  { key, attemptMs, isSame }: Attempt,
): Promise<Answered<ReplyFor<Id>>> {
  const share = place.connections.of(operation);
  const waitedMs = await waitFor(share, { ...options, operation, giveUpMs: attemptMs });
  try {
    const leftMs = Math.max(attemptMs - waitedMs, Math.min(attemptMs, bounds.requestTimeoutMsMin));
    const isTimed = timedOperations.includes(operation);
    const body = encode(isTimed ? { request_timeout: `${Math.ceil(leftMs)}ms` } : {}, isSame);
    const giveUpMs = giveUpMsOf(operation, leftMs, key !== null);
    const path = operationPaths[operation];
    const silent = silentOf(place, { operation, options, leftMs });
    const goesTwice = mayGoTwice(operation, key);
    // A call that cannot be sent again may be slow, such as a clear, and a lease may wait.
    const isHeardSoon = operation !== "lease" && (goesTwice || echo === "same");
    const silentMs = isHeardSoon
      ? Math.min(silentMsMax, giveUpMs / 4) + body.length / bytesPerMs
      : null;
    const what = { operation, method: "POST", path, key, body } as const;
    const ends = { giveUpMs, silentMs, goesTwice, ...(silent && { silent }) };
    const { reply, receivedAt } = await sendSafely(place, { ...options, ...what, ...ends });
    return { reply: parsed<ReplyFor<Id>>(operation, reply), receivedAt };
  } finally {
    share.giveBack();
  }
}

/** Whether the client reports trouble: workers and iterations report their own. */
function reportsTrouble({ attemptsMax }: InnerOptions): boolean {
  return attemptsMax === undefined;
}

interface Silent extends Pick<Call<Operation>, "operation" | "options"> {
  readonly leftMs: number;
}

/** Reports that the call has no answer yet, unless the server has answered since the call began. */
function silentOf({ trouble }: Place, { operation, options, leftMs }: Silent) {
  if (!reportsTrouble(options)) return null;
  const begunAt = steadyNow();
  return (): void => {
    if (trouble.answeredAt >= begunAt) return;
    const message = `no answer from the server for ${Math.round(steadyNow() - begunAt)} ms`;
    const error = new OutcomeUnknown({ operation, status: null, message });
    trouble.tell({ operation, error, leftMs });
  };
}

interface Ends extends Pick<InnerOptions, "signal" | "leave"> {
  readonly operation: string;
  readonly giveUpMs: number;
}

/** Reserves a connection; returns how many milliseconds that took. */
async function waitFor(share: Share, ends: Ends): Promise<number> {
  throwIfLeft(ends);
  if (share.take()) return 0;
  const begunAt = steadyNow();
  const ending = endingOf(ends);
  const isTaken = await share.wait(ending.signal);
  ending.forget();
  if (isTaken) return steadyNow() - begunAt;
  throwIfLeft(ends);
  const message = `no connection was free in time; expected one within ${Math.round(ends.giveUpMs)} ms`;
  throw new NotInTime({ operation: ends.operation, status: null, message });
}

function throwIfLeft({ signal, leave }: Pick<InnerOptions, "signal" | "leave">): void {
  signal?.throwIfAborted();
  leave?.throwIfAborted();
}

/** Whether a copy may be sent in parallel: a late copy must not undo later calls. */
function mayGoTwice(operation: Operation, key: string | null): boolean {
  // A lease may wait without an answer.
  return operation !== "lease" && (key !== null || readOperations.includes(operation));
}

interface Sent extends Ends {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly key?: string | null;
  /** Time without an answer before it is sent again, or reported; `null` = no limit. */
  readonly silentMs: number | null;
  readonly goesTwice: boolean;
  /** Called after `silentMs` without an answer. */
  readonly silent?: () => void;
}

/** Sends a request, and a copy if there is no answer. */
function sendSafely(place: Place, sent: Sent): Promise<Answered<string>> {
  const { hosts, connections } = place;
  const { base } = hosts;
  const { operation, silentMs, goesTwice } = sent;
  if (silentMs === null) {
    return send(place, sent, { base, isApart: false, spentMs: 0, stops: [] });
  }
  const share = connections.of(operation);
  const begunAt = steadyNow();
  const dayAt = Date.now();
  return besideSilence({
    silentMs,
    silent: () => sent.silent?.(),
    addresses: () => (goesTwice ? hosts.beside(base) : []),
    connect: (address, over) => connections.forCopy(address, share, over),
    isTimely: () => !isForgotten(dayAt),
    begin: (address, stops) => {
      if (address === null) return send(place, sent, { base, isApart: false, spentMs: 0, stops });
      const spentMs = steadyNow() - begunAt;
      return send(place, sent, { base: address, isApart: true, spentMs, stops });
    },
    overtaken: (address) => hosts.leave(base, address),
  });
}

interface Way {
  readonly base: string;
  /** Use a new connection. */
  readonly isApart: boolean;
  /** How long ago the first request began: a copy ends at the same time. */
  readonly spentMs: number;
  /** Receives the function that cancels the request silently. */
  readonly stops: (() => void)[];
}

async function send(
  { hosts, headers, fetch }: Place,
  sent: Sent,
  { base, isApart, spentMs, stops }: Way,
): Promise<Answered<string>> {
  const { operation, method, path, body, giveUpMs } = sent;
  throwIfLeft(sent);
  const ending = endingOf(sent, spentMs);
  stops.push(ending.stop);
  try {
    const response = await fetch(base + path, {
      method,
      headers: headersOf(headers, sent),
      redirect: "error",
      signal: ending.signal,
      ...(body === undefined ? {} : { body }),
      // Disables Bun's limit of five minutes; other runtimes ignore the option.
      ...{ timeout: false },
      ...(isApart && { keepalive: false }),
    });
    ending.stay();
    const receivedAt = steadyNow();
    const text = await response.text();
    if (response.status !== 200) throw refusalOf(operation, response, text);
    return { reply: text, receivedAt };
  } catch (error) {
    const isUnreachable =
      error instanceof HoldfastError && ["unavailable", "unknown"].includes(error.code);
    if (isUnreachable) hosts.leave(base);
    if (error instanceof HoldfastError) throw error;
    throwIfLeft(sent);
    if (!ending.isStopped()) hosts.leave(base);
    const isUnanswered = ending.isLate() && !isUnsent(error);
    throw isUnanswered ? noAnswer(operation, giveUpMs) : brokenOff(operation, base, error);
  } finally {
    ending.forget();
  }
}

function headersOf(headers: Place["headers"], { body, key = null }: Sent): Record<string, string> {
  return {
    ...headers,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(key === null ? {} : { "idempotency-key": key }),
  };
}

/** Ends an exchange early: by `signal`, by `leave`, or when its time is up. */
function endingOf({ signal, leave, giveUpMs }: Ends, spentMs = 0) {
  const ending = new AbortController();
  let isLate = false;
  let isStopped = false;
  const onAbort = (): void => ending.abort(signal?.reason);
  const onLeave = (): void => ending.abort(leave?.reason);
  const cancel = startTimer(Math.max(0, giveUpMs - spentMs), () => {
    isLate = true;
    ending.abort();
  });
  signal?.addEventListener("abort", onAbort);
  leave?.addEventListener("abort", onLeave);
  /** From now on `leave` does not end it. */
  const stay = (): void => leave?.removeEventListener("abort", onLeave);
  const forget = (): void => {
    cancel();
    signal?.removeEventListener("abort", onAbort);
    stay();
  };
  const stop = (): void => {
    isStopped = true;
    ending.abort("over");
  };
  const is = { isLate: () => isLate, isStopped: () => isStopped };
  return { signal: ending.signal, ...is, stay, forget, stop };
}

/** A 200 that is not JSON is not the server's. */
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

function refusalOf(operation: string, { status, headers }: Incoming, text: string): HoldfastError {
  const body = jsonOf(text);
  const isReply =
    typeof body === "object" && body !== null && "code" in body && body.code === status;
  const refusal: Refused = {
    operation,
    status,
    message: `the answer is not the server's; expected a reply, got status ${status}`,
    retryAfterMs: (Number(headers.get("retry-after")) || 0) * 1_000,
  };
  // The server's HTTP parser answers without a body, and the call may have been carried out.
  if (status === 400 && text === "") return new OutcomeUnknown(refusal);
  if (!isReply) return errorOf(refusal, false);
  const { message, reason, details } = body as Pick<Refused, "reason" | "details"> & {
    message?: string;
  };
  return errorOf({ ...refusal, message: message ?? "", reason, details }, true);
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
