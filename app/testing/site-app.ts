// For tests: the whole server with the built site in it, over a store in memory and
// without a socket.

import { systemClock } from "../../engine/clock.ts";
import { openEngine } from "../../engine/engine.ts";
import { newTag } from "../../engine/ids.ts";
import { sameThreadLinks } from "../../engine/link.ts";
import { systemRandom } from "../../engine/random.ts";
import { createApp } from "../../server/app.ts";
import type { Log } from "../../server/log.ts";
import { Metrics } from "../../server/metrics.ts";
import { openSite } from "../../server/site.ts";
import { renderLeased } from "../../server/wire/leased.ts";
import { openMemoryStore } from "../../stores/memory/store.ts";
import { folders } from "../build/site-folder.ts";

export async function openTestApp() {
  const clock = systemClock();
  const engine = await openEngine<string>({
    shardCount: 1,
    clock,
    durability: "none",
    readLeased: (text) => text,
    links: sameThreadLinks({
      clock,
      renderLeased,
      openStore: async () => openMemoryStore({ tag: newTag(systemRandom) }),
    }),
  });
  const nothing = () => undefined;
  const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };
  const version = "0.0.0";
  const app = createApp({
    engine,
    log,
    version,
    metrics: new Metrics({ version, status: () => engine.status() }),
    isClosing: () => false,
    site: openSite({ ...folders, building: `${folders.site}.building` }),
    config: {
      host: "127.0.0.1",
      store: "memory",
      allowedHosts: [],
      allowedOrigins: [],
      connectionsMax: 1_000,
      bodiesMax: 256_000_000,
      produceBodyMax: 5_000_000,
      importBodyMax: 64_000_000,
      bodyMax: 256_000,
    },
  });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        headers: { accept: "text/html,*/*;q=0.8", ...headers },
      }),
    );
  return { app, get, [Symbol.asyncDispose]: () => engine.close() };
}

export type TestApp = Awaited<ReturnType<typeof openTestApp>>;
