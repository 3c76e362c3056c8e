// Whether an API key is let in for what it asks: by its role, and for each queue that is named.

import type { Needs } from "../openapi/operations.ts";
import type { NamedQueue } from "../openapi/queue-names.ts";
import type { Role } from "../openapi/roles.ts";
import type { KnownKey } from "./key-file.ts";
import { Refusal } from "./reply.ts";

/** Throws a `Refusal`, which it counts, unless the key is for the request. */
export type Access = (key: KnownKey, request?: unknown) => void;

type Needed = Needs["role"];

const verbs: Readonly<Record<Needed, string>> = {
  produce: "produce to",
  consume: "consume from",
  read: "look at",
  admin: "administer",
  any: "look at",
};

/** Of a name that nobody has checked. */
const nameMax = 80;

/** `queuesIn`: which queues a request names. */
export function accessTo(
  { role, reach = "named" }: Needs,
  queuesIn: (request: unknown) => readonly NamedQueue[] = () => [],
): Access {
  return (key, request) => {
    const { isForAllQueues, isFor } = key;
    if (isForAllQueues && key.roles.includes("admin")) return;
    const named = queuesIn(request);
    for (const { name, role: own } of named) {
      const needed = own ?? role;
      if (!has(key, needed) || !isFor(name)) {
        const queue = `'${name.slice(0, nameMax)}'`;
        throw refusalOf(key, `${verbs[needed]} ${queue}`, `${roleText(needed)} for that queue`);
      }
    }
    if (named.length > 0 && reach === "named") return;
    // What names no queue may mean any.
    const isReached = isForAllQueues || reach === "visible";
    if (isReached && has(key, role)) return;
    const where = reach === "visible" ? "" : " for all queues";
    throw refusalOf(key, "do this", `${roleText(role)}${where}`);
  };
}

function has({ roles }: KnownKey, needed: Needed): boolean {
  return needed === "any" || roles.includes(needed) || roles.includes("admin");
}

function roleText(needed: Needed): string {
  return needed === "any" ? "a role" : `the role '${needed satisfies Role}'`;
}

function refusalOf({ name, use }: KnownKey, what: string, needed: string): Refusal {
  use.refusals += 1;
  const who = name === "" ? "this key" : `key '${name.slice(0, nameMax)}'`;
  return new Refusal("not_allowed", `${who} is not allowed to ${what}; it needs ${needed}`);
}
