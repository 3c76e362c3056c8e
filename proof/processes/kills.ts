// Kills the real server repeatedly: under load, while it starts and while it stops. The clients'
// history is kept here, outside the server. After draining, it must be the history of a queue that
// loses nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../../bench/report/statistics.ts";
import type { Random } from "../../engine/model/random.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../checkers/check-order.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import { Address, createQueues } from "../clients/clients.ts";
import { Load } from "../clients/load.ts";
import { History } from "../histories/history.ts";
import { Faults, type Log, type ProofResult, stopwatch } from "../result.ts";
import { type ServerChild, spawnServer } from "./server-child.ts";

export interface KillOptions {
  readonly kills: number;
  /** Minimum number of acknowledged items. */
  readonly items: number;
  readonly seed: number;
  readonly log: Log;
}

const rules = { leaseTimeoutMs: 1_000, maxAttempts: 12 };
const shape = { partitions: 5, ...rules };
const flags = ["--shards", "3", "--threads", "3", "--durability", "full"];

/** The server's state when it is killed. */
type Moment = "load" | "start" | "stop";

export async function proveKills({ kills, items, seed, log }: KillOptions): Promise<ProofResult> {
  const elapsed = stopwatch();
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-kills-"));
  const data = join(folder, "data");
  const history = new History(join(folder, "history.log"));
  const address = new Address();
  const faults = new Faults();
  const moments: Record<Moment, number> = { load: 0, start: 0, stop: 0 };
  const starts: number[] = [];

  const start = async (): Promise<ServerChild> => {
    const begun = performance.now();
    const child = spawnServer({ data, flags });
    const port = await child.listening();
    starts.push(performance.now() - begun);
    history.note(`up ${child.pid}`);
    address.up(port);
    return child;
  };

  let server = await start();
  try {
    await createQueues(address, shape);
    const load = new Load({
      address,
      history,
      random,
      producers: 4,
      consumers: 8,
      batchMax: 100,
      backlogMax: 4_000,
    });
    for (let kill = 0; kill < kills; kill += 1) {
      const share = Math.floor((items * (kill + 1)) / kills);
      const moment = momentOf(random);
      moments[moment] += 1;
      // A slow machine needs time to acknowledge its share.
      while (history.acknowledged < share - items / 20) await Bun.sleep(2);
      await Bun.sleep(random.below(30));
      await end(server, { moment, random, address, history, faults });
      if (moment === "start") await killStart({ data, random, history, startMs: median(starts) });
      server = await start();
      if (kill % 50 === 49) log(`${kill + 1} kills, ${history.acknowledged} items acknowledged`);
    }
    while (history.acknowledged < items) await Bun.sleep(5);
    const ending = await load.drain();
    const code = await stopped(server);
    if (code !== 0) faults.add("a stop did not end cleanly", `exit code ${code}`);
    await history.close();
    const checked = checkQueue(history.entries, ending, rules);
    const order = checkOrder(history.entries);
    const replay = `seed ${seed}, ${kills} kills; history in ${folder}`;
    const found = [checked.faults, order.faults, faults].flatMap((one) => one.list(replay));
    if (found.length === 0) rmSync(folder, { recursive: true, force: true });
    return {
      method: "kills",
      seconds: elapsed(),
      seed,
      figures: {
        kills,
        killsUnderLoad: moments.load,
        killsAtStart: moments.start,
        killsAtStop: moments.stop,
        startMsMedian: Math.round(median(starts)),
        ...checked.figures,
        operationsInOrder: order.operations,
      },
      faults: found,
    };
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}

function momentOf(random: Random): Moment {
  const chance = random.below(100);
  if (chance < 70) return "load";
  return chance < 85 ? "start" : "stop";
}

interface Scene {
  readonly moment: Moment;
  readonly random: Random;
  readonly address: Address;
  readonly history: History;
  readonly faults: Faults;
}

async function end(
  server: ServerChild,
  { moment, random, address, history, faults }: Scene,
): Promise<void> {
  address.down();
  if (moment === "stop") {
    server.kill("SIGTERM");
    await Bun.sleep(random.below(25));
  }
  history.note(`kill ${server.pid} at ${moment}`);
  server.kill("SIGKILL");
  const code = await server.exited;
  // A server that exits before the kill has crashed, unless it was asked to stop.
  const isExpected = code === 137 || (moment === "stop" && code === 0);
  if (!isExpected)
    faults.add("the server ended by itself", `exit ${code}; ${server.log().slice(0, 300)}`);
}

/** A server killed before its first connection, or at that moment. */
async function killStart({
  data,
  random,
  history,
  startMs,
}: {
  readonly data: string;
  readonly random: Random;
  readonly history: History;
  readonly startMs: number;
}): Promise<void> {
  const child = spawnServer({ data, flags });
  // The stores are opened in the second half of a start.
  const ms = startMs * (0.4 + random.below(70) / 100);
  await Promise.race([Bun.sleep(ms), child.port]);
  history.note(`kill ${child.pid} while it starts`);
  child.kill("SIGKILL");
  await child.exited;
}

async function stopped(server: ServerChild): Promise<number> {
  server.kill("SIGTERM");
  return server.exited;
}
