// The items of a view, found page by page. Lists do not refresh by themselves: a list that moves
// cannot be read.

import {
  type InfiniteData,
  type Query,
  type QueryClient,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { FindItemsReply, FindItemsRequest, ItemFilter } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { session } from "../../api/session.ts";
import { useFetched, useQuery } from "../../api/use-query.ts";
import { observable, useObservable } from "../../state/observable.ts";
import { requestedBy } from "./conditions.ts";
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
/** A search of more calls is expensive: each scans up to 100,000 items. */
const cheapPagesMax = 3;
/** Expensive results are kept for a reader who returns. */
const keptMs = 10 * 60_000;

export function useQueueInfo(name: string) {
  return useQuery("queueInfo", { name }, { isEnabled: name !== "", staleMs: 10_000 });
}

/** `deadQueue`: `""` = it has none. `null`: no queue is named, or it has no dead queue. */
export function sourceOf(view: View, deadQueue: string | undefined): Source | null {
  const { filter, holder = null, partition = null } = requestedBy(view.conditions);
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
    // The partition in the filter is of the queue that they came from.
    partition: null,
    isNewestFirst,
  };
}

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
  const { visit, needsKey } = useObservable(session);
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
    enabled: source !== null && !needsKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: isExpensive(client.getQueryData(queryKey)) ? keptMs : 0,
  });
}

function isExpensive(found: FoundPages | undefined): boolean {
  return found !== undefined && found.pages.length > cheapPagesMax;
}

const isExpensiveQuery = ({ state: { data } }: Query) =>
  typeof data === "object" && data !== null && "pages" in data && isExpensive(data as FoundPages);

/** Ids of listed items that were changed here. */
export const changedIds = observable<ReadonlySet<string>>(new Set());

/** An expensive search is repeated for its first page only. */
export function refreshList(client: QueryClient): void {
  client.setQueriesData<FoundPages>(
    { queryKey: [itemsKey], predicate: isExpensiveQuery },
    (found) =>
      found && { pages: found.pages.slice(0, 1), pageParams: found.pageParams.slice(0, 1) },
  );
  changedIds.set(new Set());
  void client.invalidateQueries({ queryKey: [itemsKey] });
}

/** After a change. An expensive search is repeated only on demand. */
export function refreshItems(client: QueryClient): void {
  const predicate = (query: Query) => !isExpensiveQuery(query);
  void client.invalidateQueries({ queryKey: [itemsKey], predicate });
}

export interface Counted {
  readonly count: number;
  readonly scanned: number;
  /** There are more items to scan. */
  readonly isPart: boolean;
}

export interface Listed {
  readonly count: number;
  readonly scanned: number;
  readonly isWhole: boolean;
}

/** Pure: a list may have scanned more than the count. */
export function withListed(counted: Counted | undefined, listed: Listed): Counted | undefined {
  if (listed.isWhole && counted?.isPart !== false) {
    return { count: listed.count, scanned: listed.scanned, isPart: false };
  }
  if (counted === undefined) return undefined;
  const { isPart } = counted;
  return {
    count: isPart ? Math.max(counted.count, listed.count) : counted.count,
    scanned: Math.max(counted.scanned, listed.scanned),
    isPart,
  };
}

/** All items that match the filter, listed or not. */
export function useCounted(source: Source | null): Counted | undefined {
  const request = source && requestOf(source);
  const read = async (signal: AbortSignal) => {
    const body = { ...(request ?? { queue_name: "" }), by: "death" } as const;
    const reply = await ask("summarizeItems", body, { signal });
    return {
      count: reply.summaries.reduce((sum, { count }) => sum + count, 0),
      scanned: reply.scanned,
      isPart: reply.next_pivot !== "",
    };
  };
  const options = { isEnabled: source !== null, staleMs: Infinity, keptMs: 0 };
  return useFetched([itemsKey, "count", request], read, options).data;
}

/** The end of an id, which tells items apart. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
