// `bun bench/groups.ts [--groups 10,1000,100000] [--only NAME] [--seconds 5] [--rounds 3]
// [--out FILE]`: the rate and the latency of a fair lease as the number of groups grows, here and on
// other queues. Each group has ten items when a measurement begins. Sessions lease an item, complete
// it, and produce another one in its group. `turns` is the share of different groups among the first
// leases, as many as there are groups; 1 = no group was served twice before all others. Answers that
// arrive in another order than they were sent count as served twice. `filled` is below 1 if a peer
// could not take all items in time.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { elasticMq } from "./peers/elasticmq.ts";
import { type FairPeer, type FairSession, fairPeers } from "./peers/fair.ts";
import { FairBacklog, itemsPerGroup } from "./peers/fair-backlog.ts";
import { withScratch } from "./peers/scratch.ts";
import { type Figures, summarize, writeMeasurements } from "./report/results.ts";
import { Samples } from "./report/statistics.ts";
import { markdownTable, rate } from "./report/tables.ts";

const { values } = parseArgs({
  options: {
    groups: { type: "string", default: "10,1000,100000" },
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    out: { type: "string" },
  },
});
const [seconds = 0, rounds = 0] = [values.seconds, values.rounds].map(Number);
const groupCounts = values.groups.split(",").map(Number);
const sessionCount = 8;
/** A slow peer is measured with the items that it took in this time. */
const fillMsMax = 120_000;
const warmUpMs = 2_000;
const emptyRestMs = 1;

async function fill(sessions: readonly FairSession[], backlog: FairBacklog): Promise<void> {
  const until = performance.now() + fillMsMax;
  const one = async (session: FairSession): Promise<void> => {
    while (performance.now() < until) {
      const items = backlog.batch();
      if (items.length === 0) return;
      await session.produce(items);
    }
  };
  await Promise.all(sessions.map(one));
}

async function measure(sessions: readonly FairSession[], backlog: FairBacklog): Promise<Figures> {
  const samples = new Samples();
  const served = new Set<number>();
  const begin = performance.now() + warmUpMs;
  const end = begin + seconds * 1_000;
  let leases = 0;
  let completed = 0;
  const one = async (session: FairSession): Promise<void> => {
    for (let begun = performance.now(); begun < end; begun = performance.now()) {
      const lease = await session.lease();
      const took = performance.now() - begun;
      if (lease === null) {
        await Bun.sleep(emptyRestMs);
        continue;
      }
      if (begun >= begin) samples.add(took);
      const group = backlog.groupOf(lease.payload);
      if (leases < backlog.groups) served.add(group);
      leases += 1;
      await lease.complete();
      const now = performance.now();
      if (now >= begin && now < end) completed += 1;
      await session.produce([backlog.next(group)]);
    }
  };
  await Promise.all(sessions.map(one));
  const { p50Ms, p99Ms } = samples.times();
  return {
    filled: backlog.filledShare,
    itemsPerSecond: completed / seconds,
    "lease.p50Ms": p50Ms,
    "lease.p99Ms": p99Ms,
    turns: served.size / Math.min(leases, backlog.groups),
  };
}

async function runOne(peer: FairPeer, scratch: string, groups: number): Promise<Figures> {
  mkdirSync(scratch);
  const running = await peer.start(scratch);
  try {
    const sessions = await running.open("fair", sessionCount);
    const backlog = new FairBacklog(groups);
    await fill(sessions, backlog);
    const figures = await measure(sessions, backlog);
    await Promise.all(sessions.map((session) => session.close()));
    return figures;
  } finally {
    await running.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

type Found = Map<string, Figures[]>;

async function runAll(scratch: string): Promise<Found> {
  const chosen = [...fairPeers, elasticMq].filter(({ name }) =>
    name.toLowerCase().includes(values.only.toLowerCase()),
  );
  const found: Found = new Map();
  const ready: FairPeer[] = [];
  for (const peer of chosen) {
    try {
      await peer.install(scratch);
      ready.push(peer);
    } catch (cause) {
      console.error(`${peer.name}: not installed; ${cause}`);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const groups of groupCounts) {
      for (const peer of round % 2 === 0 ? ready : ready.toReversed()) {
        const name = `${peer.name}; ${groups} groups`;
        try {
          const figures = await runOne(peer, join(scratch, "round"), groups);
          found.getOrInsertComputed(name, () => []).push(figures);
          console.error(`round ${round + 1}: ${name}: ${JSON.stringify(figures)}`);
        } catch (cause) {
          console.error(`round ${round + 1}: ${name}: failed; ${cause}`);
        }
      }
    }
  }
  return found;
}

const found = await withScratch(async (directory) => {
  const all = await runAll(directory);
  const measurements = [...all].map(([name, figures]) => ({ name, figures: summarize(figures) }));
  if (values.out !== undefined || (values.only === "" && rounds >= 3)) {
    const { groups } = values;
    const command = `bun bench/groups.ts --groups ${groups} --seconds ${seconds} --rounds ${rounds}`;
    const settings = { seconds, rounds, sessions: sessionCount, itemsPerGroup };
    const to = { ending: "-groups.json", path: values.out } as const;
    await writeMeasurements({ command, directory, settings, measurements }, to);
  }
  return measurements;
});
const head = ["peer and groups", "items/s", "lease p50", "p99", "turns", "filled"];
const rows = found.map(({ name, figures }) => {
  const of = (figure: string): number => figures[figure]?.median ?? Number.NaN;
  const times = ["lease.p50Ms", "lease.p99Ms"].map((figure) => `${of(figure).toFixed(2)} ms`);
  return [name, rate(of("itemsPerSecond")), ...times, rate(of("turns")), rate(of("filled"))];
});
console.log(markdownTable(head, rows));
for (const { name, settings } of [...fairPeers, elasticMq]) console.log(`- ${name}: ${settings}`);
// A peer's client may leave a timer or a connection open.
process.exit(0);
