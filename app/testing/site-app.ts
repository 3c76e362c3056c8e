// The whole server with the built site for tests, with a store in memory and without a socket.

import { openSite } from "../../server/http/site.ts";
import { Metrics } from "../../server/observability/metrics.ts";
import { defaultConfig, memoryEngine, silentLog } from "../../server/testing/memory-engine.ts";
import { createApp } from "../../server/testing/one-thread-app.ts";
import { folders } from "../build/site-folder.ts";

export async function openTestApp() {
  const engine = await memoryEngine();
  const version = "0.0.0";
  const app = createApp({
    engines: [engine],
    log: silentLog,
    version,
    metrics: new Metrics({ version, status: () => engine.status() }),
    isClosing: () => false,
    site: openSite({ ...folders, building: `${folders.site}.building` }),
    config: defaultConfig(),
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
