import { useWhoAmI } from "../queries.ts";
import type { Verb } from "./changes.ts";
import { wordings } from "./wording.ts";

/**
 * Of the verbs those that this key may do with this queue: others are not drawn. `null`: it is not
 * known yet.
 */
export function useVerbs(verbs: readonly Verb[], queueName: string): readonly Verb[] | null {
  const me = useWhoAmI();
  if (me === undefined) return null;
  if (!me.keys_required) return verbs;
  if (!me.queues.some((pattern) => isFor(pattern, queueName))) return [];
  const { roles } = me;
  return verbs.filter((verb) => roles.includes("admin") || roles.includes(wordings[verb].role));
}

/** A `*` stands for any text. */
function isFor(pattern: string, name: string): boolean {
  const pieces = pattern.split("*").map((piece) => piece.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${pieces.join(".*")}$`, "s").test(name);
}
