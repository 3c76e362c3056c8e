// Follow: what comes is added where the order has it, below or with the newest first above, and what
// went stays where it was. Whoever stops keeps what came.

import { useEffect, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { ask } from "../../../api/call.ts";
import { isAwaited } from "../../../api/session.ts";
import { asksAgain } from "../../../state/overview-poll.ts";
import { listRequestOf, type Source } from "../source.ts";

const followMs = 1_000;
const followMsMax = 60_000;
/** Times as long as the last look took: of a shard that others need a twentieth at most. */
const restFactor = 20;
/** Of one look: the most that the server returns at once. */
const lookMax = 500;
/** Rows beyond it say nothing to who watches, and would grow without end. */
export const followedMax = 5_000;

interface Shown {
  readonly items: readonly FoundItem[];
  readonly goneIds: ReadonlySet<string>;
}

export interface Followed extends Shown {
  /** Until it is looked at again. */
  readonly pauseMs: number;
  /** By `performance.now()`. */
  readonly seenAt: number;
}

/** A piece of the list as it is now. */
export interface Look {
  readonly found: readonly FoundItem[];
  /** More stand behind it, of which it says nothing. */
  readonly isCut: boolean;
  /** The piece begins behind this one; absent: at the start. */
  readonly after?: FoundItem | undefined;
}

/** Pure: a filter that hardly anything matches has a backlog looked through each time. */
export function pauseMsAfter(tookMs: number): number {
  return Math.min(followMsMax, Math.max(followMs, tookMs * restFactor));
}

/** Where a list goes on that is longer than a look. */
interface Tail {
  readonly pivot: string;
  readonly after: FoundItem | undefined;
}

/** Pure: those that are known keep their places. */
export function followedBy(
  { items: before, goneIds }: Shown,
  looks: readonly Look[],
  isNewestFirst: boolean,
): Shown {
  const fresh = new Map(looks.flatMap(({ found }) => found.map((item) => [item.id, item])));
  const kept = before.map((item) => fresh.get(item.id) ?? item);
  const known = new Set(before.map(({ id }) => id));
  const came = [...fresh.values()].filter(({ id }) => !known.has(id));
  const end = before.findLastIndex(({ id }) => fresh.has(id));
  const isSeen = (item: FoundItem, at: number) =>
    isNewestFirst
      ? at < end || !looks.some(({ isCut }) => isCut)
      : looks.some((look) => isWithin(look, item));
  const items = isNewestFirst ? [...came, ...kept] : [...kept, ...came];
  return {
    items: items.slice(0, Math.max(followedMax, before.length)),
    goneIds: new Set(
      before
        .filter((item, at) => !fresh.has(item.id) && (goneIds.has(item.id) || isSeen(item, at)))
        .map(({ id }) => id),
    ),
  };
}

/** In the order of the queue, whether a look would have found it. */
function isWithin({ found, isCut, after }: Look, item: FoundItem): boolean {
  if (after !== undefined && !isBefore(after, item)) return false;
  const last = found.at(-1);
  return !isCut || (last !== undefined && isBefore(item, last));
}

function isBefore(a: FoundItem, b: FoundItem): boolean {
  if (a.partition !== b.partition) return a.partition < b.partition;
  const isLater = a.state === "scheduled";
  return isLater === (b.state === "scheduled") ? a.id < b.id : !isLater;
}

export function useFollow(
  source: Source | null,
  listed: readonly FoundItem[],
  /** Of the page that was listed last, if it is not the first. */
  lastPage: Tail | null,
) {
  const [isOn, setOn] = useState(false);
  const [followed, setFollowed] = useState<Followed | null>(null);
  const identity = JSON.stringify(source);
  useEffect(() => {
    if (!isOn || source === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let tail = lastPage;
    const find = (pivot: string) =>
      ask(
        "findItems",
        { ...listRequestOf(source), pivot, limit: lookMax },
        { signal: stop.signal },
      );
    const lookOnce = async () => {
      const begun = performance.now();
      const first = await find("");
      const looks: Look[] = [{ found: first.items, isCut: first.next_pivot !== "" }];
      if (first.next_pivot !== "" && !source.isNewestFirst) {
        tail ??= { pivot: first.next_pivot, after: first.items.at(-1) };
        const { items: found, next_pivot: pivot } = await find(tail.pivot);
        looks.push({ found, isCut: pivot !== "", after: tail.after });
        if (pivot !== "") tail = { pivot, after: found.at(-1) ?? tail.after };
      }
      const seenAt = performance.now();
      const pauseMs = pauseMsAfter(seenAt - begun);
      setFollowed((before) => ({
        ...followedBy(before ?? { items: listed, goneIds: new Set() }, looks, source.isNewestFirst),
        ...{ seenAt, pauseMs },
      }));
      return pauseMs;
    };
    const look = async () => {
      let pauseMs = followMs;
      try {
        if (isAwaited() && asksAgain()) pauseMs = await lookOnce();
      } catch {
        // The poll says that nobody answers; here it is tried again.
      }
      if (!stop.signal.aborted) timer = setTimeout(look, pauseMs);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
    // `identity` says whether the source is another; what is listed matters once.
  }, [isOn, identity]);
  const startOver = () => {
    setOn(false);
    setFollowed(null);
  };
  return { isOn, setOn, followed, startOver };
}
