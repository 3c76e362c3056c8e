// Debian's Redis with its log synced before every answer, for the peers that store items in it.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, freePort, startChild } from "../../testing/child-server.ts";
import { debianPackage, run } from "../../testing/install.ts";

export const redisSettings =
  'appendonly yes, appendfsync always, no-appendfsync-on-rewrite no, save ""';

export interface RedisServer extends ChildServer {
  readonly port: number;
  readonly version: string;
}

export function installRedis(): Promise<void> {
  return debianPackage("redis-server");
}

export async function startRedis(scratch: string): Promise<RedisServer> {
  const folder = join(scratch, "redis");
  mkdirSync(folder);
  const port = freePort();
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: folder,
    daemonize: "no",
    appendonly: "yes",
    appendfsync: "always",
    "no-appendfsync-on-rewrite": "no",
    save: "",
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
  const child = await startChild({ command: ["redis-server", ...flags], port });
  const version = /v=(\S+)/.exec(await run(["redis-server", "--version"]))?.[1] ?? "unknown";
  return { ...child, port, version };
}
