// The text of each finding, for a person: one sentence without markup that needs no knowledge of
// the server.

import type { FindingWord, IsShown } from "../model/api.ts";
import { formatDuration } from "../model/duration.ts";
import type { HeavyHitter } from "../state/heavy-hitters.ts";
import type { LogicalQueue } from "../state/queue.ts";
import { type Assessment, riseMs } from "./health.ts";

export interface FindingContext {
  readonly now: number;
  /** Whether a sentence may name a queue. */
  readonly isShown: IsShown;
}

type TextOf = (found: Assessment, queue: LogicalQueue, telling: FindingContext) => string;

const number = (value: number): string => value.toLocaleString("en-US");
const items = (count: number): string => `${number(count)} ${count === 1 ? "item" : "items"}`;
const are = (count: number): string => (count === 1 ? "is" : "are");

const steps = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
] as const;

/** In the largest unit with a count of at least two. */
function roughly(ms: number): string {
  const [unitMs, unit] = steps.find(([length]) => ms >= 2 * length) ?? [1_000, "second"];
  const count = Math.max(0, Math.floor(ms / unitMs));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const waiting = (clients: number): string =>
  clients === 0
    ? ""
    : `, and ${number(clients)} ${clients === 1 ? "client waits" : "clients wait"}`;

const until = (nextAt: number | null, now: number, what: string): string =>
  nextAt === null ? "" : `; ${what} ${nextAt <= now ? "now" : `in ${roughly(nextAt - now)}`}`;

/** A shorter wait is not mentioned. */
const waitMsMin = 2_000;

/** How long the oldest ready item has waited. */
const oldest = ({ oldestReadyAt }: LogicalQueue, now: number, count: number): string => {
  if (oldestReadyAt === null || now - oldestReadyAt < waitMsMin) return "";
  return `, ${count === 1 ? "for" : "the oldest for"} ${roughly(now - oldestReadyAt)}`;
};

const paused: TextOf = (_, { definition: { pause }, activity: { pausedBy } }) => {
  const sides = [...(pause?.lease ? ["Leases"] : []), ...(pause?.produce ? ["Produces"] : [])];
  const what = sides.join(" and ").replace("and P", "and p");
  const by = pausedBy === "" ? "" : ` by ${pausedBy}`;
  return `${what} are paused${by}${pause?.reason ? `: ${pause.reason}` : ""}.`;
};

const noConsumers: TextOf = ({ count }, queue, { now }) => {
  const { lastLeaseRequest, leaseRequestedAt } = queue.activity;
  const ago = `${roughly(now - leaseRequestedAt)} ago`;
  const last =
    lastLeaseRequest === null
      ? `there has been no lease request since this server took ownership of the queue, ${ago}`
      : `the last lease request was from ${lastLeaseRequest.client}, ${ago}`;
  return `${items(count)} ${are(count)} ready${oldest(queue, now, count)}, and no client requests ${count === 1 ? "it" : "them"}; ${last}.`;
};

/** Mentions the most frequent name, if it is frequent enough to be informative. */
const most = (
  mentioned: HeavyHitter | null,
  count: number,
  tell: (name: string) => string,
): string => {
  if (mentioned === null) return "";
  const { name, count: of } = mentioned;
  if (of >= count) return count === 1 ? `, ${tell(name)}` : `, all of them ${tell(name)}`;
  return of > 1 && 10 * of >= count ? `, ${number(of)} of them ${tell(name)}` : "";
};

const deadItems: TextOf = ({ count }, { definition, activity: { diedOf } }, { now, isShown }) => {
  const { deadQueue } = definition;
  const why = most(diedOf.most(now), count, (reason) => `with the reason '${reason}'`);
  const name = isShown(deadQueue) ? deadQueue : "the dead queue";
  const went = deadQueue === "" ? "were removed because there is no dead queue" : `went to ${name}`;
  return `${items(count)} died within the last hour and ${count === 1 ? went.replace("were", "was") : went}${why}.`;
};

const leasesLapsing: TextOf = ({ count }, { definition, activity: { lapsedOf } }, { now }) => {
  const { leaseTimeoutText, leaseTimeoutMs } = definition;
  const held = most(lapsedOf.most(now), count, (client) => `held by ${client}`);
  return `The lease of ${items(count)} lapsed within the last five minutes${held}: consumers die, hang, or need longer than ${leaseTimeoutText || formatDuration(leaseTimeoutMs)}.`;
};

/** In the unit in which the count is at least two. */
const pace = (count: number, ms: number): string =>
  count * 1_000 < 2 * ms
    ? `${number(Math.round((count * 60_000) / ms))} per minute`
    : `${number(Math.round((count * 1_000) / ms))} per second`;

const texts: Readonly<Record<FindingWord, TextOf>> = {
  shard_down: ({ count, nextAt }, _, { now }) =>
    `A shard of the queue is down, and ${items(count)} in it cannot be reached${until(nextAt, now, "it is started again")}.`,
  store_full: () =>
    "The disk has no room for new items: produces are refused, leases and completes continue.",
  no_consumers: noConsumers,
  backlog_growing: ({ count }) =>
    `The backlog grows by ${pace(count, riseMs)}: ${items(count)} more ${are(count)} ready than five minutes ago.`,
  leases_lapsing: leasesLapsing,
  dead_items: deadItems,
  groups_blocked: ({ count }) =>
    `${number(count)} ${count === 1 ? "group with ready items is" : "groups with ready items are"} paused or closed by a dead letter, until someone opens ${count === 1 ? "it" : "them"}.`,
  clearing: ({ count }, { activity: { clearingMost } }) =>
    `A clear has ${number(count)} of ${items(Math.max(count, clearingMost))} still to remove.`,
  paused,
  at_leased_max: ({ count, nextAt }, queue, { now }) =>
    `As many items are leased as leased_max allows, ${number(queue.definition.leasedMax ?? 0)}, and ${number(count)} more ${are(count)} ready${oldest(queue, now, count)}${until(nextAt, now, "the next lease lapses")}.`,
  at_lease_rate: ({ count, nextAt }, queue, { now }) =>
    `The lease_rate of ${queue.definition.leaseRate ?? ""} is used up, and ${items(count)} ${are(count)} ready${oldest(queue, now, count)}${until(nextAt, now, "there is more of it")}.`,
  all_leased: ({ count, nextAt }, { clients }, { now }) =>
    `${count === 1 ? "The one item is" : `All ${items(count)} are`} leased${waiting(clients.size)}${until(nextAt, now, "the next lease lapses")}.`,
  all_scheduled: ({ count, nextAt }, _, { now }) =>
    `${count === 1 ? "The one item waits for its time" : `All ${items(count)} wait for their time`}${until(nextAt, now, "the next is due")}.`,
};

export function sentence(found: Assessment, queue: LogicalQueue, telling: FindingContext): string {
  return texts[found.kind](found, queue, telling);
}
