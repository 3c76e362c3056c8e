// Leases in a loop, for workers and iterations. An empty lease is repeated at once, transient
// errors after a pause, and permanent errors are thrown.

import { timeoutMsOf } from "./call.ts";
import { HoldfastError, InvalidRequest } from "./errors.ts";
import { type Lease, openLease } from "./lease.ts";
import { randomName } from "./names.ts";
import { type Checks, call, length, priority, text } from "./options.ts";
import { type Pace, pause, pauseMs } from "./repeat.ts";
import { steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface PollOptions {
  /** Name under which the consumer waits at the server; default a random name. */
  readonly clientId?: string;
  /** How long one lease request waits at the server for items; default 1 minute. */
  readonly timeoutMs?: number;
  /** Duration of a lease, such as `30s`; default each item's, or the queue's. */
  readonly leaseTimeout?: string;
  /** Leases no items of a lower priority; default 0. */
  readonly priorityMin?: number;
  /** Receives transient errors; the lease is then repeated after a pause. */
  readonly trouble?: (error: HoldfastError) => void;
  /** Receives the new name if another consumer already waits under `clientId`. */
  readonly renamed?: (clientId: string) => void;
}

export const pollChecks: Checks<PollOptions> = {
  clientId: text,
  timeoutMs: length,
  leaseTimeout: text,
  priorityMin: priority,
  trouble: call,
  renamed: call,
};

export interface LeasePoller {
  /** The next lease; `null` = `leave` was aborted. */
  next(batch: number): Promise<Lease | null>;
}

/** Attempts of one call before the error is reported. The loop then repeats the call. */
export const loopAttemptsMax = 8;
const nameBytes = 8;
const ignore = (): void => undefined;
const troublePace: Pace = { baseMs: 200, capMs: 10_000 };

export interface PollSource extends PollOptions {
  readonly transport: Transport;
  readonly queue: string;
  /** Aborted when no more leases are wanted; one whose answer has begun is still returned. */
  readonly leave: AbortSignal;
}

export function openLeasePoller({ transport, queue, leave, ...options }: PollSource): LeasePoller {
  const {
    clientId = randomName(nameBytes),
    timeoutMs,
    leaseTimeout,
    priorityMin,
    trouble = ignore,
    renamed = ignore,
  } = options;
  const wanted = wantedFields({ leaseTimeout, priorityMin });
  let name = clientId;
  /** Requests without an answer, and until when the last of them may still wait at the server. */
  let unanswered = 0;
  let unansweredUntil = 0;
  return {
    async next(batch) {
      let troubles = 0;
      while (!leave.aborted) {
        // Another name, so that our own unanswered request does not make this one a duplicate.
        const client_id = steadyNow() < unansweredUntil ? `${name}-${unanswered}` : name;
        const request = { queue_name: queue, client_id, batch_size: batch, ...wanted };
        try {
          const lease = await transport.call("lease", request, {
            leave,
            attemptsMax: loopAttemptsMax,
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          });
          return openLease({ call: transport.call, leaseTimeout, ...lease });
        } catch (error) {
          if (leave.aborted) break;
          if (isNameTaken(error)) {
            name = `${clientId}-${randomName(nameBytes)}`;
            renamed(name);
            continue;
          }
          if (!(error instanceof HoldfastError) || !isTransient(error)) throw error;
          if (error.code === "empty") {
            troubles = 0;
            continue;
          }
          if (error.code === "unknown") {
            unanswered += 1;
            unansweredUntil = steadyNow() + (timeoutMs ?? timeoutMsOf("lease"));
          }
          troubles += 1;
          trouble(error);
          await pause(pauseMs(troubles, troublePace, transport.random), leave);
        }
      }
      return null;
    },
  };
}

/** The fields of a lease request that are the same for each of its kind. */
export function wantedFields({
  leaseTimeout,
  priorityMin,
}: {
  readonly leaseTimeout: string | undefined;
  readonly priorityMin: number | undefined;
}) {
  return {
    lease_timeout: leaseTimeout ?? null,
    ...(priorityMin === undefined ? {} : { priority_min: priorityMin }),
  };
}

/** The contract has no reason code for this, only a text. */
function isNameTaken(error: unknown): boolean {
  return error instanceof InvalidRequest && error.message.startsWith("duplicate client id;");
}

/** Whether a later attempt may succeed. */
export function isTransient(error: HoldfastError): boolean {
  switch (error.code) {
    case "empty":
    case "late":
    case "busy":
    case "store":
    case "unavailable":
    case "unknown":
      return true;
    case "invalid":
    case "unauthorized":
    case "failed":
      return false;
  }
}
