// Authenticates requests by API key. A valid key always passes, so that a client with a wrong one
// cannot lock out others behind the same address. Wrong keys are limited per address.

import { HttpError } from "../http/reply.ts";
import type { Log } from "../observability/log.ts";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import type { KnownKey } from "./key-file.ts";

export interface Keys {
  /** `null` = an unknown key. */
  find(key: string): KnownKey | null;
}

/**
 * Returns the request's key, or throws an `HttpError`. `addressOf` is called only when the key is
 * wrong; `null` = unknown.
 */
export type Authenticator = (request: Request, addressOf: () => string | null) => KnownKey;

export interface AuthenticatorOptions {
  /** Number of threads, each with its own authenticator; default 1. */
  readonly threads?: number;
  readonly keys: Keys;
  readonly log: Log;
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number;
}

const bearer = /^Bearer +([^\s]+) *$/i;

export function createAuthenticator({
  keys,
  log,
  now,
  threads = 1,
}: AuthenticatorOptions): Authenticator {
  const limiter = new FailedAuthLimiter(now, threads);
  return (request, addressOf) => {
    const given = request.headers.get("authorization");
    if (given === null) {
      throw unauthorized("API key is required; expected 'Authorization: Bearer KEY', got none");
    }
    const key = bearer.exec(given)?.[1];
    const known = key === undefined ? null : keys.find(key);
    if (known !== null) return known;

    const address = addressOf() ?? "unknown";
    const { isFirstTooMany, waitMs } = limiter.add(address);
    if (isFirstTooMany) log.warn("too many wrong API keys from one address", { address });
    if (waitMs > 0) {
      throw new HttpError("wrong_keys", "too many wrong API keys; try again later", {
        "retry-after": String(Math.ceil(waitMs / 1_000)),
      });
    }
    throw unauthorized(
      key === undefined
        ? "authorization is invalid; expected 'Authorization: Bearer KEY', got another form"
        : "API key is invalid; the server does not know it",
    );
  };
}

function unauthorized(message: string): HttpError {
  return new HttpError("unauthorized", message, { "www-authenticate": 'Bearer realm="holdfast"' });
}
