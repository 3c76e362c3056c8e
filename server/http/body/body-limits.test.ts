import { expect, test } from "bun:test";
import { bodyLimits, isPlain } from "./body-limits.ts";

const { pieceBytes, plainBytesMax, plainOpenersMax } = bodyLimits;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("isPlain: a produce of a thousand small items is plain, and so is any small body", () => {
  const items = Array.from({ length: 1_000 }, () => ({ utf8: "x".repeat(100) }));
  const produce = JSON.stringify({ queue_name: "orders", request_timeout: "1m", items });
  expect(produce.length).toBeGreaterThan(pieceBytes);
  expect(isPlain(bytes(produce))).toBe(true);
  expect(isPlain(bytes("[".repeat(pieceBytes)))).toBe(true);
});

test.each([
  ["{", plainOpenersMax],
  ["[", plainOpenersMax],
  ["{[", plainOpenersMax / 2],
])("isPlain: %j is counted", (openers, count) => {
  const rest = " ".repeat(pieceBytes);
  expect(isPlain(bytes(openers.repeat(count) + rest))).toBe(true);
  expect(isPlain(bytes(`${openers.repeat(count)}{${rest}`))).toBe(false);
});

test("isPlain: a long body is not plain", () => {
  expect(isPlain(bytes(" ".repeat(plainBytesMax)))).toBe(true);
  expect(isPlain(bytes(" ".repeat(plainBytesMax + 1)))).toBe(false);
});
