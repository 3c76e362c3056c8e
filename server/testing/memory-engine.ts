// For tests: the real engine with a store in memory, in this thread, and the default settings of a
// server.

import type { Engine } from "../../engine/model/api.ts";
import { type Clock, systemClock } from "../../engine/model/clock.ts";
import { newTag } from "../../engine/model/ids.ts";
import { limits } from "../../engine/model/limits.ts";
import { systemRandom } from "../../engine/model/random.ts";
import { openShards } from "../../engine/shards.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { readConfig } from "../config/config.ts";
import type { Config } from "../config/settings.ts";
import type { Engines } from "../http/operation-handlers.ts";
import type { Log } from "../observability/log.ts";
import { renderLeased } from "../wire/leased.ts";

interface MemoryEngineOptions {
  readonly clock?: Clock;
  /** The data of each shard, for engines that are opened again; default: one new shard. */
  readonly images?: readonly MemoryImage[];
  readonly historyBytes?: number;
  readonly seriesBytes?: number;
}

export async function memoryEngine(options: MemoryEngineOptions = {}): Promise<Engine<string>> {
  return (await memoryEngines(options))[0];
}

/** Opens one engine per shard. */
export async function memoryEngines({
  clock = systemClock(),
  images = [newImage()],
  historyBytes = limits.historyBytes,
  seriesBytes = 0,
}: MemoryEngineOptions = {}): Promise<Engines> {
  const { engines } = await openShards<string>({
    ...{ shardCount: images.length, clock, durability: "none", seriesBytes },
    turnLimits: { ...limits, historyBytes },
    renderLeased,
    openStore: async (shard) => openMemoryStore({ tag: "", image: images[shard] ?? newImage() }),
  });
  return engines;
}

export function newImage(): MemoryImage {
  return new MemoryImage(newTag(systemRandom));
}

export function defaultConfig(change: Partial<Config> = {}): Config {
  const read = readConfig({ argv: [], env: {}, readFile: () => "" });
  if (!read.ok) throw new Error(`the defaults are at fault; ${read.faults.join("; ")}`);
  return { ...read.config, store: "memory", ...change };
}

const ignore = (): void => undefined;
export const silentLog: Log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
};
