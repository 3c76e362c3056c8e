// Merges replies of `server.overview`, each from one shard with its own queues.

import {
  type OverviewAlarm,
  OverviewQueues,
  OverviewTotals,
  type ServerOverviewReply,
} from "../../openapi/schemas.ts";
import { type ReachedReplies, reachedIn, unreachedIn } from "./reached.ts";
import { newestFirst } from "./tasks-list.ts";

type Replies = readonly ServerOverviewReply[];

const alarmsMax = 50;
/** Separates the `since` values of the shards, none of which contains it. */
const separator = ",";

/**
 * Splits the `since` of a merged reply into those of its shards. If the number of shards differs,
 * each is `""`, so that all queues are returned.
 */
export function splitSince(since: string, count: number): string[] {
  const parts = since.split(separator, count + 1);
  return parts.length === count ? parts : Array.from({ length: count }, () => "");
}

/**
 * `all`: at least one shard was reached, and either all replies are whole or none is. `parts`: each
 * shard's part of the `since` that the client sent.
 */
export function mergeOverviews(
  all: ReachedReplies<ServerOverviewReply>,
  parts: readonly string[],
): ServerOverviewReply {
  const replies = reachedIn(all);
  const whole = replies.every((reply) => reply.whole);
  // After a whole reply the client no longer has the queues of an unreached shard.
  const kept = (shard: number): string => (whole ? "" : (parts[shard] ?? ""));
  const texts = (key: "now" | "machine_now" | "as_of") => replies.map((reply) => reply[key]).sort();
  const asOf = texts("as_of")[0] ?? "";
  const [first] = replies;
  if (first === undefined) throw new Error("there is no overview to merge");
  return {
    now: texts("now").at(-1) ?? "",
    machine_now: texts("machine_now").at(-1) ?? "",
    // No shard's figures are older than this.
    as_of: asOf,
    since: all.map((reply, shard) => reply?.since ?? kept(shard)).join(separator),
    whole,
    poll_after_ms: Math.max(...replies.map(({ poll_after_ms }) => poll_after_ms)),
    totals: totalsOf(replies),
    queues: queuesOf(replies),
    removed: replies.flatMap(({ removed }) => removed),
    shards: replies.flatMap(({ shards }) => shards),
    alarms: alarmsOf(replies, Date.parse(asOf)),
    tasks: newestFirst(replies.flatMap(({ tasks }) => tasks)),
    machine: first.machine,
    unreached: unreachedIn(all),
  };
}

function totalsOf(replies: Replies): OverviewTotals {
  const names = Object.keys(OverviewTotals.properties) as (keyof OverviewTotals)[];
  const sums = names.map((name) => [
    name,
    replies.reduce((sum, { totals }) => sum + totals[name], 0),
  ]);
  return Object.fromEntries(sums) as OverviewTotals;
}

function queuesOf(replies: Replies): OverviewQueues {
  const names = Object.keys(OverviewQueues.properties) as (keyof OverviewQueues)[];
  const columns = names.map((name) => [
    name,
    replies.flatMap<number | string>(({ queues }) => queues[name]),
  ]);
  return Object.fromEntries(columns) as OverviewQueues;
}

/** Alarms of the server, then of shards, then of queues by item count times duration. */
function alarmsOf(replies: Replies, asOf: number): OverviewAlarm[] {
  const all = replies.flatMap(({ alarms }) => alarms);
  const ofQueues = all.filter(({ queue_name }) => queue_name !== "");
  const ofShards = all.filter(({ queue_name, shard }) => queue_name === "" && shard >= 0);
  const ofServer = all.filter(({ queue_name, shard }) => queue_name === "" && shard < 0);
  const weight = ({ count, since }: OverviewAlarm) =>
    count * Math.max(1, since === null ? 0 : asOf - Date.parse(since));
  return [
    // Every shard of a machine reports what concerns the machine.
    ...ofServer.filter(({ kind }, at) => ofServer.findIndex((one) => one.kind === kind) === at),
    ...ofShards,
    ...ofQueues.sort((a, b) => weight(b) - weight(a)),
  ].slice(0, alarmsMax);
}
