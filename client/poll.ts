// Leases one after the other: an empty queue is asked again, trouble is waited out, and what
// can never succeed is thrown. Worker and iteration both live on it.

import { HoldfastError, InvalidRequest } from "./errors.ts";
import { type Lease, openLease } from "./lease.ts";
import { randomName } from "./names.ts";
import { type Checks, call, length, text } from "./options.ts";
import { type Pace, pause, pauseMs } from "./repeat.ts";
import { steadyNow } from "./time.ts";
import { type Transport, timeoutMsOf } from "./transport.ts";

export interface PollOptions {
  /** Names the consumer in the server's line; default a random name. */
  readonly clientId?: string;
  /** How long a lease waits at the server before it is asked for again; default 1 minute. */
  readonly timeoutMs?: number;
  /** How long to hold the items of a lease, as a duration; default as long as the queue says. */
  readonly leaseTimeout?: string;
  /** Told of what is waited out. */
  readonly trouble?: (error: HoldfastError) => void;
  /** Told of the name it goes on under, where another consumer waits under its own already. */
  readonly renamed?: (clientId: string) => void;
}

export const pollChecks: Checks<PollOptions> = {
  clientId: text,
  timeoutMs: length,
  leaseTimeout: text,
  trouble: call,
  renamed: call,
};

export interface Poll {
  /** The next lease; `null` = it was left. */
  next(batch: number): Promise<Lease | null>;
}

/** Attempts before trouble is told; what goes on after it is the loop's. */
export const loopAttemptsMax = 8;
const nameBytes = 8;
const nobody = (): void => undefined;
const troublePace: Pace = { baseMs: 200, capMs: 10_000 };

export interface PollSource extends PollOptions {
  readonly transport: Transport;
  readonly queue: string;
  /** Aborted when no more leases are wanted; one that is being answered is still handed over. */
  readonly leave: AbortSignal;
}

export function openPoll({ transport, queue, leave, ...options }: PollSource): Poll {
  const {
    clientId = randomName(nameBytes),
    timeoutMs,
    leaseTimeout,
    trouble = nobody,
    renamed = nobody,
  } = options;
  let name = clientId;
  /** Asks that ended without an answer, and until when the last of them may wait at the server. */
  let unheard = 0;
  let unheardUntil = 0;
  return {
    async next(batch) {
      let troubles = 0;
      while (!leave.aborted) {
        // One of ours that waits still is not to stand in our way.
        const client_id = steadyNow() < unheardUntil ? `${name}-${unheard}` : name;
        const lease_timeout = leaseTimeout ?? null;
        const request = { queue_name: queue, client_id, batch_size: batch, lease_timeout };
        try {
          const lease = await transport.call("lease", request, {
            leave,
            attemptsMax: loopAttemptsMax,
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          });
          return openLease({ transport, leaseTimeout, ...lease });
        } catch (error) {
          if (leave.aborted) break;
          if (isNameTaken(error)) {
            name = `${clientId}-${randomName(nameBytes)}`;
            renamed(name);
            continue;
          }
          if (!(error instanceof HoldfastError) || !passes(error)) throw error;
          if (error.code === "empty") {
            troubles = 0;
            continue;
          }
          if (error.code === "unknown") {
            unheard += 1;
            unheardUntil = steadyNow() + (timeoutMs ?? timeoutMsOf("lease"));
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

/** The contract has no code for it, only a text. */
function isNameTaken(error: unknown): boolean {
  return error instanceof InvalidRequest && error.message.startsWith("duplicate client id;");
}

/** Whether asking again later can help. */
export function passes(error: HoldfastError): boolean {
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
