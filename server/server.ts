// The server as a whole: stores, shards, app and port, opened from a configuration. What
// becomes of the process is its caller's.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Engine } from "../engine/model/api.ts";
import { type Clock, sharedClock, systemClock, TestClock } from "../engine/model/clock.ts";
import { parseDuration } from "../engine/model/duration.ts";
import { newTag } from "../engine/model/ids.ts";
import { limits } from "../engine/model/limits.ts";
import { systemRandom } from "../engine/model/random.ts";
import { type Notice, type OpenShards, openShards } from "../engine/shards.ts";
import manifest from "../package.json" with { type: "json" };
import type { Ownership } from "../stores/nodes.ts";
import {
  commitFatesOf,
  durabilityOf,
  openNodes,
  openStore,
  type SharedSession,
  type StoreConfig,
  type StoreOptions,
  sessionOf,
} from "../stores/open.ts";
import { StoreError, type StoreFault } from "../stores/store.ts";
import { type AppOptions, createFront } from "./app.ts";
import { backupResponse } from "./backup.ts";
import type { Config } from "./config.ts";
import { DataFolderError, openDataFolder } from "./data-folder.ts";
import { openDoor } from "./door.ts";
import { KeyFile, KeyFileError } from "./key-file.ts";
import { ListenError, type Listening, listen, tryListening } from "./listen.ts";
import type { Log } from "./log.ts";
import { Losses } from "./losses.ts";
import { machineOf } from "./machine.ts";
import { type CommitFates, Metrics } from "./metrics.ts";
import { Node } from "./nodes/node.ts";
import { RequestLog } from "./request-log.ts";
import { type Engines, localServing, statusOf } from "./serving.ts";
import { openSite } from "./site.ts";
import { listenInThreads } from "./threads/http-threads.ts";
import { readTls, type Tls } from "./tls.ts";
import { tlsLookMs, watchTls } from "./tls-files.ts";
import { renderLeased } from "./wire/leased.ts";

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
  items_discarded: "items were removed because there is no dead queue",
  commits_lost: "commits that were acknowledged are lost with the damaged log",
  items_set_aside: "items of queues that are not known were set aside",
  store_went_back:
    "a store went back to an earlier state; it lacks items that it sent to other shards or took from them",
};

const { version } = manifest;
const readFile = (path: string) => readFileSync(path, "utf8");
const now = () => performance.now();

export interface Server {
  /** Where this machine reaches it. */
  readonly url: string;
  /** A checkout that was not built has none. */
  readonly hasSite: boolean;
  /** Takes no more requests, answers those there are within `shutdownTimeoutMs`, closes the stores. */
  close(): Promise<void>;
}

/** What keeps a server from starting; `taken` = by another one. The message is for the operator. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly fault: "settings" | "taken" | "disk";

  constructor(fault: StartError["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Throws a `StartError`, and has then left nothing open, nor any file that was not there before. */
export async function openServer(config: Config, log: Log): Promise<Server> {
  const read = readTls(config, readFile);
  if (!read.ok) throw new StartError("settings", read.faults.join("\n"));
  const keys = keysOf(config, log);
  try {
    await tryListening(config);
    const folder = config.store === "sqlite" ? openDataFolder(config.data) : null;
    try {
      return await serve({ config, log, tls: read.tls, keys });
    } catch (error) {
      // What is in a folder that another server has is that server's.
      if (!isLocked(error)) folder?.remove();
      throw error;
    }
  } catch (error) {
    throw startErrorOf(error, config);
  }
}

interface Parts {
  readonly config: Config;
  readonly log: Log;
  readonly tls: Tls | null;
  /** `null` = none are asked for. */
  readonly keys: KeyFile | null;
}

async function serve(parts: Parts): Promise<Server> {
  const { config, log, tls } = parts;
  const clock = config.testClock ? new TestClock() : systemClock();
  const { databasePooler: pooler, requireReplica } = config;
  const session = sessionOf({ pooler, requireReplica }, limits.shardsMax);
  const node = config.nodeUrl === "" ? null : nodeOf(config, log, session);
  const shards = node === null ? await shardsOf(config, log, { clock, session }) : null;
  const engines = node === null ? (shards?.engines as Engines) : node.engines;
  let closing = false;
  const isClosing = () => closing;
  const { serving, metrics, front } = insideOf(parts, {
    ...{ clock, node, engines, isClosing },
    commitFates: () => commitFatesOf(session),
  });
  let listening: Listening | null = null;
  try {
    listening = isThreaded(config)
      ? await listenInThreads({ ...{ config, tls, log, serving, metrics }, ...threads(config) })
      : listen(createFront(serving, front()).app, { ...config, tls });
    await node?.membership.join();
    const { url, renew, stop } = listening;
    if (tls !== null) {
      const look = watchTls({ files: config, readFile, renew, log });
      setInterval(() => {
        if (!closing) look();
      }, tlsLookMs).unref();
    }
    return {
      url,
      hasSite: existsSync(siteFolders.manifest) || existsSync(siteFolders.building),
      close: async () => {
        closing = true;
        // Those that are connected are served until somebody else has the shards.
        await node?.drain();
        const stopped = stop(config.shutdownTimeoutMs);
        // Waiting leases are answered by this, or the port would wait for them.
        await shards?.close();
        await stopped;
        await node?.leave();
      },
    };
  } catch (error) {
    await listening?.stop(0);
    await shards?.close();
    await node?.leave();
    throw error;
  }
}

interface Opened {
  readonly clock: Clock;
  readonly node: Node | null;
  readonly engines: Engines;
  readonly isClosing: () => boolean;
  readonly commitFates: () => CommitFates;
}

/** What answers, behind whatever listens. */
function insideOf({ config, log, keys }: Parts, opened: Opened) {
  const { clock, node, engines, isClosing, commitFates } = opened;
  const losses = new Losses(() => commitFates().lost);
  const machine = machineOf({
    ...{ name: config.name, version, backups: config.backups, now, store: config.store },
    folder: config.store === "sqlite" ? config.data : null,
  });
  const metrics = new Metrics({
    version,
    status: () => statusOf(engines),
    queuesMax: config.metricsQueuesMax,
    receiptsMax: config.receiptsMax,
    ...{ commitFates, losses, machine, hasBackups: config.backups !== "" },
    ...(node !== null && { node: () => node.figures() }),
  });
  const peers = node && {
    router: node.router,
    key: node.key,
    log,
    seen: () => node.membership.seen,
  };
  const serving = localServing({
    ...{ engines, metrics, version, config, isClosing, losses, machine },
    audit: { log, now: () => clock.now() },
    ...(keys !== null && { keys: () => keys.infos }),
    ...backupsOf(config, engines[0]),
    ...(node && peers && { node: peers, unserved: () => node.membership.unserved }),
  });
  // Each thread that speaks HTTP makes its own.
  const front = () => ({
    ...{ config, log, counts: metrics.requests, site: openSite(siteFolders) },
    ...(config.logLevel === "debug" && { requestLog: new RequestLog(log) }),
    ...(peers && { node: peers }),
    ...(keys !== null && { door: openDoor({ keys, log, now }) }),
  });
  return { serving, metrics, front };
}

function threads({ port, httpThreads: count }: Config) {
  return {
    ...{ port, count, site: siteFolders },
    module: new URL("./http.worker.ts", import.meta.url),
    // Nobody can go on without it: the others have its port, and it had requests.
    broken: (cause: Error): void => {
      setImmediate(() => {
        throw cause;
      });
    },
  };
}

/** A test clock, and nodes that connect, are of the engine's own thread. */
function isThreaded({ httpThreads, testClock, nodeUrl }: Config): boolean {
  return httpThreads > 1 && !testClock && nodeUrl === "";
}

function nodeOf(config: Config, log: Log, session: SharedSession): Node {
  const { nodeUrl: url } = config;
  const store = storeOf(config);
  if (store.kind !== "postgres") throw new Error("a node has no database");
  const leaseMs = boundedDuration("--ownership-lease", config.ownershipLease, ownershipLeaseMs);
  return new Node({
    ...{ url, version, leaseMs, log },
    openNodes: () => openNodes(store, leaseMs, session),
    statusElsewhere: {
      durability: durabilityOf(store),
      now: 0,
      waitingLeases: 0,
      shards: [],
      queues: [],
    },
    shardCount: config.shards,
    openShards: (ownership, now) => {
      const clock = sharedClock(now - Date.now());
      return shardsOf(config, log, { clock, session, ownership });
    },
  });
}

function keysOf({ apiKeysFile: path }: Config, log: Log): KeyFile | null {
  if (path === "") return null;
  try {
    return new KeyFile({ path, log, now });
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    const got = `${JSON.stringify(path)}: ${error.message}`;
    const message = `--api-keys-file is invalid; expected a file of API keys' digests, got ${got}`;
    throw new StartError("settings", message);
  }
}

function backupsOf(
  { backups: folder }: Config,
  engine: Pick<Engine<string>, "backup">,
): Pick<AppOptions, "backup"> {
  if (folder === "") return {};
  return { backup: () => backupResponse({ engine, folder, version, now: () => new Date() }) };
}

/** `ownership`: with it, the clock is one that all nodes share. */
async function shardsOf(
  config: Config,
  log: Log,
  {
    clock,
    session,
    ownership,
  }: {
    readonly clock: Clock;
    readonly session: SharedSession;
    readonly ownership?: Ownership;
  },
): Promise<OpenShards<string>> {
  const store = storeOf(config);
  const { testClock } = config;
  const options: StoreOptions = {
    ...{ ...store, testClock, session },
    ...(ownership && { ownership }),
  };
  const turnLimits = {
    ...limits,
    receiptsWindowMs: boundedDuration("--receipts-window", config.receiptsWindow, receiptsWindowMs),
    receiptsMax: config.receiptsMax,
    historyBytes: config.historyBytes,
  };
  return await openShards<string>({
    shardCount: config.shards,
    openStore: (shard) => openStore(options, shard, () => newTag(systemRandom)),
    renderLeased,
    turnLimits,
    clock,
    durability: durabilityOf(store),
    waitingLeasesMax: config.waitingLeasesMax,
    seriesBytes: config.seriesBytes,
    notice: (notice) => logNotice(log, notice),
  });
}

function storeOf(config: Config): StoreConfig {
  switch (config.store) {
    case "memory":
      return { kind: "memory" };
    case "postgres":
      return { kind: "postgres", url: config.databaseUrl, schema: config.databaseSchema };
    case "sqlite":
      return {
        kind: "sqlite",
        directory: config.data,
        durability: config.durability,
        acceptLogLoss: config.acceptWalLoss,
      };
  }
}

/** Long enough for a client to try again, short enough for what has to be kept. */
const receiptsWindowMs = { min: 1_000, max: 24 * 3_600_000, text: "1s to 24h" };
/** Longer than a database may stall, short enough to be waited for. */
const ownershipLeaseMs = { min: 1_000, max: 60_000, text: "1s to 1m" };

function boundedDuration(flag: string, text: string, bounds: typeof ownershipLeaseMs): number {
  const parsed = parseDuration(text);
  if (parsed.ok && parsed.ms >= bounds.min && parsed.ms <= bounds.max) return parsed.ms;
  const expected = `expected a duration from ${bounds.text}`;
  const message = `${flag} is invalid; ${expected}, got ${JSON.stringify(text)}`;
  throw new StartError("settings", message);
}

function isLocked(error: unknown): boolean {
  return error instanceof StoreError && error.fault === "locked";
}

/** What was thrown, in words for the operator where it is no bug. */
function startErrorOf(error: unknown, { store, data, databaseSchema }: Config): unknown {
  if (error instanceof ListenError) return new StartError(error.fault, error.message);
  // The URL may hold a password.
  const place =
    store === "postgres" ? `database schema '${databaseSchema}'` : `data folder '${data}'`;
  if (error instanceof DataFolderError) {
    return new StartError(error.fault, `${error.message}; ${place}`);
  }
  if (!(error instanceof StoreError)) return error;
  return new StartError(faultOf(error.fault), `${detailed(error)}; ${place}`);
}

function detailed({ message, fault, cause }: StoreError): string {
  // Who has the lock is all there is to say of it.
  const isTold = fault !== "locked" && cause instanceof Error && cause.message !== "";
  return isTold ? `${message}; ${cause.message}` : message;
}

/** At the next try a disk may be back, or have room; whatever else is wrong with a folder stays. */
function faultOf(fault: StoreFault): StartError["fault"] {
  if (fault === "locked") return "taken";
  return ["failed", "full", "lost"].includes(fault) ? "disk" : "settings";
}

function logNotice(log: Log, { kind, cause, ...fields }: Notice): void {
  if (kind === "shard_down") log.error("shard is down", cause, fields);
  else log.warn(noticeTexts[kind], fields);
}
