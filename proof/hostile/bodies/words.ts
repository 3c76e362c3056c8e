// Values that often break programs, by their meaning on the wire. A client that follows the
// contract sends `good` ones; most of the others are refused.

const long = (text: string, length: number) => text.repeat(Math.ceil(length / text.length));

export const durations = {
  good: ["10ms", "300ms", "1.5s", "1m", "5m", "15m"],
  bad: [
    "",
    " ",
    "0",
    "60",
    "-1s",
    "+-1s",
    "1",
    "s",
    ".s",
    "1m 2s",
    "1M",
    "1w",
    "1e3s",
    "1e9h",
    "NaN",
    "Infinity",
    "9999999999h",
    "0.0000001ms",
    "16m",
    "9ms",
    "٣s",
    "１m",
    "1\u00b5",
    "1m\u0000",
    "0x10s",
    long("9", 10_000),
    `${long("1m", 10_000)}`,
  ],
} as const;

export const timeouts = {
  good: ["1s", "60m", "1h30m", "24h", "8784h"],
  bad: [...durations.bad, "8785h", "0s", "1ms2", "000000000000001m"],
} as const;

export const instants = {
  good: [
    "2026-03-01T12:00:00Z",
    "2026-03-01T12:00:00.123456789+02:00",
    "9999-12-31T23:59:59Z",
    "2026-03-01 12:00:00.0000",
    "0001-01-01T00:00:00Z",
    "",
  ],
  bad: [
    "now",
    "0",
    "2026",
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T23:59:60Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00+00:60",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00.1234567890Z",
    "2026-01-01T00:00:00Z ",
    "+012026-01-01T00:00:00Z",
    "-000001-01-01T00:00:00Z",
    "20260101T000000Z",
    "٢٠٢٦-01-01T00:00:00Z",
    "2026-01-01T00:00:00[Europe/Berlin]",
    long("2", 10_000),
  ],
} as const;

export const base64 = {
  good: ["", "AA==", "AA==\n", "A\r\nA", "AA", "_-8", "/+8=", "eyJvcmRlciI6NDJ9"],
  bad: ["A", "====", "@@@@", "AA=", "AA===", "A A=", "AB==", "é", long("A", 10_001)],
} as const;

export const queueNames = {
  /** Names of queues that may be missing. */
  odd: [
    "__proto__",
    "constructor",
    "toString",
    "..",
    ".",
    "a/b",
    "../../etc/passwd",
    "%2e%2e",
    "a\\b",
    "'; DROP TABLE items; --",
    "é",
    "e\u0301",
    "😀",
    "\u202e",
    long("n", 512),
  ],
  bad: [
    "",
    " ",
    "a b",
    "a~b",
    "a\u0000b",
    "a\nb",
    "\u007f",
    "\u00a0",
    "\u2028",
    "\ufeffa",
    long("n", 513),
    long("n", 4_096),
    long("😀", 600),
  ],
} as const;

/** Free texts, which must be stored unchanged or refused. */
export const texts = {
  good: ["", "order-placed", "é", "😀", "\u0000", "\u202e", "\ufeff", "__proto__", "\\", '"', "\n"],
  bad: ["\ud800", "a\udeadb", "\udc00\ud800"],
} as const;

export const ids = {
  bad: [
    "",
    "x",
    "0",
    "-1",
    "1h0LdFaStQ2vX000000000000Kd",
    "000000000000000000000000000",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzz",
    "ZZZZZZZZZZZZZZZZZZZZZZZZZZZ",
    "1h0LdFaStQ2vX000000000000K ",
    "1h0LdFaStQ2vX000000000000K\u0000",
    "1h0LdFaStQ2vX000000000000Kdd",
    "__proto__",
    "😀😀😀😀😀😀😀😀😀😀😀😀😀",
    long("1", 10_000),
  ],
} as const;
