// Opens a server from its configuration: stores, shards, app and port. The caller decides what
// happens to the process.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ShardEngine } from "../engine/engine.ts";
import type { Engine } from "../engine/model/api.ts";
import { type Clock, sharedClock, systemClock, TestClock } from "../engine/model/clock.ts";
import manifest from "../package.json" with { type: "json" };
import { commitFatesOf, durabilityOf, type SharedSession } from "../stores/open.ts";
import { StoreError, type StoreFault } from "../stores/store.ts";
import { createHttpApp } from "./app.ts";
import { createAuthenticator } from "./auth/authenticator.ts";
import { KeyFile, KeyFileError } from "./auth/key-file.ts";
import type { Config, PlacedConfig } from "./config/settings.ts";
import { ListenError, type Listening, listen, tryListening } from "./http/connections/listen.ts";
import { readTls, type Tls } from "./http/connections/tls.ts";
import { tlsCheckMs, watchTls } from "./http/connections/tls-files.ts";
import { type LocalOptions, localHandlers, shardsHere } from "./http/operation-handlers.ts";
import { openSite } from "./http/site.ts";
import type { DrainRequest } from "./nodes/drain-requests.ts";
import { Node } from "./nodes/node.ts";
import { serverHostInfo } from "./observability/host-info.ts";
import type { Log } from "./observability/log.ts";
import { LostCommits } from "./observability/lost-commits.ts";
import { type CommitFates, Metrics } from "./observability/metrics.ts";
import { RequestLog } from "./observability/request-log.ts";
import { backupResponse } from "./storage/backup.ts";
import { nodesIn, resolveShardCount, sessionFor } from "./storage/cluster-shards.ts";
import { DataFolderError, openDataFolder } from "./storage/data-folder.ts";
import { engineOptionsOf, storeOf } from "./storage/engine-options.ts";
import { resolvePlacement, threadConfig } from "./threads/placement.ts";
import { ShardThreads } from "./threads/shard-threads.ts";

/**
 * `bun run site:build` writes the site here; the package has it beside its own folder of programs.
 * It may be missing. The single executable embeds it beside the program.
 */
const isExecutable = Bun.embeddedFiles.length > 0;
const build = isExecutable ? import.meta.dir : fileURLToPath(new URL("../build", import.meta.url));
const siteFolders = {
  site: `${build}/site`,
  manifest: `${build}/site.json`,
  building: `${build}/site.building`,
};

const { version } = manifest;
const readFile = (path: string) => readFileSync(path, "utf8");
const now = () => performance.now();

export interface Server {
  /** For clients on this machine. */
  readonly url: string;
  /** False in a checkout without a build of the site. */
  readonly hasSite: boolean;
  readonly shards: number;
  readonly threads: number;
  /**
   * Accepts no more requests, answers those in progress within `shutdownTimeoutMs`, and closes the
   * stores.
   */
  close(): Promise<void>;
}

/**
 * The server cannot start; `taken` = another process uses its port or its stores. The message is
 * for the operator.
 */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly fault: "settings" | "taken" | "disk";

  constructor(fault: StartError["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Throws a `StartError`; then nothing stays open, and no file that it created remains. */
export async function openServer(given: Config, log: Log): Promise<Server> {
  const read = readTls(given, readFile);
  if (!read.ok) throw new StartError("settings", read.faults.join("\n"));
  const keys = keysOf(given, log);
  try {
    await tryListening(given);
    const folder = given.store === "sqlite" ? openDataFolder(given.data) : null;
    const shards =
      folder?.shards ?? (given.store === "postgres" ? await resolveShardCount(given) : 1);
    const config = resolvePlacement(given, { shards });
    try {
      return await serve({ config, log, tls: read.tls, keys });
    } catch (error) {
      // The contents of a locked folder belong to another server.
      if (!isLocked(error)) folder?.remove();
      throw error;
    }
  } catch (error) {
    throw startErrorOf(error, given);
  }
}

interface Parts {
  readonly config: PlacedConfig;
  readonly log: Log;
  readonly tls: Tls | null;
  /** `null` = no API keys are required. */
  readonly keys: KeyFile | null;
}

async function serve(parts: Parts): Promise<Server> {
  const { config, log, tls } = parts;
  const clock = config.testClock ? new TestClock() : systemClock();
  const session = sessionFor(config);
  const node = config.nodeUrl === "" ? null : nodeOf(config, log, session);
  const shards = node ?? (await openedThreads(config, log, { clock, session }));
  let closing = false;
  const isClosing = () => closing;
  const commitFates = () => commitFatesOf(session);
  const httpApp = httpAppOf(parts, { clock, node, shards, isClosing, commitFates });
  let listening: Listening | null = null;
  try {
    const own = (isShared: boolean) => listen(httpApp.app, { ...config, tls, isShared });
    listening = shards instanceof ShardThreads ? await shards.listen(tls, own) : own(false);
    await node?.join();
    const { url, renew, stop } = listening;
    if (tls !== null) {
      const reloadIfChanged = watchTls({ files: config, readFile, renew, log });
      setInterval(() => {
        if (!closing) reloadIfChanged();
      }, tlsCheckMs).unref();
    }
    return {
      url,
      hasSite: existsSync(siteFolders.manifest) || existsSync(siteFolders.building),
      ...{ shards: config.shards, threads: config.threads },
      close: async () => {
        closing = true;
        // Connected clients are served until other nodes own the shards.
        await node?.drain();
        const stopped = stop(config.shutdownTimeoutMs);
        // This answers waiting leases; otherwise `stop` would wait for them.
        await closeShards(shards);
        await stopped;
        if (shards instanceof ShardThreads) shards.terminate();
        await node?.leave();
      },
    };
  } catch (error) {
    await listening?.stop(0);
    await closeShards(shards);
    if (shards instanceof ShardThreads) shards.terminate();
    await node?.leave();
    throw error;
  }
}

/** A node closes its shards when it leaves. */
async function closeShards(shards: Node | ShardThreads): Promise<void> {
  if (!(shards instanceof Node)) await shards.close();
}

async function openedThreads(
  config: PlacedConfig,
  log: Log,
  { clock, session }: { readonly clock: Clock; readonly session: SharedSession },
): Promise<ShardThreads> {
  const engine = engineOptionsOf(config, log, { clock, session });
  const threads = new ShardThreads({
    ...{ config, engine, log, site: siteFolders },
    module: new URL("./shard.worker.ts", import.meta.url),
    // The process cannot continue without this thread: it owns shards and shares the port.
    broken: (cause) => {
      setImmediate(() => {
        throw cause;
      });
    },
  });
  await threads.open();
  return threads;
}

interface Opened {
  readonly clock: Clock;
  readonly node: Node | null;
  readonly shards: Node | ShardThreads;
  readonly isClosing: () => boolean;
  readonly commitFates: () => CommitFates;
}

/** Builds the app that answers requests; it does not listen yet. */
function httpAppOf({ config, log, keys }: Parts, opened: Opened) {
  const { clock, node, shards, isClosing, commitFates } = opened;
  const lostCommits = new LostCommits(() => commitFates().lost);
  const machine = serverHostInfo(config);
  const here = shardsHere(shards.engines, { audit: { log, now: () => clock.now() }, machine });
  const threads = shards instanceof ShardThreads ? shards : null;
  const parts = { ...here, ...threads?.parts(here.shards) };
  const metrics = new Metrics({
    ...{ version, status: parts.status, queuesMax: config.metricsQueuesMax },
    receiptsMax: config.receiptsMax,
    ...{ commitFates, lostCommits, machine, hasBackups: config.backups !== "" },
    ...(node !== null && { node: () => node.figures() }),
  });
  const peers = node && {
    router: node.router,
    key: node.key,
    log,
    views: () => node.memberships.map(({ view }) => view),
    requestDrain: (request: DrainRequest) => node.requestDrain(request),
  };
  const infos = () => keys?.infos ?? [];
  const handlers = localHandlers({
    ...{ ...parts, version, config, isClosing, lostCommits },
    render: (gauges) => threads?.render(metrics, gauges) ?? metrics.render(gauges),
    ...(keys !== null && { keys: () => threads?.keys(infos()) ?? infos() }),
    ...backupsOf(config, threads ?? shards.engines[0]),
    ...(node && peers && { node: peers, unserved: () => node.unserved }),
  });
  const httpApp = createHttpApp(handlers, {
    ...{ config: threadConfig(config), log, counts: metrics.requests },
    site: openSite(siteFolders),
    ...(config.logLevel === "debug" && { requestLog: new RequestLog(log) }),
    ...(peers && { node: peers }),
    ...(keys !== null && {
      authenticate: createAuthenticator({ keys, log, now, threads: config.threads }),
    }),
  });
  threads?.answerBy(here.shards, handlers, httpApp.gauges);
  return httpApp;
}

function nodeOf(config: PlacedConfig, log: Log, session: SharedSession): Node {
  const { nodeUrl: url, ownershipLease: leaseMs } = config;
  const store = storeOf(config);
  if (store.kind !== "postgres") throw new Error("a node has no database");
  return new Node({
    ...{ url, version, leaseMs, log },
    openNodes: nodesIn(config, leaseMs, session),
    statusElsewhere: {
      durability: durabilityOf(store),
      now: 0,
      waitingLeases: 0,
      shards: [],
      queues: [],
    },
    shardCount: config.shards,
    createEngine: ({ ownership, now, ...place }) => {
      const clock = sharedClock(now - Date.now());
      return new ShardEngine({
        ...engineOptionsOf(config, log, { clock, session, ownership }),
        ...place,
      });
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
): Pick<LocalOptions, "backup"> {
  if (folder === "") return {};
  return { backup: () => backupResponse({ engine, folder, version, now: () => new Date() }) };
}

function isLocked(error: unknown): boolean {
  return error instanceof StoreError && error.fault === "locked";
}

/** Turns an expected error into a `StartError` for the operator; returns any other unchanged. */
function startErrorOf(error: unknown, { store, data, databaseSchema }: Config): unknown {
  if (error instanceof ListenError) return new StartError(error.fault, error.message);
  // Not the URL: it may contain a password.
  const place =
    store === "postgres" ? `database schema '${databaseSchema}'` : `data folder '${data}'`;
  if (error instanceof DataFolderError) {
    return new StartError(error.fault, `${error.message}; ${place}`);
  }
  if (!(error instanceof StoreError)) return error;
  return new StartError(faultOf(error.fault), `${detailedMessage(error)}; ${place}`);
}

function detailedMessage({ message, fault, cause }: StoreError): string {
  // The message names the owner of the lock, which is enough.
  const hasDetail = fault !== "locked" && cause instanceof Error && cause.message !== "";
  return hasDetail ? `${message}; ${cause.message}` : message;
}

/** A disk may be back, or have room, at the next attempt; other faults of a folder persist. */
function faultOf(fault: StoreFault): StartError["fault"] {
  if (fault === "locked") return "taken";
  return ["failed", "full", "lost"].includes(fault) ? "disk" : "settings";
}
