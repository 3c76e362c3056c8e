// Merges lists of actions. Each list counts its actions from 1 on, so an id of the merged list also
// contains the place of the list that has the action.

import type { Action, ActionsListReply } from "../../openapi/schemas.ts";
import { type ReachedReplies, reachedIn, unreachedError, unreachedIn } from "./reached.ts";

interface ActionsPage {
  readonly limit: number;
  /** An id of a merged list; 0: start at the newest action. */
  readonly pivot: number;
}

/**
 * `replies`: at least one; each has the newest `limit` actions of a place, or all of them if there
 * is a pivot. Returns a page of the merged list, the latest `at` first. Throws if the place of the
 * pivot was unreachable, because the start of the page is then unknown.
 */
export function mergeActions(
  replies: ReachedReplies<Pick<ActionsListReply, "items" | "since">>,
  { limit, pivot }: ActionsPage,
): ActionsListReply {
  const count = replies.length;
  const unreached = unreachedIn(replies);
  const place = pivot % count;
  if (pivot !== 0 && unreached.includes(place)) {
    throw unreachedError([place], "the action of the pivot is there");
  }
  const actions = replies.flatMap((reply, at) =>
    (reply?.items ?? []).map((action) => ({ ...action, id: action.id * count + at })),
  );
  actions.sort(newestFirst);
  const from = startOf(actions, { pivot, count });
  // Before the latest of these instants, some place may have dropped actions.
  const instants = reachedIn(replies)
    .map((reply) => reply.since)
    .sort();
  const since = instants.at(-1) ?? "";
  return { items: actions.slice(from, from + limit), since, unreached };
}

function newestFirst(a: Action, b: Action): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return b.id - a.id;
}

/** The index of the pivot, or of the first action that may be older than a missing pivot. */
function startOf(
  actions: readonly Action[],
  { pivot, count }: { readonly pivot: number; readonly count: number },
): number {
  if (pivot === 0) return 0;
  const index = actions.findIndex(({ id }) => id === pivot);
  if (index >= 0) return index;
  // For a missing action, only the order within its own place is known.
  return actions.findLastIndex(({ id }) => id % count === pivot % count && id > pivot) + 1;
}
