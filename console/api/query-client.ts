// What is asked beside the poll, and kept for all parts that need it.

import { MutationCache, QueryCache, QueryClient, useQuery } from "@tanstack/react-query";
import type { Role } from "../../openapi/roles.ts";
import type { TaskInfo } from "../../openapi/schemas.ts";
import { useObserved } from "../state/observable.ts";
import { seen } from "../state/overview-poll.ts";
import { ask, Refused } from "./call.ts";
import { mayOn } from "./permissions.ts";
import { session } from "./session.ts";

const whoAmI = "whoami";

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (cause, { queryKey: [name] }) => name !== whoAmI && lookAgainWho(cause),
  }),
  mutationCache: new MutationCache({ onError: (cause) => lookAgainWho(cause) }),
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
  if (!session.get().asksKey) void queryClient.invalidateQueries({ queryKey: [whoAmI] });
});
let refusedBefore = seen.get().refused;
seen.subscribe(() => {
  const { refused } = seen.get();
  if (refused === refusedBefore) return;
  lookAgainWho(refused ?? refusedBefore);
  refusedBefore = refused;
});

/** A key that is refused something, or no more, may have other roles than it had. */
function lookAgainWho(cause: unknown): void {
  if (!(cause instanceof Refused) || cause.code !== 403) return;
  void queryClient.invalidateQueries({ queryKey: [whoAmI] });
}

export function useWhoAmI() {
  const { visit, asksKey } = useObserved(session);
  return useQuery({
    queryKey: [whoAmI, visit],
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

/** `name`: `null` = of all queues. `false` too while it is not known. */
export function useMayOn(role: Role, name: string | null): boolean {
  const me = useWhoAmI();
  return me !== undefined && mayOn(me, role, name);
}

/** Who administers its queues cancels a task. */
export function useMayCancel({ queue_name, to }: Pick<TaskInfo, "queue_name" | "to">): boolean {
  const me = useWhoAmI();
  return (
    me !== undefined && [queue_name, to || queue_name].every((name) => mayOn(me, "admin", name))
  );
}

/** The newest task that runs, if one does. */
export function useRunningTask() {
  return useObserved(seen).overview?.tasks[0];
}
