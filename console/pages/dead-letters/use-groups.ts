import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ItemFilter, ItemGroup } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { session } from "../../api/session.ts";
import { useObserved } from "../../state/observable.ts";

interface Way {
  readonly label: string;
  readonly title: string;
  /** What a group has in common, as a filter says it, and as the address of its items does. */
  readonly field: keyof ItemFilter;
  readonly param: string;
  readonly none: string;
}

export const groupings = {
  reason: {
    label: "reason",
    title: "Reason",
    field: "reason",
    param: "reason",
    none: "no reason given",
  },
  kind: { label: "kind", title: "Kind", field: "kind", param: "kind", none: "no kind" },
  origin_queue: {
    label: "came from",
    title: "Came from",
    field: "origin_queue",
    param: "from",
    none: "produced here",
  },
  death: {
    label: "death",
    title: "Death",
    field: "death",
    param: "death",
    none: "not dead: produced here",
  },
} as const satisfies Record<string, Way>;

export type Grouping = keyof typeof groupings;

/** One filter for all of them: what is done with them is one task, with one pace. */
export function filterOf(by: Grouping, groups: readonly ItemGroup[]): ItemFilter {
  const values = groups.map(({ value }) => value);
  if (values.length > 1) return { groups: { by, values } };
  return { [groupings[by].field]: values[0] };
}

export interface Groups {
  readonly groups: readonly ItemGroup[];
  readonly itemCount: number;
  /** How many items were looked at so far. */
  readonly lookedAt: number;
  /** There are more to look at. */
  readonly isPart: boolean;
  readonly isGathering: boolean;
  /** By `performance.now()`. */
  readonly seenAt: number;
}

const pagesMax = 10;

/** Pure: what several pages say of one value is one group. */
export function merged(groups: readonly ItemGroup[]): readonly ItemGroup[] {
  const byValue = new Map<string, ItemGroup>();
  for (const group of groups) {
    const known = byValue.get(group.value);
    if (known === undefined) byValue.set(group.value, group);
    else byValue.set(group.value, together(known, group));
  }
  return [...byValue.values()].sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

function together(one: ItemGroup, other: ItemGroup): ItemGroup {
  const [first_at = ""] = [one.first_at, other.first_at].sort();
  const [, last_at = ""] = [one.last_at, other.last_at].sort();
  return { ...one, count: one.count + other.count, first_at, last_at };
}

/** Page by page, as each may take seconds: `tell` has what there is so far. */
async function groupsOf(
  name: string,
  by: Grouping,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (groups: Groups) => void },
): Promise<Groups> {
  const all: ItemGroup[] = [];
  let pivot = "";
  let lookedAt = 0;
  const soFar = (isGathering: boolean): Groups => {
    const groups = merged(all);
    const itemCount = groups.reduce((sum, { count }) => sum + count, 0);
    const seenAt = performance.now();
    return { groups, itemCount, lookedAt, isPart: pivot !== "", isGathering, seenAt };
  };
  for (let page = 0; page < pagesMax; page += 1) {
    const reply = await ask("groupItems", { queue_name: name, by, pivot }, { signal });
    all.push(...reply.groups);
    pivot = reply.next_pivot;
    lookedAt += reply.looked_at;
    if (pivot === "") break;
    signal.throwIfAborted();
    tell(soFar(true));
  }
  return soFar(false);
}

export function useGroups(name: string, by: Grouping) {
  const { visit, asksKey } = useObserved(session);
  const client = useQueryClient();
  const queryKey = ["groups", visit, name, by];
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      groupsOf(name, by, { signal, tell: (groups) => client.setQueryData(queryKey, groups) }),
    enabled: name !== "" && !asksKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}
