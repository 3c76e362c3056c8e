// Who is let in, where the server has API keys: whoever sends one of them. A right key
// always passes, so that nobody can lock out others who share an address with him; how
// many wrong ones an address may try is bounded.

import { Refusal } from "../http/reply.ts";
import type { Log } from "../observability/log.ts";
import { Failures } from "./failed-auth-limiter.ts";
import type { KnownKey } from "./key-file.ts";

export interface Keys {
  /** `null` = it is none of them. */
  find(key: string): KnownKey | null;
}

/**
 * Returns the request's key, or throws a `Refusal`. `addressOf` is asked only when a key is
 * wrong; `null` = not known.
 */
export type Door = (request: Request, addressOf: () => string | null) => KnownKey;

export interface DoorOptions {
  /** That have a door each; default 1. */
  readonly threads?: number;
  readonly keys: Keys;
  readonly log: Log;
  /** Milliseconds from any start. */
  readonly now: () => number;
}

const bearer = /^Bearer +([^\s]+) *$/i;

export function openDoor({ keys, log, now, threads = 1 }: DoorOptions): Door {
  const failures = new Failures(now, threads);
  return (request, addressOf) => {
    const given = request.headers.get("authorization");
    if (given === null) {
      throw unauthorized("API key is required; expected 'Authorization: Bearer KEY', got none");
    }
    const key = bearer.exec(given)?.[1];
    const known = key === undefined ? null : keys.find(key);
    if (known !== null) return known;

    const address = addressOf() ?? "unknown";
    const { isFirstTooMany, waitMs } = failures.add(address);
    if (isFirstTooMany) log.warn("too many wrong API keys from one address", { address });
    if (waitMs > 0) {
      throw new Refusal("wrong_keys", "too many wrong API keys; try again later", {
        "retry-after": String(Math.ceil(waitMs / 1_000)),
      });
    }
    throw unauthorized(
      key === undefined
        ? "authorization is invalid; expected 'Authorization: Bearer KEY', got another form"
        : "API key is invalid; expected one that this server knows, got another",
    );
  };
}

function unauthorized(message: string): Refusal {
  return new Refusal("unauthorized", message, { "www-authenticate": 'Bearer realm="holdfast"' });
}
