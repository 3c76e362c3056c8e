// A change by one call: its result goes to the footer, and all queries are refreshed.

import { useMutation } from "@tanstack/react-query";
import type { RequestOf, ResponseOf } from "../../openapi/operations.ts";
import type { ItemCounts } from "../../openapi/schemas.ts";
import { pollNow } from "../state/overview-poll.ts";
import { showToast } from "../state/toast.ts";
import { ask, type Call, type CallId } from "./call.ts";
import { queryClient } from "./query-client.ts";
import { useQuery } from "./use-query.ts";

interface Change<Id extends CallId> {
  readonly call: Call<Id>;
  readonly toast: (reply: ResponseOf<Id>) => string;
  readonly onDone?: () => void;
}

/** The properties of a `ChangeDialog`. */
export function useChange<Id extends CallId>({ call, toast, onDone }: Change<Id>) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => ask(call.id, call.body),
    onSuccess: (reply) => {
      showToast(toast(reply));
      onDone?.();
    },
    // After a refusal too: the counts may have changed.
    onSettled: () => {
      pollNow();
      void queryClient.invalidateQueries();
    },
  });
  return { calls: [call], isAsking: isPending, refused: error, onSubmit: () => mutate() };
}

/** No `data` while it is counted again, nor after an error: an earlier count is not submitted. */
export function useDryRun<Id extends CallId>(id: Id, body: RequestOf<Id>, isEnabled = true) {
  const query = useQuery(id, body, { isEnabled, retry: false });
  const { data, error, isFetching, isSuccess, refetch } = query;
  return {
    data: isSuccess && !isFetching ? data : undefined,
    error: isFetching ? null : error,
    refetch,
  };
}

export function sumOf({ ready, leased, scheduled, retried }: ItemCounts): number {
  return ready + leased + scheduled + retried;
}
