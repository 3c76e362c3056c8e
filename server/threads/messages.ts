// The methods that the threads of a server call on each other, besides clients' calls.

import type { EngineStatus, StoreCopy } from "../../engine/model/api.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { KeyInfo } from "../../openapi/schemas.ts";
import type { PlacedConfig } from "../config/settings.ts";
import type { Tls } from "../http/connections/tls.ts";
import type { SiteFolders } from "../http/site.ts";
import type { ServerGauges } from "../observability/metrics.ts";
import type { OperationCounts } from "../observability/request-counts.ts";

/** The first message to a thread; later messages go over its links. */
export interface ThreadStart {
  /** The thread's number; the main thread is 0. */
  readonly thread: number;
  /** The configuration, with the thread's share of the limits. */
  readonly config: PlacedConfig;
  readonly site: SiteFolders;
  /** The ports to the threads, by number; `null` for the thread itself and the main thread. */
  readonly ports: readonly (MessagePort | null)[];
}

/** A thread's counts since it started, and its gauges. */
export interface ThreadFigures {
  readonly counted: readonly OperationCounts[];
  readonly gauges: ServerGauges;
  /** The API keys, with the thread's own usage. */
  readonly keys: readonly KeyInfo[];
}

/** A shard's methods: `OtherShard` for shards of other threads, the rest for the main thread. */
export interface ShardMethods extends OtherShard {
  load(): Promise<void>;
  meet(): Promise<void>;
  start(): Promise<void>;
  giveUp(): Promise<void>;
  /** Returns the number of the hold, for `release`. */
  hold(): Promise<number>;
  release(hold: number): Promise<void>;
  copy(folder: string): Promise<StoreCopy>;
  end(): Promise<void>;
}

/** Methods of a thread as a whole, called by the main thread. */
export interface ThreadMethods {
  /** Returns the status of its shards. */
  status(): Promise<EngineStatus>;
  figures(): Promise<ThreadFigures>;
  /** Throws a `ListenError`. */
  listen(port: number, tls: Tls | null): Promise<void>;
  renew(tls: Tls): Promise<void>;
  /** Accepts no more connections, and resolves once every request is answered or cut off. */
  stop(timeoutMs: number): Promise<void>;
}
