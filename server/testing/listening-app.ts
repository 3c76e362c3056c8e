// The app on a port, by the system's clock or a test clock, for tests of those who call it: it can be
// stopped, and started again on the same port with what it held.

import { systemClock, TestClock } from "../../engine/clock.ts";
import { openEngine } from "../../engine/engine.ts";
import { newTag } from "../../engine/ids.ts";
import { sameThreadLinks } from "../../engine/link.ts";
import { systemRandom } from "../../engine/random.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { type AppConfig, type AppOptions, createApp } from "../app.ts";
import { readConfig } from "../config.ts";
import { type Listening, listen } from "../listen.ts";
import type { Log } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { renderLeased } from "../wire/leased.ts";

export interface ListeningApp extends AsyncDisposable {
  readonly url: string;
  /** Answers who waits and closes the port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface ListeningOptions extends Pick<AppOptions, "site" | "door"> {
  readonly testClock?: boolean;
}

export async function listeningApp(
  change: Partial<AppConfig> = {},
  { testClock = false, ...front }: ListeningOptions = {},
): Promise<ListeningApp> {
  const read = readConfig({ argv: [], env: {}, readFile: () => "", cpuCount: 1 });
  if (!read.ok) throw new Error(`the defaults are at fault; ${read.faults.join("; ")}`);
  const config: AppConfig = { ...read.config, store: "memory", ...change };
  const image = new MemoryImage(newTag(systemRandom));
  let port = 0;
  let running: { close(): Promise<void>; listening: Listening } | null = null;

  async function start(): Promise<void> {
    const clock = testClock ? new TestClock() : systemClock();
    const engine = await openEngine<string>({
      shardCount: 1,
      clock,
      durability: "none",
      seriesBytes: 1_000_000,
      readLeased: (text) => text,
      links: sameThreadLinks({
        clock,
        renderLeased,
        openStore: async () => openMemoryStore({ tag: "", image }),
      }),
    });
    let closing = false;
    const metrics = new Metrics({ version: "1.2.3", status: () => engine.status() });
    const isClosing = () => closing;
    const app = createApp({
      ...{ engine, log: silent, version: "1.2.3", metrics, isClosing, config, ...front },
      ...(testClock && { testNow: () => clock.now() }),
    });
    const listening = listen(app, { host: "127.0.0.1", port });
    port = Number(new URL(listening.url).port);
    const close = async (): Promise<void> => {
      closing = true;
      const stopped = listening.stop(1_000);
      await engine.close();
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

const ignore = (): void => undefined;
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore };
