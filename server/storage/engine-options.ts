// Derives the engines' options from the server's settings: stores, bounds and notices.

import type { Clock } from "../../engine/model/clock.ts";
import { newTag } from "../../engine/model/ids.ts";
import { limits } from "../../engine/model/limits.ts";
import { systemRandom } from "../../engine/model/random.ts";
import type { Notice, ShardsOptions } from "../../engine/shards.ts";
import { type Ownership, ofShard } from "../../stores/nodes.ts";
import {
  durabilityOf,
  openStore,
  type SharedSession,
  type StoreConfig,
  type StoreOptions,
} from "../../stores/open.ts";
import type { Config, PlacedConfig } from "../config/settings.ts";
import type { Log } from "../observability/log.ts";
import { renderLeased } from "../wire/leased.ts";

const noticeTexts: Readonly<Record<Exclude<Notice["kind"], "shard_down">, string>> = {
  shard_up: "shard is up again",
  store_full: "store is full; items cannot be produced",
  items_quarantined: "damaged items were quarantined",
  items_miscounted: "stored items differ from their counts; the counts were corrected",
  items_discarded: "items were removed because there is no dead queue",
  commits_lost: "acknowledged commits are lost with the damaged log",
  items_set_aside: "items of unknown queues were quarantined",
  store_went_back:
    "a store went back to an earlier state; it lacks items that it sent to other shards or received from them",
};

interface EngineContext {
  readonly clock: Clock;
  /** Absent if the stores are files or in memory. */
  readonly session?: SharedSession;
  /** Present at nodes; the clock must then be the one that all nodes share. */
  readonly ownership?: Ownership;
}

export function engineOptionsOf(
  config: PlacedConfig,
  log: Log,
  { clock, session, ownership }: EngineContext,
): ShardsOptions<string> {
  const store = storeOf(config);
  const options: StoreOptions = {
    ...{ ...store, testClock: config.testClock },
    ...(session && { session }),
    ...(ownership && { ownership }),
  };
  const turnLimits = {
    ...limits,
    receiptsWindowMs: config.receiptsWindow,
    receiptsMax: config.receiptsMax,
    historyBytes: config.historyBytes,
  };
  return {
    shardCount: config.shards,
    openStore: (shard) => {
      const own = { ...options, ...storeOf(config, shard) };
      return openStore(own, shard, () => newTag(systemRandom));
    },
    renderLeased,
    turnLimits,
    clock,
    durability: durabilityOf(store),
    waitingLeasesMax: config.waitingLeasesMax,
    seriesBytes: config.seriesBytes,
    notice: (notice) => logNotice(log, notice),
  };
}

/** The store of a shard; several databases share the shards. */
export function storeOf(config: Config, shard = 0): StoreConfig {
  switch (config.store) {
    case "memory":
      return { kind: "memory" };
    case "postgres":
      return postgresOf(config, shard);
    case "sqlite":
      return {
        kind: "sqlite",
        directory: config.data,
        durability: config.durability,
        acceptLogLoss: config.acceptWalLoss,
      };
  }
}

export function postgresOf({ databaseUrl, databaseSchema: schema }: Config, shard: number) {
  const url = ofShard(shard, databaseUrl);
  return { kind: "postgres", url, schema } as const;
}

function logNotice(log: Log, { kind, cause, ...fields }: Notice): void {
  if (kind === "shard_down") log.error("shard is down", cause, fields);
  else log.warn(noticeTexts[kind], fields);
}
