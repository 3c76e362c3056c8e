// Runs clients at all nodes, with keys and without, while a test disturbs the nodes. Checks the
// history as the proof checks that of a single server.

import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../../../proof/checkers/check-order.ts";
import { checkQueue } from "../../../proof/checkers/check-queue.ts";
import {
  type Loss,
  type LostItem,
  noLoss,
  survivingHistory,
} from "../../../proof/checkers/lost-commits.ts";
import { createQueues, deadQueueName, type ServerAddress } from "../../../proof/clients/clients.ts";
import { Load } from "../../../proof/clients/load.ts";
import { createRedriveQueues } from "../../../proof/clients/redrives.ts";
import { type Entry, History } from "../../../proof/histories/history.ts";
import type { Cluster } from "../../../testing/cluster.ts";
import { queueOf } from "../../../testing/cluster.ts";

const rules = { leaseTimeoutMs: 1_000, maxAttempts: 20, shardsFail: true } as const;

/** A node waits for the new owner before it forwards a call again. */
const forwardedAgainMsMin = 50;

/** Resolves once `items` more items are completed. */
export type Progress = (items: number) => Promise<void>;

export interface Answer {
  readonly verb: Entry["verb"];
  /** 0 = the connection broke. */
  readonly status: number;
  readonly refusal?: string;
}

export interface Verdict {
  readonly faults: readonly string[];
  /** The answers to all calls. */
  readonly answers: readonly Answer[];
  readonly figures: Readonly<Record<string, number>>;
  /** Items that the database lost after they were leased. */
  readonly gone: readonly LostItem[];
}

/**
 * The answers with an unexpected status. A lease may also be answered 504: items granted just before
 * its `request_timeout` ends may be committed too late for the node that forwarded it.
 */
export function unexpected(answers: readonly Answer[], expected: readonly number[]): Answer[] {
  return answers.filter(
    ({ verb, status }) => !expected.includes(status) && !(verb === "lease" && status === 504),
  );
}

/** Each call goes to the next node. */
function eachOf(cluster: Cluster): ServerAddress {
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
 * `disturb` returns the commits that the database lost, if any. `address`: where clients find the
 * nodes; by default they use each node in turn.
 */
export async function underLoad(
  cluster: Cluster,
  disturb: (progress: Progress) => Promise<Loss> | Promise<void>,
  address: ServerAddress = eachOf(cluster),
): Promise<Verdict> {
  await createQueues(address, { partitions: 3, ...rules });
  // Created in advance, because the database might lose a queue that the load creates itself.
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
  const { entries, ending, gone, ...kept } = survivingHistory(
    history.entries,
    await load.drain(),
    loss,
  );
  const { faults, figures } = checkQueue(entries, ending, rules);
  // A node that ends disconnects its clients, and a lease whose answer was lost is forwarded again.
  const order = checkOrder(entries, {
    outcomes: ["empty", "refused", "unknown"],
    answeredMsMin: forwardedAgainMsMin,
  });
  return {
    faults: [faults, order.faults, kept.faults].flatMap((one) => one.list("")),
    ...{ figures, gone },
    // A client that a node disconnected may call another node before the owner of the shard knows
    // that its first lease is over.
    answers: history.entries
      .filter(({ refusal }) => refusal?.includes('"duplicate_client"') !== true)
      .map(({ verb, status, refusal }) => ({ verb, status, ...(refusal && { refusal }) })),
  };
}
