// Sends a call within its time, and repeats it if that is safe.

import { bounds } from "../openapi/bounds.ts";
import {
  type Answered,
  type Call,
  type CallOptions,
  checkCall,
  type Encode,
  type InnerOptions,
  timeoutMsDefault,
  timeoutMsOf,
} from "./call.ts";
import { openConnections } from "./connections.ts";
import { Busy, HoldfastError, OutcomeUnknown } from "./errors.ts";
import { type Endpoint, exchange, type Fetch, jsonOf, waitForConnection } from "./exchange.ts";
import { Hosts } from "./hosts.ts";
import { isKeyForgotten, keyOf, receiptsMs } from "./keys.ts";
import { ProduceBatcher } from "./produce-batcher.ts";
import {
  mayRepeat,
  type Pace,
  pause,
  pauseMs,
  type RepeatEffect,
  repeatEffectOf,
} from "./repeat.ts";
import { steadyNow } from "./time.ts";
import type { Tracing } from "./tracing.ts";
import { type ClientNotice, TroubleReporter } from "./trouble.ts";
import {
  type Operation,
  operationPaths,
  type ReplyFor,
  type RequestFor,
  readOperations,
  timedOperations,
} from "./wire.ts";

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

export interface Transport {
  readonly call: Call;
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

/** Time for the answer to arrive, which the server sends by `request_timeout`. */
const graceMs = 5_000;
/** The connection may be dead without an error; a call with a key is then repeated on another. */
const unansweredMsMax = 60_000;
/** After this time without an answer the call is also sent on another connection. */
const silentMsMax = 5_000;
/** A large request gets more time, for slow connections. */
const bytesPerMs = 100;

/** How long to wait for an answer, in milliseconds. */
export function giveUpMsOf(operation: Operation, timeoutMs: number, hasKey: boolean): number {
  const giveUpMs = timedOperations.includes(operation) ? timeoutMs + graceMs : timeoutMs;
  const isRepeated = hasKey && operation !== "lease";
  return isRepeated ? Math.min(giveUpMs, unansweredMsMax) : giveUpMs;
}

export function openTransport(options: TransportOptions): Transport {
  const context = contextOf(options);

  async function call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    callOptions: InnerOptions = {},
  ): Promise<Answered<ReplyFor<Id>>> {
    const effect = repeatEffectOf(operation, request);
    const encode: Encode = (timed) => JSON.stringify({ ...request, ...timed });
    return sendCall(context, { operation, effect, encode, options: callOptions });
  }

  const batcher = new ProduceBatcher((encode, callOptions) =>
    sendCall(context, { operation: "produce", effect: "twice", encode, options: callOptions }),
  );

  return {
    random: options.random,
    call,

    async produce(request, callOptions = {}) {
      checkCall("produce", callOptions);
      const { timeoutMs = timeoutMsOf("produce"), signal, key } = callOptions;
      const isAlone = !options.gather || key !== undefined || !batcher.takes(request, timeoutMs);
      if (isAlone) return call("produce", request, callOptions);
      return batcher.produce(request, { timeoutMs, signal });
    },

    async page(path, callOptions = {}, method = "GET") {
      checkCall(path.slice(1), callOptions);
      const { timeoutMs = timeoutMsDefault } = callOptions;
      const body = method === "POST" ? { body: "{}" } : {};
      const mayCopy = method === "GET";
      const silentMs = mayCopy ? silentMsMax : null;
      const limits = { ...callOptions, giveUpMs: timeoutMs, silentMs, mayCopy };
      const request = { ...limits, operation: path.slice(1), method, path, ...body };
      const { reply } = await exchange(context, request);
      return reply;
    },
  };
}

/** The endpoint and the rules of repetition that all calls share. */
interface CallContext
  extends Endpoint,
    Pick<TransportOptions, "random" | "attemptsMax" | "pace" | "keys"> {
  readonly trouble: TroubleReporter;
}

function contextOf({
  url,
  apiKey,
  connectionsMax,
  notice,
  ...options
}: TransportOptions): CallContext {
  const headers: Record<string, string> = { accept: "application/json" };
  if (apiKey) headers["authorization"] = `Bearer ${apiKey}`;
  return {
    ...options,
    headers,
    hosts: new Hosts(url),
    trouble: new TroubleReporter(notice),
    connections: openConnections(connectionsMax),
  };
}

interface OutgoingCall<Id extends Operation> {
  readonly operation: Id;
  readonly effect: RepeatEffect;
  readonly encode: Encode;
  readonly options: InnerOptions;
}

/** Sends a call until it has a final answer, or its time is up. */
async function sendCall<Id extends Operation>(
  context: CallContext,
  call: OutgoingCall<Id>,
): Promise<Answered<ReplyFor<Id>>> {
  const { operation, options } = call;
  checkCall(operation, options);
  const { timeoutMs = timeoutMsOf(operation), signal, leave } = options;
  const attemptsMax = Math.min(context.attemptsMax, options.attemptsMax ?? context.attemptsMax);
  const key = keyOf({ operation, given: options.key, keys: context.keys });
  const effect = key === null ? call.effect : "same";
  let endsAt = steadyNow() + timeoutMs;
  let followsUnknown = false;
  let firstStartedAt = 0;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = steadyNow();
    const wallClockAt = Date.now();
    const leftMs = Math.max(endsAt - startedAt, bounds.requestTimeoutMsMin);
    const attemptMs = attempt === 1 ? timeoutMs : leftMs;
    try {
      const answered = await attemptCall(context, call, { key, attemptMs, isSame: followsUnknown });
      context.trouble.answered();
      return answered;
    } catch (cause) {
      if (!(cause instanceof HoldfastError)) throw cause;
      const error = followsUnknown ? afterUnknown(cause, key) : cause;
      if (error.code === "unknown" && !followsUnknown) {
        followsUnknown = true;
        firstStartedAt = wallClockAt;
        if (key !== null) endsAt = Math.min(endsAt, startedAt + receiptsMs);
      }
      if (attempt >= attemptsMax || !mayRepeat({ operation, effect, error: cause })) throw error;
      const askedMs = cause instanceof Busy ? cause.retryAfterMs : 0;
      const spareMs = endsAt - steadyNow() - askedMs - bounds.requestTimeoutMsMin;
      if (spareMs <= 0) throw error;
      if (reportsTrouble(options)) {
        context.trouble.repeated(attempt, {
          operation,
          error: cause,
          leftMs: endsAt - steadyNow(),
        });
      }
      // At most half of the time left, so that the last attempt is close to the end.
      const pausedMs = Math.min(pauseMs(attempt, context.pace, context.random), spareMs / 2);
      await pause(askedMs + pausedMs, leave ?? signal);
      if (followsUnknown && key !== null && isKeyForgotten(firstStartedAt)) throw error;
    }
  }
}

/** The error to throw if an earlier attempt had no answer. */
function afterUnknown(error: HoldfastError, key: string | null): HoldfastError {
  // The server refuses the call itself; it would have recognized a call that was carried out.
  const isRefusal = error.status === 400 && error.reason !== undefined;
  if (error.code === "failed" || error.code === "empty" || isRefusal) {
    error.followsUnknown = key === null;
    return error;
  }
  if (error.code === "unknown") return error;
  const { operation, status, message } = error;
  const explained = `${message}; an earlier attempt had no answer`;
  return new OutcomeUnknown({ operation, status, message: explained, cause: error });
}

interface Attempt {
  readonly key: string | null;
  readonly attemptMs: number;
  /** The content must be that of the earlier attempts. */
  readonly isSame: boolean;
}

/** Makes one attempt, as soon as a connection is free. */
async function attemptCall<Id extends Operation>(
  context: CallContext,
  { operation, effect, encode, options }: OutgoingCall<Id>,
  { key, attemptMs, isSame }: Attempt,
): Promise<Answered<ReplyFor<Id>>> {
  const share = context.connections.of(operation);
  const waitedMs = await waitForConnection(share, { ...options, operation, giveUpMs: attemptMs });
  try {
    const leftMs = Math.max(attemptMs - waitedMs, Math.min(attemptMs, bounds.requestTimeoutMsMin));
    const isTimed = timedOperations.includes(operation);
    const body = encode(isTimed ? { request_timeout: `${Math.ceil(leftMs)}ms` } : {}, isSame);
    const giveUpMs = giveUpMsOf(operation, leftMs, key !== null);
    const path = operationPaths[operation];
    const onSilence = silenceReport(context, { operation, options, leftMs });
    const mayCopy = mayBeCopied(operation, key);
    // A call that cannot be sent again may be slow, such as a clear, and a lease may wait.
    const isAnsweredSoon = operation !== "lease" && (mayCopy || effect === "same");
    const silentMs = isAnsweredSoon
      ? Math.min(silentMsMax, giveUpMs / 4) + body.length / bytesPerMs
      : null;
    const request = { operation, method: "POST", path, key, body } as const;
    const limits = { giveUpMs, silentMs, mayCopy, ...(onSilence && { onSilence }) };
    const { reply, receivedAt } = await exchange(context, { ...options, ...request, ...limits });
    return { reply: parsed<ReplyFor<Id>>(operation, reply), receivedAt };
  } finally {
    share.release();
  }
}

/** Whether the client reports trouble: workers and iterations report their own. */
function reportsTrouble({ attemptsMax }: InnerOptions): boolean {
  return attemptsMax === undefined;
}

interface SilentCall extends Pick<OutgoingCall<Operation>, "operation" | "options"> {
  readonly leftMs: number;
}

/** Reports that the call has no answer yet, unless the server has answered since the call began. */
function silenceReport({ trouble }: CallContext, { operation, options, leftMs }: SilentCall) {
  if (!reportsTrouble(options)) return null;
  const startedAt = steadyNow();
  return (): void => {
    if (trouble.answeredAt >= startedAt) return;
    const message = `no answer from the server for ${Math.round(steadyNow() - startedAt)} ms`;
    const error = new OutcomeUnknown({ operation, status: null, message });
    trouble.report({ operation, error, leftMs });
  };
}

/** Whether a copy may be sent in parallel: a late copy must not undo later calls. */
function mayBeCopied(operation: Operation, key: string | null): boolean {
  // A lease may wait without an answer.
  return operation !== "lease" && (key !== null || readOperations.includes(operation));
}

/** A 200 that is not JSON does not come from the server. */
function parsed<T>(operation: string, text: string): T {
  const reply = jsonOf(text);
  if (typeof reply === "object" && reply !== null) return reply as T;
  const message = `the answer is not the server's; expected JSON, got '${text.slice(0, 40)}'`;
  throw new OutcomeUnknown({ operation, status: 200, message });
}
