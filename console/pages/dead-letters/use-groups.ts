import { useState } from "react";
import type { ItemFilter, ItemGroup } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { useFetched } from "../../api/use-query.ts";
import type { FieldId } from "../items/conditions.ts";

interface GroupingInfo {
  readonly title: string;
  /** The condition that its groups are values of. */
  readonly param: FieldId;
  /** The text of an empty value. */
  readonly none: string;
}

export const groupings = {
  reason: { title: "Reason", param: "reason", none: "no reason given" },
  kind: { title: "Kind", param: "kind", none: "no kind" },
  origin_queue: { title: "Came from", param: "from", none: "produced here" },
  death: { title: "Death", param: "death", none: "not dead: produced here" },
} as const satisfies Partial<Record<keyof ItemFilter, GroupingInfo>>;

export type Grouping = keyof typeof groupings;

/** One filter for all of them, so that a change is one task with one rate. */
export function filterOf(by: Grouping, groups: readonly ItemGroup[]): ItemFilter {
  const values = groups.map(({ value }) => value);
  if (values.length > 1) return { groups: { by, values } };
  return { [by]: values[0] };
}

export interface Groups {
  readonly groups: readonly ItemGroup[];
  readonly itemCount: number;
  /** How many items were scanned so far. */
  readonly scanned: number;
  /** There are more to look at. */
  readonly isPart: boolean;
  readonly isGathering: boolean;
  /** By `performance.now()`. */
  readonly seenAt: number;
}

const pagesMax = 10;

/** Pure: groups of several pages with the same value are one. */
export function merged(groups: readonly ItemGroup[]): readonly ItemGroup[] {
  const byValue = new Map<string, ItemGroup>();
  for (const group of groups) {
    const known = byValue.get(group.value);
    if (known === undefined) byValue.set(group.value, group);
    else byValue.set(group.value, combined(known, group));
  }
  return [...byValue.values()].sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

function combined(one: ItemGroup, other: ItemGroup): ItemGroup {
  const [first_at = ""] = [one.first_at, other.first_at].sort();
  const [, last_at = ""] = [one.last_at, other.last_at].sort();
  return { ...one, count: one.count + other.count, first_at, last_at };
}

/** Page by page, as each may take seconds: `onPart` gets the groups so far. */
async function groupsOf(
  name: string,
  by: Grouping,
  { signal, onPart }: { readonly signal: AbortSignal; readonly onPart: (groups: Groups) => void },
): Promise<Groups> {
  const all: ItemGroup[] = [];
  let pivot = "";
  let scanned = 0;
  const soFar = (isGathering: boolean): Groups => {
    const groups = merged(all);
    const itemCount = groups.reduce((sum, { count }) => sum + count, 0);
    const seenAt = performance.now();
    return { groups, itemCount, scanned, isPart: pivot !== "", isGathering, seenAt };
  };
  for (let page = 0; page < pagesMax; page += 1) {
    const reply = await ask("groupItems", { queue_name: name, by, pivot }, { signal });
    all.push(...reply.groups);
    pivot = reply.next_pivot;
    scanned += reply.scanned;
    if (pivot === "") break;
    signal.throwIfAborted();
    onPart(soFar(true));
  }
  return soFar(false);
}

export function useGroups(name: string, by: Grouping) {
  const [partial, setPartial] = useState<Groups>();
  const read = (signal: AbortSignal) =>
    groupsOf(name, by, { signal, onPart: setPartial }).finally(() => setPartial(undefined));
  const found = useFetched(["groups", name, by], read, { staleMs: Infinity, keptMs: 0 });
  return { ...found, data: partial ?? found.data };
}
