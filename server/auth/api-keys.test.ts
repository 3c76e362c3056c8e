import { expect, test } from "bun:test";
import { type ApiKey, apiKeysMax, findKey, newApiKey, parseApiKeys } from "./api-keys.ts";

const [one, two, other] = [newApiKey("billing"), newApiKey(""), newApiKey("other")];

function keysOf(text: string): readonly ApiKey[] {
  const parsed = parseApiKeys(text);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.keys;
}

test("new key: it has 256 bits of chance, and its line has its digest and the name", () => {
  expect(one.key).toMatch(/^holdfast_[A-Za-z0-9_-]{43}$/);
  const digest = new Bun.CryptoHasher("sha256").update(one.key).digest("hex");
  expect(one.line).toBe(`${digest}  billing`);
  expect(new Set(Array.from({ length: 100 }, () => newApiKey("").key)).size).toBe(100);
});

test("new key: a name of several lines does not become several lines", () => {
  expect(newApiKey("a\nb").line).toEndWith("  a b");
});

test("parse: comments and empty lines are skipped, and each key of the file is accepted", () => {
  const keys = keysOf(`# keys\n\n${one.line}\r\n  ${two.line}  \n`);
  const names = [one, two, other].map(({ key }) => findKey(key, keys)?.name ?? null);
  expect(names).toEqual(["billing", "", null]);
});

test.each([
  ["", `keys are invalid; expected 1 to ${apiKeysMax}, got 0`],
  ["# none\n", `keys are invalid; expected 1 to ${apiKeysMax}, got 0`],
  [
    Array.from({ length: apiKeysMax + 1 }, () => newApiKey("").line).join("\n"),
    `keys are invalid; expected 1 to ${apiKeysMax}, got 101`,
  ],
  [`\n${one.line.slice(1)}`, "line 2 is invalid; expected 64 hexadecimal digits, then a name"],
  [`${one.line}\n${two.line}x`, "line 2 is invalid; expected 64 hexadecimal digits, then a name"],
  [one.key, "line 1 is invalid; expected 64 hexadecimal digits, then a name"],
])("parse: %# is refused, and nothing of it is quoted", (text, fault) => {
  expect(parseApiKeys(text)).toEqual({ ok: false, fault });
});

test.each([
  ["the digest in the key's place", one.line.slice(0, 64)],
  ["a key cut short", one.key.slice(0, -1)],
  ["a key and more", `${one.key}A`],
  ["a short secret", "secret"],
  ["nothing", ""],
])("findKey: %s is unknown, whatever the file contains", (_, key) => {
  const digest = new Bun.CryptoHasher("sha256").update(key).digest();
  expect(findKey(key, [{ digest }, ...keysOf(one.line)])).toBeNull();
});

test("new key: its line has its rights, and parse reads them back", () => {
  const rights = { roles: ["produce", "read"], queues: ["orders*", "billing"] } as const;
  const { line } = newApiKey("the checkout", rights);
  expect(line.slice(64)).toBe("  role=produce,read queues=orders*,billing  the checkout");
  const [key] = keysOf(line);
  expect(key).toMatchObject({ name: "the checkout", rights: [rights] });
  const { produce, consume } = key?.scopes ?? {};
  expect(["orders-1", "billing", "other"].map((name) => produce?.has(name))).toEqual([
    ...[true, true, false],
  ]);
  expect(consume).toMatchObject({ isNone: true, isAll: false });
});

test.each([
  ["", "", ["admin"], ["*"]],
  ["  billing of Anna", "billing of Anna", ["admin"], ["*"]],
  ["\tqueues=a  role=read\tAnna  K", "Anna  K", ["read"], ["a"]],
  [" role=consume", "", ["consume"], ["*"]],
])("parse: a digest and %j", (rest, name, roles, queues) => {
  expect(keysOf(one.line.slice(0, 64) + rest)).toMatchObject([
    { name, rights: [{ roles, queues }] },
  ]);
});

test.each([
  ["role=boss  secret", "expected roles out of produce, consume, read, admin"],
  ["roles=read  secret", "expected role= and queues="],
  ["secret role=read", "expected role= and queues= before the name, which has no '='"],
  ["role=read secret queues=a", "expected role= and queues= before the name, which has no '='"],
])(
  "parse: a digest and %j is refused; the fault names the line and quotes nothing",
  (rest, fault) => {
    const text = `# keys\n${two.line}\n${one.line.slice(0, 64)}  ${rest}`;
    expect(parseApiKeys(text)).toEqual({ ok: false, fault: `line 3 is invalid; ${fault}` });
  },
);

test("new key: a line for each of its rights, which add up", () => {
  const rights = [
    { roles: ["consume"], queues: ["orders"] },
    { roles: ["produce"], queues: ["invoices", "orders-*"] },
  ] as const;
  const { key, line } = newApiKey("a", ...rights);
  const [first, second] = line.split("\n");
  const keys = keysOf(`${first}\n${two.line}\n${second}\n${first}`);
  expect(keys).toHaveLength(2);
  const found = findKey(key, keys);
  expect(found).toMatchObject({ name: "a", rights });
  const has = (role: "consume" | "produce" | "any") =>
    ["orders", "invoices", "orders-dead", "x"].filter((name) => found?.scopes[role].has(name));
  expect(has("consume")).toEqual(["orders"]);
  expect(has("produce")).toEqual(["invoices", "orders-dead"]);
  expect(has("any")).toEqual(["orders", "invoices", "orders-dead"]);
});

test.each([
  ["a", "role=read  a", "expected role= in each line of a digest"],
  ["role=read  a", "a", "expected role= in each line of a digest"],
  ["role=read  a", "role=read queues=x  b", "expected one name for a digest"],
])("parse: lines %j and %j of one digest are refused", (first, second, fault) => {
  const digest = one.line.slice(0, 64);
  const text = `${digest}  ${first}\n${two.line}\n${digest}  ${second}`;
  expect(parseApiKeys(text)).toEqual({ ok: false, fault: `line 3 is invalid; ${fault}` });
  expect(keysOf(`${one.line}\n${one.line}`)).toHaveLength(1);
});
