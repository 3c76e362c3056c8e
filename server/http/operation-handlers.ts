// The handlers of all operations and pages, over the engines of this thread.

import type { Engine, EngineStatus } from "../../engine/model/api.ts";
import type { KeyInfo, OverviewMachine } from "../../openapi/schemas.ts";
import type { KeyIdentity } from "../auth/key-rights.ts";
import type { PeerOptions } from "../nodes/peer-routes.ts";
import { Audit, type AuditOptions } from "../observability/audit.ts";
import type { HealthOptions } from "../observability/health.ts";
import { healthResponse, readyResponse } from "../observability/health.ts";
import { withLostCommits } from "../observability/lost-commits.ts";
import type { ServerGauges } from "../observability/metrics.ts";
import { OverviewReplies } from "../observability/overview.ts";
import { clockRoutes } from "../routes/clock.ts";
import { itemRoutes } from "../routes/items.ts";
import { monitoringRoutes } from "../routes/monitoring.ts";
import { nodesRoutes } from "../routes/nodes.ts";
import { queueRoutes } from "../routes/queue.ts";
import { queuesRoutes } from "../routes/queues.ts";
import type { Routes } from "../routes/route.ts";
import { actionsRoutes, keysRoutes, lossRoutes } from "../routes/server.ts";
import { storageRoutes } from "../routes/storage.ts";
import { taskRoutes } from "../routes/tasks.ts";
import { mergeStatuses } from "../shards/engine-status.ts";
import { type ShardRoutes, shardedRoutes } from "../shards/routes.ts";
import { HttpError } from "./reply.ts";

/** One engine per shard, at least one. */
export type Engines = readonly [Engine<string>, ...Engine<string>[]];

export interface OperationHandlers {
  readonly routes: Routes;
  readonly health: () => Response | Promise<Response>;
  readonly ready: () => Response | Promise<Response>;
  /** The text of `/metrics`. */
  readonly metrics: (gauges: ServerGauges) => Promise<string>;
  readonly backup: (identity: KeyIdentity | null) => Promise<Response>;
}

export interface LocalOptions extends HealthOptions {
  /** In order of shard number; some may run in other threads. */
  readonly shards: readonly ShardRoutes[];
  readonly engine: Pick<Engine<string>, "advance">;
  /** The text of `/metrics`. */
  readonly render: (gauges: ServerGauges) => Promise<string>;
  /** Writes a backup; absent = backups are off. */
  readonly backup?: () => Promise<Response>;
  /** For operations that no shard runs. */
  readonly audit: Audit;
  /** Absent = no API keys are required. */
  readonly keys?: () => readonly KeyInfo[] | Promise<readonly KeyInfo[]>;
  /** Absent = the server is not one of several nodes. */
  readonly node?: PeerOptions;
}

/** The options that the engines of this thread provide. */
export function shardsHere(
  engines: Engines,
  { audit, machine }: { readonly audit: AuditOptions; readonly machine: () => OverviewMachine },
): Pick<LocalOptions, "shards" | "engine" | "audit" | "status"> {
  const audits = engines.map(() => new Audit(audit));
  const [first = new Audit(audit)] = audits;
  return {
    shards: engines.map((engine, shard) =>
      shardRoutesOf(engine, { machine, audit: audits[shard] ?? first }),
    ),
    ...{ engine: engines[0], audit: first, status: () => statusOf(engines) },
  };
}

/** The handlers of the thread that answers for the whole server. */
export function localHandlers(options: LocalOptions): OperationHandlers {
  const { shards, engine, audit, render, node, backup, keys, lostCommits } = options;
  const reached = node ? shards.map((own, shard) => node.router.around(own, shard)) : shards;
  const shared = { ...shardedRoutes(reached), ...audit.wrap(clockRoutes(engine)) };
  const makeBackup = async (): Promise<Response> => {
    if (backup !== undefined) return await backup();
    throw new HttpError("backups_off", "backups are off; start the server with --backups <folder>");
  };
  return {
    routes: {
      ...shared,
      overview: withLostCommits(shared.overview, lostCommits),
      ...audit.wrap(nodesRoutes(node)),
      ...keysRoutes(keys),
      // Handled by this process, whichever node owns the shards.
      ...audit.wrap(lossRoutes(lostCommits)),
    },
    health: () => healthResponse(options),
    ready: () => readyResponse(options),
    metrics: render,
    backup: (identity) =>
      audit.record({ operation: "backup", identity, queue: "", itemCount: () => 0 }, makeBackup),
  };
}

/** The operations of one shard, over its engine. */
export function shardRoutesOf(
  engine: Engine<string>,
  { machine, audit }: { readonly machine: () => OverviewMachine; readonly audit: Audit },
): ShardRoutes {
  const now = () => performance.now();
  return audit.wrap({
    ...monitoringRoutes(
      engine,
      new OverviewReplies({ engine, machine, now, machineNow: Date.now }),
    ),
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
