// What crosses between the thread that has the engine and those that speak HTTP.

import type { KeyInfo } from "../../openapi/schemas.ts";
import type { Config } from "../config.ts";
import type { ServerGauges } from "../metrics.ts";
import type { Counted } from "../request-counts.ts";
import type { SiteFolders } from "../site.ts";
import type { Tls } from "../tls.ts";

/** What a thread is opened with. */
export interface ThreadOptions {
  /** Its own share of what is bounded. */
  readonly config: Config;
  /** Which all threads share. */
  readonly port: number;
  readonly tls: Tls | null;
  readonly site: SiteFolders;
}

/** A string is a frame of answers. */
export type ToThread =
  | string
  | { readonly kind: "open"; readonly options: ThreadOptions }
  | { readonly kind: "count" }
  | { readonly kind: "renew"; readonly tls: Tls }
  | { readonly kind: "stop"; readonly timeoutMs: number };

/** What a thread has counted since it began, and what it has in hand. */
export interface ThreadFigures {
  readonly counted: readonly Counted[];
  readonly gauges: ServerGauges;
  /** API keys as it knows them. */
  readonly keys: readonly KeyInfo[];
}

/** A string is a frame of calls. */
export type FromThread =
  | string
  | { readonly kind: "listening"; readonly url: string }
  /** The port cannot be had. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  | ({ readonly kind: "counted" } & ThreadFigures)
  | { readonly kind: "stopped" };
