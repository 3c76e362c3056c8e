// The app on a port, with the system's clock or a test clock, for tests of its clients. It can be
// stopped and restarted on the same port with the same data.

import { sharedClock, systemClock, TestClock } from "../../engine/model/clock.ts";
import type { AppConfig } from "../app.ts";
import { type Listening, listen } from "../http/connections/listen.ts";
import { statusOf } from "../http/operation-handlers.ts";
import { Metrics } from "../observability/metrics.ts";
import { defaultConfig, memoryEngines, newImage, silentLog } from "./memory-engine.ts";
import { type AppOptions, createApp } from "./one-thread-app.ts";

export interface ListeningApp extends AsyncDisposable {
  readonly url: string;
  /** Answers waiting clients and closes the port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface ListeningOptions
  extends Pick<AppOptions, "site" | "authenticate" | "lostCommits"> {
  readonly testClock?: boolean;
  /** Default 1. */
  readonly shards?: number;
  /** How far the server's clock is ahead of the machine's; default 0. */
  readonly aheadMs?: number;
}

export async function listeningApp(
  change: Partial<AppConfig> = {},
  { testClock = false, shards = 1, aheadMs = 0, ...front }: ListeningOptions = {},
): Promise<ListeningApp> {
  const config = defaultConfig(change);
  const images = Array.from({ length: shards }, newImage);
  let port = 0;
  let running: { close(): Promise<void>; listening: Listening } | null = null;

  async function start(): Promise<void> {
    const clock = testClock
      ? new TestClock()
      : aheadMs === 0
        ? systemClock()
        : sharedClock(aheadMs);
    const engines = await memoryEngines({ clock, images, seriesBytes: 1_000_000 });
    let closing = false;
    const metrics = new Metrics({ version: "1.2.3", status: () => statusOf(engines) });
    const isClosing = () => closing;
    const app = createApp({
      ...{ engines, log: silentLog, version: "1.2.3", metrics, isClosing, config, ...front },
      ...(testClock && { testNow: () => clock.now() }),
    });
    const listening = listen(app, { host: "127.0.0.1", port });
    port = Number(new URL(listening.url).port);
    const close = async (): Promise<void> => {
      closing = true;
      const stopped = listening.stop(1_000);
      await engines[0].close();
      await stopped;
    };
    running = { close, listening };
  }

  async function stop(): Promise<void> {
    await running?.close();
    running = null;
  }

  await start();
  return { url: `http://127.0.0.1:${port}`, start, stop, [Symbol.asyncDispose]: stop };
}
