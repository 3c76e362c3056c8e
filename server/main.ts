// The process: configuration, engine, app, port; then signals, until it ends with
// one of the codes of `cli.ts`.

import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { systemClock } from "../engine/clock.ts";
import { type Notice, openEngine } from "../engine/engine.ts";
import { workerLinks } from "../engine/link.ts";
import manifest from "../package.json" with { type: "json" };
import { durabilityOf, type StoreConfig } from "../stores/open.ts";
import { StoreError, type StoreFault } from "../stores/store.ts";
import { createApp } from "./app.ts";
import { backupResponse } from "./backup.ts";
import { exitCodes, readCommand, usage } from "./cli.ts";
import { type Config, readConfig } from "./config.ts";
import { openDoor } from "./door.ts";
import { isLoopback } from "./exposure.ts";
import { KeyFile, KeyFileError } from "./key-file.ts";
import { ListenError, type Listening, listen } from "./listen.ts";
import { createLog, type Log } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { warnOfOpenFiles } from "./open-files.ts";
import { openSite } from "./site.ts";
import { readTls } from "./tls.ts";
import { tlsLookMs, watchTls } from "./tls-files.ts";

/**
 * Where `bun run site:build` leaves the site, and the package has it beside its own folder of
 * programs; nothing has to be there. The single executable has it inside, beside the program.
 */
const isExecutable = Bun.embeddedFiles.length > 0;
const build = isExecutable ? import.meta.dir : fileURLToPath(new URL("../build", import.meta.url));
const siteFolders = {
  site: `${build}/site`,
  manifest: `${build}/site.json`,
  building: `${build}/site.building`,
};

const noticeTexts: Readonly<Record<Exclude<Notice["kind"], "shard_down">, string>> = {
  shard_up: "shard is up again",
  store_full: "store is full; items cannot be produced",
  items_quarantined: "damaged items were set aside",
  items_miscounted: "stored items are not those that were counted",
  items_discarded: "items were removed for want of a dead queue",
};

/** A signal that comes again this soon is the same one. */
const repeatedSignalMs = 1_000;

const { version } = manifest;
const command = readCommand(process.argv.slice(2));

switch (command.name) {
  case "help":
    process.stdout.write(usage());
    break;
  case "version":
    process.stdout.write(`holdfast ${version}\n`);
    break;
  case "unknown":
    end(exitCodes.usage, [command.fault]);
    break;
  case "serve":
    await serve(command.argv);
    break;
}

async function serve(argv: readonly string[]): Promise<void> {
  const readFile = (path: string) => readFileSync(path, "utf8");
  const cpuCount = availableParallelism();
  const read = readConfig({ argv, env: process.env, readFile, cpuCount });
  if (!read.ok) return end(exitCodes.usage, read.faults);
  const { config } = read;
  const log = createLog({ level: config.logLevel });
  endOnBugs(log);
  const tls = readTls(config, readFile);
  if (!tls.ok) return end(exitCodes.usage, tls.faults);
  const keys = openKeys(config, log);
  if (keys === null && config.apiKeysFile !== "") return;

  const engine = await open(config, log);
  if (engine === null) return;
  let closing = false;
  const metrics = new Metrics({ version, status: () => engine.status() });
  const site = openSite(siteFolders);
  const backups =
    config.backups === ""
      ? {}
      : {
          backup: () =>
            backupResponse({ engine, folder: config.backups, version, now: () => new Date() }),
        };
  const door = keys === null ? {} : { door: openDoor({ keys, log, now }) };
  const isClosing = () => closing;
  const app = createApp({
    engine,
    log,
    metrics,
    version,
    config,
    site,
    isClosing,
    ...door,
    ...backups,
  });
  let listening: Listening;
  try {
    listening = listen(app, { ...config, tls: tls.tls });
  } catch (error) {
    await engine.close();
    if (error instanceof ListenError) return end(exitCodes.taken, [error.message]);
    throw error;
  }
  if (tls.tls !== null) {
    const look = watchTls({ files: config, readFile, renew: listening.renew, log });
    setInterval(() => {
      if (!closing) look();
    }, tlsLookMs).unref();
  }
  let stoppingSince = 0;
  const stop = async (signal: string) => {
    if (closing) {
      // A terminal sends its interrupt to the server and to what started it, which passes it on.
      if (performance.now() - stoppingSince < repeatedSignalMs) return;
      log.warn("stopping at once", { signal });
      process.exit(exitCodes.ok.code);
    }
    closing = true;
    stoppingSince = performance.now();
    log.info("stopping", { signal });
    const stopped = listening.stop(config.shutdownTimeoutMs);
    // Waiting leases are answered by this, or the port would wait for them.
    await engine.close();
    await stopped;
    log.info("stopped");
    process.exit(exitCodes.ok.code);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void stop(signal));
  }
  // Not before the signals are heard: who reads that it listens may stop it at once.
  greet(listening.url, config);
  warnOfOpenFiles({ connectionsMax: config.connectionsMax, readFile, log });
  log.info("listening", { url: listening.url, store: config.store, shards: config.shards });
}

/** `null` = there are to be none, or the process is to end because they cannot be read. */
function openKeys({ apiKeysFile: path }: Config, log: Log): KeyFile | null {
  if (path === "") return null;
  try {
    return new KeyFile({ path, log, now });
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    const got = `${JSON.stringify(path)}: ${error.message}`;
    end(exitCodes.usage, [
      `--api-keys-file is invalid; expected a file of API keys' digests, got ${got}`,
    ]);
    return null;
  }
}

function now(): number {
  return performance.now();
}

async function open(config: Config, log: Log) {
  const store: StoreConfig =
    config.store === "memory"
      ? { kind: "memory" }
      : {
          kind: "sqlite",
          directory: config.data,
          durability: config.durability,
          acceptLogLoss: config.acceptWalLoss,
        };
  const clock = systemClock();
  try {
    return await openEngine<string>({
      shardCount: config.shards,
      links: workerLinks({
        clock,
        module: new URL("./shard.worker.ts", import.meta.url),
        config: store,
      }),
      clock,
      durability: durabilityOf(store),
      waitingLeasesMax: config.waitingLeasesMax,
      // The shards write it as the reply has it.
      readLeased: (text) => text,
      notice: (notice) => logNotice(log, notice),
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    end(exitOf(error.fault), [`${error.message}; data folder '${config.data}'`]);
    return null;
  }
}

/** A disk may be back at the next try, whatever else is wrong with a folder is not. */
function exitOf(fault: StoreFault) {
  if (fault === "locked") return exitCodes.taken;
  return fault === "failed" ? exitCodes.disk : exitCodes.usage;
}

function logNotice(log: Log, { kind, shard, count, cause }: Notice): void {
  const fields = { shard, ...(count === undefined ? {} : { count }) };
  if (kind === "shard_down") log.error("shard is down", cause, fields);
  else log.warn(noticeTexts[kind], fields);
}

function hasSite(): boolean {
  return existsSync(siteFolders.manifest) || existsSync(siteFolders.building);
}

function greet(url: string, { store, data, shards, host, apiKeysFile }: Config): void {
  const place = store === "memory" ? "in memory, gone when it stops" : `in ${data}`;
  const lines = [
    `Holdfast ${version} listens on ${url}`,
    // A checkout that was not built has none.
    ...(hasSite() ? [`  site     ${url}/`] : []),
    `  API      ${url}/swagger`,
    `  health   ${url}/health`,
    `  metrics  ${url}/metrics`,
    `  items    ${place}, ${shards} ${shards === 1 ? "shard" : "shards"}`,
  ];
  if (apiKeysFile !== "") lines.push(`  keys     asked for, by ${apiKeysFile}`);
  else if (!isLoopback(host)) {
    lines.push("  No key is asked for: whoever reaches this address can do everything.");
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** What no one caught leaves the state unknown; what is stored is safe, so stopping is too. */
function endOnBugs(log: Log): void {
  const onBug = (error: unknown) => {
    log.fatal("a bug", error);
    process.exit(exitCodes.bug.code);
  };
  process.on("uncaughtException", onBug);
  process.on("unhandledRejection", onBug);
}

/** Says why on standard error; the exit code follows once nothing is left to do. */
function end({ code }: { readonly code: number }, reasons: readonly string[]): void {
  process.stderr.write(`${reasons.join("\n")}\n`);
  process.exitCode = code;
}
