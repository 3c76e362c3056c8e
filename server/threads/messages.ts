// What the threads of a server ask of each other beside the calls of clients.

import type { EngineStatus, StoreCopy } from "../../engine/model/api.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { KeyInfo } from "../../openapi/schemas.ts";
import type { PlacedConfig } from "../config/settings.ts";
import type { Tls } from "../http/connections/tls.ts";
import type { SiteFolders } from "../http/site.ts";
import type { ServerGauges } from "../observability/metrics.ts";
import type { Counted } from "../observability/request-counts.ts";

/** The first message that a thread is sent; what follows goes over its links. */
export interface ThreadStart {
  /** Its number; that of the main thread is 0. */
  readonly thread: number;
  /** Its own share of what is bounded. */
  readonly config: PlacedConfig;
  readonly site: SiteFolders;
  /** By thread, where it reaches the others; `null` = its own place, and that of the main thread. */
  readonly ports: readonly (MessagePort | null)[];
}

/** What a thread has counted since it began, and what it has in hand. */
export interface ThreadFigures {
  readonly counted: readonly Counted[];
  readonly gauges: ServerGauges;
  /** API keys as it knows them. */
  readonly keys: readonly KeyInfo[];
}

/** What other threads ask of a shard: its shards as `OtherShard`, the main thread as `Member`. */
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

/** What the main thread asks of another one as a whole. */
export interface ThreadMethods {
  /** Returns the status of its shards. */
  status(): Promise<EngineStatus>;
  figures(): Promise<ThreadFigures>;
  /** Throws a `ListenError`. */
  listen(port: number, tls: Tls | null): Promise<void>;
  renew(tls: Tls): Promise<void>;
  /** Takes no more connections, and ends when every request is answered or cut off. */
  stop(timeoutMs: number): Promise<void>;
}
