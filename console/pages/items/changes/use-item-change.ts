// A change of items, from its dry run to its result. The count of the dry run is its bound, so that
// items added meanwhile are not changed unseen.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Destination, ItemCounts } from "../../../../openapi/schemas.ts";
import { ask, type Call } from "../../../api/call.ts";
import { isForAll, useWhoAmI } from "../../../api/permissions.ts";
import { isAwaited } from "../../../api/session.ts";
import { useFetched } from "../../../api/use-query.ts";
import { itemsText } from "../../../format.ts";
import { pollNow } from "../../../state/overview-poll.ts";
import { showToast } from "../../../state/toast.ts";
import { changedIds, refreshItems } from "../source.ts";
import { callOf, callsOf, isToldWhere, type Meant, type Verb, type Wishes } from "./changes.ts";
import { wordings } from "./wording.ts";

export interface Change {
  readonly verb: Verb;
  readonly meant: Meant;
  readonly wishes: Wishes;
}

const typingMs = 300;

export function useChange(change: Change, onDone: () => void) {
  const { verb, meant } = change;
  const client = useQueryClient();
  const wishes = useSettled(change.wishes);
  const me = useWhoAmI();
  const isWanted = me !== undefined && isToldWhere(verb, wishes, isForAll(me, "admin"));
  const key = ["dry-run", verb, meant, wishes.to, wishes.limit];
  const read = () => countsOf({ verb, meant, wishes });
  const dry = useFetched(key, read, { isWanted, retry: false, staleMs: Infinity, keptMs: 0 });
  const counted = dry.isSuccess && !dry.isFetching ? dry.data : undefined;
  const count = counted && changedBy(counted, wishes.limit);
  const calls = callsOf(change, counted?.counts);
  // Only these of the typed values change the count.
  const isSettled = wishes.to === change.wishes.to && wishes.limit === change.wishes.limit;
  const refresh = () => {
    refreshItems(client);
    for (const name of ["explainItem", "groups", "listTasks"]) {
      void client.invalidateQueries({ queryKey: [name] });
    }
    pollNow();
  };
  const run = useMutation({
    mutationFn: () => makeCalls(calls),
    onSuccess: (taskIds) => {
      const what = `${itemsText(count ?? 0)} of ${meant.queueName}`;
      if (taskIds.length === 0) {
        noteChanged(meant);
        showToast(`${wordings[verb].done}: ${what}`);
      } else showToast(`began to ${wordings[verb].verb.toLowerCase()} ${what}`);
      for (const id of taskIds) {
        void followTask(id, (isWhole) => {
          if (isWhole) noteChanged(meant);
          refresh();
        });
      }
      onDone();
    },
    // The count may have changed, or the first calls were made before the refusal.
    onError: () => void dry.refetch(),
    onSettled: refresh,
  });
  return { calls, count, counted, dry, run, isSettled };
}

/** Items that a filter meant are known once the list is refreshed. */
function noteChanged({ parts }: Meant): void {
  changedIds.set(new Set([...changedIds.get(), ...parts.flatMap(({ ids = [] }) => ids)]));
}

/** The value when the typing stopped. */
function useSettled(wishes: Wishes): Wishes {
  const [settled, setSettled] = useState(wishes);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wishes), typingMs);
    return () => clearTimeout(timer);
  }, [wishes]);
  return settled;
}

export interface Counted {
  /** For each part, in their order. */
  readonly counts: readonly number[];
  /** For a redrive. */
  readonly destinations: readonly Destination[];
  /** By `performance.now()`. */
  readonly seenAt: number;
}

async function countsOf(change: Change): Promise<Counted> {
  const counts: number[] = [];
  const destinations: Destination[] = [];
  for (const part of change.meant.parts) {
    const call = callOf(change, part, { isDry: true });
    const reply = call && (await ask(call.id, call.body));
    counts.push(reply === null ? (part.ids?.length ?? 0) : countIn(reply));
    if (reply !== null && "destinations" in reply) destinations.push(...reply.destinations);
  }
  return { counts, destinations, seenAt: performance.now() };
}

/** Some may have no destination. */
function changedBy({ counts, destinations }: Counted, limit: number): number {
  const matched = counts.reduce((sum, one) => sum + one, 0);
  const { stay = [], go = [] } = Object.groupBy(destinations, ({ queue_name: to }) =>
    to === "" ? "stay" : "go",
  );
  const sum = (of: readonly Destination[]) => of.reduce((all, { count }) => all + count, 0);
  return limit === 0 || stay.length === 0 ? matched - sum(stay) : Math.min(matched, sum(go));
}

function countIn(reply: object): number {
  if ("matched" in reply && typeof reply.matched === "number") return reply.matched;
  if (!("counts" in reply)) return 0;
  const { ready, leased, scheduled, retried } = reply.counts as ItemCounts;
  return ready + leased + scheduled + retried;
}

/** Returns the ids of the tasks. */
async function makeCalls(calls: readonly Call[]): Promise<readonly string[]> {
  const taskIds: string[] = [];
  for (const { id, body } of calls) {
    const reply: object = await ask(id, body);
    if ("task_id" in reply) taskIds.push(String(reply.task_id));
  }
  return taskIds;
}

const lookMs = [150, 300, 600, 1_000] as const;
/** A longer task is shown on the page of its queue. */
const followedMs = 60_000;

const doneWords: Readonly<Record<string, string>> = {
  redrive: wordings.redrive.done,
  promote: wordings.promote.done,
  reject: wordings.reject.done,
  delete: wordings.delete.done,
};

/** Shows the result of a task once it has ended; `isWhole`: it changed all of its items. */
export async function followTask(id: string, onEnded: (isWhole: boolean) => void): Promise<void> {
  const until = performance.now() + followedMs;
  for (let look = 0; performance.now() < until; look += 1) {
    const pauseMs = lookMs[Math.min(look, lookMs.length - 1)];
    await new Promise((done) => setTimeout(done, pauseMs));
    // A call without a required key would only bring up the login.
    if (!isAwaited()) continue;
    try {
      const task = await ask("taskInfo", { task_id: id });
      if (task.state === "running") continue;
      const stay = task.skipped > 0 ? `, ${itemsText(task.skipped)} stay where they are` : "";
      const done = doneWords[task.action] ?? task.action;
      const end = task.state === "done" ? "" : `, then it was ${task.state}`;
      showToast(`${done}: ${itemsText(task.moved)} of ${task.queue_name}${stay}${end}`);
      onEnded(task.state === "done" && task.skipped === 0);
      return;
    } catch {
      // No answer, which the header shows, or the task is forgotten.
    }
  }
  onEnded(false);
}
