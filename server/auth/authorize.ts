// Authorizes requests by the roles of their API key, for each queue that the request names.

import type { Needs } from "../../openapi/operations.ts";
import type { NamedQueue } from "../../openapi/queue-names.ts";
import { HttpError } from "../http/reply.ts";
import type { KnownKey } from "./key-file.ts";
import { type KeyIdentity, type Needed, queueTestFor } from "./key-rights.ts";

/** Throws an `HttpError` and counts it, unless the key allows the request. */
export type Authorize = (key: KnownKey, request?: unknown) => void;

const verbs: Readonly<Record<Needed, string>> = {
  produce: "produce to",
  consume: "consume from",
  read: "read",
  admin: "administer",
  any: "read",
};

/** Bounds the names in an error reply, which are not validated. */
const nameMax = 80;

/** `queuesIn`: the queues that a request names. */
export function authorizerFor(
  { role, reach = "named" }: Needs,
  queuesIn: (request: unknown) => readonly NamedQueue[] = () => [],
): Authorize {
  return (key, request) => {
    const { scopes } = key;
    if (scopes.admin.isAll) return;
    const named = queuesIn(request);
    for (const { name, role: own } of named) {
      const needed = own ?? role;
      if (!scopes[needed].has(name)) {
        const queue = `'${name.slice(0, nameMax)}'`;
        throw notAllowed(key, `${verbs[needed]} ${queue}`, `${roleText(needed)} for that queue`);
      }
    }
    if (named.length > 0 && reach === "named") return;
    // A request without a queue name may mean any queue.
    const { isAll, isNone } = scopes[role];
    if (isAll || (reach === "visible" && !isNone)) return;
    const where = reach === "visible" ? "" : " for all queues";
    throw notAllowed(key, "make this request", `${roleText(role)}${where}`);
  };
}

/**
 * Throws an `HttpError` and counts it if the key allows the operation for no queue. Needs no body.
 * `others`: roles that suffice for parts of a request.
 */
export function roleCheck(
  { role, reach }: Needs,
  others: readonly Needed[] = [],
): (key: KnownKey) => void {
  return (key) => {
    const { scopes } = key;
    if ([role, ...others].some((one) => !scopes[one].isNone)) return;
    const what = reach === undefined ? `${verbs[role]} any queue` : "make this request";
    throw notAllowed(key, what, roleText(role));
  };
}

/** For queues that only the operation finds out. `identity`: `null` = no keys are required. */
export function requireAdmin(
  identity: KeyIdentity | null,
  queues: readonly string[],
  otherwise: string,
): void {
  if (identity === null || queues.every(queueTestFor(identity, "admin"))) return;
  throw new HttpError("not_allowed", `key '${identity.name}' ${otherwise}`);
}

function roleText(needed: Needed): string {
  return needed === "any" ? "a role" : `the role '${needed}'`;
}

function notAllowed({ name, use }: KnownKey, what: string, needed: string): HttpError {
  use.deniedCount += 1;
  const subject = name === "" ? "this key" : `key '${name.slice(0, nameMax)}'`;
  return new HttpError("not_allowed", `${subject} is not allowed to ${what}; it needs ${needed}`);
}
