// Follow: what comes is added where the order has it, below or with the newest first above, and what
// went stays where it was. Whoever stops keeps what came.

import { useEffect, useState } from "react";
import type { FoundItem } from "../../openapi/schemas.ts";
import { ask } from "../call.ts";
import { session } from "../session.ts";
import { serverNow } from "../time.ts";
import { listRequestOf, type Source } from "./source.ts";

const followMs = 1_000;
/** A view is asked for from its start, so this is as far as it is followed. */
export const followedMax = 500;

export interface Followed {
  readonly items: readonly FoundItem[];
  readonly goneIds: ReadonlySet<string>;
  readonly asOfMs: number;
}

/** Pure: those that are known keep their places. */
export function followedBy(
  before: readonly FoundItem[],
  found: readonly FoundItem[],
  isNewestFirst: boolean,
) {
  const fresh = new Map(found.map((item) => [item.id, item]));
  const kept = before.map((item) => fresh.get(item.id) ?? item);
  const known = new Set(before.map(({ id }) => id));
  const came = found.filter(({ id }) => !known.has(id));
  // Of those behind the last that was found nothing is known, as newer ones have taken their room.
  const isCut = isNewestFirst && found.length >= followedMax;
  const end = isCut ? before.findLastIndex(({ id }) => fresh.has(id)) + 1 : before.length;
  return {
    items: isNewestFirst ? [...came, ...kept] : [...kept, ...came],
    goneIds: new Set(
      before
        .slice(0, end)
        .filter(({ id }) => !fresh.has(id))
        .map(({ id }) => id),
    ),
  };
}

export function useFollow(source: Source | null, listed: readonly FoundItem[]) {
  const [isOn, setOn] = useState(false);
  const [followed, setFollowed] = useState<Followed | null>(null);
  const identity = JSON.stringify(source);
  useEffect(() => {
    if (!isOn || source === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      try {
        if (document.visibilityState === "visible" && !session.get().asksKey) {
          const request = { ...listRequestOf(source), limit: followedMax };
          const { items } = await ask("findItems", request, { signal: stop.signal });
          setFollowed((before) => ({
            ...followedBy(before?.items ?? listed, items, source.isNewestFirst),
            asOfMs: serverNow(),
          }));
        }
      } catch {
        // The poll says that nobody answers; here it is tried again.
      }
      if (!stop.signal.aborted) timer = setTimeout(look, followMs);
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
