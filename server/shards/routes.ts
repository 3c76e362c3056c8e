// The routes of a server with several shards. A queue lives whole in one shard, which follows from
// its name, and a call that names a queue is done there. Any other call asks every shard and merges
// the replies. It fails if a shard fails: a reply without the queues of that shard would look
// complete.

import { assert } from "../../engine/model/assert.ts";
import { shardOf } from "../../engine/model/placement.ts";
import { checkWithin } from "../../engine/model/validate.ts";
import { bounds } from "../../openapi/bounds.ts";
import type { OperationId, RequestOf, ResponseOf } from "../../openapi/operations.ts";
import { type Caller, JsonText, type Route, type Routes } from "../routes/route.ts";
import { isGiven } from "../wire/fields.ts";
import { mergeActions } from "./actions-list.ts";
import { holderOf } from "./holder.ts";
import { bestExplained } from "./item-explained.ts";
import { mergeOverviews, splitSince } from "./overview.ts";
import { mergeQueues } from "./queues-list.ts";
import { longestStep, mergeSeries } from "./series.ts";
import { mergeTasks } from "./tasks-list.ts";

/** Operations that the process does: on its clock, its API keys, its nodes, its lost commits. */
type ProcessOperationId = keyof Routes<
  "advance" | "confirmLoss" | "listKeys" | "listNodes" | "whoAmI"
>;

/** Operations that shards do. */
type ShardOperationId = Exclude<OperationId, ProcessOperationId>;

/** The routes of one shard. */
export type ShardRoutes = Routes<ShardOperationId>;

/** Makes the server's route for an operation from the routes of the shards, in order of number. */
type Routing<Id extends ShardOperationId> = (
  routes: readonly Route<Id>[],
  shards: readonly ShardRoutes[],
) => Route<Id>;

const named = ({ queue_name }: { readonly queue_name: string }): string => queue_name;

const routings: { readonly [Id in ShardOperationId]: Routing<Id> } = {
  produce: toQueue(named),
  lease: toQueue(named),
  retry: toQueue(named),
  complete: toQueue(named),
  extend: toQueue(named),
  release: toQueue(named),
  transact: toQueue(firstQueue),
  listQueues: toAll(mergeQueues),
  createQueue: toQueue(named),
  updateQueue: toQueue(named),
  queueInfo: toQueue(({ name, queue_name }) => name ?? queue_name ?? ""),
  deleteQueue: toQueue(named),
  stats: toQueue(named),
  inspect: toQueue(named),
  explain: toQueue(named),
  clients: toQueue(named),
  overview: overviewOf,
  pause: toQueue(named),
  resume: toQueue(named),
  clear: toQueue(named),
  reload: toQueue(named),
  series: seriesOf,
  listActions: actionsOf,
  listItems: toQueue(named),
  listScheduled: toQueue(named),
  findItems: toQueue(named),
  groupItems: toQueue(named),
  getItem: toHolder("no_such_item"),
  explainItem: explainItemOf,
  redrive: toQueue(named),
  repair: toQueue(named),
  listTasks: tasksOf,
  taskInfo: toHolder("no_such_task"),
  cancelTask: cancelTaskOf,
  importItems: toQueue(named),
  deleteItems: toQueue(named),
};

/**
 * The routes of all shards together. `shards`: in the order of their numbers; the routes of a
 * single shard are returned as they are. Each route throws the errors of the shards that it asks.
 */
export function shardedRoutes(shards: readonly ShardRoutes[]): ShardRoutes {
  const [first] = shards;
  if (first !== undefined && shards.length === 1) return first;
  const routed = Object.entries(routings).map(([name, routing]) => {
    const id = name as ShardOperationId;
    const routes = shards.map((shard) => shard[id] as Route<ShardOperationId>);
    return [id, (routing as Routing<ShardOperationId>)(routes, shards)];
  });
  return Object.fromEntries(routed) as ShardRoutes;
}

/** Asks the shard of the queue that the body names. */
function toQueue<Id extends ShardOperationId>(
  nameOf: (body: RequestOf<Id>) => string,
): Routing<Id> {
  return (routes) => (body, caller) => routeOf(routes, nameOf(body))(body, caller);
}

/** Asks every shard with the same body. */
function toAll<Id extends ShardOperationId>(
  merge: (replies: readonly ResponseOf<Id>[], body: RequestOf<Id>) => ResponseOf<Id>,
): Routing<Id> {
  return (routes) => async (body, caller) => merge(await askAll(routes, body, caller), body);
}

/** Returns the reply of the shard that knows the id in the body. `unknown`: why others refuse. */
function toHolder<Id extends "getItem" | "taskInfo">(
  unknown: Parameters<typeof holderOf>[1],
): Routing<Id> {
  return (routes) => async (body, caller) => {
    const asked = { ...body };
    const outcomes = await Promise.allSettled(routes.map((route) => route(asked, caller)));
    const outcome = outcomes[holderOf(outcomes, unknown) ?? 0];
    assert(outcome !== undefined, "a shard was asked and has no outcome");
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };
}

function routeOf<Id extends ShardOperationId>(
  routes: readonly Route<Id>[],
  queue: string,
): Route<Id> {
  return routeAt(routes, shardOf(queue, routes.length));
}

function routeAt<Id extends ShardOperationId>(
  routes: readonly Route<Id>[],
  shard: number,
): Route<Id> {
  const route = routes[shard];
  assert(route !== undefined, "a shard has no routes");
  return route;
}

async function ask<Id extends ShardOperationId>(
  route: Route<Id>,
  body: RequestOf<Id>,
  caller: Caller,
): Promise<ResponseOf<Id>> {
  const reply = await route(body, caller);
  return reply instanceof JsonText ? JSON.parse(reply.text) : reply;
}

/**
 * Asks with a copy of the body, which is sent as JSON made from it: the text that the client sent may be
 * mostly blanks. Throws the first error, also while other shards still work on their replies.
 */
function askAll<Id extends ShardOperationId>(
  routes: readonly Route<Id>[],
  body: RequestOf<Id>,
  caller: Caller,
): Promise<ResponseOf<Id>[]> {
  const asked = { ...body };
  return Promise.all(routes.map((route) => ask(route, asked, caller)));
}

/** The queue whose shard decides, in the engine's order; `""` = none, which any shard refuses. */
function firstQueue({ complete, retry, produce }: RequestOf<"transact">): string {
  const [first] = [...(complete ?? []), ...(retry ?? []), ...(produce ?? [])];
  return first?.queue_name ?? "";
}

function overviewOf(routes: readonly Route<"overview">[]): Route<"overview"> {
  return async (body, caller) => {
    const parts = splitSince(body.since ?? "", routes.length);
    const askSince = (since: string, shard: number) =>
      ask(routeAt(routes, shard), { ...body, since }, caller);
    const replies = await Promise.all(parts.map(askSince));
    if (!replies.some(({ whole }) => whole)) return mergeOverviews(replies);
    // A client that receives a whole reply forgets all other queues, so it needs those of all shards.
    const whole = replies.map((reply, shard) => (reply.whole ? reply : askSince("", shard)));
    return mergeOverviews(await Promise.all(whole));
  };
}

function seriesOf(routes: readonly Route<"series">[]): Route<"series"> {
  return async (body, caller) => {
    const { queue_name, shard } = body;
    if (isGiven(queue_name)) return routeOf(routes, queue_name)(body, caller);
    if (isGiven(shard)) {
      checkWithin("shard", shard, { min: 0, max: routes.length - 1 });
      return routeAt(routes, shard)(body, caller);
    }
    const replies = await askAll(routes, body, caller);
    // Shards that look at different moments may choose different steps for one `from`.
    const step = longestStep(replies);
    const aligned = replies.map((reply, place) =>
      reply.step === step ? reply : ask(routeAt(routes, place), { ...body, step }, caller),
    );
    return mergeSeries(await Promise.all(aligned));
  };
}

function actionsOf(routes: readonly Route<"listActions">[]): Route<"listActions"> {
  return async (body, caller) => {
    const { limit } = body;
    const pivot = body.pivot ?? 0;
    // Only once all actions are in order is it known which ones come after the pivot.
    const asked = pivot === 0 ? body : { ...body, pivot: 0, limit: bounds.actionsMax };
    return mergeActions(await askAll(routes, asked, caller), { limit, pivot });
  };
}

function explainItemOf(routes: readonly Route<"explainItem">[]): Route<"explainItem"> {
  return async (body, caller) => {
    return bestExplained(await Promise.allSettled(routes.map((one) => ask(one, body, caller))));
  };
}

function tasksOf(routes: readonly Route<"listTasks">[]): Route<"listTasks"> {
  return async (body, caller) => {
    if (body.queue_name) return routeOf(routes, body.queue_name)(body, caller);
    return mergeTasks(await askAll(routes, body, caller));
  };
}

/** Looks for the task first: each shard that refuses a cancel would list it as an action. */
function cancelTaskOf(
  routes: readonly Route<"cancelTask">[],
  shards: readonly ShardRoutes[],
): Route<"cancelTask"> {
  return async (body, caller) => {
    const known = await Promise.allSettled(shards.map(({ taskInfo }) => taskInfo(body, caller)));
    return routeAt(routes, holderOf(known, "no_such_task") ?? 0)(body, caller);
  };
}
