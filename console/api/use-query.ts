// A call that a page makes, and makes again every so often while somebody looks and the server
// answers. What was had last stays while the next is asked for.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RequestOf } from "../../openapi/operations.ts";
import { useObserved } from "../state/observable.ts";
import { useAsksAgain } from "../state/overview-poll.ts";
import { ask, type CallId } from "./call.ts";
import { session } from "./session.ts";

interface Asked {
  /** Absent: once. */
  readonly everyMs?: number;
  readonly isWanted?: boolean;
  /** What another body was answered stands there until this one is. */
  readonly keepsLast?: boolean;
}

export function useAsked<Id extends CallId>(id: Id, body: RequestOf<Id>, options: Asked = {}) {
  const { everyMs = 0, isWanted = true, keepsLast = false } = options;
  const { visit, asksKey } = useObserved(session);
  const isAsking = useAsksAgain() && everyMs > 0;
  return useQuery({
    queryKey: [id, visit, body],
    queryFn: ({ signal }) => ask(id, body, { signal }),
    enabled: !asksKey && isWanted,
    retry: false,
    refetchInterval: isAsking && everyMs,
    ...(keepsLast && { placeholderData: keepPreviousData }),
  });
}
