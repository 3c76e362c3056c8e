import { expect, test } from "bun:test";
import fc from "fast-check";
import { allRights, isForAllQueues, queueTest, readRights, rightsText } from "./key-rights.ts";

test.each([
  [["orders"], ["orders"], ["order", "orders2", "Orders", "", "*"]],
  [["orders*"], ["orders", "orders-dead", "orders*"], ["order", "my-orders"]],
  [["*-dead"], ["-dead", "orders-dead"], ["orders-dead2", "dead"]],
  [["a*b*c"], ["abc", "a1b2c", "abbcc", "abcbc"], ["ab", "ac", "acb", "abcd"]],
  [["ab*ba"], ["abba", "ab-ba"], ["aba", "ab"]],
  [["a**b"], ["ab", "a-b"], ["a"]],
  [
    ["a", "b*"],
    ["a", "b", "b1"],
    ["a1", "c"],
  ],
  [
    ["a.c", "(x", "[*"],
    ["a.c", "(x", "[", "[y"],
    ["abc", "x"],
  ],
  [["*"], ["", "anything", "a,b"], []],
])("queues=%j: names that match, and names that do not", (patterns, names, others) => {
  const isFor = queueTest(patterns);
  expect(names.filter((name) => !isFor(name))).toEqual([]);
  expect(others.filter(isFor)).toEqual([]);
  const identity = { name: "", rights: [{ ...allRights, queues: patterns }] };
  expect(isForAllQueues(identity, "read")).toBe(patterns.includes("*"));
});

test("queues: a pattern matches as the equivalent regular expression does", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  const property = fc.property(letters, letters, (pattern, name) => {
    const form = new RegExp(`^${pattern.split("*").map(RegExp.escape).join("[^]*")}$`);
    expect(queueTest([pattern])(name)).toBe(form.test(name));
  });
  fc.assert(property, { seed: 1, numRuns: 5_000 });
});

test("queues: a crafted name is scanned once for each piece of a pattern", () => {
  // As a regular expression this does not end.
  const isFor = queueTest([`${"a*".repeat(30)}b`]);
  expect(isFor("a".repeat(200_000))).toBe(false);
});

test.each([
  [[], allRights],
  [["role=produce"], { roles: ["produce"], queues: ["*"] }],
  [
    ["queues=orders*,billing", "role=consume,read"],
    { roles: ["consume", "read"], queues: ["orders*", "billing"] },
  ],
  [["role=admin", "queues=a=b"], { roles: ["admin"], queues: ["a=b"] }],
] as const)("rights: %j are read", (words, rights) => {
  expect(readRights(words)).toEqual({ ok: true, rights });
  expect(readRights(rightsText(rights).split(" "))).toEqual({ ok: true, rights });
});

test.each([
  [["role=produces"], "expected roles out of produce, consume, read, admin"],
  [["role="], "expected roles out of produce, consume, read, admin"],
  [["role=Admin"], "expected roles out of produce, consume, read, admin"],
  [["roles=produce"], "expected role= and queues="],
  [["=produce"], "expected role= and queues="],
  [["role=produce", "role=admin"], "expected role= once"],
  [["queues=orders"], "expected role= with queues="],
  [["role=read", "queues="], "expected names of queues, with commas between them"],
  [["role=read", "queues=a,,b"], "expected names of queues, with commas between them"],
])("rights: %j are refused", (words, fault) => {
  expect(readRights(words)).toEqual({ ok: false, fault });
});
