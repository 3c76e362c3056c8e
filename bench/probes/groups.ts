// Measures grouped queues: their rates beside those of an ungrouped queue, the latency of a lease
// beside groups that are closed, the memory of a group, and the turns of small groups beside a
// large one.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LeaseReply, QueueCreateRequest } from "../../openapi/schemas.ts";
import { Connection } from "../../testing/http-client.ts";
import { usageOf } from "../../testing/process-usage.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue, itemsLeft } from "../load/calls.ts";
import { checkDelivery, numberDigits, payload } from "../load/delivery.ts";
import { inTurn, medianRatio } from "../load/in-turn.ts";
import { type Loaded, withServer, withServerOn } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";
import { type CallTimes, median, Samples } from "../report/statistics.ts";

type Settings = Partial<QueueCreateRequest>;

const flags = ["--shards", "1"];
const free: Settings = { grouped: true };
const serial: Settings = { grouped: true, group_leased_max: 1 };

interface Side {
  readonly name: string;
  readonly settings: Settings;
  /** 0 = the items have no groups. */
  readonly groups: number;
  readonly groupRuns?: true;
}

const sides: readonly Side[] = [
  { name: "plain", settings: {}, groups: 0 },
  ...[1, 100, 10_000].flatMap((groups) => [
    { name: `free ${groups}`, settings: free, groups },
    { name: `serial ${groups}`, settings: serial, groups },
    { name: `runs ${groups}`, settings: serial, groups, groupRuns: true as const },
  ]),
];

/** Sides whose groups are mostly closed do less work. */
const slownessOf: Readonly<Record<string, number>> = {
  "serial 1": 50,
  "runs 1": 10,
  "serial 100": 10,
  "runs 100": 10,
};

/** Items per second through each phase, and the medians of the ratios of neighbours. */
export function groupRates(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory, flags }, async ({ port, load }) => {
    const calls = 10 * Math.round(1_000 / itemsPerCall ** 0.4);
    const names = sides.map(({ name }) => name);
    const rates = await inTurn(names, { warmUps: 1, turns: 3 }, async (name, turn) => {
      const { settings, ...grouping } = sides.find((side) => side.name === name) as Side;
      const items = itemsPerCall * Math.ceil(calls / (slownessOf[name] ?? 1));
      const queue = `${name.replace(" ", "-")}-${turn}`;
      await createQueue(port, queue, settings);
      await load.prepare(port, { queue, items, itemsPerCall, connections: 64, ...grouping });
      const produce = items / (await load.run("produce")).seconds;
      const { seconds, delivered } = await load.run("consume");
      checkDelivery(delivered, { items, left: 0, leftFound: await itemsLeft(port, queue) });
      return { produce, consume: items / seconds };
    });
    const figures: Figures = {};
    for (const phase of ["produce", "consume"] as const) {
      const of = (name: string) => (rates[name] ?? []).map((rate) => rate[phase]);
      for (const name of names) {
        figures[`${name}.${phase}.itemsPerSecond`] = median(of(name));
        if (name !== "plain") {
          figures[`${name}.${phase}.ratio`] = medianRatio(of(name), of("plain"));
        }
      }
    }
    return figures;
  });
}

const queuesBySettings = { plain: {}, grouped: serial } as const satisfies Record<string, Settings>;
const bothSides = ["plain", "grouped"] as const;
/** Leases of one item that are measured in each turn. */
const leasesPerTurn = 2_000;

/**
 * Times of a lease from a queue of which all groups but one have a leased item and are closed, and
 * from an ungrouped queue with as many items, ready and leased.
 */
export function closedGroups(closed: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory, flags }, async ({ port, load }) => {
    const groups = closed + 1;
    const connection = await Connection.open(port);
    for (const queue of bothSides) {
      await createQueue(port, queue, queuesBySettings[queue]);
      const work = { queue, items: 2 * groups, itemsPerCall: 1_000, connections: 8 };
      await load.prepare(port, { ...work, groups: queue === "grouped" ? groups : 0 });
      await load.run("produce");
      for (let left = closed; left > 0; ) {
        left -= (await lease(connection, queue, Math.min(left, 1_000))).items.length;
      }
    }
    // Groups were produced, and so are served, in the order of their numbers.
    const group = String(closed).padStart(numberDigits, "0");
    const times = await inTurn(bothSides, { warmUps: 1, turns: 5 }, async (queue) => {
      const item = queue === "grouped" ? { group } : {};
      return await leaseTimes(connection, queue, item);
    });
    connection.close();
    const figures: Figures = {};
    for (const at of ["p50Ms", "p99Ms"] as const) {
      const of = (queue: (typeof bothSides)[number]) => times[queue].map((one) => one[at]);
      for (const queue of bothSides) figures[`${queue}.lease.${at}`] = median(of(queue));
      figures[`lease.${at}.ratio`] = medianRatio(of("grouped"), of("plain"));
    }
    return figures;
  });
}

/** Leases and completes one item after the other, as many as it has produced before. */
async function leaseTimes(
  connection: Connection,
  queue: string,
  item: { readonly group?: string },
): Promise<CallTimes> {
  await produce(connection, queue, new Array(leasesPerTurn / 2).fill(item));
  await produce(connection, queue, new Array(leasesPerTurn / 2).fill(item));
  const samples = new Samples();
  for (let count = 0; count < leasesPerTurn; count += 1) {
    const begun = performance.now();
    const leased = await lease(connection, queue, 1);
    samples.add(performance.now() - begun);
    await complete(connection, leased);
  }
  return samples.times();
}

/** In which memory is freed that only a start or a produce needed. */
const restMs = 3_000;

/**
 * Memory and the duration of a start with a backlog of which each item is a group, with an
 * ungrouped one, and without any. Memory is measured when the items were produced, after a start, and after
 * the first lease, before which all groups enter their turns.
 */
export async function groupMemory(items: number, { directory }: RunOptions): Promise<Figures> {
  const figures: Figures = {};
  for (const side of ["empty", ...bothSides] as const) {
    const data = mkdtempSync(join(directory, "data-"));
    try {
      const filled = await withServerOn({ data, flags }, (loaded) => fill(loaded, side, items));
      const started = await withServerOn({ data, flags }, (loaded) => memoryOf(loaded, side));
      for (const [name, value] of Object.entries({ ...filled, ...started })) {
        figures[`${side}.${name}`] = value;
      }
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  }
  for (const when of ["filled", "started", "leased"]) {
    for (const name of [`${when}.memoryBytes`, `${when}.heapBytes`]) {
      const more = (figures[`grouped.${name}`] ?? 0) - (figures[`plain.${name}`] ?? 0);
      figures[`perGroup.${name}`] = more / items;
    }
  }
  return figures;
}

async function fill(loaded: Loaded, side: string, items: number): Promise<Figures> {
  const { port, load } = loaded;
  const isGrouped = side === "grouped";
  await createQueue(port, side, isGrouped ? free : {});
  if (side === "empty") return {};
  const work = { queue: side, items, itemsPerCall: 1_000, connections: 8 };
  await load.prepare(port, { ...work, groups: isGrouped ? items : 0 });
  await load.run("produce");
  return await memoryIn(loaded, "filled");
}

async function memoryOf(loaded: Loaded, side: string): Promise<Figures> {
  const { port, readyMs } = loaded;
  const figures = { readyMs, ...(await memoryIn(loaded, "started")) };
  if (side === "empty") return figures;
  const connection = await Connection.open(port);
  const begun = performance.now();
  await lease(connection, side, 1);
  const firstLeaseMs = performance.now() - begun;
  connection.close();
  return { ...figures, firstLeaseMs, ...(await memoryIn(loaded, "leased")) };
}

async function memoryIn({ server, port }: Loaded, when: string): Promise<Figures> {
  await Bun.sleep(restMs);
  const { memoryBytes } = usageOf(server.pid);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const heapBytes = Number(/^process_heap_bytes (\S+)$/m.exec(text)?.[1]);
  return { [`${when}.memoryBytes`]: memoryBytes, [`${when}.heapBytes`]: heapBytes };
}

const smallGroups = 100;

/**
 * One group has all `items`; then a hundred groups get one item each. `last` is the number of items
 * that are granted until each of the hundred is: at most 101. `one`: by leases of one item each,
 * `large`: by one lease.
 */
export function groupTurns(items: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory, flags }, async ({ port, load }) => {
    const queue = "turns";
    await createQueue(port, queue, free);
    await load.prepare(port, { queue, items, itemsPerCall: 1_000, connections: 8, groups: 1 });
    await load.run("produce");
    const connection = await Connection.open(port);
    const figures: Figures = {};
    for (const [name, batchSize] of [
      ["one", 1],
      ["large", smallGroups + 1],
    ] as const) {
      const small = Array.from({ length: smallGroups }, (_, index) => ({
        group: `${name}-${index}`,
      }));
      await produce(connection, queue, small);
      figures[`${name}.last`] = await grantsUntil(connection, queue, {
        batchSize,
        groups: new Set(small.map(({ group }) => group)),
      });
    }
    connection.close();
    return figures;
  });
}

/** The number of items that are granted until each of these groups was served. */
async function grantsUntil(
  connection: Connection,
  queue: string,
  { batchSize, groups }: { readonly batchSize: number; readonly groups: Set<string> },
): Promise<number> {
  const grantsMax = groups.size + 1;
  let last = 0;
  for (let granted = 0; granted < grantsMax; ) {
    const leased = await lease(connection, queue, Math.min(batchSize, grantsMax - granted));
    for (const { group = "" } of leased.items) {
      granted += 1;
      if (groups.delete(group)) last = granted;
    }
    await complete(connection, leased);
  }
  if (groups.size > 0) {
    throw new Error(`${groups.size} groups were not served within ${grantsMax} grants`);
  }
  return last;
}

async function produce(
  connection: Connection,
  queue: string,
  items: readonly { readonly group?: string }[],
): Promise<void> {
  await connection.call("/v1/queue.produce", {
    queue_name: queue,
    request_timeout: "1m",
    items: items.map((item) => ({ utf8: payload, ...item })),
  });
}

async function lease(
  connection: Connection,
  queue: string,
  batchSize: number,
): Promise<LeaseReply> {
  const found = await connection.call("/v1/queue.lease", {
    queue_name: queue,
    client_id: "bench",
    request_timeout: "1m",
    batch_size: batchSize,
  });
  return found as LeaseReply;
}

async function complete(connection: Connection, leased: LeaseReply): Promise<void> {
  const { queue_name, partition, items } = leased;
  const ids = items.map(({ id }) => id);
  await connection.call("/v1/queue.complete", {
    queue_name,
    partition,
    request_timeout: "1m",
    ids,
  });
}
