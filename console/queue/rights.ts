// What the key may do to this queue: its roles, and the names that it is for.

import type { Role } from "../../openapi/roles.ts";
import { useMay, useWhoAmI } from "../queries.ts";

/** `*` stands for any text. */
export function isForQueue(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const pieces = pattern.split("*").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${pieces.join(".*")}$`, "s").test(name);
  });
}

/** `false` too while it is not known. */
export function useMayOn(role: Role, name: string): boolean {
  const me = useWhoAmI();
  const may = useMay(role) === true;
  return may && (me?.keys_required === false || isForQueue(me?.queues ?? [], name));
}
