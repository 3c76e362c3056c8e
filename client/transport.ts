// One call as HTTP: sent, bounded in time, judged, and sent again where that is right.

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
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * How long the call may take, repeats included; it is the `request_timeout` of the calls that
   * have one. Default 1 minute for a lease, 5 minutes for any other.
   */
  readonly timeoutMs?: number;
  /**
   * Names a produce, lease, retry, complete, extend, release or transact: 1 to 255 visible ASCII characters.
   * For 5 minutes after it was done, the server answers the same call of the same key as it did
   * then, and does nothing; so a program that was killed can ask again. Default a random one.
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

/** A check of options, whose failure is that of the call. */
export function refusing(operation: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new InvalidRequest({ operation, status: null, message: cause.message, cause });
  }
}

/** For the client's own use. */
export interface InnerOptions extends CallOptions {
  /** Like `signal`, but what has begun to be answered is still read. */
  readonly leave?: AbortSignal;
  /** Sent at most so often: who goes on after an error wants to hear of it before its time is up. */
  readonly attemptsMax?: number;
}

export interface Outgoing extends RequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** What is needed of a `Response`. */
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
  /** Calls under way at once, and so connections. */
  readonly connectionsMax: number;
  /** Whether calls have a key of which the caller gives none. */
  readonly keys: boolean;
  /** Whether produces go together that come together. */
  readonly gather: boolean;
  readonly notice: (notice: ClientNotice) => void;
}

export interface Answered<T> {
  readonly reply: T;
  /** When it began to arrive, as `steadyNow()` has it. */
  readonly receivedAt: number;
}

/**
 * The text of a request, for each attempt anew. `isSame`: one that was sent before may have been
 * carried out, so it has to say what that one said.
 */
export type Encode = (timed: { readonly request_timeout?: string }, isSame: boolean) => string;

export interface Transport {
  call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    options?: InnerOptions,
  ): Promise<Answered<ReplyFor<Id>>>;
  /** As `call`, but it may go together with others. */
  produce(
    request: RequestFor<"produce">,
    options?: CallOptions,
  ): Promise<Answered<ReplyFor<"produce">>>;
  /** Text of a page of the server, such as `/metrics`. */
  page(path: string, options?: CallOptions, method?: "GET" | "POST"): Promise<string>;
  random(): number;
  /** Where the program traces. */
  readonly tracing?: Tracing;
}

const timeoutMsDefault = 5 * 60_000;
const leaseTimeoutMsDefault = 60_000;
/** The server answers by `request_timeout`; until that has come here, giving up would be hasty. */
const graceMs = 5_000;
/** The connection may be gone without a word; by its key the call can be asked for on another. */
const silenceMsMax = 60_000;
/** After so long without an answer it is tried on another connection, too. */
const silentMsMax = 5_000;
/** A slow line is given time to take a large request. */
const bytesPerMs = 100;

export function timeoutMsOf(operation: Operation): number {
  return operation === "lease" ? leaseTimeoutMsDefault : timeoutMsDefault;
}

/** When no answer is expected any more. */
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

/** Where requests go, what all of them carry, and how they are repeated. */
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

/** Sends it until it is answered for good, or its time is up. */
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
      if (tells(options)) {
        place.trouble.repeated(attempt, { operation, error: cause, leftMs: endsAt - steadyNow() });
      }
      // What is left is halved, so that the last attempt is not long before the end.
      const pausedMs = Math.min(pauseMs(attempt, place.pace, place.random), spareMs / 2);
      await pause(askedMs + pausedMs, leave ?? signal);
      if (followsUnknown && key !== null && isForgotten(begunFirst)) throw error;
    }
  }
}

/**
 * By the clock of the day, as the steady one stands still while a machine is suspended: the server goes
 * on, and forgets keys. A clock that is set ahead only ends a call early.
 */
function isForgotten(begunAt: number): boolean {
  return Date.now() - begunAt > receiptsMs;
}

/** What an answer means of a call that was sent before, when nothing was heard of it. */
function afterUnknown(error: HoldfastError, key: string | null): HoldfastError {
  // The server's word on the call itself: it would have known one that was carried out.
  const isWord = error.status === 400 && error.reason !== undefined;
  if (error.code === "failed" || error.code === "empty" || isWord) {
    error.followsUnknown = key === null;
    return error;
  }
  if (error.code === "unknown") return error;
  const { operation, status, message } = error;
  const unheard = `${message}; an attempt before had no answer`;
  return new OutcomeUnknown({ operation, status, message: unheard, cause: error });
}

interface Attempt {
  readonly key: string | null;
  readonly attemptMs: number;
  /** It has to say what the attempts before it said. */
  readonly isSame: boolean;
}

/** One attempt, when there is a connection for it. */
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
    // What cannot be sent again may take its time, as a clear does; a lease waits by right.
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

/** Whether the client tells of its trouble: a worker and the like do so themselves. */
function tells({ attemptsMax }: InnerOptions): boolean {
  return attemptsMax === undefined;
}

interface Silent extends Pick<Call<Operation>, "operation" | "options"> {
  readonly leftMs: number;
}

/** Reports that the call has no answer yet, unless a call that began later was answered. */
function silentOf({ trouble }: Place, { operation, options, leftMs }: Silent) {
  if (!tells(options)) return null;
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

/** Takes one of the share, and says how long that took. */
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

/** Whether a copy may be under way beside the first: one that comes late must not undo what followed. */
function mayGoTwice(operation: Operation, key: string | null): boolean {
  // A lease may wait in silence.
  return operation !== "lease" && (key !== null || readOperations.includes(operation));
}

interface Sent extends Ends {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly key?: string | null;
  /** How long no answer may come before it is sent again, or reported; `null`: as long as it takes. */
  readonly silentMs: number | null;
  readonly goesTwice: boolean;
  /** Called after that time. */
  readonly silent?: () => void;
}

/** Sends a request, and once more when it is not answered. */
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
  /** On a connection that no other call has used. */
  readonly isApart: boolean;
  /** A copy ends with the first request, which began so long before. */
  readonly spentMs: number;
  /** Gets what ends it without a word. */
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
      // Bun's own limit is five minutes; others do not know the key.
      ...{ timeout: false },
      ...(isApart && { keepalive: false }),
    });
    ending.stay();
    const receivedAt = steadyNow();
    const text = await response.text();
    if (response.status !== 200) throw refusalOf(operation, response, text);
    return { reply: text, receivedAt };
  } catch (error) {
    const isAway =
      error instanceof HoldfastError && ["unavailable", "unknown"].includes(error.code);
    if (isAway) hosts.leave(base);
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

/** What may end an exchange before its end: who gives it up, who leaves, and its time. */
function endingOf({ signal, leave, giveUpMs }: Ends, spentMs = 0) {
  const ending = new AbortController();
  let isLate = false;
  let isStopped = false;
  const giveUp = (): void => ending.abort(signal?.reason);
  const goAway = (): void => ending.abort(leave?.reason);
  const cancel = startTimer(Math.max(0, giveUpMs - spentMs), () => {
    isLate = true;
    ending.abort();
  });
  signal?.addEventListener("abort", giveUp);
  leave?.addEventListener("abort", goAway);
  /** From now on leaving does not end it. */
  const stay = (): void => leave?.removeEventListener("abort", goAway);
  const forget = (): void => {
    cancel();
    signal?.removeEventListener("abort", giveUp);
    stay();
  };
  const stop = (): void => {
    isStopped = true;
    ending.abort("over");
  };
  const is = { isLate: () => isLate, isStopped: () => isStopped };
  return { signal: ending.signal, ...is, stay, forget, stop };
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

function refusalOf(operation: string, { status, headers }: Incoming, text: string): HoldfastError {
  const body = jsonOf(text);
  const isReply =
    typeof body === "object" && body !== null && "code" in body && body.code === status;
  const said: Refused = {
    operation,
    status,
    message: `the answer is not the server's; expected a reply, got status ${status}`,
    retryAfterMs: (Number(headers.get("retry-after")) || 0) * 1_000,
  };
  // The server's parser of HTTP says so without a body, and the call may have been carried out.
  if (status === 400 && text === "") return new OutcomeUnknown(said);
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
