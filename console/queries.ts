// What is asked beside the poll, and kept for all parts that need it.

import { QueryClient, useQuery } from "@tanstack/react-query";
import type { Role } from "../openapi/roles.ts";
import { ask, Refused } from "./call.ts";
import { useObserved } from "./observed.ts";
import { session } from "./session.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What is refused stays so; what nobody answered is asked again.
      retry: (count, cause) => !(cause instanceof Refused) && count < 3,
      refetchOnWindowFocus: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

// With another key another may be here, whatever was known a moment ago.
session.subscribe(() => {
  if (!session.get().asksKey) void queryClient.invalidateQueries({ queryKey: ["whoami"] });
});

export function useWhoAmI() {
  const { visit, asksKey } = useObserved(session);
  return useQuery({
    queryKey: ["whoami", visit],
    queryFn: ({ signal }) => ask("whoAmI", {}, { signal }),
    enabled: !asksKey,
    staleTime: 60_000,
    retry: (_, cause) => !(cause instanceof Refused),
  }).data;
}

/** `null`: not known yet. What a key may not do is not drawn. */
export function useMay(role: Role): boolean | null {
  const me = useWhoAmI();
  if (me === undefined) return null;
  return !me.keys_required || me.roles.includes("admin") || me.roles.includes(role);
}

const idleMs = 15_000;
const runningMs = 1_000;

/** The task that runs, if one does. */
export function useRunningTask() {
  const { visit, asksKey } = useObserved(session);
  const { data } = useQuery({
    queryKey: ["tasks", visit],
    queryFn: ({ signal }) => ask("listTasks", {}, { signal }),
    enabled: !asksKey,
    retry: false,
    refetchInterval: ({ state }) => (runningIn(state.data?.tasks) ? runningMs : idleMs),
  });
  return runningIn(data?.tasks);
}

function runningIn<T extends { readonly state: string }>(tasks: readonly T[] = []): T | undefined {
  return tasks.find(({ state }) => state === "running");
}
