// Whether the server takes requests, for probes: in detail, and as the two questions of a
// supervisor, whether to start it again (`/livez`) and whether to send it requests (`/readyz`).

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
  /** True from the moment the server is told to stop. */
  readonly isClosing: () => boolean;
  /** Absent = none can be. */
  readonly lostCommits?: LostCommits;
  /** Of a node: `null` = each shard has an owner. */
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
  const { status: statusOf, version, config, isClosing, unserved, lostCommits } = options;
  const { durability, shards } = await statusOf();
  if (isClosing()) throw new Refusal("shutting_down", closingFailure.message);
  refuseUnserved(options);
  const without = unserved?.()?.shards ?? [];
  const reached = reachedOf(shards, options);
  const upCount = reached.filter(({ up }) => up).length;
  // A node may have none of them.
  if (upCount === 0 && (reached.length > 0 || unserved === undefined))
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

/** It answers: there is nothing else to it, whatever its stores do. */
export function liveResponse(): Response {
  return jsonResponse(doneText);
}

/** Queues can be served: every one, or those of shards that have an owner. */
export async function readyResponse(options: HealthOptions): Promise<Response> {
  const { status, isClosing } = options;
  const { shards: all } = await status();
  if (isClosing()) throw new Refusal("shutting_down", closingFailure.message);
  refuseUnserved(options);
  const shards = reachedOf(all, options);
  const upCount = shards.filter(({ up }) => up).length;
  if (upCount < shards.length) {
    throw new Refusal(
      "not_ready",
      `not every shard is up; expected ${shards.length}, got ${upCount}`,
    );
  }
  return jsonResponse(doneText);
}

/** A shard that is up in memory is not served while its database is away, and may be another node's. */
function reachedOf(shards: EngineStatus["shards"], { unserved }: HealthOptions) {
  const without = new Set(unserved?.()?.shards);
  return shards.filter(({ shard }) => !without.has(shard));
}

/** A node that serves some shards stays in: all nodes may lack the others. */
function refuseUnserved({ unserved }: HealthOptions): void {
  const found = unserved?.() ?? null;
  if (found?.isEverywhere) throw new Refusal("not_ready", `${found.why}; nothing was changed`);
}
