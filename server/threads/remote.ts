// Routes and handlers that call another thread.

import { type OperationId, operations } from "../../openapi/operations.ts";
import type { KeyIdentity } from "../auth/key-rights.ts";
import type { Call } from "../calls/call.ts";
import type { PlacedConfig } from "../config/settings.ts";
import type { OperationHandlers } from "../http/operation-handlers.ts";
import { jsonResponse } from "../http/reply.ts";
import { Caller, type Routes } from "../routes/route.ts";
import type { ShardRoutes } from "../shards/routes.ts";
import type { Link } from "./link.ts";
import { threadOf } from "./placement.ts";

/** Calls about the server as a whole have no client that could hang up. */
const neverAborts = new AbortController();

/** The routes of a shard of the other thread; `null` = the routes of the server as a whole. */
export function routesOver(link: Link, shard: number | null): Routes {
  const routes = Object.keys(operations).map((id) => [
    id,
    (body: unknown, caller: Caller) => {
      const { requestKey } = caller;
      const operation = id as OperationId;
      const call = { operation, shard, body: caller.jsonOf(body), requestKey };
      return link.call({ ...call, ...identityOf(caller) }, caller);
    },
  ]);
  return Object.fromEntries(routes) as Routes;
}

/** The routes of this thread's shards, by number. `engines` and `routes` have the same order. */
export function byShard(
  engines: readonly { readonly shard: number }[],
  routes: readonly ShardRoutes[],
): Map<number, ShardRoutes> {
  return new Map(engines.map(({ shard }, place) => [shard, routes[place] as ShardRoutes]));
}

/** The routes of all shards, in order of number. */
export function routesOfAll(
  own: ReadonlyMap<number, ShardRoutes>,
  config: PlacedConfig,
  linkTo: (thread: number) => Link,
): ShardRoutes[] {
  const routesOf = (shard: number): ShardRoutes =>
    own.get(shard) ?? routesOver(linkTo(threadOf(shard, config)), shard);
  return Array.from({ length: config.shards }, (_, shard) => routesOf(shard));
}

/** The handlers of the server's pages, over the main thread. */
export function pageHandlersOver(link: Link): Omit<OperationHandlers, "routes"> {
  const page = (
    operation: "health" | "readyz" | "metrics" | "backup",
    identity: KeyIdentity | null = null,
  ) => {
    const caller = new Caller({ client: neverAborts, requestKey: null, identity });
    const call = { operation, shard: null, body: "", requestKey: null };
    return link.call({ ...call, ...identityOf(caller) }, caller);
  };
  const json = async (reply: ReturnType<typeof page>) => jsonResponse((await reply).text);
  return {
    health: () => json(page("health")),
    ready: () => json(page("readyz")),
    metrics: async () => (await page("metrics")).text,
    backup: (identity) => json(page("backup", identity)),
  };
}

function identityOf({ identity }: Caller): Pick<Call, "identity"> {
  return identity === null ? {} : { identity };
}
