import { useQuery } from "@tanstack/react-query";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { ask } from "../../../api/call.ts";
import { session } from "../../../api/session.ts";
import { useObserved } from "../../../state/observable.ts";
import { useAsksAgain } from "../../../state/overview-poll.ts";
import { serverNow } from "../../../state/server-time.ts";

const lookMs = 5_000;
const afterDeadlineMs = 150;

/** Where an item is and why; asked again at its next deadline, and every few seconds. */
export function useExplained(id: string) {
  const { visit, asksKey } = useObserved(session);
  const isAsking = useAsksAgain();
  return useQuery({
    queryKey: ["explained", visit, id],
    queryFn: ({ signal }) => ask("explainItem", { id }, { signal }),
    enabled: id !== "" && !asksKey,
    gcTime: 0,
    // It is asked again anyway, and by nothing once nobody answers.
    retry: false,
    refetchInterval: ({ state: { data } }) => {
      if (!isAsking) return false;
      const at = data?.item === undefined ? null : nextAt(data.item);
      const leftMs = at === null ? lookMs : at - serverNow() + afterDeadlineMs;
      return leftMs > 0 ? Math.min(lookMs, leftMs) : lookMs;
    },
  });
}

export type Explained = ReturnType<typeof useExplained>;

/** When time alone changes its state; `null`: it does not. */
export function nextAt(item: FoundItem): number | null {
  const at =
    item.state === "leased"
      ? item.lease_deadline
      : item.state === "scheduled"
        ? item.enqueue_at
        : null;
  return at === null ? null : Date.parse(at);
}
