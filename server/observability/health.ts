// Whether the server takes requests, for probes: in detail (`/health`), and for a supervisor whether
// to restart it (`/livez`) and whether to send it requests (`/readyz`).

import type { EngineStatus } from "../../engine/model/api.ts";
import { closingFailure } from "../../engine/model/errors.ts";
import type { Health } from "../../openapi/schemas.ts";
import type { Config } from "../config/settings.ts";
import { doneText, jsonResponse, Refusal } from "../http/reply.ts";
import type { LostCommits } from "./lost-commits.ts";

export interface HealthOptions {
  readonly status: () => EngineStatus | Promise<EngineStatus>;
  readonly version: string;
  readonly config: Pick<Config, "store">;
  /** True from the moment the server begins to stop. */
  readonly isClosing: () => boolean;
  /** Absent = none can be. */
  readonly lostCommits?: LostCommits;
  /** Only nodes have it; `null` = each shard has an owner. */
  readonly unserved?: () => Unserved | null;
}

/** Shards that no node serves, as far as this one knows. */
export interface Unserved {
  readonly why: string;
  readonly shards: readonly number[];
  /** No shard is served. */
  readonly isEverywhere: boolean;
}

export async function healthResponse(options: HealthOptions): Promise<Response> {
  const { version, config, unserved, lostCommits } = options;
  const { durability, shards, without, served, upCount } = await lookAt(options);
  // A node may have none of them.
  if (upCount === 0 && (served > 0 || unserved === undefined))
    throw new Refusal("not_ready", "no shard is up; nothing was changed");
  const isFull = shards.some(({ full }) => full);
  const status = (lostCommits?.unconfirmed ?? 0) > 0 ? "commits_lost" : "ok";
  const whole = isFull ? "store_full" : status;
  const health: Health = {
    status: upCount === shards.length && without.length === 0 ? whole : "degraded",
    version,
    store: config.store,
    durability,
    shards: shards.length,
    shards_up: upCount,
    shards_without_owner: [...without],
  };
  return jsonResponse(JSON.stringify(health));
}

/** The process answers, whatever its stores do. */
export function liveResponse(): Response {
  return jsonResponse(doneText);
}

/** Queues can be served: all of them, or those of shards that have an owner. */
export async function readyResponse(options: HealthOptions): Promise<Response> {
  const { served, upCount } = await lookAt(options);
  if (upCount < served) {
    throw new Refusal("not_ready", `not every shard is up; expected ${served}, got ${upCount}`);
  }
  return jsonResponse(doneText);
}

/**
 * Throws a `Refusal` if the server stops, or if no shard has an owner: a node that serves some shards
 * stays in, as all nodes may lack the others. `served`: a shard that is up in memory is not served
 * while its database is away, and may be another node's.
 */
async function lookAt({ status, isClosing, unserved }: HealthOptions) {
  const { durability, shards } = await status();
  if (isClosing()) throw new Refusal("shutting_down", closingFailure.message);
  const found = unserved?.() ?? null;
  if (found?.isEverywhere) throw new Refusal("not_ready", `${found.why}; nothing was changed`);
  const without = found?.shards ?? [];
  const served = shards.filter(({ shard }) => !without.includes(shard));
  const upCount = served.filter(({ up }) => up).length;
  return { durability, shards, without, served: served.length, upCount };
}
