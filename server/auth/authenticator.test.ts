import { expect, test } from "bun:test";
import { HttpError } from "../http/reply.ts";
import { createLog } from "../observability/log.ts";
import { knownKey } from "../testing/known-key.ts";
import { createAuthenticator } from "./authenticator.ts";
import { failedAuthLimits } from "./failed-auth-limiter.ts";

const { countMax, windowMs } = failedAuthLimits;

function setup() {
  const lines: string[] = [];
  const log = createLog({ level: "debug", write: (line) => lines.push(line) });
  let time = 0;
  const keys = { find: (key: string) => (key === "right" ? knownKey("billing") : null) };
  const authenticate = createAuthenticator({ keys, log, now: () => time });
  const attempt = (authorization: string | null, address: string | null = "10.0.0.1") => {
    const headers = authorization === null ? {} : { authorization };
    try {
      authenticate(new Request("http://localhost/", { headers }), () => address);
      return null;
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { code: error.code, message: error.message, headers: error.headers };
    }
  };
  return {
    attempt,
    lines,
    advance: (ms: number) => {
      time += ms;
    },
  };
}

const challenge = { "www-authenticate": 'Bearer realm="holdfast"' };

test.each(["Bearer right", "bearer right", "BEARER   right", "Bearer right "])(
  "authenticator: %p passes",
  (authorization) => {
    expect(setup().attempt(authorization)).toBeNull();
  },
);

test("authenticator: a request without a key gets 401 with the header to send", () => {
  expect(setup().attempt(null)).toEqual({
    code: 401,
    message: "API key is required; expected 'Authorization: Bearer KEY', got none",
    headers: challenge,
  });
});

test.each(["Bearer wrong", "Bearer rightx"])("authenticator: %p is an unknown key", (given) => {
  expect(setup().attempt(given)).toEqual({
    code: 401,
    message: "API key is invalid; the server does not know it",
    headers: challenge,
  });
});

test.each(["Basic cmlnaHQ=", "right", "Bearer", "Bearer right right", "Bearerright", ""])(
  "authenticator: %p is malformed",
  (given) => {
    expect(setup().attempt(given)).toEqual({
      code: 401,
      message: "authorization is invalid; expected 'Authorization: Bearer KEY', got another form",
      headers: challenge,
    });
  },
);

test("authenticator: after too many wrong keys an address must wait, while a valid key still passes", () => {
  const { attempt, advance, lines } = setup();
  for (let count = 0; count < countMax; count += 1) expect(attempt("Bearer wrong")?.code).toBe(401);
  advance(500);
  expect(attempt("Bearer wrong")).toEqual({
    code: 429,
    message: "too many wrong API keys; try again later",
    headers: { "retry-after": String(windowMs / 1_000) },
  });
  expect(attempt("Bearer wrong")?.code).toBe(429);
  expect(attempt("Bearer wrong", "10.0.0.2")?.code).toBe(401);
  expect(attempt("Bearer right")).toBeNull();
  // A client without a key is not guessing.
  expect(attempt(null)?.code).toBe(401);
  advance(windowMs);
  expect(attempt("Bearer wrong")?.code).toBe(401);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", event: "too many wrong API keys from one address", address: "10.0.0.1" },
  ]);
});

test("authenticator: unknown addresses share one count", () => {
  const { attempt } = setup();
  for (let count = 0; count < countMax; count += 1) attempt("Bearer wrong", null);
  expect(attempt("Bearer wrong", null)?.code).toBe(429);
});
