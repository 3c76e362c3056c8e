import { expect, test } from "bun:test";
import { queueDefaults } from "../simulation/bundle.ts";
import { never } from "./duration.ts";
import { QueueError } from "./errors.ts";
import {
  checkDeadQueueName,
  checkLease,
  checkQueueName,
  checkQueueSettings,
  checkRequestTimeout,
} from "./validate.ts";

/** The message of the refusal, or `null`. */
function refusal(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof QueueError && error.code === "invalid") return error.message;
    throw error;
  }
}

const tooLong = "queue name is invalid; cannot be greater than '512' characters";

test.each([
  ["a", null],
  ["../../etc/passwd", null],
  ["ünïcode-🚀", null],
  ["__proto__", null],
  ["n".repeat(512), null],
  ["n".repeat(513), tooLong],
  // Bytes count, not characters.
  ["ü".repeat(256), null],
  [`${"ü".repeat(256)}n`, tooLong],
  ["", "queue name is invalid; queue name cannot be empty"],
  [" \t", "queue name is invalid; queue name cannot be empty"],
  ["a\u00a0b", "queue name is invalid; 'a\u00a0b' cannot contain whitespace"],
  ["a~", "queue name is invalid; 'a~' cannot contain '~' character"],
  ["a\u007f", "queue name is invalid; it cannot contain control characters"],
  ["a\ud800", "queue name is invalid; it is not well-formed Unicode"],
] as const)("checkQueueName: %j", (name, expected) => {
  expect(refusal(() => checkQueueName(name))).toBe(expected);
});

test.each([
  ["d".repeat(500), null],
  ["d".repeat(501), "dead queue is invalid; cannot be greater than '500' characters"],
  ["a b", "dead queue is invalid; 'a b' cannot contain whitespace"],
  ["a~b", "dead queue is invalid; 'a~b' cannot contain '~' character"],
] as const)("checkDeadQueueName: %j", (name, expected) => {
  expect(refusal(() => checkDeadQueueName(name))).toBe(expected);
});

test.each([
  [{}, null],
  [{ reference: "r".repeat(2_000) }, null],
  [
    { reference: "r".repeat(2_001) },
    "reference field is invalid; cannot be greater than '2000' characters",
  ],
  [{ maxAttempts: 65_536 }, null],
  [{ maxAttempts: 1.5 }, "max attempts is invalid; expected a whole number, got 1.5"],
  [{ maxAttempts: Number.NaN }, "max attempts is invalid; expected a whole number, got NaN"],
  [{ requestedPartitions: 10_000 }, null],
  [{ requestedPartitions: 2_147_483_647 }, "partitions is invalid; cannot be greater than 10000"],
  [{ leaseTimeoutMs: 60_000, expireTimeoutMs: 60_000 }, null],
  [
    { leaseTimeoutMs: 60_001, expireTimeoutMs: 60_000 },
    "lease timeout is too long; 1m0.001s cannot be greater than the expire timeout 1m0s",
  ],
  [{ expireTimeoutMs: 366 * 86_400_000 }, null],
  [{ expireTimeoutMs: never }, null],
  [{ leaseTimeoutMs: never }, "lease timeout is invalid; cannot be greater than '8784h0m0s'"],
  [
    { expireTimeoutMs: 366 * 86_400_000 + 1 },
    "expire timeout is invalid; cannot be greater than '8784h0m0s'",
  ],
  [
    // The reference's order: the first fault is reported.
    { reference: "r".repeat(2_001), maxAttempts: -1, requestedPartitions: 0 },
    "reference field is invalid; cannot be greater than '2000' characters",
  ],
] as const)("checkQueueSettings: %j", (change, expected) => {
  expect(refusal(() => checkQueueSettings({ ...queueDefaults, name: "q", ...change }))).toBe(
    expected,
  );
});

test.each([
  [10, null],
  [900_000, null],
  [9.9, "request timeout is invalid; minimum timeout is '10ms' but '9.9ms' was requested"],
  [-1_000, "request timeout is invalid; minimum timeout is '10ms' but '-1s' was requested"],
  [960_000, "request timeout is invalid; maximum timeout is '15m' but '16m0s' was requested"],
  [0, "request timeout is required; '5m' is recommended, 15m is the maximum"],
] as const)("checkRequestTimeout: %d", (ms, expected) => {
  expect(refusal(() => checkRequestTimeout(ms, "5m"))).toBe(expected);
});

test.each([
  ["c", 1, null],
  ["c", 1_000, null],
  ["", 0, "invalid client id; cannot be empty"],
  ["c", -1, "invalid batch size; must be greater than zero"],
  ["c", Number.NaN, "invalid batch size; must be greater than zero"],
] as const)("checkLease: client %j, batch %d", (clientId, batchSize, expected) => {
  expect(refusal(() => checkLease({ queue: "q", requestTimeoutMs: 10, clientId, batchSize }))).toBe(
    expected,
  );
});
