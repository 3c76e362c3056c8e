// Queries of the server, repeated while the server answers and the reader has not paused the updates.
// Without a required key nothing is requested.

import { keepPreviousData, useQuery as useTanstackQuery } from "@tanstack/react-query";
import type { RequestOf, ResponseOf } from "../../openapi/operations.ts";
import { useObservable } from "../state/observable.ts";
import { useIsUpdating } from "../state/overview-poll.ts";
import { ask, type CallId } from "./call.ts";
import { session } from "./session.ts";

interface QueryOptions<Data> {
  /** It may depend on the data so far; absent: once. */
  readonly everyMs?: number | ((data: Data | undefined) => number);
  readonly isEnabled?: boolean;
  /** The data of the previous body stays until this one is answered. */
  readonly keepsLast?: boolean;
  /** After a call without an answer; default: unless `everyMs` repeats it anyway. */
  readonly retry?: boolean;
  /** Infinity: until it is invalidated. */
  readonly staleMs?: number;
  readonly keptMs?: number;
}

export function useFetched<Data>(
  [name, ...rest]: readonly unknown[],
  read: (signal: AbortSignal) => Promise<Data>,
  options: QueryOptions<Data> = {},
) {
  const { everyMs, isEnabled = true, keepsLast = false, staleMs = 0, keptMs } = options;
  const { retry = everyMs === undefined } = options;
  const { visit, needsKey } = useObservable(session);
  const isUpdating = useIsUpdating();
  return useTanstackQuery<Data>({
    queryKey: [name, visit, ...rest],
    queryFn: ({ signal }) => read(signal),
    enabled: !needsKey && isEnabled,
    staleTime: staleMs,
    refetchInterval: ({ state: { data } }) => {
      if (!isUpdating || everyMs === undefined) return false;
      return typeof everyMs === "number" ? everyMs : everyMs(data);
    },
    ...(!retry && { retry: false }),
    ...(keptMs !== undefined && { gcTime: keptMs }),
    ...(keepsLast && { placeholderData: keepPreviousData }),
  });
}

export function useQuery<Id extends CallId>(
  id: Id,
  body: RequestOf<Id>,
  options: QueryOptions<ResponseOf<Id>> = {},
) {
  return useFetched([id, body], (signal) => ask(id, body, { signal }), options);
}
