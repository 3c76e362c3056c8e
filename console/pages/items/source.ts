// Which items the server is asked for, and those that it has said. Nothing asks again by itself:
// a list that moves cannot be read.

import {
  type InfiniteData,
  type Query,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { FindItemsReply, FindItemsRequest, ItemFilter } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { session } from "../../api/session.ts";
import { observed, useObserved } from "../../state/observable.ts";
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

export const pageLimit = 100;
/** A look that took more calls is dear: each looks at up to 100,000 items. */
const cheapCallsMax = 3;
/** For so long its result is kept for who comes back. */
const keptMs = 10 * 60_000;

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

interface FoundPage extends FindItemsReply {
  /** By `performance.now()`. */
  readonly seenAt: number;
}

type FoundPages = InfiniteData<FoundPage, string>;

export function useFound(source: Source | null) {
  const { visit, asksKey } = useObserved(session);
  const client = useQueryClient();
  const queryKey = [itemsKey, visit, source];
  return useInfiniteQuery({
    queryKey,
    queryFn: async ({ signal, pageParam }) => {
      if (source === null) throw new Error("there is nothing to find");
      const page = { ...listRequestOf(source), pivot: pageParam, limit: pageLimit };
      return { ...(await ask("findItems", page, { signal })), seenAt: performance.now() };
    },
    initialPageParam: "",
    getNextPageParam: ({ next_pivot: next }) => (next === "" ? undefined : next),
    enabled: source !== null && !asksKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: isDear(client.getQueryData(queryKey)) ? keptMs : 0,
  });
}

function isDear(found: FoundPages | undefined): boolean {
  return found !== undefined && found.pages.length > cheapCallsMax;
}

const isDearQuery = ({ state: { data } }: Query) =>
  typeof data === "object" && data !== null && "pages" in data && isDear(data as FoundPages);

/** Items that were changed here since they were listed, by ids that they have no more. */
export const changedIds = observed<ReadonlySet<string>>(new Set());

/** All anew: of a dear look the first page, from which it goes on as far as its reader wants. */
export function lookAgain(client: QueryClient): void {
  client.setQueriesData<FoundPages>(
    { queryKey: [itemsKey], predicate: isDearQuery },
    (found) =>
      found && { pages: found.pages.slice(0, 1), pageParams: found.pageParams.slice(0, 1) },
  );
  changedIds.set(new Set());
  void client.invalidateQueries({ queryKey: [itemsKey] });
}

/** Once items were changed. A dear look stays as it is: its reader says when to look again. */
export function refreshItems(client: QueryClient): void {
  const predicate = (query: Query) => !isDearQuery(query);
  void client.invalidateQueries({ queryKey: [itemsKey], predicate });
}

export interface Counted {
  readonly count: number;
  readonly lookedAt: number;
  /** More would have to be looked at to know. */
  readonly isPart: boolean;
}

/** How far a list has come. */
export interface Listed {
  readonly count: number;
  readonly lookedAt: number;
  readonly isWhole: boolean;
}

/** Pure: of a count that is only begun the list may know more. */
export function withListed(counted: Counted | undefined, listed: Listed): Counted | undefined {
  if (listed.isWhole && counted?.isPart !== false) {
    return { count: listed.count, lookedAt: listed.lookedAt, isPart: false };
  }
  if (counted === undefined) return undefined;
  const { isPart } = counted;
  return {
    count: isPart ? Math.max(counted.count, listed.count) : counted.count,
    lookedAt: Math.max(counted.lookedAt, listed.lookedAt),
    isPart,
  };
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
