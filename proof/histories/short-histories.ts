// Short histories of four clients on one queue, with kills in the middle; each is searched for an
// order of calls that explains it.

import type { Random } from "../../engine/model/random.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkLinear, type Verdict } from "../checkers/check-linear.ts";
import {
  emptyQueue,
  keyOfQueue,
  type ListCall,
  listOperation,
  operationOf,
} from "../checkers/queue-model.ts";
import {
  type Address,
  Client,
  complete,
  extend,
  type Leased,
  lease,
  listItems,
  produce,
  release,
  retry,
  transact,
} from "../clients/clients.ts";
import { numberIn } from "../clients/items.ts";
import type { Faults, Log } from "../result.ts";
import { type Entry, History, type Part, type SingleCall, singleCalls } from "./history.ts";
import type { RestartingServer } from "./restarting-server.ts";

export interface ShortOptions {
  readonly blackBox: number;
  readonly seed: number;
  readonly log: Log;
}

const shortClients = 4;
const shortCalls = 18;
const shortAtOnce = 8;
const shortPerRestart = 80;
/** Far more steps than a history of this size takes. */
const stepsMax = 300_000;

export async function shortHistories(
  server: RestartingServer,
  { blackBox, seed, log }: ShortOptions,
  faults: Faults,
): Promise<Record<string, number>> {
  const figures = {
    blackBoxHistories: 0,
    blackBoxCalls: 0,
    blackBoxTransacts: 0,
    blackBoxUnknown: 0,
    blackBoxSteps: 0,
    gaveUp: 0,
  };
  let next = 0;
  const work = async (until: number): Promise<void> => {
    while (next < until) {
      const index = next;
      next += 1;
      const short = await shortHistory(
        server.address,
        `short-${index}`,
        seededRandom(seed + index),
      );
      const verdict = judge(short);
      if (verdict.kind !== "gave up") figures.blackBoxHistories += 1;
      figures.blackBoxCalls += short.length;
      figures.blackBoxSteps += verdict.steps;
      for (const entry of short) {
        if (entry.verb !== "list" && entry.outcome === "unknown") figures.blackBoxUnknown += 1;
        if (entry.verb === "transact") figures.blackBoxTransacts += 1;
      }
      if (verdict.kind === "gave up") figures.gaveUp += 1;
      if (verdict.kind === "not linearizable") {
        faults.add("not linearizable", `history ${index}; after ${verdict.reached.join(" | ")}`);
      }
    }
  };
  while (next < blackBox) {
    const from = next;
    const until = Math.min(blackBox, from + shortPerRestart);
    const working = Promise.all(Array.from({ length: shortAtOnce }, () => work(until)));
    // The kill is in the middle of the calls.
    while (next < (from + until) / 2) await Bun.sleep(1);
    await server.restart();
    await working;
    log(`${figures.blackBoxHistories} of ${blackBox} short histories`);
  }
  // One history in a hundred may exceed the search; more would make the result meaningless.
  if (figures.gaveUp * 100 > blackBox) {
    faults.add("too many histories are undecided", `${figures.gaveUp} of ${blackBox}`);
  }
  return figures;
}

/** Four concurrent clients on one queue, and then a listing of what is left. */
async function shortHistory(
  address: Address,
  queue: string,
  random: Random,
): Promise<(Entry | ListCall)[]> {
  const owner = new Client("owner", address, { queue });
  const settings = {
    queue_name: queue,
    lease_timeout: "60m",
    expire_timeout: "24h",
    max_attempts: 0,
  };
  await untilDone(owner, "/v1/queues.create", settings);
  const history = new History();
  const numbers = { next: 0, ready: 0 };
  const clients = Array.from({ length: shortClients }, (_, index) =>
    act(new Client(`c${index}`, address, { queue }), { history, random, numbers }),
  );
  await Promise.all(clients);
  const list = await listed(owner, queue);
  await untilDone(owner, "/v1/queues.delete", { queue_name: queue, force: true });
  owner.close();
  return [...history.entries, list];
}

/** Repeats the call until it has taken effect; a repeated create or delete is then refused. */
async function untilDone(client: Client, path: string, body: object): Promise<void> {
  for (;;) {
    await client.connect();
    const reply = await client.call(path, body);
    if (reply !== null && reply.status < 500) return;
  }
}

async function listed(client: Client, queue: string): Promise<ListCall> {
  for (;;) {
    await client.connect();
    const call = performance.now();
    const items = await listItems(client, queue, 0).catch(() => null);
    if (items === null) continue;
    const seen = items.map((item) => ({
      id: item.id,
      number: numberIn(item.payload),
      isLeased: item.is_leased,
    }));
    return { verb: "list", client: client.name, call, end: performance.now(), items: seen };
  }
}

interface Acting {
  readonly history: History;
  readonly random: Random;
  /** The next item number, and about how many items can be leased. */
  readonly numbers: { next: number; ready: number };
}

async function act(client: Client, { history, random, numbers }: Acting): Promise<void> {
  const held: string[] = [];
  const numbered = (count: number): number[] => {
    numbers.next += count;
    return Array.from({ length: count }, (_, index) => numbers.next - count + index);
  };
  for (let call = 0; call < shortCalls; call += 1) {
    const chance = random.below(100);
    const ids = held.slice(0, 1 + random.below(2));
    if (chance < 35 || (ids.length === 0 && numbers.ready <= 0)) {
      const all = numbered(1 + random.below(3));
      if ((await produce(client, history, { numbers: all })) === "ok") numbers.ready += all.length;
    } else if (numbers.ready > 0 && (chance < 65 || ids.length === 0)) {
      // A lease that waits in vain may be granted items too late, which is hard to search for. On a
      // busy machine, a lease that was not served within a second is another such case.
      const options = { batchSize: 1 + random.below(3), timeout: "5s" };
      const leased: Leased = await lease(client, history, options);
      numbers.ready -= leased.offers.length;
      held.push(...leased.offers.map(({ id }) => id));
    } else if (chance < 74 && ids.length > 0) {
      const cut = random.below(ids.length + 1);
      const [done, rest] = [ids.slice(0, cut), ids.slice(cut)];
      const outputs = numbered(1 + random.below(2));
      const parts: Part[] = [];
      if (done.length > 0) parts.push({ verb: "complete", partition: 0, ids: done });
      if (rest.length > 0) parts.push({ verb: "retry", partition: 0, ids: rest, dead: false });
      parts.push({ verb: "produce", queue: client.queue, numbers: outputs });
      const outcome = await transact(client, history, parts);
      if (outcome === "ok") numbers.ready += outputs.length + rest.length;
      // Sometimes the ids are finished again, which must be refused together with all outputs.
      if (random.below(6) > 0) held.splice(0, ids.length);
    } else if (chance < 84 && ids.length > 0) {
      await complete(client, history, { partition: 0, ids });
      // Sometimes the ids are finished again, which must be refused.
      if (random.below(6) > 0) held.splice(0, ids.length);
    } else if (chance < 89 && ids.length > 0) {
      await extend(client, history, { partition: 0, ids, leaseTimeout: null });
    } else if (chance < 95 && ids.length > 0) {
      const outcome = await release(client, history, { partition: 0, ids });
      if (outcome === "ok") numbers.ready += ids.length;
      // Sometimes the ids are finished nevertheless, which must be refused.
      if (random.below(6) > 0) held.splice(0, ids.length);
    } else if (ids.length > 0) {
      const outcome = await retry(client, history, { partition: 0, ids, dead: false });
      if (outcome === "ok") numbers.ready += ids.length;
      held.splice(0, ids.length);
    }
  }
  client.close();
}

/** Whether some order of the calls explains all answers. */
export function judge(entries: readonly (Entry | ListCall)[]): Verdict {
  const offers = new Map<string, readonly [number, number]>();
  for (const entry of entries) {
    if (entry.verb !== "lease") continue;
    for (const { id, number, attempts } of entry.offers) offers.set(id, [number, attempts]);
  }
  const hintOf = queueOrder(entries, offers);
  const operations = entries.flatMap((entry) =>
    entry.verb === "list"
      ? listOperation(entry)
      : (operationOf(entry, offers, hintOf(entry)) ?? []),
  );
  return checkLinear(operations, { initial: emptyQueue, keyOf: keyOfQueue, stepsMax });
}

/** A guess, by the order of the ids, at the order in which calls queued items; it may be wrong. */
function queueOrder(
  entries: readonly (Entry | ListCall)[],
  offers: ReadonlyMap<string, readonly [number, number]>,
): (entry: Entry) => number | undefined {
  const numberOf = new Map<string, number>();
  for (const [id, [number]] of offers) numberOf.set(id, number);
  for (const entry of entries) {
    if (entry.verb !== "list") continue;
    for (const { number, id } of entry.items) if (id !== undefined) numberOf.set(id, number);
  }
  const ids = [...numberOf.keys()].sort();
  const rank = new Map(ids.map((id, index) => [id, index]));
  const idsOf = Map.groupBy(ids, (id) => numberOf.get(id) ?? -1);
  const rankOf = (id: string | undefined): number | undefined => rank.get(id ?? "");
  const rankOfCall = (call: SingleCall): number | undefined => {
    if (call.verb === "produce") return rankOf(idsOf.get(call.numbers[0] ?? -1)?.[0]);
    if (call.verb !== "retry" && call.verb !== "release") return undefined;
    const [id = ""] = call.ids;
    const all = idsOf.get(numberOf.get(id) ?? -1) ?? [];
    return rankOf(all[all.indexOf(id) + 1]);
  };
  return (entry) =>
    singleCalls(entry)
      .map(rankOfCall)
      .find((found) => found !== undefined);
}
