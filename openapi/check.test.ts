import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { compileCheck, firstFault } from "./check.ts";
import { operations } from "./operations.ts";

const keys = [
  "queue_name",
  "request_timeout",
  "items",
  "ids",
  "id",
  "kind",
  "utf8",
  "enqueue_at",
  "partition",
  "dead",
  "constructor",
  "__proto__",
  "extra",
];

const anything = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1001, "", "1m", [], {}),
  fc.jsonValue(),
);

/** Sets a key somewhere in a copy of a value, or removes one. */
function altered(value: unknown, path: readonly number[], key: string, put: unknown): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(value));
  let at = copy;
  for (const step of path) {
    if (typeof at !== "object" || at === null) break;
    const inner = Object.values(at).filter((child) => typeof child === "object" && child !== null);
    if (inner.length === 0) break;
    at = inner[step % inner.length];
  }
  if (typeof at !== "object" || at === null || Array.isArray(at)) return copy;
  if (put === undefined) Reflect.deleteProperty(at, key);
  else Object.defineProperty(at, key, { value: put, enumerable: true, configurable: true });
  return copy;
}

test.each(Object.entries(operations))("check: %s accepts what TypeBox accepts", (_, operation) => {
  const check = compileCheck(operation.request);
  expect(check(operation.example)).toBe(true);
  fc.assert(
    fc.property(
      fc.array(fc.nat(3), { maxLength: 2 }),
      fc.constantFrom(...keys),
      fc.option(anything, { nil: undefined }),
      (path, key, put) => {
        const value = altered(operation.example, path, key, put);
        const isValid = Value.Check(operation.request, value);
        expect(check(value)).toBe(isValid);
        expect(firstFault(operation.request, value) === null).toBe(isValid);
      },
    ),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(anything, (value) => {
      expect(check(value)).toBe(Value.Check(operation.request, value));
    }),
  );
});

const produced = { queue_name: "orders", request_timeout: "5m" };

test.each([
  ["produce", "request_timeout is required", "absent", { queue_name: "orders", items: [{}] }],
  [
    "produce",
    "items[1].body is unknown; expected one of encoding, kind, reference, enqueue_at, bytes, utf8, unique_key, headers, priority, max_attempts, lease_timeout, group",
    "unknown",
    { ...produced, items: [{ utf8: "a" }, { body: "b" }] },
  ],
  [
    "produce",
    "items[0].kind is invalid; expected a string, got 7",
    "type",
    { ...produced, items: [{ kind: 7 }] },
  ],
  [
    "produce",
    "items[0].enqueue_at is invalid; expected a string or null, got an object",
    "type",
    { ...produced, items: [{ enqueue_at: {} }] },
  ],
  [
    "produce",
    "items is invalid; expected 1 to 1000 of them, got 0",
    "bounds",
    { ...produced, items: [] },
  ],
  [
    "produce",
    "items is invalid; expected 1 to 1000 of them, got 1001",
    "bounds",
    { ...produced, items: Array(1001).fill({}) },
  ],
  [
    "lease",
    "batch_size is invalid; expected 1 to 1000, got 0",
    "bounds",
    { ...produced, client_id: "a", batch_size: 0 },
  ],
  [
    "deleteItems",
    "partition is invalid; expected at least 0, got -1",
    "bounds",
    { queue_name: "orders", partition: -1, ids: [""] },
  ],
  [
    "clear",
    "retry is invalid; expected true or false, got 1",
    "type",
    { queue_name: "orders", retry: 1, scheduled: true, queue: true, destructive: true },
  ],
  ["queueInfo", "name is required", "absent", {}],
  [
    "queueInfo",
    "request is invalid; expected only one of name, queue_name",
    "bounds",
    { name: "a", queue_name: "a" },
  ],
  [
    "queueInfo",
    "foo is unknown; expected one of name, queue_name",
    "unknown",
    { queue_name: "a", foo: 1 },
  ],
  ["queueInfo", "request is invalid; expected an object, got a list", "type", []],
] as const)("check: the fault of an invalid %s is: %s", (id, message, kind, request) => {
  expect(firstFault(operations[id].request, request)).toMatchObject({ kind, message });
});

test.each([
  ["which.a is invalid; expected a whole number, got a string", { a: "x" }],
  ["which.b is unknown; expected one of a", { a: 1, b: 1 }],
  ["which is invalid; expected an object or null, got a list", []],
  ["which is invalid; expected an object or null, got 7", 7],
])("check: the fault of an object that may be null is: %s", (message, which) => {
  const inner = Type.Object({ a: Type.Integer() }, { additionalProperties: false });
  const schema = Type.Object({ which: Type.Union([inner, Type.Null()]) });
  expect(firstFault(schema, { which: null })).toBeNull();
  expect(firstFault(schema, { which })).toMatchObject({ message });
});

test("check: a long unknown key is shortened", () => {
  const fault = firstFault(operations.stats.request, {
    queue_name: "orders",
    ["k".repeat(5_000)]: 1,
  });
  expect(fault?.message.length).toBeLessThan(150);
});
