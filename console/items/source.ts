// Which items the server is asked for, and those that it has said. Nothing asks again by itself:
// a list that moves cannot be read.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { FindItemsRequest, ItemFilter } from "../../openapi/schemas.ts";
import { ask } from "../call.ts";
import { useObserved } from "../observed.ts";
import { session } from "../session.ts";
import { askedBy } from "./conditions.ts";
import type { View } from "./view.ts";

export type StoredState = "ready" | "leased" | "scheduled";

/** The items of a view, as calls name them. */
export interface Source {
  readonly queueName: string;
  /** `null`: any. */
  readonly state: StoredState | null;
  readonly filter: ItemFilter;
  readonly holder: string | null;
  readonly partition: number | null;
  readonly isNewestFirst: boolean;
}

const pageLimit = 100;

/** Of the queue alone, or `undefined` while it is not known. */
export function useDeadQueue(name: string): string | undefined {
  const { visit, asksKey } = useObserved(session);
  const { data } = useQuery({
    queryKey: ["queue-info", visit, name],
    queryFn: ({ signal }) => ask("queueInfo", { queue_name: name }, { signal }),
    enabled: !asksKey && name !== "",
    staleTime: 10_000,
  });
  return data?.dead_queue;
}

/** `null`: there is nothing to ask, as no queue is named, or it has no dead queue. */
export function sourceOf(view: View, deadQueue: string | undefined): Source | null {
  const { filter, holder = null, partition = null } = askedBy(view.conditions);
  const { name, state, isNewestFirst } = view;
  if (name === "") return null;
  if (state !== "dead") {
    return { queueName: name, state, filter, holder, partition, isNewestFirst };
  }
  if (deadQueue === undefined || deadQueue === "") return null;
  return {
    queueName: deadQueue,
    state: null,
    filter: { ...filter, origin_queue: name },
    holder,
    // The one that is meant is of the queue that they came from.
    partition: null,
    isNewestFirst,
  };
}

/** In the order that is looked at. */
export function listRequestOf(source: Source): FindItemsRequest {
  return { ...requestOf(source), ...(source.isNewestFirst && { order: "newest" }) };
}

export function requestOf(source: Source): FindItemsRequest {
  const { queueName, state, filter, holder, partition } = source;
  return {
    queue_name: queueName,
    filter,
    ...(state !== null && { state }),
    ...(holder !== null && { holder }),
    ...(partition !== null && { partition }),
  };
}

export const itemsKey = "items";

export function useFound(source: Source | null) {
  const { visit, asksKey } = useObserved(session);
  return useInfiniteQuery({
    queryKey: [itemsKey, visit, source],
    queryFn: async ({ signal, pageParam }) => {
      if (source === null) throw new Error("there is nothing to find");
      const page = { ...listRequestOf(source), pivot: pageParam, limit: pageLimit };
      return { ...(await ask("findItems", page, { signal })), seenAt: performance.now() };
    },
    initialPageParam: "",
    getNextPageParam: ({ next_pivot: next }) => (next === "" ? undefined : next),
    enabled: source !== null && !asksKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export interface Counted {
  readonly count: number;
  readonly lookedAt: number;
  /** More would have to be looked at to know. */
  readonly isPart: boolean;
}

/** Pure: of a count that is only begun it is known that no fewer match than were found. */
export function atLeast(counted: Counted | undefined, foundCount: number): Counted | undefined {
  if (counted === undefined || !counted.isPart) return counted;
  return { ...counted, count: Math.max(counted.count, foundCount) };
}

/** How many a filter means: more than are listed. */
export function useCounted(source: Source | null): Counted | undefined {
  const { visit, asksKey } = useObserved(session);
  const { data } = useQuery({
    queryKey: [itemsKey, visit, "count", source && requestOf(source)],
    queryFn: async ({ signal }) => {
      if (source === null) throw new Error("there is nothing to count");
      const reply = await ask("groupItems", { ...requestOf(source), by: "death" }, { signal });
      return {
        count: reply.groups.reduce((sum, { count }) => sum + count, 0),
        lookedAt: reply.looked_at,
        isPart: reply.next_pivot !== "",
      };
    },
    enabled: source !== null && !asksKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return data;
}

/** Names an item among others: it ends in what differs. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
