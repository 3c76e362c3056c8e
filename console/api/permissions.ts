// The rights of the key of the tab: its roles, and the names of queues that they are for. A control
// that the key may not use is not drawn.

import type { Role } from "../../openapi/roles.ts";
import type { TaskInfo, WhoAmIReply } from "../../openapi/schemas.ts";
import { useQuery } from "./use-query.ts";

export type Me = Pick<WhoAmIReply, "keys_required" | "roles" | "rights">;

/** `*` stands for any text. */
export function isForQueue(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const pieces = pattern.split("*").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${pieces.join(".*")}$`, "s").test(name);
  });
}

/** Patterns of the queues that it has the role for. */
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

/** `name`: `null` for a call without a queue, which needs a key for all queues. */
export function mayOn(me: Me, role: Role, name: string | null): boolean {
  if (name === null || !me.keys_required) return isForAll(me, role);
  return isForQueue(queuesOf(me, role), name);
}

/** It has the role `read`, and no other. */
export function mayOnlyRead({ keys_required: areRequired, roles }: Me): boolean {
  return areRequired && roles.every((role) => role === "read");
}

export function useWhoAmI() {
  return useQuery("whoAmI", {}, { staleMs: 60_000 }).data;
}

/** `null`: not known yet. */
export function useMay(role: Role): boolean | null {
  const me = useWhoAmI();
  if (me === undefined) return null;
  return !me.keys_required || me.roles.includes("admin") || me.roles.includes(role);
}

/** `name`: `null` = all queues. `false` also while it is not known. */
export function useMayOn(role: Role, name: string | null): boolean {
  const me = useWhoAmI();
  return me !== undefined && mayOn(me, role, name);
}

/** Cancelling a task takes the role admin for both of its queues. */
export function useMayCancel({
  queue_name,
  to_queue,
}: Pick<TaskInfo, "queue_name" | "to_queue">): boolean {
  const me = useWhoAmI();
  return (
    me !== undefined &&
    [queue_name, to_queue || queue_name].every((name) => mayOn(me, "admin", name))
  );
}
