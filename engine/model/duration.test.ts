import { expect, test } from "bun:test";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["0", 0],
  ["0s", 0],
  ["+5s", 5000],
  ["-0s", 0],
  ["300ms", 300],
  ["1.5s", 1500],
  [".5s", 500],
  ["1.s", 1000],
  ["60m", 3_600_000],
  ["24h", 86_400_000],
  ["1h30m", 5_400_000],
  ["1h1m1s1ms", 3_661_001],
  ["30m1h", 5_400_000],
  ["1.001s", 1001],
  ["4.35s", 4350],
  ["8784h", 31_622_400_000],
  ["7d", 604_800_000],
  ["1d12h", 129_600_000],
  ["0.5d", 43_200_000],
  ["1000000us", 1000],
  ["1000000\u00b5s", 1000],
  ["1000000\u03bcs", 1000],
  ["00000000000000000000000000000001s", 1000],
  ["0.333333333333333333333333333333333h", 1_200_000],
] as const)("parse: %s is a duration", (text, ms) => {
  expect(parseDuration(text)).toEqual({ ok: true, ms });
});

test.each(["1ns", "500us", "999999ns", "0.1ms"])("parse: %s rounds up to 1 ms", (text) => {
  expect(parseDuration(text)).toEqual({ ok: true, ms: 1 });
});

test("parse: a fraction of a millisecond rounds up", () => {
  expect(parseDuration("1.0001s")).toEqual({ ok: true, ms: 1001 });
  expect(parseDuration("0.0000001ms")).toEqual({ ok: true, ms: 0 });
});

test.each([
  ["", 'time: invalid duration ""'],
  ["+", 'time: invalid duration "+"'],
  ["foo", 'time: invalid duration "foo"'],
  [".", 'time: invalid duration "."'],
  [".s", 'time: invalid duration ".s"'],
  ["1..5s", 'time: missing unit in duration "1..5s"'],
  ["--1s", 'time: invalid duration "--1s"'],
  ["1h-5m", 'time: unknown unit "h-" in duration "1h-5m"'],
  ["10", 'time: missing unit in duration "10"'],
  ["1.5", 'time: missing unit in duration "1.5"'],
  ["1h5", 'time: missing unit in duration "1h5"'],
  ["7w", 'time: unknown unit "w" in duration "7w"'],
  ["never", 'time: invalid duration "never"'],
  ["1S", 'time: unknown unit "S" in duration "1S"'],
  ["1m 2s", 'time: unknown unit "m " in duration "1m 2s"'],
  [" 1s", 'time: invalid duration " 1s"'],
  ["1s ", 'time: unknown unit "s " in duration "1s "'],
  ["1e9h", 'time: unknown unit "e" in duration "1e9h"'],
  ["\u0661s", 'time: invalid duration "\u0661s"'],
  ["1__proto__", 'time: unknown unit "__proto__" in duration "1__proto__"'],
  ["1constructor", 'time: unknown unit "constructor" in duration "1constructor"'],
  ["2562048h", 'time: invalid duration "2562048h"'],
  [`${"9".repeat(400)}ns`, `time: invalid duration "${"9".repeat(40)}…"`],
  ["-1s", 'time: negative duration "-1s"'],
] as const)("parse: %p is refused", (text, message) => {
  expect(parseDuration(text)).toEqual({ ok: false, message });
});

test("parse: takes time linear in the length of the text", () => {
  // Without a linear parser one of them would exceed the test's time limit.
  const texts = ["9", "1s", ".", "x", "1.", "0.1s", "-"].map((part) => part.repeat(5_000_000));
  for (const text of texts) parseDuration(text);
});

test.each([
  [0, "0s"],
  [1, "1ms"],
  [999, "999ms"],
  [1000, "1s"],
  [1500, "1.5s"],
  [1001, "1.001s"],
  [60_000, "1m0s"],
  [90_500, "1m30.5s"],
  [960_000, "16m0s"],
  [3_600_000, "1h0m0s"],
  [5_400_000, "1h30m0s"],
  [86_400_000, "24h0m0s"],
  [3_661_001, "1h1m1.001s"],
] as const)("format: %d ms", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
  expect(parseDuration(text)).toEqual({ ok: true, ms });
});
