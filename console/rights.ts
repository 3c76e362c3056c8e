// What a key may do: its roles, and the names of queues that it is for. Pure.

import type { Role } from "../openapi/roles.ts";
import type { WhoAmIReply } from "../openapi/schemas.ts";

export type Me = Pick<WhoAmIReply, "keys_required" | "roles" | "queues">;

/** `*` stands for any text. */
export function isForQueue(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const pieces = pattern.split("*").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${pieces.join(".*")}$`, "s").test(name);
  });
}

export function isForAll({ keys_required: isAsked, queues }: Me): boolean {
  return !isAsked || queues.includes("*");
}

/** `name`: `null` where a call names no queue, which takes a key for all. */
export function mayOn(me: Me, role: Role, name: string | null): boolean {
  const { keys_required: isAsked, roles, queues } = me;
  if (!isAsked) return true;
  if (!roles.includes("admin") && !roles.includes(role)) return false;
  return name === null ? isForAll(me) : isForQueue(queues, name);
}

/** It has the role `read`, and no other. */
export function mayOnlyRead({ keys_required: isAsked, roles }: Me): boolean {
  return isAsked && roles.every((role) => role === "read");
}
