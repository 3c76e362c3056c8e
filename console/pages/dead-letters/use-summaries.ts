import { useState } from "react";
import type { ItemFilter, ItemSummary } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { useFetched } from "../../api/use-query.ts";
import type { FieldId } from "../items/conditions.ts";

interface SummaryFieldInfo {
  readonly title: string;
  /** The condition that its values belong to. */
  readonly param: FieldId;
  /** One value, and several of them. */
  readonly one: string;
  readonly more: string;
  /** The text of an empty value. */
  readonly none: string;
}

export const summaryFields = {
  reason: {
    title: "Reason",
    param: "reason",
    one: "reason",
    more: "reasons",
    none: "no reason given",
  },
  kind: { title: "Kind", param: "kind", one: "kind", more: "kinds", none: "no kind" },
  origin_queue: {
    title: "Came from",
    param: "from",
    one: "queue",
    more: "queues",
    none: "produced here",
  },
  death: {
    title: "Death",
    param: "death",
    one: "cause",
    more: "causes",
    none: "not dead: produced here",
  },
  group: { title: "Group", param: "group", one: "group", more: "groups", none: "no group" },
} as const satisfies Partial<Record<keyof ItemFilter, SummaryFieldInfo>>;

export type SummaryField = keyof typeof summaryFields;

/** One filter for all of them, so that a change is one task with one rate. */
export function filterOf(by: SummaryField, summaries: readonly ItemSummary[]): ItemFilter {
  const values = summaries.map(({ value }) => value);
  if (values.length > 1) return { any_of: { by, values } };
  return { [by]: values[0] };
}

export interface Summaries {
  readonly summaries: readonly ItemSummary[];
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

/** Pure: summaries of several pages with the same value are one. */
export function merged(summaries: readonly ItemSummary[]): readonly ItemSummary[] {
  const byValue = new Map<string, ItemSummary>();
  for (const summary of summaries) {
    const known = byValue.get(summary.value);
    if (known === undefined) byValue.set(summary.value, summary);
    else byValue.set(summary.value, combined(known, summary));
  }
  return [...byValue.values()].sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

function combined(one: ItemSummary, other: ItemSummary): ItemSummary {
  const [first_at = ""] = [one.first_at, other.first_at].sort();
  const [, last_at = ""] = [one.last_at, other.last_at].sort();
  return { ...one, count: one.count + other.count, first_at, last_at };
}

/** Page by page, as each may take seconds: `onPart` gets the summaries so far. */
async function summariesOf(
  name: string,
  by: SummaryField,
  {
    signal,
    onPart,
  }: { readonly signal: AbortSignal; readonly onPart: (summaries: Summaries) => void },
): Promise<Summaries> {
  const all: ItemSummary[] = [];
  let pivot = "";
  let scanned = 0;
  const soFar = (isGathering: boolean): Summaries => {
    const summaries = merged(all);
    const itemCount = summaries.reduce((sum, { count }) => sum + count, 0);
    const seenAt = performance.now();
    return { summaries, itemCount, scanned, isPart: pivot !== "", isGathering, seenAt };
  };
  for (let page = 0; page < pagesMax; page += 1) {
    const reply = await ask("summarizeItems", { queue_name: name, by, pivot }, { signal });
    all.push(...reply.summaries);
    pivot = reply.next_pivot;
    scanned += reply.scanned;
    if (pivot === "") break;
    signal.throwIfAborted();
    onPart(soFar(true));
  }
  return soFar(false);
}

export function useSummaries(name: string, by: SummaryField) {
  const [partial, setPartial] = useState<Summaries>();
  const read = (signal: AbortSignal) =>
    summariesOf(name, by, { signal, onPart: setPartial }).finally(() => setPartial(undefined));
  const found = useFetched(["summaries", name, by], read, { staleMs: Infinity, keptMs: 0 });
  return { ...found, data: partial ?? found.data };
}
