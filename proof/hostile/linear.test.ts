// Matches regular expressions against long texts built to cause backtracking. Quadratic patterns
// take minutes on these instead of milliseconds; a slow machine takes seconds.

import { expect, test } from "bun:test";
import { parseDuration } from "../../engine/model/duration.ts";
import { reasonClass } from "../../engine/model/filter.ts";
import { findKey } from "../../server/auth/api-keys.ts";
import { createAuthenticator } from "../../server/auth/authenticator.ts";
import { checkContentType, siteGuard } from "../../server/http/guards.ts";
import { silentLog } from "../../server/testing/memory-engine.ts";
import { parseBase64, parseInstant } from "../../server/wire/fields.ts";

const length = 400_000;
const longMs = 16_000;

const texts = [
  "1",
  "1m",
  "1.",
  ".",
  " ",
  "-",
  "a",
  "A=",
  "2026-01-01T00:00:00.",
  "9".repeat(50),
  "a-",
  "_-",
  "0f-",
].flatMap((piece) => {
  const text = piece.repeat(Math.ceil(length / piece.length));
  return [text, `${text}!`, `!${text}`];
});

const request = (name: string, value: string) =>
  new Request("http://localhost/", { headers: { [name]: value } });

const guard = siteGuard({ host: "0.0.0.0", allowedHosts: [], allowedOrigins: [] });
const authenticate = createAuthenticator({
  keys: { find: () => null },
  log: silentLog,
  now: () => 0,
});

test.each<[string, (text: string) => unknown]>([
  ["a duration", parseDuration],
  ["a date-time", parseInstant],
  ["base64", parseBase64],
  ["a reason", reasonClass],
  ["an API key", (text) => findKey(text, [])],
  [
    "a content type",
    (text) => checkContentType(request("content-type", `application/json${text}`)),
  ],
  ["a host", (text) => guard(request("host", text))],
  ["an origin", (text) => guard(request("origin", text))],
  [
    "an authorization",
    (text) => authenticate(request("authorization", `Bearer ${text}`), () => text),
  ],
])("linear: %s of 400 kB is read at once", (_, read) => {
  for (const text of texts) {
    const started = performance.now();
    try {
      read(text);
    } catch {
      // A refusal is as good as a parse.
    }
    expect(performance.now() - started).toBeLessThan(longMs);
  }
});
