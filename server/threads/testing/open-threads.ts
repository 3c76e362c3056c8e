// Opens threads with several shards inside a test's process, with stores in memory.

import { systemClock } from "../../../engine/model/clock.ts";
import { operations } from "../../../openapi/operations.ts";
import type { OverviewMachine } from "../../../openapi/schemas.ts";
import { createHttpApp } from "../../app.ts";
import type { Config } from "../../config/settings.ts";
import { type Listening, listen } from "../../http/connections/listen.ts";
import type { Tls } from "../../http/connections/tls.ts";
import { localHandlers, shardsHere } from "../../http/operation-handlers.ts";
import { LostCommits } from "../../observability/lost-commits.ts";
import { Metrics } from "../../observability/metrics.ts";
import { engineOptionsOf } from "../../storage/engine-options.ts";
import { defaultConfig, silentLog } from "../../testing/memory-engine.ts";
import { resolvePlacement, threadConfig } from "../placement.ts";
import { ShardThreads } from "../shard-threads.ts";
import { shardCount, threadCount } from "./calls.ts";

const { machine }: { readonly machine: OverviewMachine } = operations.overview.replies[200].example;
const site = { site: "/none", manifest: "/none/site.json", building: "/none/building" };

interface Options {
  readonly config?: Partial<Config>;
  /** Default: the server's worker module. */
  readonly module?: URL;
}

/** The threads do not listen yet. */
export async function openThreads({
  config: change = {},
  module = new URL("../../shard.worker.ts", import.meta.url),
}: Options = {}) {
  const own = { logLevel: "error", host: "127.0.0.1", port: 0, ...change } as const;
  const config = resolvePlacement(defaultConfig({ threads: threadCount, ...own }), {
    shards: shardCount,
  });
  const broken: string[] = [];
  const isBroken = Promise.withResolvers<void>();
  const clock = systemClock();
  const threads = new ShardThreads({
    ...{ config, site, module, log: silentLog },
    engine: engineOptionsOf(config, silentLog, { clock }),
    broken: ({ message }) => {
      broken.push(message);
      isBroken.resolve();
    },
  });
  await threads.open();
  const audit = { log: silentLog, now: () => clock.now() };
  const here = shardsHere(threads.engines, { audit, machine: () => machine });
  const metrics = new Metrics({ version: "1.2.3", status: () => threads.status() });
  const handlers = localHandlers({
    ...{ ...here, ...threads.parts(here.shards), config, version: "1.2.3" },
    ...{ isClosing: () => false, lostCommits: new LostCommits(() => 0) },
    render: (gauges) => threads.render(metrics, gauges),
  });
  const counts = metrics.requests;
  const front = createHttpApp(handlers, { config: threadConfig(config), log: silentLog, counts });
  threads.answerBy(here.shards, handlers, front.gauges);
  const close = async (): Promise<void> => {
    await threads.close();
    threads.terminate();
  };
  return {
    ...{ threads, config, close, broken, isBroken: isBroken.promise },
    /** `isShared`: this thread shares its port with the others. */
    listen: (tls: Tls | null = null, isShared = true): Promise<Listening> =>
      threads.listen(tls, () => listen(front.app, { ...config, tls, isShared })),
    [Symbol.asyncDispose]: close,
  };
}
