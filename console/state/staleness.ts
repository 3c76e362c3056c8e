// Why the displayed data is stale.

import type { Refused } from "../api/call.ts";
import { session } from "../api/session.ts";
import { useObservable } from "./observable.ts";
import { type Outage, usePoll } from "./overview-poll.ts";

export type Staleness =
  | { readonly why: "no-answer"; readonly outage: Outage }
  | { readonly why: "refused"; readonly refused: Refused }
  | { readonly why: "no-key" };

/** `null`: the data is current, or there is none yet. */
export function useStaleness(): Staleness | null {
  const { needsKey } = useObservable(session);
  const { overview, outage, refused } = usePoll();
  if (needsKey) return { why: "no-key" };
  if (outage !== null) return { why: "no-answer", outage };
  if (refused !== null && overview !== null) return { why: "refused", refused };
  return null;
}
