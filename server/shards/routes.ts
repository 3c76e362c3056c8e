// The routes of a server with several shards. A call that names a queue goes to the queue's shard,
// which follows from the name; any other call goes to every shard, and the replies are merged.
// Lists and the overview report unreachable shards; any other failure of a shard fails the call.

import { assert } from "../../engine/model/assert.ts";
import { shardOf } from "../../engine/model/placement.ts";
import { checkWithin } from "../../engine/model/validate.ts";
import { bounds } from "../../openapi/bounds.ts";
import { isRequired } from "../../openapi/fields.ts";
import {
  type Operation,
  type OperationId,
  operations,
  type RequestOf,
  type ResponseOf,
} from "../../openapi/operations.ts";
import { type Caller, JsonText, type Route, type Routes } from "../routes/route.ts";
import { isGiven } from "../wire/fields.ts";
import { mergeActions } from "./actions-list.ts";
import { holderOf, type UnknownReason } from "./holder.ts";
import { bestExplained } from "./item-explained.ts";
import { mergeOverviews, splitSince } from "./overview.ts";
import { mergeQueues } from "./queues-list.ts";
import {
  elsewhereMsMax,
  type ReachedReplies,
  reachedIn,
  reachedReplies,
  unreachedError,
  unreachedIn,
} from "./reached.ts";
import { longestStep, mergeSeries } from "./series.ts";
import { mergeTasks } from "./tasks-list.ts";

/** Operations on the process: its clock, API keys, nodes and lost commits. */
type ProcessOperationId = keyof Routes<
  "advance" | "confirmLoss" | "drainNode" | "listKeys" | "listNodes" | "whoAmI"
>;

type ShardOperationId = Exclude<OperationId, ProcessOperationId>;

/** The routes of one shard. */
export type ShardRoutes = Routes<ShardOperationId>;

/** Makes the server's route for an operation from the routes of the shards, in order of number. */
type Routing<Id extends ShardOperationId> = (
  routes: readonly Route<Id>[],
  shards: readonly ShardRoutes[],
) => Route<Id>;

type NamesQueue<Id extends ShardOperationId> =
  RequestOf<Id> extends { readonly queue_name: string } ? Id : never;

/** Operations that go to the shard of the queue in the request. */
type QueueOperationId = { [Id in ShardOperationId]: NamesQueue<Id> }[ShardOperationId];

/** For operations whose `queue_name` is absent or optional. */
const routings: {
  readonly [Id in Exclude<ShardOperationId, QueueOperationId>]: Routing<Id>;
} = {
  transact: toQueue(firstQueue),
  listQueues: queuesOf,
  queueInfo: toQueue(({ name, queue_name }) => name ?? queue_name ?? ""),
  overview: overviewOf,
  series: seriesOf,
  listActions: actionsOf,
  getItem: toHolder("no_such_item"),
  explainItem: explainItemOf,
  listTasks: tasksOf,
  taskInfo: toHolder("no_such_task"),
  cancelTask: cancelTaskOf,
};

const toNamedQueue = toQueue<QueueOperationId>(({ queue_name }) => queue_name);

const namesQueue = ({ request }: Operation): boolean => isRequired(request, "queue_name");

const routedIds = (Object.keys(operations) as OperationId[]).filter(
  (id): id is ShardOperationId => id in routings || namesQueue(operations[id]),
);

/**
 * Returns the routes across all shards. `shards`: in order of number; the routes of a single shard
 * are returned unchanged. Each route throws the errors of the shards that it calls.
 */
export function shardedRoutes(shards: readonly ShardRoutes[]): ShardRoutes {
  const [first] = shards;
  if (first !== undefined && shards.length === 1) return first;
  const routed = routedIds.map((id) => {
    const routing = id in routings ? routings[id as keyof typeof routings] : toNamedQueue;
    const routes = shards.map((shard) => shard[id] as Route<ShardOperationId>);
    return [id, (routing as Routing<ShardOperationId>)(routes, shards)];
  });
  return Object.fromEntries(routed) as ShardRoutes;
}

/** Calls the shard of the queue that the body names. */
function toQueue<Id extends ShardOperationId>(
  nameOf: (body: RequestOf<Id>) => string,
): Routing<Id> {
  return (routes) => (body, caller) => routeOf(routes, nameOf(body))(body, caller);
}

/** Returns the reply of the shard that has the id. `unknown`: why the others refuse. */
function toHolder<Id extends "getItem" | "taskInfo">(unknown: UnknownReason): Routing<Id> {
  return (routes) => async (body, caller) => {
    const asked = { ...body };
    const brief = caller.waitingElsewhere(elsewhereMsMax);
    const outcomes = await Promise.allSettled(routes.map((route) => route(asked, brief)));
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
 * Calls all shards with a copy of the body, so that new JSON is sent to them: the client's original
 * text may be mostly blanks.
 */
function askAll<Id extends ShardOperationId>(
  routes: readonly Route<Id>[],
  body: RequestOf<Id>,
  caller: Caller,
): Promise<ReachedReplies<ResponseOf<Id>>> {
  const asked = { ...body };
  const brief = caller.waitingElsewhere(elsewhereMsMax);
  return reachedReplies(routes.map((route) => ask(route, asked, brief)));
}

/** The queue whose shard decides, in the engine's order; `""`: none, which any shard refuses. */
function firstQueue({ complete, retry, produce }: RequestOf<"transact">): string {
  const [first] = [...(complete ?? []), ...(retry ?? []), ...(produce ?? [])];
  return first?.queue_name ?? "";
}

function queuesOf(routes: readonly Route<"listQueues">[]): Route<"listQueues"> {
  return async (body, caller) => {
    const replies = await askAll(routes, body, caller);
    return { ...mergeQueues(reachedIn(replies), body), unreached: unreachedIn(replies) };
  };
}

function overviewOf(routes: readonly Route<"overview">[]): Route<"overview"> {
  return async (body, caller) => {
    const parts = splitSince(body.since ?? "", routes.length);
    const brief = caller.waitingElsewhere(elsewhereMsMax);
    const askSince = (since: string, shard: number) =>
      ask(routeAt(routes, shard), { ...body, since }, brief);
    const replies = await reachedReplies(parts.map(askSince));
    if (!replies.some((reply) => reply?.whole)) return mergeOverviews(replies, parts);
    // A client drops its other queues on a whole reply, so that must contain those of all shards.
    const whole = replies.map(async (reply, shard) =>
      reply === null || reply.whole ? reply : await askSince("", shard),
    );
    return mergeOverviews(await reachedReplies(whole), parts);
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
    const replies = complete(await askAll(routes, body, caller));
    // Shards that are read at different moments may choose different steps for one `from`.
    const step = longestStep(replies);
    const brief = caller.waitingElsewhere(elsewhereMsMax);
    const aligned = replies.map(async (reply, place) =>
      reply.step === step ? reply : await ask(routeAt(routes, place), { ...body, step }, brief),
    );
    return mergeSeries(complete(await reachedReplies(aligned)));
  };
}

/** A sum without a shard would look like a drop. */
function complete<T>(replies: ReachedReplies<T>): readonly T[] {
  const unreached = unreachedIn(replies);
  if (unreached.length === 0) return reachedIn(replies);
  throw unreachedError(unreached, "a series of all queues needs every shard");
}

function actionsOf(routes: readonly Route<"listActions">[]): Route<"listActions"> {
  return async (body, caller) => {
    const { limit } = body;
    const pivot = body.pivot ?? 0;
    // The actions after the pivot are only known once all actions are sorted.
    const asked = pivot === 0 ? body : { ...body, pivot: 0, limit: bounds.actionsMax };
    return mergeActions(await askAll(routes, asked, caller), { limit, pivot });
  };
}

function explainItemOf(routes: readonly Route<"explainItem">[]): Route<"explainItem"> {
  return async (body, caller) => {
    const brief = caller.waitingElsewhere(elsewhereMsMax);
    return bestExplained(await Promise.allSettled(routes.map((one) => ask(one, body, brief))));
  };
}

function tasksOf(routes: readonly Route<"listTasks">[]): Route<"listTasks"> {
  return async (body, caller) => {
    if (body.queue_name) return routeOf(routes, body.queue_name)(body, caller);
    const replies = await askAll(routes, body, caller);
    return { ...mergeTasks(reachedIn(replies)), unreached: unreachedIn(replies) };
  };
}

/** Finds the task first, because each shard that refuses a cancel would record it as an action. */
function cancelTaskOf(
  routes: readonly Route<"cancelTask">[],
  shards: readonly ShardRoutes[],
): Route<"cancelTask"> {
  return async (body, caller) => {
    const brief = caller.waitingElsewhere(elsewhereMsMax);
    const known = await Promise.allSettled(shards.map(({ taskInfo }) => taskInfo(body, brief)));
    return routeAt(routes, holderOf(known, "no_such_task") ?? 0)(body, caller);
  };
}
