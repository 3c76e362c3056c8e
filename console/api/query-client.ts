// The cache of queries. A refusal of a right has the roles of the key read again.

import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { pollState } from "../state/overview-poll.ts";
import { Refused } from "./call.ts";
import { session } from "./session.ts";

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (cause, { queryKey: [name] }) => name !== "whoAmI" && refreshRoles(cause),
  }),
  mutationCache: new MutationCache({ onError: refreshRoles }),
  defaultOptions: {
    queries: {
      // A refusal is final; a call without an answer is repeated.
      retry: (count, cause) => !(cause instanceof Refused) && count < 3,
      refetchOnWindowFocus: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

const readRoles = () => void queryClient.invalidateQueries({ queryKey: ["whoAmI"] });

session.subscribe(() => {
  if (!session.get().needsKey) readRoles();
});
let refusedBefore = pollState.get().refused;
pollState.subscribe(() => {
  const { refused } = pollState.get();
  if (refused === refusedBefore) return;
  refreshRoles(refused ?? refusedBefore);
  refusedBefore = refused;
});

function refreshRoles(cause: unknown): void {
  if (cause instanceof Refused && cause.code === 403) readRoles();
}
