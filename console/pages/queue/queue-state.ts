// All that the page of a queue asks, each as often as it changes.

import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type {
  ActionsListReply,
  Inspect,
  QueueClientsReply,
  QueueExplainReply,
  QueueInfo,
  QueueStatsReply,
} from "../../../openapi/schemas.ts";
import { useAsked } from "../../api/use-query.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { type QueueRow, type Rates, ratesOf } from "../../state/overview-state.ts";
import { type OwnDead, useOwnDead } from "./own-dead.ts";

const quickMs = 2_000;
const slowMs = 10_000;
/** Long enough that all is asked once after its last change. */
const restMs = 2_500;
/** As many as have a place on the page. */
export const clientsShown = 3;
/** The most that the server names. */
const clientsMax = 1_000;
/** Of the address. */
export const clientsParam = "clients";
export const eachClient = "all";
/** Enough for the marks of a day, as a rule. */
const actionsMax = 100;

export interface QueueState {
  readonly name: string;
  readonly info: UseQueryResult<QueueInfo>;
  readonly explain: UseQueryResult<QueueExplainReply>;
  readonly stats: UseQueryResult<QueueStatsReply>;
  readonly inspect: UseQueryResult<Inspect>;
  readonly dead: OwnDead;
  readonly clients: UseQueryResult<QueueClientsReply>;
  /** All clients are wanted, not only those that have a place. */
  readonly isEachClient: boolean;
  readonly actions: UseQueryResult<ActionsListReply>;
  /** Of the poll of all queues. */
  readonly row: QueueRow | undefined;
  /** `null` = it is unknown, or the only shard. */
  readonly shard: number | null;
  readonly rates: Rates;
}

export function useQueueState(name: string): QueueState {
  const of = { queue_name: name };
  const info = useAsked("queueInfo", { name }, { everyMs: slowMs, isWanted: name !== "" });
  const isWanted = info.data !== undefined;
  const { overview } = useObserved(seen);
  const row = overview?.queues.get(name);
  const isAtRest = useIsAtRest(row, overview?.asOfMs ?? 0);
  const isEachClient = useSearchParams()[0].get(clientsParam) === eachClient;
  const clientsLimit = isEachClient ? clientsMax : clientsShown;
  const quick = { everyMs: isAtRest ? slowMs : quickMs, isWanted };
  const inspect = useAsked("inspect", of, quick);
  return {
    name,
    info,
    explain: useAsked("explain", of, quick),
    stats: useAsked("stats", { ...of, columns: true }, quick),
    inspect,
    dead: useOwnDead({
      name,
      deadQueue: info.data?.dead_queue,
      total: inspect.data?.dead_letter,
    }),
    clients: useAsked("clients", { ...of, limit: clientsLimit }, { ...quick, keepsLast: true }),
    isEachClient,
    actions: useAsked("listActions", { ...of, limit: actionsMax }, { everyMs: slowMs, isWanted }),
    row,
    shard: row && overview && overview.shards.length > 1 ? row.shard : null,
    rates: row && overview ? ratesOf(row, overview.asOfMs) : { in: null, out: null },
  };
}

/** The poll tells when anything of a queue has changed: until then what is asked of it says the same. */
function useIsAtRest(row: QueueRow | undefined, asOfMs: number): boolean {
  const [changed, setChanged] = useState({ row, asOfMs });
  if (changed.row !== row) setChanged({ row, asOfMs });
  return row !== undefined && asOfMs - changed.asOfMs > restMs;
}
