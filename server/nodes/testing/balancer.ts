// HAProxy with the settings of `deploy/haproxy`, in front of nodes on this machine.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, freePort, startChild } from "../../../testing/child-server.ts";

export const haproxyPath = Bun.which("haproxy");

const settingsPath = join(import.meta.dir, "../../../deploy/haproxy/haproxy.cfg");

/** Writes the settings into `folder`, with the ports of the nodes instead of the containers. */
export async function startBalancer(
  folder: string,
  ports: readonly number[],
): Promise<ChildServer & { readonly port: number }> {
  const port = freePort();
  let settings = readFileSync(settingsPath, "utf8").replace("bind :9090", `bind 127.0.0.1:${port}`);
  for (const [index, node] of ports.entries()) {
    settings = settings.replace(` node-${index + 1}:9090\n`, ` 127.0.0.1:${node}\n`);
  }
  const path = join(folder, "haproxy.cfg");
  writeFileSync(path, settings);
  const child = await startChild({ command: [haproxyPath ?? "", "-f", path], port });
  return { ...child, port };
}
