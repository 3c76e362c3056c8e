// A whole server with the built site, for tests of the console: with or without keys or a prefix; it
// can be stopped and restarted.

import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { folders } from "../../app/build/site-folder.ts";
import { type Client, createClient } from "../../client/client.ts";
import { createAuthenticator } from "../../server/auth/authenticator.ts";
import type { Rights } from "../../server/auth/key-rights.ts";
import { openSite } from "../../server/http/site.ts";
import type { LostCommits } from "../../server/observability/lost-commits.ts";
import { knownKey } from "../../server/testing/known-key.ts";
import { listeningApp } from "../../server/testing/listening-app.ts";

export const adminKey = "holdfast_admin";
export const readKey = "holdfast_read";
/** May neither read nor change. */
export const produceKey = "holdfast_produce";

export interface ConsoleServerOptions {
  readonly basePath?: string;
  readonly allowedHosts?: readonly string[];
  readonly hasKeys?: boolean;
  /** Its time advances only by `clock.advance`. */
  readonly testClock?: boolean;
  readonly lostCommits?: LostCommits;
  /** Default 1. */
  readonly shards?: number;
}

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore };

export async function openConsoleServer({
  basePath = "",
  allowedHosts = [],
  hasKeys = false,
  testClock = false,
  lostCommits,
  shards = 1,
}: ConsoleServerOptions = {}) {
  await ensureBuilt();
  const known = new Map([
    [adminKey, knownKey("ops")],
    [readKey, knownKey("eyes", { roles: ["read"], queues: ["*"] })],
    [produceKey, knownKey("shop", { roles: ["produce"], queues: ["*"] })],
  ]);
  const authenticate = createAuthenticator({
    keys: { find: (given) => known.get(given) ?? null },
    log,
    // Stopped, so that a client that sent too many wrong keys stays blocked.
    now: () => 0,
  });
  const site = openSite({ ...folders, building: `${folders.site}.building` });
  const app = await listeningApp(
    { basePath, allowedHosts: [...allowedHosts] },
    {
      site,
      testClock,
      shards,
      ...(hasKeys && { authenticate }),
      ...(lostCommits && { lostCommits }),
    },
  );
  const client: Client = createClient({ url: app.url, ...(hasKeys && { apiKey: adminKey }) });
  const rotate = (from: string, to: string) => {
    known.delete(from);
    known.set(to, knownKey("ops"));
  };
  /** Restricts the key to these rights. */
  const restrict = (key: string, rights: Rights) => known.set(key, knownKey("ops", rights));
  return { ...app, client, rotate, restrict, consoleUrl: `${app.url}${basePath}/console` };
}

export type ConsoleServer = Awaited<ReturnType<typeof openConsoleServer>>;

const settings = { lease_timeout: "1h", expire_timeout: "1d" };

export async function addQueues(server: ConsoleServer, names: readonly string[]): Promise<void> {
  for (const name of names) await server.client.queue(name).create(settings);
}
