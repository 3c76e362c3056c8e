// Why what is shown is not of now.

import type { Refused } from "../api/call.ts";
import { session } from "../api/session.ts";
import { useObserved } from "./observable.ts";
import { type Silence, seen } from "./overview-poll.ts";

export type Old =
  | { readonly why: "silent"; readonly silence: Silence }
  | { readonly why: "refused"; readonly refused: Refused }
  | { readonly why: "no-key" };

/** `null`: it is of now, or nothing is shown yet. */
export function useOld(): Old | null {
  const { asksKey } = useObserved(session);
  const { overview, silence, refused } = useObserved(seen);
  if (asksKey) return { why: "no-key" };
  if (silence !== null) return { why: "silent", silence };
  if (refused !== null && overview !== null) return { why: "refused", refused };
  return null;
}
