// Whether the server takes requests, for probes: in detail, and as the two questions of a
// supervisor, whether to start it again (`/livez`) and whether to send it requests (`/readyz`).

import type { EngineStatus } from "../engine/model/api.ts";
import { closingFailure } from "../engine/model/errors.ts";
import type { Health } from "../openapi/schemas.ts";
import type { Config } from "./config.ts";
import type { Losses } from "./losses.ts";
import { doneText, jsonResponse, Refusal } from "./reply.ts";

export interface HealthOptions {
  readonly status: () => EngineStatus | Promise<EngineStatus>;
  readonly version: string;
  readonly config: Pick<Config, "store">;
  /** True from the moment the server is told to stop. */
  readonly isClosing: () => boolean;
  /** Absent = none can be. */
  readonly losses?: Losses;
  /** Why no node serves, `null` where one does; absent = this server is the only one. */
  readonly unserved?: () => string | null;
}

export async function healthResponse(options: HealthOptions): Promise<Response> {
  const { status: statusOf, version, config, isClosing, unserved, losses } = options;
  const { durability, shards } = await statusOf();
  const upCount = shards.filter(({ up }) => up).length;
  if (isClosing()) throw new Refusal("shutting_down", closingFailure.message);
  refuseUnserved(options);
  // A node may have none of them.
  if (upCount === 0 && (shards.length > 0 || unserved === undefined))
    throw new Refusal("not_ready", "no shard is up; nothing was changed");
  const isFull = shards.some(({ full }) => full);
  const status = (losses?.unconfirmed ?? 0) > 0 ? "commits_lost" : "ok";
  const whole = isFull ? "store_full" : status;
  const health: Health = {
    status: upCount === shards.length ? whole : "degraded",
    version,
    store: config.store,
    durability,
    shards: shards.length,
    shards_up: upCount,
  };
  return jsonResponse(JSON.stringify(health));
}

/** It answers: there is nothing else to it, whatever its stores do. */
export function liveResponse(): Response {
  return jsonResponse(doneText);
}

/** Every queue can be served in all of its partitions. */
export async function readyResponse(options: HealthOptions): Promise<Response> {
  const { status, isClosing } = options;
  const { shards } = await status();
  const upCount = shards.filter(({ up }) => up).length;
  if (isClosing()) throw new Refusal("shutting_down", closingFailure.message);
  refuseUnserved(options);
  if (upCount < shards.length) {
    throw new Refusal(
      "not_ready",
      `not every shard is up; expected ${shards.length}, got ${upCount}`,
    );
  }
  return jsonResponse(doneText);
}

/** What is up in memory serves nobody where its database is away, or may be another node's. */
function refuseUnserved({ unserved }: HealthOptions): void {
  const why = unserved?.() ?? null;
  if (why !== null) throw new Refusal("not_ready", `${why}; nothing was changed`);
}
