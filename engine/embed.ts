// The engine for a program of one's own, without HTTP: a composition root that
// joins engine, shards and stores.

import { durabilityOf, openStore, type StoreConfig } from "../stores/open.ts";
import type { Engine } from "./api.ts";
import { systemClock } from "./clock.ts";
import { readLeased, renderLeased } from "./codec.ts";
import { type Notice, openEngine } from "./engine.ts";
import { newTag } from "./ids.ts";
import { limits } from "./limits.ts";
import { sameThreadLinks, workerLinks } from "./link.ts";
import { systemRandom } from "./random.ts";

export type { StoreConfig } from "../stores/open.ts";
export { StoreError } from "../stores/store.ts";
export type * from "./api.ts";
export { never } from "./duration.ts";
export type { Notice } from "./engine.ts";
export { type ErrorCode, QueueError, type Reason } from "./errors.ts";

export interface CreateEngineOptions {
  readonly store: StoreConfig;
  /** Workers, each with a store of its own; default 1. */
  readonly shards?: number;
  /** Run the shards in this thread instead of workers; default false. */
  readonly sameThread?: boolean;
  readonly notice?: (notice: Notice) => void;
  /** How long a call with a `requestKey` can be repeated; default 5 min. */
  readonly receiptsWindowMs?: number;
  /** Calls with a key that are remembered at once, over all shards; default 2 million. */
  readonly receiptsMax?: number;
}

/**
 * Opens the stores and returns the engine. Throws `StoreError` when a store
 * cannot be opened; its `fault` is `locked` when another process has it.
 */
export async function createEngine({
  store,
  shards = 1,
  sameThread = false,
  notice = () => undefined,
  receiptsWindowMs = limits.receiptsWindowMs,
  receiptsMax = limits.receiptsMax,
}: CreateEngineOptions): Promise<Engine> {
  const clock = systemClock();
  const turnLimits = { ...limits, receiptsWindowMs, receiptsMax: Math.ceil(receiptsMax / shards) };
  const module = new URL("./shard/shard.worker.ts", import.meta.url);
  const links = sameThread
    ? sameThreadLinks({
        clock,
        limits: turnLimits,
        renderLeased,
        openStore: (shard) => openStore(store, shard, () => newTag(systemRandom)),
      })
    : workerLinks({ clock, module, config: store, limits: turnLimits });
  const durability = durabilityOf(store);
  return openEngine({
    shardCount: shards,
    links,
    clock,
    turnLimits,
    durability,
    readLeased,
    notice,
  });
}
