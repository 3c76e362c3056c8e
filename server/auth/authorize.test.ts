import { expect, test } from "bun:test";
import type { Needs } from "../../openapi/operations.ts";
import type { NamedQueue } from "../../openapi/queue-names.ts";
import type { Role } from "../../openapi/roles.ts";
import { Refusal } from "../http/reply.ts";
import { knownKey } from "../testing/known-key.ts";
import { authorizerFor } from "./authorize.ts";

interface Asked extends Needs {
  /** Roles and queues of the key. */
  readonly roles: readonly Role[];
  readonly queues?: readonly string[];
  /** Queues that the request names. */
  readonly names?: readonly (string | NamedQueue)[];
  readonly name?: string;
}

/** The text of the refusal after the key's name; `null` = allowed. */
function refusal({ roles, queues = ["*"], names = [], name = "k", ...needs }: Asked) {
  const found = names.map((each) => (typeof each === "string" ? { name: each, role: null } : each));
  const key = knownKey(name, { roles, queues });
  try {
    authorizerFor(needs, () => found)(key, {});
    expect(key.use.refusals).toBe(0);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect([error.code, error.reason, key.use.refusals]).toEqual([403, "not_allowed", 1]);
    return error.message.replace("key 'k' is not allowed to ", "");
  }
}

test("a role is for what takes it, and admin for everything", () => {
  const orders = { names: ["orders"] };
  for (const needed of ["produce", "consume", "read", "admin"] as const) {
    for (const own of ["produce", "consume", "read", "admin"] as const) {
      const isAllowed = own === needed || own === "admin";
      const got = refusal({ role: needed, roles: [own], ...orders });
      expect([needed, own, got === null]).toEqual([needed, own, isAllowed]);
    }
    expect(refusal({ role: "any", roles: [needed], ...orders })).toBeNull();
    expect(
      refusal({ role: needed, roles: ["produce", "consume", "read"], ...orders }) === null,
    ).toBe(needed !== "admin");
  }
});

test("a refusal says what the key may not, and what it would need", () => {
  const orders = { names: ["orders"] };
  expect(refusal({ role: "produce", roles: ["read"], ...orders, name: "checkout" })).toBe(
    "key 'checkout' is not allowed to produce to 'orders'; it needs the role 'produce' for that queue",
  );
  expect(refusal({ role: "consume", roles: ["consume"], queues: ["x"], ...orders, name: "" })).toBe(
    "this key is not allowed to consume from 'orders'; it needs the role 'consume' for that queue",
  );
  expect(refusal({ role: "any", roles: ["read"], queues: ["x"], ...orders })).toBe(
    "look at 'orders'; it needs a role for that queue",
  );
  expect(refusal({ role: "admin", reach: "all", roles: ["admin"], queues: ["x"] })).toBe(
    "make this request; it needs the role 'admin' for all queues",
  );
  expect(refusal({ role: "read", reach: "visible", roles: ["produce"] })).toBe(
    "make this request; it needs the role 'read'",
  );
  const long = refusal({
    role: "read",
    roles: ["read"],
    queues: ["x"],
    names: ["y".repeat(1_000)],
  });
  expect(long).toBe(`look at '${"y".repeat(80)}'; it needs the role 'read' for that queue`);
});

test("of several queues each is checked, by the role that it takes", () => {
  const some = { role: "admin", roles: ["admin"], queues: ["orders*", "dead"] } as const;
  expect(refusal({ ...some, names: ["orders", "dead"] })).toBeNull();
  expect(refusal({ ...some, names: ["orders", "billing"] })).toStartWith("administer 'billing'");
  const names = [{ name: "in", role: "consume" }, "out"] as const;
  const needs = { role: "produce", queues: ["in", "out"], names } as const;
  expect(refusal({ ...needs, roles: ["produce", "consume"] })).toBeNull();
  expect(refusal({ ...needs, roles: ["produce"] })).toStartWith("consume from 'in'");
  expect(refusal({ ...needs, roles: ["produce"], queues: ["*"] })).toStartWith("consume from 'in'");
  expect(refusal({ ...needs, roles: ["consume"] })).toStartWith("produce to 'out'");
});

test("what names no queue takes a key for all, unless it shows what is visible", () => {
  const limited = { roles: ["read"], queues: ["orders*"] } as const;
  expect(refusal({ role: "read", ...limited })).toBe(
    "make this request; it needs the role 'read' for all queues",
  );
  expect(refusal({ role: "read", reach: "all", ...limited, names: ["orders"] })).not.toBeNull();
  expect(refusal({ role: "read", reach: "visible", ...limited })).toBeNull();
  expect(refusal({ role: "read", reach: "visible", ...limited, names: ["orders"] })).toBeNull();
  expect(refusal({ role: "read", reach: "visible", ...limited, names: ["x"] })).not.toBeNull();
  expect(refusal({ role: "read", reach: "all", roles: ["read"] })).toBeNull();
  expect(refusal({ role: "read", roles: ["read"] })).toBeNull();
});
