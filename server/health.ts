// Whether the server takes requests, for probes.

import type { Engine } from "../engine/api.ts";
import { closingFailure } from "../engine/errors.ts";
import type { Health } from "../openapi/schemas.ts";
import type { Config } from "./config.ts";
import { jsonResponse, Refusal } from "./reply.ts";

export interface HealthOptions {
  readonly engine: Engine<string>;
  readonly version: string;
  readonly config: Pick<Config, "store">;
  /** True from the moment the server is told to stop. */
  readonly isClosing: () => boolean;
}

export function healthResponse(options: HealthOptions): Response {
  const { engine, version, config, isClosing } = options;
  const { durability, shards } = engine.status();
  const upCount = shards.filter(({ up }) => up).length;
  if (isClosing()) throw new Refusal(503, closingFailure.message);
  if (upCount === 0) throw new Refusal(503, "no shard is up; nothing was changed");
  const health: Health = {
    status: upCount === shards.length ? "ok" : "degraded",
    version,
    store: config.store,
    durability,
    shards: shards.length,
    shards_up: upCount,
  };
  return jsonResponse(JSON.stringify(health));
}
