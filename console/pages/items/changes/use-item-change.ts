// A change of items, from its dry run to its result. The count of the dry run is its bound, so that
// items added meanwhile are not changed unseen.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Destination, ItemCounts } from "../../../../openapi/schemas.ts";
import { ask, type Call } from "../../../api/call.ts";
import { isForAll, useWhoAmI } from "../../../api/permissions.ts";
import { mayCall } from "../../../api/session.ts";
import { useFetched } from "../../../api/use-query.ts";
import { itemsText } from "../../../format.ts";
import { pollNow } from "../../../state/overview-poll.ts";
import { showToast } from "../../../state/toast.ts";
import { changedIds, refreshItems } from "../source.ts";
import {
  type ChangeOptions,
  type ChangeTarget,
  callOf,
  callsOf,
  hasDestination,
  type ItemChange,
} from "./changes.ts";
import { wordings } from "./wording.ts";

const typingMs = 300;

export function useItemChange(change: ItemChange, onDone: () => void) {
  const { verb, target } = change;
  const client = useQueryClient();
  const options = useSettled(change.options);
  const me = useWhoAmI();
  const isEnabled = me !== undefined && hasDestination(verb, options, isForAll(me, "admin"));
  const key = ["dry-run", verb, target, options.to, options.limit];
  const read = () => countsOf({ verb, target, options });
  const dry = useFetched(key, read, { isEnabled, retry: false, staleMs: Infinity, keptMs: 0 });
  const counted = dry.isSuccess && !dry.isFetching ? dry.data : undefined;
  const count = counted && changedBy(counted, options.limit);
  const calls = callsOf(change, counted?.counts);
  // Only these of the typed values change the count.
  const isSettled = options.to === change.options.to && options.limit === change.options.limit;
  const refresh = () => {
    refreshItems(client);
    for (const name of ["explainItem", "summaries", "listTasks"]) {
      void client.invalidateQueries({ queryKey: [name] });
    }
    pollNow();
  };
  const run = useMutation({
    mutationFn: () => makeCalls(calls),
    onSuccess: (taskIds) => {
      const what = `${itemsText(count ?? 0)} of ${target.queueName}`;
      if (taskIds.length === 0) {
        noteChanged(target);
        showToast(`${wordings[verb].done}: ${what}`);
      } else showToast(`began to ${wordings[verb].verb.toLowerCase()} ${what}`);
      for (const id of taskIds) {
        void followTask(id, (isWhole) => {
          if (isWhole) noteChanged(target);
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

/** The items of a filter are known once the list is refreshed. */
function noteChanged({ parts }: ChangeTarget): void {
  changedIds.set(new Set([...changedIds.get(), ...parts.flatMap(({ ids = [] }) => ids)]));
}

/** The value when the typing stopped. */
function useSettled(options: ChangeOptions): ChangeOptions {
  const [settled, setSettled] = useState(options);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(options), typingMs);
    return () => clearTimeout(timer);
  }, [options]);
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

async function countsOf(change: ItemChange): Promise<Counted> {
  const counts: number[] = [];
  const destinations: Destination[] = [];
  for (const part of change.target.parts) {
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
  prioritize: wordings.prioritize.done,
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
    if (!mayCall()) continue;
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
