// Requests that are invalid on the wire: framing, heads, targets, other protocols. Each row lists
// the allowed outcomes; a row with one outcome fixes it.

import type { Outcome } from "./raw-exchange.ts";

export interface RawRow {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The allowed outcomes; `hangs` is never allowed. */
  readonly expected: readonly Outcome[];
}

const crlf = "\r\n";
const json = "Content-Type: application/json";
const stats = "POST /v1/queue.stats HTTP/1.1";
const body = '{"queue_name":"orders"}';
const produceBody = '{"queue_name":"orders","request_timeout":"1m","items":[{"utf8":"x"}]}';

/** Refused by the HTTP parser, with an answer or without one. */
const malformed = [400, "closed"] as const;

/** The outcomes for bytes that do not start like an HTTP request. */
const noFirstLine = [400, 505, "closed"] as const;

function head(...lines: readonly string[]): string {
  return lines.join(crlf) + crlf + crlf;
}

function get(target: string, ...lines: readonly string[]): string {
  return head(`GET ${target} HTTP/1.1`, "Host: localhost", ...lines);
}

/** A `stats` request with additional header lines, followed by `after`. */
function post(lines: readonly string[], after = body): string {
  return head(stats, "Host: localhost", json, ...lines) + after;
}

function chunked(...chunks: readonly string[]): string {
  const text = chunks.map((chunk) => `${chunk.length.toString(16)}${crlf}${chunk}${crlf}`);
  return `${text.join("")}0${crlf}${crlf}`;
}

const length = `Content-Length: ${body.length}`;
const inChunks = "Transfer-Encoding: chunked";

const rows: readonly (readonly [name: string, text: string, expected: readonly Outcome[]])[] = [
  // Control: the same request without a fault.
  ["a request in order", post([length]), [200]],
  [
    "a request in order, in chunks",
    post([inChunks], chunked('{"queue_', 'name":"orders"}')),
    [200],
  ],
  ["a page in order", get("/health"), [200]],

  ["oversize, declared", post(["Content-Length: 99999999"], ""), [413]],
  ["oversize, in chunks", post([inChunks], chunked("a".repeat(300_000))), [413]],
  ["oversize in one chunk's word", post([inChunks], `FFFFFFF${crlf}`), [413, 400, "closed"]],
  ["no length and no body", post([], ""), [400]],
  ["a length of 0", post(["Content-Length: 0"], ""), [400]],

  ["length and chunks", post([length, inChunks], chunked(body)), malformed],
  ["chunks and length", post([inChunks, length], chunked(body)), malformed],
  ["two lengths that differ", post([length, "Content-Length: 5"]), malformed],
  ["two lengths that agree", post([length, length]), [400]],
  ["a list of lengths", post([`Content-Length: ${body.length}, 5`]), malformed],
  ["a negative length", post(["Content-Length: -1"]), malformed],
  ["a length with a sign", post([`Content-Length: +${body.length}`]), malformed],
  ["a length in hex", post(["Content-Length: 0x17"]), malformed],
  [
    "a length beyond 64 bits",
    post(["Content-Length: 99999999999999999999999"]),
    [400, 413, "closed"],
  ],
  ["a length of words", post(["Content-Length: many"]), malformed],
  ["an empty length", post(["Content-Length:"]), malformed],
  ["an unknown coding", post(["Transfer-Encoding: xchunked"], chunked(body)), malformed],
  [
    "chunks that are not last",
    post(["Transfer-Encoding: chunked, gzip"], chunked(body)),
    malformed,
  ],
  ["chunks in capitals", post(["Transfer-Encoding: CHUNKED"], chunked(body)), [200, 400, "closed"]],
  ["identity", post(["Transfer-Encoding: identity", length]), [200, 400, "closed"]],
  [
    "chunks behind a tab",
    post(["Transfer-Encoding:\tchunked"], chunked(body)),
    [200, 400, "closed"],
  ],
  [
    "a coding with a blank before the colon",
    post(["Transfer-Encoding : chunked"], chunked(body)),
    malformed,
  ],
  ["a chunk of no number", post([inChunks], `zz${crlf}{}${crlf}0${crlf}${crlf}`), malformed],
  [
    "a chunk of a negative number",
    post([inChunks], `-2${crlf}{}${crlf}0${crlf}${crlf}`),
    malformed,
  ],
  ["a chunk beyond 64 bits", post([inChunks], `FFFFFFFFFFFFFFFFF${crlf}{}`), [400, 413, "closed"]],
  [
    "a chunk that is longer than said",
    post([inChunks], `1${crlf}{}${crlf}0${crlf}${crlf}`),
    malformed,
  ],
  [
    "chunks with an extension",
    post([inChunks], `17;a=b${crlf}${body}${crlf}0${crlf}${crlf}`),
    [200, 400, "closed"],
  ],
  [
    "chunks with trailers",
    post([inChunks], `17${crlf}${body}${crlf}0${crlf}X: y${crlf}${crlf}`),
    [200, 400, "closed"],
  ],
  ["chunks without an end", post([inChunks], `17${crlf}${body}${crlf}`), malformed],
  ["a body cut short", post([length], body.slice(0, 5)), malformed],
  ["a head cut short", `${stats}${crlf}Host: local`, malformed],

  ["bare line feeds", post([length]).replaceAll(crlf, "\n"), noFirstLine],
  ["a bare line feed in a line", post(["X: a\nY: b", length]), malformed],
  ["bare carriage returns", get("/health").replaceAll(crlf, "\r"), noFirstLine],
  ["a folded line", post(["X: a\r\n b", length]), malformed],
  ["a blank before a colon", post(["X : a", length]), malformed],
  ["a line without a colon", post(["nonsense", length]), malformed],
  ["a line without a name", post([": x", length]), malformed],
  ["a NUL in a name", post(["X\0: a", length]), malformed],
  ["a NUL in a value", post(["X: a\0b", length]), malformed],
  ["a control character in a value", post(["X: a\u0001b", length]), [200, 400, "closed"]],
  ["bytes above 127 in a value", post(["X: \u00e9\u00ff", length]), [200, 400, "closed"]],
  ["a head that starts with a blank line", crlf + get("/health"), [200, 400, "closed"]],
  ["a head that starts with a blank", ` ${get("/health")}`, noFirstLine],

  ["no Host", head("GET /health HTTP/1.1"), [400, 403, "closed"]],
  ["an empty Host", head("GET /health HTTP/1.1", "Host:"), [403]],
  ["two Hosts", head("GET /health HTTP/1.1", "Host: localhost", "Host: evil.example"), [403]],
  ["a foreign Host", head("GET /health HTTP/1.1", "Host: evil.example"), [403]],
  ["a Host with a blank", head("GET /health HTTP/1.1", "Host: local host"), [403]],
  ["a Host with a slash", head("GET /health HTTP/1.1", "Host: localhost/x"), [403]],
  ["a Host with a user", head("GET /health HTTP/1.1", "Host: localhost@evil.example"), [403]],
  ["a Host of 8 kB", head("GET /health HTTP/1.1", `Host: ${"h".repeat(8_000)}`), [403]],
  ["a foreign Origin", get("/health", "Origin: https://evil.example"), [403]],
  ["a null Origin", get("/health", "Origin: null"), [403]],
  [
    "a preflight from elsewhere",
    head(
      "OPTIONS /v1/queue.stats HTTP/1.1",
      "Host: localhost",
      "Origin: https://evil.example",
      "Access-Control-Request-Method: POST",
    ),
    [403],
  ],

  [
    "200 lines",
    get("/health", ...Array.from({ length: 200 }, (_, n) => `X-${n}: y`)),
    [200, 400, 431, "closed"],
  ],
  [
    "10,000 lines",
    get("/health", ...Array.from({ length: 10_000 }, (_, n) => `X-${n}: y`)),
    [400, 431, "closed"],
  ],
  ["a line of 64 kB", get("/health", `X: ${"y".repeat(65_536)}`), [400, 431, "closed"]],
  ["a line of 1 MB", get("/health", `X: ${"y".repeat(1_000_000)}`), [400, 431, "closed"]],
  ["a name of 64 kB", get("/health", `${"y".repeat(65_536)}: x`), [400, 431, "closed"]],
  [
    "a head without an end",
    `GET /health HTTP/1.1${crlf}${`X: ${"y".repeat(100)}${crlf}`.repeat(1_000)}`,
    [400, 431, "closed"],
  ],
  ["a target of 20 kB", get(`/${"x".repeat(20_000)}`), [400, 404, 414, 431, "closed"]],
  [
    "100 cookies",
    get("/health", ...Array.from({ length: 90 }, (_, n) => `Cookie: a${n}=b`)),
    [200],
  ],

  ["two requests at once", get("/health") + get("/health"), [200, "closed"]],
  ["a hundred requests at once", get("/health").repeat(100), [200, "closed"]],
  ["two posts at once", post([length]) + post([length]), [200, "closed"]],
  ["a request smuggled in a body", post(["Content-Length: 0"], get("/metrics")), [400, "closed"]],
  ["something behind a request", `${post([length])}nonsense`, [200, 400, "closed"]],

  ["TLS", `\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03${"\x00".repeat(160)}`, malformed],
  ["the preface of HTTP/2", `PRI * HTTP/2.0${crlf}${crlf}SM${crlf}${crlf}`, noFirstLine],
  [
    "an upgrade to HTTP/2",
    get(
      "/health",
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABk",
    ),
    [200],
  ],
  [
    "an upgrade to a socket of the web",
    get(
      "/health",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version: 13",
    ),
    [200],
  ],
  ["SSH", `SSH-2.0-OpenSSH_9.9${crlf}`, noFirstLine],
  ["SMTP", `EHLO example.com${crlf}`, noFirstLine],
  ["Redis", "*1\r\n$4\r\nPING\r\n", noFirstLine],
  ["HTTP/0.9", `GET /health${crlf}`, noFirstLine],
  ["HTTP/1.0", head("GET /health HTTP/1.0", "Host: localhost"), [200, 400, 505, "closed"]],
  ["HTTP/3.0", head("GET /health HTTP/3.0", "Host: localhost"), noFirstLine],
  ["no version", head("GET /health", "Host: localhost"), noFirstLine],
  ["two blanks in the first line", head("GET  /health HTTP/1.1", "Host: localhost"), noFirstLine],
  ["no target", head("GET HTTP/1.1", "Host: localhost"), noFirstLine],
  ["nothing but a line's end", crlf, malformed],
  ["nothing but NULs", "\0".repeat(1_000), noFirstLine],
  ["one byte", "G", malformed],

  ["an Expect that is known", post([length, "Expect: 100-continue"]), [200]],
  ["an Expect that is not", post([length, "Expect: 200-ok"]), [200, 400, 417, "closed"]],
  ["a method that is not", head("PROPFIND /v1/queue.stats HTTP/1.1", "Host: localhost"), [405]],
  [
    "a method in small letters",
    head("get /health HTTP/1.1", "Host: localhost"),
    [200, 400, 405, 501, "closed"],
  ],
  [
    "a method of 10 kB",
    head(`${"M".repeat(10_000)} /health HTTP/1.1`, "Host: localhost"),
    [400, 405, 431, "closed"],
  ],
  ["a trace", head("TRACE /health HTTP/1.1", "Host: localhost"), [400, 404, 405, 501, "closed"]],
  [
    "a tunnel",
    head("CONNECT localhost:22 HTTP/1.1", "Host: localhost"),
    [400, 403, 404, 405, 501, "closed"],
  ],
  [
    "a GET with a body",
    head("GET /health HTTP/1.1", "Host: localhost", json, length) + body,
    [200],
  ],
  ["a GET of an operation", get("/v1/queue.stats"), [405]],

  ["absolute form", get("http://evil.example/health"), [200]],
  ["absolute form of another scheme", get("file:///etc/passwd"), [400, 403, 404]],
  ["asterisk form", head("OPTIONS * HTTP/1.1", "Host: localhost"), [400, 404, 405, "closed"]],
  ["dot segments", get("/v1/../health"), [200]],
  ["dot segments, encoded", get("/v1/%2e%2e/health"), [200]],
  ["dot segments beyond the root", get("/../../../../etc/passwd"), [404]],
  ["dot segments beyond the root, encoded twice", get("/%252e%252e/%252e%252e/etc/passwd"), [404]],
  ["backslashes", get("/..\\..\\etc\\passwd"), [404]],
  ["a slash, encoded", get("/v1%2fqueue.stats"), [404]],
  ["a NUL, encoded", get("/health%00"), [404]],
  ["a NUL in the target", get("/health\0"), noFirstLine],
  ["bytes above 127 in the target", get("/h\u00e9alth"), [400, 404, "closed"]],
  ["an escape that is none", get("/%zz"), [404]],
  ["two slashes", get("//health"), [404]],
  ["two slashes and a name", get("//evil.example/health"), [404]],
  ["a fragment", get("/health#x"), [200, 400, 404]],
  ["no slash", get("health"), [200, 400, 404, "closed"]],
  ["a query of nonsense", get("/health?%00&&&===[]"), [200]],
  [
    "an operation's path with a slash behind it",
    head("POST /v1/queue.stats/ HTTP/1.1", "Host: localhost", json, length) + body,
    [404],
  ],
  [
    "an operation's path in capitals",
    head("POST /V1/QUEUE.STATS HTTP/1.1", "Host: localhost", json, length) + body,
    [404],
  ],

  [
    "a form",
    head(stats, "Host: localhost", "Content-Type: application/x-www-form-urlencoded", length) +
      body,
    [415],
  ],
  ["plain text", head(stats, "Host: localhost", "Content-Type: text/plain", length) + body, [415]],
  [
    "a type of 8 kB",
    head(stats, "Host: localhost", `Content-Type: application/json${" ".repeat(8_000)};x`, length) +
      body,
    [415],
  ],
  [
    "two types",
    head(stats, "Host: localhost", json, "Content-Type: text/plain", length) + body,
    [415],
  ],
  ["no type", head(stats, "Host: localhost", length) + body, [415]],
  ["gzip that is none", post([length, "Content-Encoding: gzip"]), [200]],
  [
    "credentials that are not required",
    post([length, "Authorization: Bearer x", "Cookie: a=b"]),
    [200],
  ],
  [
    "a produce in order",
    head(
      "POST /v1/queue.produce HTTP/1.1",
      "Host: localhost",
      json,
      `Content-Length: ${produceBody.length}`,
    ) + produceBody,
    [200],
  ],
];

export const rawCorpus: readonly RawRow[] = rows.map(([name, text, expected]) => ({
  name,
  bytes: Buffer.from(text, "latin1"),
  expected,
}));
