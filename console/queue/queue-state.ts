// All that the page of a queue asks, each as often as it changes.

import type { UseQueryResult } from "@tanstack/react-query";
import type {
  ActionsListReply,
  Inspect,
  QueueClientsReply,
  QueueExplainReply,
  QueueInfo,
  QueueStatsReply,
} from "../../openapi/schemas.ts";
import { useAsked } from "../asked.ts";
import { useObserved } from "../observed.ts";
import { seen } from "../overview-poll.ts";
import { type QueueRow, type Rates, ratesOf } from "../overview-state.ts";

const quickMs = 2_000;
const slowMs = 10_000;
/** As many as have a place on the page. */
export const clientsShown = 3;
/** Enough for the marks of a day, as a rule. */
const actionsMax = 100;

export interface QueueState {
  readonly name: string;
  readonly info: UseQueryResult<QueueInfo>;
  readonly explain: UseQueryResult<QueueExplainReply>;
  readonly stats: UseQueryResult<QueueStatsReply>;
  readonly inspect: UseQueryResult<Inspect>;
  readonly clients: UseQueryResult<QueueClientsReply>;
  readonly actions: UseQueryResult<ActionsListReply>;
  /** Of the poll of all queues. */
  readonly row: QueueRow | undefined;
  readonly rates: Rates;
}

export function useQueueState(name: string): QueueState {
  const of = { queue_name: name };
  const info = useAsked("queueInfo", { name }, { everyMs: slowMs, isWanted: name !== "" });
  const isWanted = info.data !== undefined;
  const quick = { everyMs: quickMs, isWanted };
  const { overview } = useObserved(seen);
  const row = overview?.queues.get(name);
  return {
    name,
    info,
    explain: useAsked("explain", of, quick),
    stats: useAsked("stats", { ...of, columns: true }, quick),
    inspect: useAsked("inspect", of, quick),
    clients: useAsked("clients", { ...of, limit: clientsShown }, quick),
    actions: useAsked("listActions", { ...of, limit: actionsMax }, { everyMs: slowMs, isWanted }),
    row,
    rates: row && overview ? ratesOf(row, overview.asOfMs) : { in: null, out: null },
  };
}
