// A change from a dialog: one call, said below when it is done, and everything is asked anew.

import { useMutation } from "@tanstack/react-query";
import type { ResponseOf } from "../../openapi/operations.ts";
import { pollNow } from "../state/overview-poll.ts";
import { say } from "../state/toast.ts";
import { ask, type Call, type CallId } from "./call.ts";
import { queryClient } from "./query-client.ts";

interface Change<Id extends CallId> {
  readonly call: Call<Id>;
  /** What the bar below says of its reply. */
  readonly said: (reply: ResponseOf<Id>) => string;
  readonly onDone: () => void;
}

export function useChange<Id extends CallId>({ call, said, onDone }: Change<Id>) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => ask(call.id, call.body),
    onSuccess: (reply) => {
      say(said(reply));
      onDone();
    },
    // After a refusal too: what was counted may have changed.
    onSettled: () => {
      pollNow();
      void queryClient.invalidateQueries();
    },
  });
  return {
    calls: [call],
    isAsking: isPending,
    refused: error,
    onSubmit: () => mutate(),
  };
}
