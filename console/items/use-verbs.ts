import { useWhoAmI } from "../queries.ts";
import { mayOn } from "../rights.ts";
import type { Verb } from "./changes.ts";
import { wordings } from "./wording.ts";

/**
 * Of the verbs those that this key may do with this queue: others are not drawn. `null`: it is not
 * known yet.
 */
export function useVerbs(verbs: readonly Verb[], queueName: string): readonly Verb[] | null {
  const me = useWhoAmI();
  if (me === undefined) return null;
  return verbs.filter((verb) => mayOn(me, wordings[verb].role, queueName));
}
