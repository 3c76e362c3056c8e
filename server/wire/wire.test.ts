import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import type { LeasedItem } from "../../engine/model/api.ts";
import { QueueError } from "../../engine/model/errors.ts";
import { operations } from "../../openapi/operations.ts";
import { parseBase64, parseInstant } from "./fields.ts";
import { produceRequest, retryRequest } from "./items.ts";
import { leaseReplyText, renderLeased } from "./leased.ts";
import { queueChange, queueNamed, queueSettings } from "./queues.ts";

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof QueueError && error.code === "invalid") return error.message;
    throw error;
  }
  return "nothing was thrown";
}

const produced = { queue_name: "orders", request_timeout: "5m" };

test("produce: an item without any key has no payload and is due at once", () => {
  expect(produceRequest({ ...produced, items: [{}] })).toEqual({
    queue: "orders",
    requestTimeoutMs: 300_000,
    items: [{ payload: "" }],
    returnIds: false,
  });
});

test("produce: bytes wins over utf8 unless it is empty", () => {
  const items = [{ bytes: "aGk=", utf8: "dropped" }, { bytes: "", utf8: "kept" }, { utf8: "kept" }];
  const payloads = produceRequest({ ...produced, items }).items.map(({ payload }) => payload);
  expect(payloads).toEqual([new Uint8Array([104, 105]), "kept", "kept"]);
});

test.each([
  [[{}, { bytes: "@@@@" }], "items[1].bytes is invalid; expected base64, got '@@@@'"],
  [
    [{ bytes: `${"a".repeat(41)}!` }],
    `items[0].bytes is invalid; expected base64, got '${"a".repeat(40)}…'`,
  ],
  [
    [{ enqueue_at: "tomorrow" }],
    "items[0].enqueue_at is invalid; expected a date-time like 2026-01-01T00:00:00Z, got 'tomorrow'",
  ],
])("produce: %j is refused by name", (items, message) => {
  expect(messageOf(() => produceRequest({ ...produced, items }))).toBe(message);
});

test.each([
  ["foo", 'time: invalid duration "foo"'],
  ["10", 'time: missing unit in duration "10"'],
  ["7w", 'time: unknown unit "w" in duration "7w"'],
  ["never", 'time: invalid duration "never"'],
  ["-1s", 'time: negative duration "-1s"'],
])("produce: request_timeout %s is refused", (text, why) => {
  expect(messageOf(() => produceRequest({ ...produced, request_timeout: text, items: [] }))).toBe(
    `request timeout is invalid; ${why} - expected format: 900ms, 5m or 15m`,
  );
});

test("produce: an empty request_timeout is one that is not set", () => {
  expect(produceRequest({ ...produced, request_timeout: "", items: [] }).requestTimeoutMs).toBe(0);
});

test("retry: an empty retry_at is none, and dead is false", () => {
  const items = [{ id: "a", retry_at: "" }, { id: "b", retry_at: null }, { id: "c" }];
  expect(retryRequest({ queue_name: "orders", partition: 3, items })).toEqual({
    queue: "orders",
    partition: 3,
    items: ["a", "b", "c"].map((id) => ({ id, retryAt: null, dead: false })),
  });
});

test("createQueue: absent keys have their defaults, durations keep their texts", () => {
  const body = { queue_name: "orders", lease_timeout: "60m", expire_timeout: "24h" };
  expect(queueSettings(body)).toEqual({
    name: "orders",
    leaseTimeoutMs: 3_600_000,
    leaseTimeoutText: "60m",
    expireTimeoutMs: 86_400_000,
    expireTimeoutText: "24h",
    deadQueue: "",
    reference: "",
    maxAttempts: 0,
    requestedPartitions: 1,
    leasedMax: 0,
    leaseRate: "",
    waitingMax: 0,
    retryBackoff: "",
    ...{ grouped: false, groupLeasedMax: 0, groupRate: "", groupWaitingMax: 0 },
    ...{ groupOrder: "loose", groupOnDead: "continue" },
    uniqueForMs: 0,
    uniqueForText: "",
  });
});

test.each([
  [
    "1".repeat(16),
    "y".repeat(16),
    "lease timeout is invalid; cannot be greater than '15' characters",
  ],
  ["x", "y".repeat(16), "expire timeout is invalid; cannot be greater than '15' characters"],
  [
    "x",
    "y",
    'expire timeout is invalid; time: invalid duration "y" - expected format: 60m, 2h or 24h',
  ],
  [
    "x",
    "2h",
    'lease timeout is invalid; time: invalid duration "x" - expected format: 8m, 15m or 1h',
  ],
])(
  "createQueue: of lease_timeout %s and expire_timeout %s one is refused",
  (lease, expire, message) => {
    const body = { queue_name: "orders", lease_timeout: lease, expire_timeout: expire };
    expect(messageOf(() => queueSettings(body))).toBe(message);
  },
);

test("updateQueue: absent keys are kept, present ones are set, also to nothing", () => {
  expect(queueChange({ queue_name: "orders" })).toEqual({ name: "orders" });
  expect(queueChange({ queue_name: "orders", max_attempts: 0, dead_queue: "" })).toEqual({
    name: "orders",
    maxAttempts: 0,
    deadQueue: "",
  });
  expect(queueChange({ queue_name: "orders", expire_timeout: "2h" })).toEqual({
    name: "orders",
    expireTimeoutMs: 7_200_000,
    expireTimeoutText: "2h",
  });
});

test("queueInfo: the queue is named by either key", () => {
  expect(queueNamed({ name: "orders" })).toBe("orders");
  expect(queueNamed({ queue_name: "orders" })).toBe("orders");
  expect(messageOf(() => queueNamed({}))).toBe("name is required; expected a string");
});

test.each([
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"],
  ["2026-01-01T00:00:00.5+01:00", "2025-12-31T23:00:00.500Z"],
  ["2026-01-01t00:00:00.123456789z", "2026-01-01T00:00:00.124Z"],
  ["2026-01-01T00:00:00.123000001Z", "2026-01-01T00:00:00.124Z"],
  ["2026-01-01T00:00:00.123000000Z", "2026-01-01T00:00:00.123Z"],
  ["1969-12-31T23:59:59.9999Z", "1970-01-01T00:00:00.000Z"],
  ["2024-01-01 12:00:00.0000", "2024-01-01T12:00:00.000Z"],
  ["2024-01-01 12:00:00+01:00", "2024-01-01T11:00:00.000Z"],
  ["2024-02-29T23:59:59-00:00", "2024-02-29T23:59:59.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("date-time: %s", (text, iso) => {
  expect(new Date(parseInstant(text) ?? Number.NaN).toISOString()).toBe(iso);
});

test.each([
  "2026-02-30T00:00:00Z",
  "9999-12-31T23:59:59.9999Z",
  "9999-12-31T23:59:59-00:01",
  "2026-02-29T00:00:00Z",
  "2026-00-01T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T12:60:00Z",
  "2026-01-01T23:59:60Z",
  "2026-01-01T00:00:00+00:60",
  "2026-01-01T00:00:00+24:00",
  "2026-01-01T00:00:00+0100",
  "2026-01-01T00:00:00",
  "2026-01-01T00:00Z",
  "2026-01-01",
  "20260101T000000Z",
  "2026-01-01T00:00:00.Z",
  "2026-01-01T00:00:00.1234567890Z",
  "2026-01-01T00:00:00Z[UTC]",
  "+002026-01-01T00:00:00Z",
  " 2026-01-01T00:00:00Z",
  "2026-01-01T00:00:00Z\n",
  "\u0662026-01-01T00:00:00Z",
  "0",
  "now",
])("date-time: %p is none", (text) => {
  expect(parseInstant(text)).toBeNull();
});

test("date-time: any instant comes back from its text", () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (instant) => {
      expect(parseInstant(new Date(instant).toISOString())).toBe(instant);
    }),
  );
});

test.each([
  ["aGk=", "hi"],
  ["aGk", "hi"],
  ["/+8=", "\xff\xef"],
  ["_-8=", "\xff\xef"],
  ["_-8", "\xff\xef"],
  ["a\nG\r\nk=\n", "hi"],
  [" aGk", "hi"],
  ["aG k", "hi"],
  ["aGk =", "hi"],
  ["_-\t8", "\xff\xef"],
])("base64: %s", (text, latin1) => {
  expect(parseBase64(text)).toEqual(new Uint8Array(Buffer.from(latin1, "latin1")));
});

test.each([
  ["@@@@"],
  ["a"],
  ["aGk=="],
  ["aGl="],
  ["aGl"],
  ["aG=k"],
  ["===="],
  ["_+8="],
  ["aGk\u00e9"],
  ["aGk\u00a0"],
  ["aG l"],
])("base64: %p is none", (text) => {
  expect(parseBase64(text)).toBeNull();
});

test("base64: any bytes come back from their text, wherever its lines are broken", () => {
  const broken = fc.tuple(fc.uint8Array({ maxLength: 64 }), fc.array(fc.nat(90)), fc.boolean());
  fc.assert(
    fc.property(broken, ([bytes, breaks, omitPadding]) => {
      let text = bytes.toBase64({ omitPadding });
      for (const at of breaks) text = `${text.slice(0, at)}\r\n${text.slice(at)}`;
      expect(parseBase64(text)).toEqual(bytes);
    }),
  );
});

test("base64: any bytes come back from their text, whatever alphabet and padding", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      for (const alphabet of ["base64", "base64url"] as const) {
        for (const omitPadding of [true, false]) {
          expect(parseBase64(bytes.toBase64({ alphabet, omitPadding }))).toEqual(bytes);
        }
      }
    }),
  );
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom('"', "\\", "\n", "\0", "\u007f", "\u2028", "\ud800", "é", "日本", "😀"),
);
const leasedItem: fc.Arbitrary<LeasedItem> = fc.record({
  id: fc.stringMatching(/^[0-9A-Za-z]{27}$/),
  kind: text,
  encoding: text,
  reference: text,
  priority: fc.nat(9),
  attempts: fc.integer({ min: 1, max: 70_000 }),
  leaseDeadline: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_003 }),
  payload: fc.uint8Array({ maxLength: 9 }),
});

test("lease: an item whose past has nothing to show is rendered without it", () => {
  const [item = null] = fc.sample(leasedItem, 1);
  if (item === null) throw new Error("there is no sample");
  const render = (one: LeasedItem) => JSON.parse(renderLeased([one, one]));
  expect(render({ ...item, past: { rank: 5 } })).toEqual(render(item));
  const grouped = { ...item, group: "a", past: { rank: 5, group: "a" } };
  expect(render(grouped)).toEqual(render(item).map((one: object) => ({ ...one, group: "a" })));
});

test("lease: the text of leased items is JSON of the contract and loses nothing", () => {
  fc.assert(
    fc.property(fc.array(leasedItem, { maxLength: 5 }), text, (items, queue) => {
      const lease = {
        queue,
        partition: 3,
        maxAttempts: 7,
        retryBackoff: "1s..5m",
        now: 1_700_000_000_000,
        items: renderLeased(items),
      };
      const reply = JSON.parse(leaseReplyText(lease));
      expect(Value.Check(operations.lease.response, reply)).toBe(true);
      expect(reply).toEqual({
        queue_name: queue,
        partition: 3,
        max_attempts: 7,
        retry_backoff: "1s..5m",
        now: "2023-11-14T22:13:20.000Z",
        items: items.map((item) => ({
          id: item.id,
          encoding: item.encoding,
          kind: item.kind,
          reference: item.reference,
          priority: item.priority,
          attempts: item.attempts,
          lease_deadline: new Date(item.leaseDeadline).toISOString(),
          bytes: Buffer.from(item.payload).toString("base64"),
        })),
      });
    }),
  );
});
