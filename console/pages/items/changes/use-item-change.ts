// A change from its dry run to its result: first it is counted, then it is made with that count as
// its bound, so that what came meanwhile is not touched unseen.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Destination, ItemCounts } from "../../../../openapi/schemas.ts";
import { ask, type Call } from "../../../api/call.ts";
import { isForAll } from "../../../api/permissions.ts";
import { useWhoAmI } from "../../../api/query-client.ts";
import { itemsText } from "../../../format.ts";
import { pollNow } from "../../../state/overview-poll.ts";
import { say } from "../../../state/toast.ts";
import { changedIds, refreshItems } from "../source.ts";
import { callOf, callsOf, isToldWhere, type Meant, type Verb, type Wishes } from "./changes.ts";
import { followTask } from "./follow-task.ts";
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
  const isAskable = me !== undefined && isToldWhere(verb, wishes, isForAll(me, "admin"));
  const dry = useQuery({
    queryKey: ["dry-run", verb, meant, wishes.to, wishes.limit],
    queryFn: () => countsOf({ verb, meant, wishes }),
    enabled: isAskable,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const counted = dry.isFetching ? undefined : dry.data;
  const { counts, destinations } = counted ?? {};
  const count = counted && changedBy(counted, wishes.limit);
  const calls = callsOf(change, counts);
  // Of what is typed only this changes what is meant.
  const isSettled = wishes.to === change.wishes.to && wishes.limit === change.wishes.limit;
  const refresh = () => {
    refreshItems(client);
    for (const name of ["explained", "groups", "tasks"]) {
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
        say(`${wordings[verb].done}: ${what}`);
      } else say(`began to ${wordings[verb].verb.toLowerCase()} ${what}`);
      for (const id of taskIds) {
        void followTask(id, (isWhole) => {
          if (isWhole) noteChanged(meant);
          refresh();
        });
      }
      onDone();
    },
    // More are meant by now, or some were changed before it was refused.
    onError: () => void dry.refetch(),
    onSettled: refresh,
  });
  return { calls, count, destinations, dry, run, isSettled };
}

/** Of what a filter meant, a list knows when it is looked at again. */
function noteChanged({ parts }: Meant): void {
  changedIds.set(new Set([...changedIds.get(), ...parts.flatMap(({ ids = [] }) => ids)]));
}

/** As it was when the typing stopped. */
function useSettled(wishes: Wishes): Wishes {
  const [settled, setSettled] = useState(wishes);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wishes), typingMs);
    return () => clearTimeout(timer);
  }, [wishes]);
  return settled;
}

interface Counted {
  /** For each part, in their order. */
  readonly counts: readonly number[];
  /** Of a redrive. */
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

/** Of what is meant some may have nowhere to go. */
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

/** Returns the tasks that do it. */
async function makeCalls(calls: readonly Call[]): Promise<readonly string[]> {
  const taskIds: string[] = [];
  for (const { id, body } of calls) {
    const reply: object = await ask(id, body);
    if ("task_id" in reply) taskIds.push(String(reply.task_id));
  }
  return taskIds;
}
