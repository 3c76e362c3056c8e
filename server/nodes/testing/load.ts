// Clients at work at all nodes while something happens to these, with keys and without, judged as
// the proof judges a single server.

import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../../../proof/checkers/check-order.ts";
import { checkQueue } from "../../../proof/checkers/check-queue.ts";
import { type Gone, type Loss, noLoss, survived } from "../../../proof/checkers/lost-commits.ts";
import { createQueues, deadQueueName, type Place } from "../../../proof/clients/clients.ts";
import { Load } from "../../../proof/clients/load.ts";
import { createRedriveQueues } from "../../../proof/clients/redrives.ts";
import { History } from "../../../proof/histories/history.ts";
import type { Cluster } from "../../../testing/cluster.ts";
import { queueOf } from "../../../testing/cluster.ts";

const rules = { leaseTimeoutMs: 1_000, maxAttempts: 20, shardsFail: true } as const;

/** A node waits for who has the shards by now. */
const forwardedAgainMsMin = 50;

/** Resolves once so many items more were completed. */
export type Progress = (items: number) => Promise<void>;

export interface Judged {
  readonly faults: readonly string[];
  /** Of all calls; 0 = the connection broke. */
  readonly statuses: ReadonlySet<number>;
  readonly figures: Readonly<Record<string, number>>;
  /** Items that were leased before the database lost them. */
  readonly gone: readonly Gone[];
}

/** One after the other. */
function eachOf(cluster: Cluster): Place {
  let next = 0;
  return {
    get port(): Promise<number> {
      const { nodes } = cluster;
      next += 1;
      return Promise.resolve(nodes[next % nodes.length]?.port ?? 0);
    },
  };
}

/**
 * `disturb` tells what the database has lost by it, if it has. `address`: where clients find the
 * nodes; by itself they know each of them.
 */
export async function underLoad(
  cluster: Cluster,
  disturb: (progress: Progress) => Promise<Loss> | Promise<void>,
  address: Place = eachOf(cluster),
): Promise<Judged> {
  await createQueues(address, { partitions: 3, ...rules });
  // A queue that the load creates itself may be among what the database loses.
  await createRedriveQueues(address);
  const [node] = cluster.nodes;
  if (node !== undefined) await queueOf(node, deadQueueName).clear({ queue: true });
  const history = new History();
  const progress: Progress = async (items) => {
    const until = history.completed + items;
    while (history.completed < until) await Bun.sleep(5);
  };
  const load = new Load({
    address,
    history,
    random: seededRandom(7),
    producers: 4,
    consumers: 8,
    batchMax: 20,
    backlogMax: 500,
    pauseMs: 5,
  });
  await progress(200);
  const loss = (await disturb(progress)) ?? noLoss;
  const { entries, ending, gone, ...kept } = survived(history.entries, await load.drain(), loss);
  const { faults, figures } = checkQueue(entries, ending, rules);
  // A node hangs up for its clients when it ends, and forwards a lease again whose answer was lost.
  const order = checkOrder(entries, {
    outcomes: ["empty", "refused", "unknown"],
    answeredMsMin: forwardedAgainMsMin,
  });
  return {
    faults: [faults, order.faults, kept.faults].flatMap((one) => one.list("")),
    ...{ figures, gone },
    // A client on which a node has hung up may be back at another one before the owner of the shards
    // knows that its first lease is over.
    statuses: new Set(
      history.entries
        .filter(({ refusal }) => refusal?.includes('"duplicate_client"') !== true)
        .map(({ status }) => status),
    ),
  };
}
