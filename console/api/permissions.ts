// What a key may do: its roles, and the names of queues that it is for. Pure.

import type { Role } from "../../openapi/roles.ts";
import type { WhoAmIReply } from "../../openapi/schemas.ts";

export type Me = Pick<WhoAmIReply, "keys_required" | "roles" | "rights">;

/** `*` stands for any text. */
export function isForQueue(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const pieces = pattern.split("*").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${pieces.join(".*")}$`, "s").test(name);
  });
}

/** Names of the queues that it has the role for. */
export function queuesOf({ rights }: Me, role: Role): readonly string[] {
  return rights
    .filter(({ roles }) => roles.includes("admin") || roles.includes(role))
    .flatMap(({ queues }) => queues);
}

/** It has the role for all queues. */
export function isForAll(me: Me, role: Role): boolean {
  return !me.keys_required || queuesOf(me, role).includes("*");
}

/** It has the role for some queues, but not for all. */
export function isForSome(me: Me, role: Role): boolean {
  return !isForAll(me, role) && queuesOf(me, role).length > 0;
}

/** `name`: `null` where a call names no queue, which takes a key for all. */
export function mayOn(me: Me, role: Role, name: string | null): boolean {
  if (name === null || !me.keys_required) return isForAll(me, role);
  return isForQueue(queuesOf(me, role), name);
}

/** It has the role `read`, and no other. */
export function mayOnlyRead({ keys_required: isAsked, roles }: Me): boolean {
  return isAsked && roles.every((role) => role === "read");
}
