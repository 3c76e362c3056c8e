// Why the displayed data is stale.

import type { Refused } from "../api/call.ts";
import { session } from "../api/session.ts";
import { useObservable } from "./observable.ts";
import { type Silence, usePoll } from "./overview-poll.ts";

export type Staleness =
  | { readonly why: "silent"; readonly silence: Silence }
  | { readonly why: "refused"; readonly refused: Refused }
  | { readonly why: "no-key" };

/** `null`: the data is current, or there is none yet. */
export function useStaleness(): Staleness | null {
  const { asksKey } = useObservable(session);
  const { overview, silence, refused } = usePoll();
  if (asksKey) return { why: "no-key" };
  if (silence !== null) return { why: "silent", silence };
  if (refused !== null && overview !== null) return { why: "refused", refused };
  return null;
}
