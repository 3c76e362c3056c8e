import { expect, test } from "bun:test";
import type { Needs } from "../../openapi/operations.ts";
import type { NamedQueue } from "../../openapi/queue-names.ts";
import type { Role } from "../../openapi/roles.ts";
import { HttpError } from "../http/reply.ts";
import { knownKey } from "../testing/known-key.ts";
import { authorizerFor } from "./authorize.ts";

interface KeyedCall extends Needs {
  /** Roles and queues of the key. */
  readonly roles: readonly Role[];
  readonly queues?: readonly string[];
  /** Queues that the request names. */
  readonly names?: readonly (string | NamedQueue)[];
  readonly name?: string;
}

/** The text of the error after the key's name; `null` = allowed. */
function denial({ roles, queues = ["*"], names = [], name = "k", ...needs }: KeyedCall) {
  const found = names.map((each) => (typeof each === "string" ? { name: each, role: null } : each));
  const key = knownKey(name, { roles, queues });
  try {
    authorizerFor(needs, () => found)(key, {});
    expect(key.use.deniedCount).toBe(0);
    return null;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    expect([error.code, error.reason, key.use.deniedCount]).toEqual([403, "not_allowed", 1]);
    return error.message.replace("key 'k' is not allowed to ", "");
  }
}

test("authorize: a role allows its operations, and admin all of them", () => {
  const orders = { names: ["orders"] };
  for (const needed of ["produce", "consume", "read", "admin"] as const) {
    for (const own of ["produce", "consume", "read", "admin"] as const) {
      const isAllowed = own === needed || own === "admin";
      const got = denial({ role: needed, roles: [own], ...orders });
      expect([needed, own, got === null]).toEqual([needed, own, isAllowed]);
    }
    expect(denial({ role: "any", roles: [needed], ...orders })).toBeNull();
    expect(
      denial({ role: needed, roles: ["produce", "consume", "read"], ...orders }) === null,
    ).toBe(needed !== "admin");
  }
});

test("an error reply names what the key lacks", () => {
  const orders = { names: ["orders"] };
  expect(denial({ role: "produce", roles: ["read"], ...orders, name: "checkout" })).toBe(
    "key 'checkout' is not allowed to produce to 'orders'; it needs the role 'produce' for that queue",
  );
  expect(denial({ role: "consume", roles: ["consume"], queues: ["x"], ...orders, name: "" })).toBe(
    "this key is not allowed to consume from 'orders'; it needs the role 'consume' for that queue",
  );
  expect(denial({ role: "any", roles: ["read"], queues: ["x"], ...orders })).toBe(
    "read 'orders'; it needs a role for that queue",
  );
  expect(denial({ role: "admin", reach: "all", roles: ["admin"], queues: ["x"] })).toBe(
    "make this request; it needs the role 'admin' for all queues",
  );
  expect(denial({ role: "read", reach: "visible", roles: ["produce"] })).toBe(
    "make this request; it needs the role 'read'",
  );
  const long = denial({
    role: "read",
    roles: ["read"],
    queues: ["x"],
    names: ["y".repeat(1_000)],
  });
  expect(long).toBe(`read '${"y".repeat(80)}'; it needs the role 'read' for that queue`);
});

test("authorize: each of several queues is checked, for the role that it needs", () => {
  const some = { role: "admin", roles: ["admin"], queues: ["orders*", "dead"] } as const;
  expect(denial({ ...some, names: ["orders", "dead"] })).toBeNull();
  expect(denial({ ...some, names: ["orders", "billing"] })).toStartWith("administer 'billing'");
  const names = [{ name: "in", role: "consume" }, "out"] as const;
  const needs = { role: "produce", queues: ["in", "out"], names } as const;
  expect(denial({ ...needs, roles: ["produce", "consume"] })).toBeNull();
  expect(denial({ ...needs, roles: ["produce"] })).toStartWith("consume from 'in'");
  expect(denial({ ...needs, roles: ["produce"], queues: ["*"] })).toStartWith("consume from 'in'");
  expect(denial({ ...needs, roles: ["consume"] })).toStartWith("produce to 'out'");
});

test("authorize: a call without a queue needs a key for all queues, unless it returns only visible ones", () => {
  const limited = { roles: ["read"], queues: ["orders*"] } as const;
  expect(denial({ role: "read", ...limited })).toBe(
    "make this request; it needs the role 'read' for all queues",
  );
  expect(denial({ role: "read", reach: "all", ...limited, names: ["orders"] })).not.toBeNull();
  expect(denial({ role: "read", reach: "visible", ...limited })).toBeNull();
  expect(denial({ role: "read", reach: "visible", ...limited, names: ["orders"] })).toBeNull();
  expect(denial({ role: "read", reach: "visible", ...limited, names: ["x"] })).not.toBeNull();
  expect(denial({ role: "read", reach: "all", roles: ["read"] })).toBeNull();
  expect(denial({ role: "read", roles: ["read"] })).toBeNull();
});
