// One exchange over HTTP: sends a request, and a copy of it if there is no answer, and classifies
// the answer.

import type { Answered, InnerOptions } from "./call.ts";
import { describeCauses, isUnsent } from "./connection-errors.ts";
import type { Connections, Semaphore } from "./connections.ts";
import {
  errorOf,
  HoldfastError,
  NotInTime,
  OutcomeUnknown,
  type Refused,
  Unavailable,
} from "./errors.ts";
import { hedged } from "./hedge.ts";
import type { Hosts } from "./hosts.ts";
import { isKeyForgotten } from "./keys.ts";
import { startTimer, steadyNow } from "./time.ts";

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

/** The addresses, headers and connections that all requests share. */
export interface Endpoint {
  readonly hosts: Hosts;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly connections: Connections;
}

export interface ExchangeLimits extends Pick<InnerOptions, "signal" | "leave"> {
  readonly operation: string;
  readonly giveUpMs: number;
}

/** Reserves a connection; returns how many milliseconds that took. */
export async function waitForConnection(share: Semaphore, limits: ExchangeLimits): Promise<number> {
  throwIfAborted(limits);
  if (share.tryAcquire()) return 0;
  const startedAt = steadyNow();
  const cancellation = cancellationOf(limits);
  const isTaken = await share.acquire(cancellation.signal);
  cancellation.dispose();
  if (isTaken) return steadyNow() - startedAt;
  throwIfAborted(limits);
  const message = `no connection was free in time; expected one within ${Math.round(limits.giveUpMs)} ms`;
  throw new NotInTime({ operation: limits.operation, status: null, message });
}

function throwIfAborted({ signal, leave }: Pick<InnerOptions, "signal" | "leave">): void {
  signal?.throwIfAborted();
  leave?.throwIfAborted();
}

export interface HttpRequest extends ExchangeLimits {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly key?: string | null;
  /** Time without an answer before it is sent again, or reported; `null` = no limit. */
  readonly silentMs: number | null;
  readonly mayCopy: boolean;
  /** Called after `silentMs` without an answer. */
  readonly onSilence?: () => void;
}

/** Sends a request, and a copy if there is no answer. */
export function exchange(endpoint: Endpoint, request: HttpRequest): Promise<Answered<string>> {
  const { hosts, connections } = endpoint;
  const { base } = hosts;
  const { operation, silentMs, mayCopy } = request;
  if (silentMs === null) {
    return send(endpoint, request, { base, isNewConnection: false, spentMs: 0, stops: [] });
  }
  const share = connections.of(operation);
  const startedAt = steadyNow();
  const wallClockAt = Date.now();
  return hedged({
    silentMs,
    silent: () => request.onSilence?.(),
    addresses: () => (mayCopy ? hosts.copyAddresses(base) : []),
    connect: (address, over) => connections.forCopy(address, share, over),
    isTimely: () => !isKeyForgotten(wallClockAt),
    begin: (address, stops) => {
      if (address === null)
        return send(endpoint, request, { base, isNewConnection: false, spentMs: 0, stops });
      const spentMs = steadyNow() - startedAt;
      return send(endpoint, request, { base: address, isNewConnection: true, spentMs, stops });
    },
    overtaken: (address) => hosts.leave(base, address),
  });
}

interface SendOptions {
  readonly base: string;
  /** Whether to open a new connection. */
  readonly isNewConnection: boolean;
  /** How long ago the first request began: a copy ends at the same time. */
  readonly spentMs: number;
  /** Receives the function that cancels the request silently. */
  readonly stops: (() => void)[];
}

async function send(
  { hosts, headers, fetch }: Endpoint,
  request: HttpRequest,
  { base, isNewConnection, spentMs, stops }: SendOptions,
): Promise<Answered<string>> {
  const { operation, method, path, body, giveUpMs } = request;
  throwIfAborted(request);
  const cancellation = cancellationOf(request, spentMs);
  stops.push(cancellation.stop);
  try {
    const response = await fetch(base + path, {
      method,
      headers: headersOf(headers, request),
      redirect: "error",
      signal: cancellation.signal,
      ...(body === undefined ? {} : { body }),
      // Disables Bun's limit of five minutes; other runtimes ignore the option.
      ...{ timeout: false },
      ...(isNewConnection && { keepalive: false }),
    });
    cancellation.ignoreLeave();
    const receivedAt = steadyNow();
    const text = await response.text();
    if (response.status !== 200) throw refusalOf(operation, response, text);
    return { reply: text, receivedAt };
  } catch (error) {
    const isUnreachable =
      error instanceof HoldfastError && ["unavailable", "unknown"].includes(error.code);
    if (isUnreachable) hosts.leave(base);
    if (error instanceof HoldfastError) throw error;
    throwIfAborted(request);
    if (!cancellation.isStopped()) hosts.leave(base);
    const isUnanswered = cancellation.isLate() && !isUnsent(error);
    throw isUnanswered ? noAnswer(operation, giveUpMs) : connectionFailure(operation, base, error);
  } finally {
    cancellation.dispose();
  }
}

function headersOf(
  headers: Endpoint["headers"],
  { body, key = null }: HttpRequest,
): Record<string, string> {
  return {
    ...headers,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(key === null ? {} : { "idempotency-key": key }),
  };
}

/** Ends an exchange early: by `signal`, by `leave`, or when its time is up. */
function cancellationOf({ signal, leave, giveUpMs }: ExchangeLimits, spentMs = 0) {
  const controller = new AbortController();
  let isLate = false;
  let isStopped = false;
  const onAbort = (): void => controller.abort(signal?.reason);
  const onLeave = (): void => controller.abort(leave?.reason);
  const cancel = startTimer(Math.max(0, giveUpMs - spentMs), () => {
    isLate = true;
    controller.abort();
  });
  signal?.addEventListener("abort", onAbort);
  leave?.addEventListener("abort", onLeave);
  /** From now on `leave` does not end it. */
  const ignoreLeave = (): void => leave?.removeEventListener("abort", onLeave);
  const dispose = (): void => {
    cancel();
    signal?.removeEventListener("abort", onAbort);
    ignoreLeave();
  };
  const stop = (): void => {
    isStopped = true;
    controller.abort("over");
  };
  const is = { isLate: () => isLate, isStopped: () => isStopped };
  return { signal: controller.signal, ...is, ignoreLeave, dispose, stop };
}

export function jsonOf(text: string): unknown {
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
  const message = `no answer arrived in time; expected one within ${Math.round(giveUpMs)} ms`;
  return new OutcomeUnknown({ operation, status: null, message });
}

function connectionFailure(operation: string, url: string, cause: unknown): HoldfastError {
  const refused = { operation, status: null, cause };
  const reason = describeCauses(cause);
  return isUnsent(cause)
    ? new Unavailable({ ...refused, message: `the server cannot be reached at ${url}; ${reason}` })
    : new OutcomeUnknown({ ...refused, message: `the connection broke; ${reason}` });
}
