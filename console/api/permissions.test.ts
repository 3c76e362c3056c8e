import { expect, test } from "bun:test";
import { isForAll, isForQueue, isForSome, type Me, mayOn, mayOnlyRead } from "./permissions.ts";

const keyOf = (roles: Me["roles"], ...queues: readonly string[]): Me => ({
  keys_required: true,
  roles,
  rights: [{ roles, queues: [...queues] }],
});

test("isForQueue: a pattern matches the names that the server allows", () => {
  expect(isForQueue(["*"], "a/b")).toBe(true);
  expect(isForQueue(["orders*"], "orders-dead")).toBe(true);
  expect(isForQueue(["orders*"], "my-orders")).toBe(false);
  expect(isForQueue(["a.c"], "abc")).toBe(false);
  expect(isForQueue(["a*c*e"], "abcde")).toBe(true);
  expect(isForQueue([], "orders")).toBe(false);
});

test("mayOn: a call without a queue needs a key for all queues", () => {
  expect(mayOn(keyOf(["admin"], "orders*"), "admin", "orders")).toBe(true);
  expect(mayOn(keyOf(["admin"], "orders*"), "admin", null)).toBe(false);
  expect(mayOn(keyOf(["admin"], "orders*", "*"), "read", null)).toBe(true);
  expect(mayOn(keyOf(["read"], "*"), "admin", null)).toBe(false);
  expect(mayOn({ keys_required: false, roles: [], rights: [] }, "admin", null)).toBe(true);
  expect(isForAll(keyOf(["read"], "**"), "read")).toBe(false);
});

test("mayOn: a role applies to its own queues only", () => {
  const rights = [
    { roles: ["consume"], queues: ["orders*"] },
    { roles: ["read"], queues: ["*"] },
  ];
  const me: Me = { keys_required: true, roles: ["consume", "read"], rights };
  expect(mayOn(me, "consume", "orders")).toBe(true);
  expect(mayOn(me, "consume", "billing")).toBe(false);
  expect([isForAll(me, "consume"), isForAll(me, "read")]).toEqual([false, true]);
  const some = (["consume", "read", "produce"] as const).map((role) => isForSome(me, role));
  expect(some).toEqual([true, false, false]);
});

test("mayOnlyRead: false for a key that produces or consumes", () => {
  expect(mayOnlyRead(keyOf(["read"], "*"))).toBe(true);
  expect(mayOnlyRead(keyOf(["read", "consume"], "*"))).toBe(false);
  expect(mayOnlyRead(keyOf(["read", "produce"], "*"))).toBe(false);
  expect(mayOnlyRead(keyOf(["admin"], "*"))).toBe(false);
  expect(mayOnlyRead({ keys_required: false, roles: ["read"], rights: [] })).toBe(false);
});
