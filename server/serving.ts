// Who does what HTTP asks for: the engines of this thread, or whoever has them.

import type { Engine, EngineStatus } from "../engine/model/api.ts";
import type { KeyInfo, OverviewMachine } from "../openapi/schemas.ts";
import { Audit, type AuditOptions } from "./audit.ts";
import type { HealthOptions } from "./health.ts";
import { healthResponse, readyResponse } from "./health.ts";
import type { Grant } from "./key-rights.ts";
import { tellingLosses } from "./losses.ts";
import type { Metrics, ServerGauges } from "./metrics.ts";
import type { PeerOptions } from "./nodes/peer-routes.ts";
import { OverviewReplies } from "./overview.ts";
import { Refusal } from "./reply.ts";
import { clockRoutes } from "./routes/clock.ts";
import { consoleRoutes } from "./routes/console.ts";
import { itemRoutes } from "./routes/items.ts";
import { nodesRoutes } from "./routes/nodes.ts";
import { queueRoutes } from "./routes/queue.ts";
import { queuesRoutes } from "./routes/queues.ts";
import type { Routes } from "./routes/route.ts";
import { actionsRoutes, keysRoutes, lossRoutes } from "./routes/server.ts";
import { storageRoutes } from "./routes/storage.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { mergeStatuses } from "./shards/engine-status.ts";
import { type ShardRoutes, shardedRoutes } from "./shards/routes.ts";

/** One for each shard, at least one. */
export type Engines = readonly [Engine<string>, ...Engine<string>[]];

export interface Serving {
  readonly routes: Routes;
  readonly health: () => Response | Promise<Response>;
  readonly ready: () => Response | Promise<Response>;
  /** The text of `/metrics`. */
  readonly metrics: (gauges: ServerGauges) => Promise<string>;
  readonly backup: (grant: Grant | null) => Promise<Response>;
}

export interface LocalOptions extends Omit<HealthOptions, "status"> {
  /** Of all shards, in the order of their numbers. */
  readonly engines: Engines;
  readonly metrics: Metrics;
  /** Absent = nothing is said of it. */
  readonly machine?: () => OverviewMachine;
  /** Writes a backup; absent = none are made. */
  readonly backup?: () => Promise<Response>;
  readonly audit: AuditOptions;
  /** Absent = it asks for no API keys. */
  readonly keys?: () => readonly KeyInfo[];
  /** Absent = the server is alone with its stores. */
  readonly node?: PeerOptions;
}

const noMachine: OverviewMachine = {
  ...{ name: "", version: "", store: "", started_at: new Date(0).toISOString() },
  ...{ memory_bytes: 0, disk_bytes: 0, disk_free_bytes: 0, last_backup_at: null },
};

/** By the engines of this thread. */
export function localServing(options: LocalOptions): Serving {
  const { engines, metrics, node, backup, keys, losses, machine = () => noMachine } = options;
  const [engine] = engines;
  // Of what is asked of no shard.
  const audit = new Audit(options.audit);
  const shards = engines.map((one, shard) => {
    return shardRoutesOf(one, { machine, audit: shard === 0 ? audit : new Audit(options.audit) });
  });
  const local = { ...shardedRoutes(shards), ...audit.around(clockRoutes(engine)) };
  const makeBackup = async (): Promise<Response> => {
    if (backup !== undefined) return await backup();
    throw new Refusal("backups_off", "backups are off; start the server with --backups <folder>");
  };
  const shared = node === undefined ? local : node.router.around(local);
  return {
    routes: {
      ...shared,
      overview: tellingLosses(shared.overview, losses),
      ...nodesRoutes(node?.seen),
      ...keysRoutes(keys),
      // Of this process, whichever node has the shards.
      ...audit.around(lossRoutes(losses)),
    },
    health: () => healthResponse({ ...options, status: () => statusOf(engines) }),
    ready: () => readyResponse({ ...options, status: () => statusOf(engines) }),
    metrics: (gauges) => metrics.render(gauges),
    backup: (grant) =>
      audit.note({ operation: "backup", grant, queue: "", items: () => 0 }, makeBackup),
  };
}

/** What one shard is asked, by its engine. */
export function shardRoutesOf(
  engine: Engine<string>,
  { machine, audit }: { readonly machine: () => OverviewMachine; readonly audit: Audit },
): ShardRoutes {
  const now = () => performance.now();
  return audit.around({
    ...consoleRoutes(engine, new OverviewReplies({ engine, machine, now, machineNow: Date.now })),
    ...itemRoutes(engine),
    ...queueRoutes(engine),
    ...queuesRoutes(engine),
    ...storageRoutes(engine),
    ...taskRoutes(engine),
    ...actionsRoutes(audit),
  });
}

export function statusOf(engines: Engines): EngineStatus {
  return mergeStatuses(engines.map((engine) => engine.status()));
}
