// Debian's pgbouncer in front of a database, for tests.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, freePort, startChild } from "../../../testing/child-server.ts";

export const pgbouncerPath = "/usr/sbin/pgbouncer";

/** Several, so that transactions change sessions; with one, no test would notice a mix-up. */
const sessionsMax = 4;

/** In transaction mode; writes its settings into the folder. */
export async function startPgbouncer(
  folder: string,
  databaseUrl: string,
): Promise<ChildServer & { readonly url: string }> {
  const port = freePort();
  const { hostname, port: databasePort, username } = new URL(databaseUrl);
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(
    settings,
    `[databases]
postgres = host=${hostname} port=${databasePort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessionsMax}
server_round_robin = 1
`,
  );
  chmodSync(settings, 0o644);
  const child = await startChild({
    command: [pgbouncerPath, settings],
    port,
    user: "nobody",
    stopSignal: "SIGINT",
  });
  return { ...child, url: `postgres://${username}@127.0.0.1:${port}/postgres` };
}
