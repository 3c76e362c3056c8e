// The queries of the page of a queue, each as often as its data change.

import { useState } from "react";
import { useSearchParams } from "react-router";
import { useQuery } from "../../api/use-query.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { type QueueRow, type Rates, ratesOf } from "../../state/overview-state.ts";
import { useDeadQueues } from "../dead-letters/dead-queues.ts";

const quickMs = 2_000;
const slowMs = 10_000;
/** Long enough for one query of each kind after the last change. */
const restMs = 2_500;
/** The number that fits the page. */
export const clientsShown = 3;
/** The most that the server returns. */
const clientsMax = 1_000;
/** In the address. */
export const clientsParam = "clients";
export const eachClient = "all";
/** Usually enough for the marks of a day. */
const actionsMax = 100;

const noRates: Rates = { in: null, out: null };

export type QueueState = ReturnType<typeof useQueueState>;

export function useQueueState(name: string) {
  const of = { queue_name: name };
  const info = useQuery("queueInfo", { name }, { everyMs: slowMs, isEnabled: name !== "" });
  const isEnabled = info.data !== undefined;
  const overview = useOverview();
  const row = overview?.queues.get(name);
  const isAtRest = useIsAtRest(row, overview?.asOfMs ?? 0);
  const isEachClient = useSearchParams()[0].get(clientsParam) === eachClient;
  const clientsLimit = isEachClient ? clientsMax : clientsShown;
  const quick = { everyMs: isAtRest ? slowMs : quickMs, isEnabled };
  const inspect = useQuery("inspect", of, quick);
  return {
    name,
    info,
    explain: useQuery("explain", of, quick),
    stats: useQuery("stats", { ...of, columns: true }, quick),
    inspect,
    dead: useOwnDead({
      name,
      deadQueue: info.data?.dead_queue,
      total: inspect.data?.dead_letter,
    }),
    clients: useQuery("clients", { ...of, limit: clientsLimit }, { ...quick, keepsLast: true }),
    /** All clients are wanted, not only the first few. */
    isEachClient,
    actions: useQuery("listActions", { ...of, limit: actionsMax }, { everyMs: slowMs, isEnabled }),
    row,
    /** `null`: unknown, or the only shard. */
    shard: row && overview && overview.shards.length > 1 ? row.shard : null,
    rates: row && overview ? ratesOf(row, overview.asOfMs) : noRates,
  };
}

/** The poll shows when a queue has changed; until then queries return the same. */
function useIsAtRest(row: QueueRow | undefined, asOfMs: number): boolean {
  const [changed, setChanged] = useState({ row, asOfMs });
  if (changed.row !== row) setChanged({ row, asOfMs });
  return row !== undefined && asOfMs - changed.asOfMs > restMs;
}

/** The properties of each dialog that changes the queue. */
export interface QueueDialogProps {
  readonly state: QueueState;
  readonly onClose: () => void;
}

const everyMs = 10_000;

interface Owner {
  readonly name: string;
  /** `""` = it has none; `undefined`: not known yet. */
  readonly deadQueue: string | undefined;
  /** All items in it; `undefined`: not known yet. */
  readonly total: number | undefined;
}

/** `isSettled`: counted, or impossible to count. `isPart`: there are more than one call counts. */
export function useOwnDead({ name, deadQueue = "", total }: Owner) {
  const queues = useDeadQueues(deadQueue !== "");
  const owners = queues.data?.find((queue) => queue.name === deadQueue)?.takesFrom ?? [];
  const isShared = owners.length > 1 && (total ?? 0) > 0;
  const filter = { origin_queue: name };
  const body = { queue_name: deadQueue, by: "origin_queue", filter } as const;
  const own = useQuery("summarizeItems", body, { everyMs, isEnabled: isShared, keepsLast: true });
  if (total === undefined || (deadQueue !== "" && queues.isPending)) {
    return { count: undefined, isPart: false, isSettled: false };
  }
  if (!isShared) return { count: total, isPart: false, isSettled: true };
  const count = own.data?.summaries.reduce((sum, summary) => sum + summary.count, 0);
  const isPart = own.data !== undefined && own.data.next_pivot !== "";
  return { count, isPart, isSettled: !own.isPending };
}
