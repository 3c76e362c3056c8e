import { mayOn } from "../../../api/permissions.ts";
import { useWhoAmI } from "../../../api/query-client.ts";
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
