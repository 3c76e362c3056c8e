// The probes: details of the server's health (`/health`), whether a supervisor should restart it
// (`/livez`), and whether to send it requests (`/readyz`).

import type { EngineStatus } from "../../engine/model/api.ts";
import { closingFailure } from "../../engine/model/errors.ts";
import type { Health } from "../../openapi/schemas.ts";
import type { Config } from "../config/settings.ts";
import { doneText, HttpError, jsonResponse } from "../http/reply.ts";
import type { LostCommits } from "./lost-commits.ts";

export interface HealthOptions {
  readonly status: () => EngineStatus | Promise<EngineStatus>;
  readonly version: string;
  readonly config: Pick<Config, "store">;
  /** True from the moment the server begins to stop. */
  readonly isClosing: () => boolean;
  /** Absent = the stores cannot lose commits. */
  readonly lostCommits?: LostCommits;
  /** Only for nodes; `null` = each shard has an owner. */
  readonly unserved?: () => Unserved | null;
}

/** Shards that no node serves, as far as this node knows. */
export interface Unserved {
  readonly why: string;
  readonly shards: readonly number[];
  /** No shard is served. */
  readonly isEverywhere: boolean;
}

export async function healthResponse(options: HealthOptions): Promise<Response> {
  const { version, config, unserved, lostCommits } = options;
  const { durability, shards, without, served, upCount } = await shardState(options);
  // A node may own no shard.
  if (upCount === 0 && (served > 0 || unserved === undefined))
    throw new HttpError("not_ready", "no shard is up; nothing was changed");
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

/** Succeeds as long as the process responds, whatever the state of its stores. */
export function liveResponse(): Response {
  return jsonResponse(doneText);
}

/** Succeeds if all shards that have an owner can serve their queues. */
export async function readyResponse(options: HealthOptions): Promise<Response> {
  const { served, upCount } = await shardState(options);
  if (upCount < served) {
    throw new HttpError("not_ready", `not every shard is up; expected ${served}, got ${upCount}`);
  }
  return jsonResponse(doneText);
}

/**
 * Throws an `HttpError` if the server is stopping or no shard has an owner. A node that serves some
 * shards stays ready, because all nodes may lack the others. `served` excludes shards whose
 * database is unreachable: they may be up in memory, but another node may own them.
 */
async function shardState({ status, isClosing, unserved }: HealthOptions) {
  const { durability, shards } = await status();
  if (isClosing()) throw new HttpError("shutting_down", closingFailure.message);
  const found = unserved?.() ?? null;
  if (found?.isEverywhere) throw new HttpError("not_ready", `${found.why}; nothing was changed`);
  const without = found?.shards ?? [];
  const served = shards.filter(({ shard }) => !without.includes(shard));
  const upCount = served.filter(({ up }) => up).length;
  return { durability, shards, without, served: served.length, upCount };
}
