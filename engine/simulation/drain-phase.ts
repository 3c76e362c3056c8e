// The drain phase of a world: nothing fails, consumers work, and every item must come to its end.
// Also the census, which lists everything at rest.

import type { GroupInfo, StoredItem } from "../model/api.ts";
import { limits } from "../model/limits.ts";
import type { Sighting } from "./auditor.ts";
import { Violation } from "./auditor.ts";
import { checkFinds } from "./finds.ts";
import type { ListedInGroup } from "./group-list-rule.ts";
import { day, minute, priorityMinOf, second } from "./parameters.ts";
import type { DrainSteps, WorldParts } from "./world-parts.ts";

const listLimit = 20_000;
/** Longer than any schedule, lease or retry of a world. */
const longest = 2 * day;

export const usualDrainSteps: DrainSteps = {
  steps: [0, second, minute, 6 * minute, 61 * minute, day, longest],
  lastMs: 61 * minute,
};
const roundsMax = 2_000;

/** Lists all items, and checks them against the promises and the counts (I1, I12). */
export async function takeCensus(world: WorldParts): Promise<void> {
  const sightings: Sighting[] = [];
  for (const { name } of world.parameters.queues) sightings.push(...(await listQueue(world, name)));
  world.auditor.census(sightings, world.now);
  await checkLines(world);
  if (world.parameters.weights.task > 0) await world.tasks.check();
  for (const { name: queue } of world.parameters.queues) {
    const { bundle, explanations } = world;
    explanations.checkClients(
      await bundle.run(() => bundle.engine.clients({ queue, limit: limits.clientsMax })),
    );
  }
  if (world.parameters.hasSearches) await world.histories.check(world.bundle);
}

async function listQueue(world: WorldParts, queue: string): Promise<Sighting[]> {
  const { bundle, auditor, parameters } = world;
  const { engine } = bundle;
  const stats = await bundle.run(() => engine.stats(queue));
  const inspection = await bundle.run(() => engine.inspect(queue));
  const all: Sighting[] = [];
  const listed: StoredItem[] = [];
  const sums = { queued: 0, leased: 0, aside: 0 };
  for (const { partition, total, totalLeased, scheduled } of stats.partitions) {
    const request = { queue, partition, pivot: "", limit: listLimit };
    const items = await bundle.run(() => engine.listItems(request));
    const later = await bundle.run(() => engine.listScheduled(request));
    const leased = items.filter(({ isLeased }) => isLeased).length;
    // A damaged item cannot be read, so it is counted and not listed.
    const missing = total - items.length + (scheduled - later.length);
    if (missing < 0 || missing > auditor.damagedCount || totalLeased < leased) {
      const counted = `${total} ${totalLeased} ${scheduled}`;
      const listed = `${items.length} ${leased} ${later.length}`;
      throw new Violation("I12", `${queue}/${partition} counts ${counted}, but lists ${listed}`);
    }
    sums.queued += items.length - leased;
    sums.leased += leased;
    sums.aside += later.length;
    listed.push(...items, ...later);
    for (const { isLeased, payload, past } of [...items, ...later]) {
      all.push({ queue, partition, isLeased, payload, redriven: past?.redriven ?? 0 });
    }
  }
  if (parameters.queues.some((one) => one.name === queue && one.grouped)) {
    await checkGroups(world, queue, listed);
  }
  if (parameters.hasSearches) await checkFinds(world, queue, listed);
  await checkDryRun(bundle, queue, { ...sums, isExact: auditor.damagedCount === 0 });
  const { queued, leased, scheduled, retried } = inspection;
  const agrees =
    queued === sums.queued && leased === sums.leased && scheduled + retried === sums.aside;
  if (!agrees && auditor.damagedCount === 0) {
    throw new Violation("I12", `inspect of ${queue} differs from the listed items`);
  }
  return all;
}

/** I29: the groups of a queue, page by page. */
async function checkGroups(
  { bundle, auditor, now }: WorldParts,
  queue: string,
  items: readonly StoredItem[],
): Promise<void> {
  const groups: GroupInfo[] = [];
  let pivot = "";
  do {
    const request = { queue, pivot, limit: 2 };
    const page = await bundle.run(() => bundle.engine.listGroups(request));
    groups.push(...page.groups);
    pivot = page.nextPivot;
  } while (pivot !== "");
  const listed = items.map(({ payload, isLeased, enqueueAt }): ListedInGroup => {
    const group = auditor.itemOf(payload)?.group ?? "";
    if (enqueueAt !== null) return { group, state: "aside" };
    return { group, state: isLeased ? "leased" : "waiting" };
  });
  auditor.checkGroups(queue, groups, { listed, now });
}

/** I12: a dry run returns the counts of a clear. */
async function checkDryRun(
  bundle: WorldParts["bundle"],
  queue: string,
  listed: { queued: number; leased: number; aside: number; isExact: boolean },
): Promise<void> {
  const all = { ready: true, scheduled: true, retried: true, destructive: true };
  const dry = { queue, ...all, dryRun: true };
  const counts = await bundle.run(() => bundle.engine.clear(dry));
  const reported =
    counts && [counts.ready, counts.leased, counts.scheduled + counts.retried].join();
  const found = [listed.queued, listed.leased, listed.aside].join();
  if (reported !== found && listed.isExact) {
    throw new Violation(
      "I12",
      `a clear of ${queue} would take ${reported}, but ${found} are listed`,
    );
  }
}

/** I11: no lease waits while its queue has an item for it. */
async function checkLines({ bundle, parameters }: WorldParts): Promise<void> {
  const { engine } = bundle;
  for (const { name } of parameters.queues) {
    const {
      pause,
      leasedMax = Number.POSITIVE_INFINITY,
      leaseRate,
      grouped,
    } = engine.queueInfo(name);
    if (pause?.lease === true || leaseRate !== undefined || grouped === true) continue;
    const { waiting } = await bundle.run(() => engine.clients({ queue: name, limit: 1_000 }));
    if (waiting.length === 0) continue;
    const { partitions } = await bundle.run(() => engine.stats(name));
    const leased = partitions.reduce((sum, { totalLeased }) => sum + totalLeased, 0);
    const find = { queue: name, state: "ready", filter: {}, pivot: "", limit: 1_000 } as const;
    const { found } = await bundle.run(() => engine.findItems(find));
    const highest = found.reduce((most, { priority }) => Math.max(most, priority), -1);
    const served = waiting.filter(({ client }) => priorityMinOf(client, parameters) <= highest);
    if (served.length > 0 && leased < leasedMax) {
      const reported = `${served.length} leases wait on ${name}, which has ${found.length} items`;
      throw new Violation("I11", reported);
    }
  }
}

/** Consumers lease and complete until no item is left. */
export async function drain(world: WorldParts): Promise<void> {
  await takeCensus(world);
  // Leases from the phase of faults still wait; they take items and let them lapse.
  await world.pass(world.parameters.requestTimeoutMs);
  const { steps, lastMs } = world.drainSteps;
  for (const ms of steps) {
    await world.pass(ms);
    await consumeAll(world);
  }
  // Lost grants have lapsed by now, and their items were consumed or died since.
  for (let round = 0; round < 3; round += 1) {
    await world.pass(lastMs);
    await consumeAll(world);
  }
  await takeCensus(world);
  if (world.parameters.weights.task > 0) world.tasks.checkEnded();
  checkEmpty(world);
}

async function consumeAll(world: WorldParts): Promise<void> {
  for (let round = 0; round < roundsMax; round += 1) {
    let taken = 0;
    for (const { name } of world.parameters.queues) taken += await consume(world, name, round);
    if (taken === 0) return;
  }
  throw new Violation("I11", "consumers complete items, but the queues never become empty");
}

async function consume(world: WorldParts, queue: string, round: number): Promise<number> {
  const { bundle } = world;
  const begunAt = world.earliest;
  const { begun, faults, pauses } = world.auditor;
  const paused = pauses.since(queue).lease;
  const clientId = `last-${round}`;
  const request = { queue, clientId, batchSize: 1_000, requestTimeoutMs: 10 };
  const started = await bundle.begin(() =>
    world.explanations.asking(queue, () => bundle.engine.lease(request)),
  );
  if (started.ending === null) await world.pass(10);
  const { ending } = started;
  if (ending?.ok !== true) {
    if (ending?.code !== "empty") {
      throw new Violation("I11", `a lease of ${queue} failed without a fault; ${ending?.message}`);
    }
    world.auditor.checkIdle(queue, { begun, faults, priorityMin: 0 }, world.now);
    return 0;
  }
  const { value: lease } = ending;
  const how = { begunAt, leaseTimeoutMs: null, clientId, priorityMin: 0 };
  const sent = { ...how, begun, faults, paused };
  world.auditor.leased(lease, sent, world.now);
  const ids = lease.items.map(({ id }) => id);
  const { partition } = lease;
  const call = world.auditor.finishBegun("complete", { partition, ids }, world.earliest);
  const completed = await bundle.ending(() =>
    bundle.engine.complete({ queue, partition, requestTimeoutMs: minute, ids }),
  );
  world.auditor.finishEnded(call, completed, { now: world.now, wasLost: false });
  if (!completed.ok) {
    throw new Violation("I11", `a complete failed without a fault; ${completed.message}`);
  }
  return ids.length;
}

/** The stores are empty too: no lease without an item, no item in an outbox. */
function checkEmpty({ bundle }: WorldParts): void {
  for (const [shard, { leases, outbound, waking, early }] of bundle.images.entries()) {
    const left = {
      items: bundle.storedItems(shard).length,
      leases: leases.values().length,
      outbound: outbound.values().length,
      waking: waking.values().length,
      early: early.values().length,
    };
    if (Object.values(left).some((count) => count > 0)) {
      throw new Violation("I12", `shard ${shard} still has ${JSON.stringify(left)}`);
    }
  }
}
