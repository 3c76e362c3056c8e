// A shard thread other than the main one: it serves HTTP and runs the engines of its shards. It
// forwards calls for another shard to that shard's thread, and calls about the server as a whole to
// the main thread.

import type { Hold } from "../../engine/catalog-changes.ts";
import type { ShardEngine } from "../../engine/engine.ts";
import { systemClock } from "../../engine/model/clock.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import { createEngines, type ShardEngines } from "../../engine/shards.ts";
import { createHttpApp } from "../app.ts";
import { createAuthenticator } from "../auth/authenticator.ts";
import { KeyFile } from "../auth/key-file.ts";
import { answerByShard } from "../calls/call-server.ts";
import { type Listening, listen } from "../http/connections/listen.ts";
import { type OperationHandlers, shardsHere } from "../http/operation-handlers.ts";
import { openSite } from "../http/site.ts";
import { serverHostInfo } from "../observability/host-info.ts";
import { createLog, type Log } from "../observability/log.ts";
import type { ServerGauges } from "../observability/metrics.ts";
import { RequestCounts } from "../observability/request-counts.ts";
import { RequestLog } from "../observability/request-log.ts";
import { shardedRoutes } from "../shards/routes.ts";
import { engineOptionsOf } from "../storage/engine-options.ts";
import { Link, type LinkPort } from "./link.ts";
import type { ShardMethods, ThreadMethods, ThreadStart } from "./messages.ts";
import { shardsOf, threadOf } from "./placement.ts";
import { byShard, pageHandlersOver, routesOfAll, routesOver } from "./remote.ts";
import type { RpcMessage, Target } from "./rpc.ts";

declare const self: Worker;

/** Waits for the main thread's first message, and starts with its settings. */
export function runShardThread(): void {
  self.onmessage = ({ data }: MessageEvent<ThreadStart>) => {
    const link = start(data, { postMessage: (message) => self.postMessage(message) });
    self.onmessage = ({ data: message }: MessageEvent<string | RpcMessage>) =>
      link.receive(message);
  };
}

/** Returns the link to the main thread. */
function start({ thread, config, site, ports }: ThreadStart, main: LinkPort): Link {
  const log = createLog({ level: config.logLevel });
  const links = new Map<number, Link>();
  const linkTo = (other: number): Link => {
    const link = links.get(other);
    if (link === undefined) throw new Error("a call names a thread that does not exist");
    return link;
  };
  const remoteShard = (shard: number) =>
    linkTo(threadOf(shard, config)).rpc.remote<OtherShard>(shard);
  const clock = systemClock();
  const misplaced = async (): Promise<never> => {
    throw new Error("calls about all shards go to the main thread");
  };
  const engines: ShardEngines<string> = createEngines(shardsOf(thread, config), {
    ...engineOptionsOf(config, log, { clock }),
    whole: { backup: misplaced, advance: misplaced, close: misplaced },
    reach: (shard) => engines.find((one) => one.shard === shard)?.other ?? remoteShard(shard),
  });
  const audit = { log, now: () => clock.now() };
  const here = shardsHere(engines, { audit, machine: serverHostInfo(config) });
  const own = byShard(engines, here.shards);
  const methods: ThreadMethods = {
    status: async () => here.status(),
    ...httpOf({ config, log, site, handlers: () => handlers }),
  };
  const targets = new Map<Target, object>([
    ["thread", methods],
    ...engines.map((engine) => [engine.shard, shardMethodsOf(engine)] as const),
  ]);
  const answer = answerByShard(own);
  for (const [other, port] of ports.entries()) {
    const end = other === 0 ? main : port;
    if (end === null || other === thread) continue;
    const link = new Link({ port: end, answer, targets, log });
    links.set(other, link);
    if (port !== null) {
      port.onmessage = ({ data }: MessageEvent<string | RpcMessage>) => link.receive(data);
    }
  }
  const shards = routesOfAll(own, config, linkTo);
  const handlers: OperationHandlers = {
    ...pageHandlersOver(linkTo(0)),
    routes: { ...routesOver(linkTo(0), null), ...shardedRoutes(shards) },
  };
  return linkTo(0);
}

function shardMethodsOf(engine: ShardEngine<string>): ShardMethods {
  return {
    ...engine.other,
    load: () => engine.load(),
    meet: () => engine.meet(),
    start: async () => engine.start(),
    giveUp: () => engine.giveUp(),
    ...holdsOf(engine),
    copy: (folder) => engine.copy(folder),
    end: () => engine.end(),
  };
}

/** A hold cannot be cloned, so other threads name it by a number. */
function holdsOf(engine: ShardEngine<string>): Pick<ShardMethods, "hold" | "release"> {
  const holds = new Map<number, Hold>();
  let last = 0;
  return {
    hold: async () => {
      last += 1;
      const number = last;
      holds.set(number, await engine.hold());
      return number;
    },
    release: async (number) => {
      holds.get(number)?.release();
      holds.delete(number);
    },
  };
}

interface HttpOptions extends Pick<ThreadStart, "config" | "site"> {
  readonly log: Log;
  readonly handlers: () => OperationHandlers;
}

/** The methods of this thread's HTTP server. */
function httpOf({
  config,
  log,
  site,
  handlers,
}: HttpOptions): Pick<ThreadMethods, "figures" | "listen" | "renew" | "stop"> {
  const now = () => performance.now();
  const keys =
    config.apiKeysFile === "" ? null : new KeyFile({ path: config.apiKeysFile, log, now });
  const counts = new RequestCounts();
  let listening: Listening | null = null;
  let gauges = (): ServerGauges => ({ requestsInFlight: 0, bodyBytesInFlight: 0 });
  return {
    figures: async () => ({ counted: counts.counted, gauges: gauges(), keys: keys?.infos ?? [] }),
    listen: async (port, tls) => {
      const front = createHttpApp(handlers(), {
        ...{ config, log, counts, site: openSite(site) },
        ...(config.logLevel === "debug" && { requestLog: new RequestLog(log) }),
        ...(keys !== null && {
          authenticate: createAuthenticator({ keys, log, now, threads: config.threads }),
        }),
      });
      gauges = front.gauges;
      listening = listen(front.app, { ...config, port, tls, isShared: true });
    },
    renew: async (tls) => listening?.renew(tls),
    stop: async (timeoutMs) => await listening?.stop(timeoutMs),
  };
}
