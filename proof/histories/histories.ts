// Checks histories of the real server over HTTP for linearizability, in two ways. Long ones, with
// many clients, several partitions and kills, are checked by the order of the ids
// (`check-order.ts`) and the queue's own rules (`check-queue.ts`). Short ones are searched for an
// order without trusting the server's (`check-linear.ts`). Calls whose answer was lost stay in as
// unknown. At the end, each of many deliberately corrupted histories must be rejected.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../checkers/check-order.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import { createQueues } from "../clients/clients.ts";
import { Load } from "../clients/load.ts";
import { corruptAll } from "../corrupted/corrupt.ts";
import { Faults, type Log, type ProofResult, stopwatch } from "../result.ts";
import { type Ending, type Entry, History } from "./history.ts";
import { RestartingServer } from "./restarting-server.ts";
import { shortHistories } from "./short-histories.ts";

export interface HistoryOptions {
  /** Operations on single items: produces, leases, completes and retries. */
  readonly operations: number;
  readonly clients: number;
  readonly restarts: number;
  /** Number of short histories of four clients. */
  readonly blackBox: number;
  readonly seed: number;
  readonly log: Log;
}

const rules = { leaseTimeoutMs: 2_000, maxAttempts: 20 };
const shape = { partitions: 8, ...rules };
/** The minimum per item: produce, lease, complete. */
const operationsPerItem = 3;

export async function proveHistories(options: HistoryOptions): Promise<ProofResult> {
  const { seed, log } = options;
  const elapsed = stopwatch();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-histories-"));
  const world = new RestartingServer(join(folder, "data"));
  const faults = new Faults();
  const replay = `--only histories --seed ${seed}`;
  try {
    await world.start();
    const { entries, ending } = await longHistory(world, options);
    log(`a history of ${entries.length} calls`);
    const checked = checkQueue(entries, ending, rules);
    const order = checkOrder(entries);
    const corrupted = corruptAll({ entries, ending, rules, seed });
    for (const name of corrupted.accepted) faults.add("a corrupted history was accepted", name);
    log(`${corrupted.rejected} corrupted histories rejected`);
    for (const name of corrupted.unused) log(`no place to corrupt: ${name}`);
    const short = await shortHistories(world, options, faults);
    const transacts = checked.figures["transacts"] ?? 0;
    const { blackBoxTransacts = 0 } = short;
    if (Math.min(transacts, blackBoxTransacts) === 0) {
      const counts = `${transacts} in the long history, ${blackBoxTransacts} in the short ones`;
      faults.add("nothing is shown of transacts", counts);
    }
    const found = [checked.faults, order.faults, faults].flatMap((one) => one.list(replay));
    return {
      method: "histories",
      seconds: elapsed(),
      seed,
      figures: {
        operations: order.operations,
        httpCalls: entries.length,
        transacts,
        unknownTransacts: checked.figures["unknownTransacts"] ?? 0,
        delayedOutputs: checked.figures["delayedOutputs"] ?? 0,
        clients: options.clients,
        partitions: order.partitions,
        restarts: world.kills,
        unknownCalls: checked.figures["unknownCalls"] ?? 0,
        excused: order.excused,
        lost: checked.figures["lost"] ?? 0,
        spoiltHistories: corrupted.rejected + corrupted.accepted.length,
        spoiltRejected: corrupted.rejected,
        ...short,
      },
      faults: found,
    };
  } finally {
    await world.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function longHistory(
  world: RestartingServer,
  { operations, clients, restarts, seed }: HistoryOptions,
): Promise<{ entries: readonly Entry[]; ending: Ending }> {
  const { address } = world;
  const history = new History();
  await createQueues(address, shape);
  const producers = Math.ceil(clients / 4);
  const load = new Load({
    address,
    history,
    random: seededRandom(seed),
    producers,
    consumers: clients - producers,
    batchMax: 60,
    backlogMax: 3_000,
  });
  const items = Math.ceil(operations / operationsPerItem);
  for (let part = 1; part <= restarts + 1; part += 1) {
    while (history.completed < (items * part) / (restarts + 1)) await Bun.sleep(2);
    if (part <= restarts) await world.restart();
  }
  const ending = await load.drain();
  return { entries: history.entries, ending };
}
