// The app of a server with all shards in this thread.

import type { OverviewMachine } from "../../openapi/schemas.ts";
import { type App, createHttpApp, type HttpAppOptions } from "../app.ts";
import {
  type Engines,
  type LocalOptions,
  localHandlers,
  shardsHere,
} from "../http/operation-handlers.ts";
import type { Metrics } from "../observability/metrics.ts";

export interface AppOptions
  extends Omit<LocalOptions, "render" | "config" | keyof ReturnType<typeof shardsHere>>,
    Omit<HttpAppOptions, "counts" | "node"> {
  /** One engine per shard, in order of number. */
  readonly engines: Engines;
  readonly metrics: Metrics;
  /** Epoch milliseconds of a test clock; default: the machine's clock. */
  readonly testNow?: () => number;
}

const machine: OverviewMachine = {
  ...{ name: "", version: "", store: "", started_at: new Date(0).toISOString() },
  ...{ memory_bytes: 0, disk_bytes: 0, disk_free_bytes: 0, last_backup_at: null },
};

export function createApp(options: AppOptions): App {
  const { log, metrics, engines, testNow: now = Date.now } = options;
  const here = shardsHere(engines, { audit: { log, now }, machine: () => machine });
  const handlers = localHandlers({
    ...{ ...options, ...here },
    render: (gauges) => metrics.render(gauges),
  });
  return createHttpApp(handlers, { ...options, counts: metrics.requests }).app;
}
