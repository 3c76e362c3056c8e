// What is asked beside the poll, and kept for all parts that need it.

import { QueryClient, useQuery } from "@tanstack/react-query";
import type { Role } from "../openapi/roles.ts";
import { ask, Refused } from "./call.ts";
import { useObserved } from "./observed.ts";
import { seen } from "./overview-poll.ts";
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

/** The newest task that runs, if one does. */
export function useRunningTask() {
  return useObserved(seen).overview?.tasks[0];
}
