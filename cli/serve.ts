// `holdfast serve`: runs the server in this process, and stops it on signals. The configuration of
// the server parses the flags.

import { readFileSync } from "node:fs";
import manifest from "../package.json" with { type: "json" };
import { readConfig } from "../server/config/config.ts";
import type { Config } from "../server/config/settings.ts";
import { isEverywhere, isLoopback } from "../server/http/connections/bind-rules.ts";
import { bracketed } from "../server/http/connections/listen.ts";
import { warnOfOpenFiles } from "../server/http/connections/open-files.ts";
import { createLog, type Log } from "../server/observability/log.ts";
import { openServer, type Server, StartError } from "../server/server.ts";
import { serveText } from "./commands/serve.ts";
import { exitCodes } from "./exit-codes.ts";

/** A signal repeated within this time counts as the same one. */
const repeatedSignalMs = 1_000;

/** Resolves once the server listens or has failed to start, with the exit code. */
export async function serve(argv: readonly string[]): Promise<number> {
  const text = serveText(argv);
  if (text !== null) {
    process.stdout.write(text);
    return exitCodes.ok.code;
  }
  const readFile = (path: string) => readFileSync(path, "utf8");
  const read = readConfig({ argv, env: process.env, readFile });
  if (!read.ok) return ended("usage", read.faults.join("\n"));
  const { config, ignored } = read;
  const log = createLog({ level: config.logLevel });
  endOnBugs(log);
  if (ignored.length > 0) log.info("variables of a Service were ignored", { variables: ignored });
  try {
    const server = await openServer(config, log);
    closeOnSignals(server, log);
    // After the signal handlers are installed: a supervisor may stop it as soon as it reads this.
    greet(server, config);
    warnOfOpenFiles({ connectionsMax: config.connectionsMax, readFile, log });
    const { url, shards, threads } = server;
    log.info("listening", { url, store: config.store, shards, threads });
    return exitCodes.ok.code;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return ended(error.fault === "settings" ? "usage" : error.fault, error.message);
  }
}

function ended(exit: keyof typeof exitCodes, reason: string): number {
  process.stderr.write(`${reason}\n`);
  return exitCodes[exit].code;
}

/** After an uncaught error the state is unknown. Stored items are safe, so the process exits. */
function endOnBugs(log: Log): void {
  const onBug = (error: unknown) => {
    log.fatal("a bug", error);
    process.exit(exitCodes.bug.code);
  };
  process.on("uncaughtException", onBug);
  process.on("unhandledRejection", onBug);
}

function closeOnSignals(server: Server, log: Log): void {
  let closingSince: number | null = null;
  const close = async (signal: string) => {
    if (closingSince !== null) {
      // A terminal sends an interrupt to the server and to its parent, which forwards it.
      if (performance.now() - closingSince < repeatedSignalMs) return;
      log.warn("stopping at once", { signal });
      process.exit(exitCodes.ok.code);
    }
    closingSince = performance.now();
    log.info("stopping", { signal });
    await server.close();
    log.info("stopped");
    process.exit(exitCodes.ok.code);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void close(signal));
  }
}

function placeOf({ store, data, databaseSchema }: Config): string {
  if (store === "memory") return "in memory, lost when the server stops";
  return store === "postgres" ? `in PostgreSQL, schema ${databaseSchema}` : `in ${data}`;
}

function greet({ url, hasSite, shards, threads }: Server, config: Config): void {
  const { host, apiKeysFile, testClock } = config;
  const place = placeOf(config);
  const spread = threads === 1 ? "" : ` in ${threads} threads`;
  const port = url.slice(url.lastIndexOf(":") + 1);
  const address = isEverywhere(host)
    ? `${bracketed(host)}:${port}, every address of this machine`
    : url;
  const lines = [
    `Holdfast ${manifest.version} listens on ${address}`,
    ...(hasSite ? [`  console  ${url}/console`, `  site     ${url}/`] : []),
    `  API      ${url}/swagger`,
    `  health   ${url}/health`,
    `  metrics  ${url}/metrics`,
    `  items    ${place}, ${shards} ${shards === 1 ? "shard" : "shards"}${spread}`,
  ];
  if (testClock) lines.push("  clock    of tests, moves only by clock.advance");
  if (apiKeysFile !== "") lines.push(`  keys     required, those in ${apiKeysFile}`);
  else if (!isLoopback(host)) {
    lines.push("  No API key is required: anyone who reaches this address can do everything.");
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}
