// The thread of one shard: it speaks HTTP and has the engine of its shard. What concerns another shard
// it asks of that shard's thread, and what concerns the server as a whole of the main thread.

import { ShardEngine } from "../../engine/engine.ts";
import { systemClock } from "../../engine/model/clock.ts";
import type { Hold } from "../../engine/registrar.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { OperationId } from "../../openapi/operations.ts";
import { createFront } from "../app.ts";
import { Audit } from "../audit.ts";
import { answerBy } from "../calls/call-server.ts";
import { openDoor } from "../door.ts";
import { engineOptionsOf } from "../engine-options.ts";
import { KeyFile } from "../key-file.ts";
import { type Listening, listen } from "../listen.ts";
import { createLog, type Log } from "../log.ts";
import { serverMachine } from "../machine.ts";
import type { ServerGauges } from "../metrics.ts";
import { RequestCounts } from "../request-counts.ts";
import { RequestLog } from "../request-log.ts";
import type { Routes } from "../routes/route.ts";
import { type Serving, shardRoutesOf } from "../serving.ts";
import { shardedRoutes } from "../shards/routes.ts";
import { openSite } from "../site.ts";
import { Link, type LinkPort } from "./link.ts";
import type { MainMethods, ThreadMethods, ThreadStart } from "./messages.ts";
import { routesOver, wholeOver } from "./remote.ts";
import type { RpcMessage } from "./rpc.ts";

declare const self: Worker;

/** Until the main thread has said what the thread is for. */
export function runShardThread(): void {
  self.onmessage = ({ data }: MessageEvent<ThreadStart>) => {
    const link = start(data, { postMessage: (message) => self.postMessage(message) });
    self.onmessage = ({ data: message }: MessageEvent<string | RpcMessage>) =>
      link.receive(message);
  };
}

/** Returns the link to the main thread. */
function start({ shard, config, site, ports }: ThreadStart, main: LinkPort): Link {
  const log = createLog({ level: config.logLevel });
  const clock = systemClock();
  const links = new Map<number, Link>();
  const linkTo = (other: number): Link => {
    const link = links.get(other);
    if (link === undefined) throw new Error("a thread is asked that is not there");
    return link;
  };
  const misplaced = async (): Promise<never> => {
    throw new Error("what concerns all shards is asked of the main thread");
  };
  const engine = new ShardEngine<string>({
    ...engineOptionsOf(config, log, { clock }),
    shard,
    reach: (other) => linkTo(other).rpc.remote<OtherShard>(),
    whole: { backup: misplaced, advance: misplaced, close: misplaced },
    lost: () => void linkTo(0).rpc.remote<MainMethods>().lost(),
  });
  const audit = new Audit({ log, now: () => clock.now() });
  const own = shardRoutesOf(engine, { machine: serverMachine(config), audit });
  const answer = answerBy(own as Routes);
  const methods: ThreadMethods = {
    ...engine.other,
    load: () => engine.load(),
    meet: (standings) => engine.meet(standings),
    start: async () => engine.start(),
    drop: () => engine.drop(),
    giveUp: () => engine.giveUp(),
    ...holdsOf(engine),
    copy: (folder) => engine.copy(folder),
    end: () => engine.end(),
    status: async () => engine.status(),
    ...httpOf({ config, log, site, serving: () => serving }),
  };
  for (const [other, port] of ports.entries()) {
    const away = other === 0 ? main : port;
    if (away === null || other === shard) continue;
    const link = new Link({
      port: away,
      answer: (call, caller) =>
        answer({ ...call, operation: call.operation as OperationId }, caller),
      methods,
      log,
    });
    links.set(other, link);
    if (port !== null) {
      port.onmessage = ({ data }: MessageEvent<string | RpcMessage>) => link.receive(data);
    }
  }
  const shards = ports.map((_, other) => (other === shard ? own : routesOver(linkTo(other))));
  const serving: Serving = {
    ...wholeOver(linkTo(0)),
    routes: { ...routesOver(linkTo(0)), ...shardedRoutes(shards) },
  };
  return linkTo(0);
}

/** Holds by their numbers. */
function holdsOf(engine: ShardEngine<string>): Pick<ThreadMethods, "hold" | "release"> {
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
  readonly serving: () => Serving;
}

/** What this thread does as a server of HTTP. */
function httpOf({
  config,
  log,
  site,
  serving,
}: HttpOptions): Pick<ThreadMethods, "figures" | "listen" | "renew" | "stop"> {
  const now = () => performance.now();
  const keys =
    config.apiKeysFile === "" ? null : new KeyFile({ path: config.apiKeysFile, log, now });
  const counts = new RequestCounts();
  let listening: Listening | null = null;
  let gauges = (): ServerGauges => ({ requestsInFlight: 0, bodyBytesInFlight: 0 });
  return {
    figures: async () => ({ counted: counts.asked, gauges: gauges(), keys: keys?.infos ?? [] }),
    listen: async (port, tls) => {
      const front = createFront(serving(), {
        ...{ config, log, counts, site: openSite(site) },
        ...(config.logLevel === "debug" && { requestLog: new RequestLog(log) }),
        ...(keys !== null && { door: openDoor({ keys, log, now, threads: config.shards }) }),
      });
      gauges = front.gauges;
      listening = listen(front.app, { ...config, port, tls, isShared: true });
    },
    renew: async (tls) => listening?.renew(tls),
    stop: async (timeoutMs) => await listening?.stop(timeoutMs),
  };
}
