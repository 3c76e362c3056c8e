// The parameters of a world of several nodes, and the events that its auditor has to know.

import { never } from "../../../engine/model/duration.ts";
import { Chance } from "../../../engine/simulation/chance.ts";
import {
  backingOff,
  filling,
  hour,
  minute,
  type Parameters,
  pausing,
  repairing,
  searching,
  second,
  transacting,
  withUniques,
} from "../../../engine/simulation/parameters.ts";
import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import type { Scenario, World } from "../../../engine/simulation/world.ts";
import type { Changes } from "../../../stores/store.ts";
import type { LogFields } from "../../observability/log.ts";
import { Cluster, turnLimitsOf } from "./cluster.ts";
import { FaultInjection } from "./fault-injection.ts";

const leaseMs = 5 * second;
/** Seeds modulo 13 whose worlds have two databases. */
const twoDatabases = [3, 9];
/** The faults of nodes and databases replace those of a single process. */
const noFaults = { storeFault: 0, slow: 0, kill: 0, damage: 0 };

/** A world in which queues are cleared in pieces. */
function clearing({ hasOwnSettings: _, ...parameters }: Parameters): Parameters {
  const { bounds, weights, queues } = parameters;
  return {
    ...parameters,
    batchMax: 10,
    // Attempts are unlimited: a lost grant may kill an item, and then the clear would not find it.
    queues: queues.map((one) => ({ ...one, maxAttempts: 0 })),
    bounds: { ...bounds, sweepItemsMax: 1 },
    weights: { ...weights, clear: 4 },
  };
}

export function nodesScenario(seed: number): Scenario {
  return new NodesScenario(seed);
}

class NodesScenario implements Scenario {
  readonly drainSteps = { steps: [0, second, minute, 6 * minute], lastMs: 65 * second };
  /** The oldest reading of the database's clock with which a node takes over. */
  readonly behindMs = 2 * second;
  readonly option = " --store nodes";
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #databaseCount: number;
  readonly #isLossy: boolean;
  #faultInjection: FaultInjection | null = null;

  constructor(seed: number) {
    this.#seed = seed;
    this.#chance = new Chance(seededRandom(seed ^ 0x5eed_0de5));
    this.#databaseCount = twoDatabases.includes(seed % 13) ? 2 : 1;
    // With two databases, one that loses commits would lose or repeat deliveries from the other.
    this.#isLossy = this.#chance.hits(400) && this.#databaseCount === 1;
  }

  parameters(usual: Parameters): Parameters {
    const seed = this.#seed;
    const plain = this.#plain(usual);
    const paused = seed % 7 === 2 ? pausing(plain, Math.floor(seed / 7)) : plain;
    const limited = seed % 7 === 4 ? filling(paused, Math.floor(seed / 7)) : paused;
    const delayed = seed % 7 === 6 ? backingOff(limited, Math.floor(seed / 7)) : limited;
    const unique = seed % 7 === 5 ? withUniques(delayed, Math.floor(seed / 7)) : delayed;
    // A clear forgets unique keys.
    const cleared = seed % 9 === 4 && unique === delayed ? clearing(unique) : unique;
    const transacted = seed % 9 === 1 ? transacting(cleared, Math.floor(seed / 9) % 3) : cleared;
    const repaired = seed % 11 === 2 ? repairing(transacted, seed) : transacted;
    const looked = seed % 13 === 4 ? searching(repaired, Math.floor(seed / 13)) : repaired;
    return { ...looked, weights: { ...looked.weights, ...noFaults } };
  }

  /** Nodes use their database's clock, so there is no test clock. */
  #plain({ hasTestClock: _, ...usual }: Parameters): Parameters {
    const chance = this.#chance;
    return {
      ...usual,
      shardCount: Math.max(this.#databaseCount, chance.one([1, 2, 3, 5])),
      queues: usual.queues.map((one) => ({
        ...one,
        leaseTimeoutMs: chance.one([second, 10 * second, minute]),
        expireTimeoutMs: one.name === "dead" ? one.expireTimeoutMs : 20 * minute,
        // Nodes have clocks of their own, so it is not known how long an item has waited.
        ...{ leasedMax: 0, leaseRate: "", waitingMax: 0, retryBackoff: "" },
        ...{ uniqueForMs: 0, priorityAgingMs: never },
      })),
      scheduled: 0,
      laterMsMax: 5 * minute,
      requestTimeoutMs: chance.one([second, 10 * second, minute, minute]),
      hasDowntime: false,
      syncsLater: false,
      // Lossy databases may lose receipts, too.
      repeats: !this.#isLossy && chance.hits(400),
      bounds: { ...usual.bounds, receiptsWindowMs: 20 * minute },
      weights: {
        ...usual.weights,
        ...noFaults,
        ...{ extend: 0, pause: 0, leap: 0 },
        ...{
          clear: 0,
          recreate: 0,
          transact: 0,
          task: 0,
          import: 0,
          // A queue with groups has one partition.
          resize: usual.hasGroups ? 0 : 2,
          repeat: 8,
          pass: 20,
          trouble: 12,
          crowd: 0,
        },
      },
    };
  }

  bundle(world: World): Cluster {
    const { shardCount, bounds } = world.parameters;
    const chance = this.#chance;
    const cluster = new Cluster({
      ...{ seed: this.#seed, shardCount, leaseMs, chance },
      nodeCount: chance.between(2, 4),
      databaseCount: this.#databaseCount,
      turnLimits: turnLimitsOf(bounds),
      aheadMs: () => chance.one([0, 0, -hour, hour]),
      watching: (engine) =>
        world.parameters.hasSearches ? world.histories.watchingToo(engine) : engine,
      committed: (_, changes) => this.#committed(changes, world),
      noticedLoss: () => this.#faults.noticedLoss(),
      logged: (url, event, fields) => {
        world.log(`${url} ${event} ${JSON.stringify(fields ?? {})}`);
        this.#watch(event, { fields, world });
      },
    });
    this.#faultInjection = new FaultInjection({
      ...{ cluster, world, chance, isLossy: this.#isLossy },
      requestsDrains: this.#seed % 10 === 6,
    });
    return cluster;
  }

  get #faults(): FaultInjection {
    if (this.#faultInjection === null) throw new Error("the world has not started");
    return this.#faultInjection;
  }

  /** The client that was granted the lease may not receive the answer while a fault has an effect. */
  #committed({ lease }: Changes, { auditor }: World): void {
    if (lease.length > 0 && this.#faults.isFelt) auditor.faulted({ applies: true });
  }

  #watch(
    event: string,
    { fields, world }: { readonly fields: LogFields | undefined; readonly world: World },
  ): void {
    const { auditor, situations } = world;
    if (event === "shard opened") {
      auditor.tookOver(world.now);
      this.#faults.noticedLoss();
      if (auditor.pauses.of("orders").lease) {
        situations.reached("a queue is paused while its shards change hands");
      }
      const tallies = world.bundle.images.flatMap((image) => [...image.tallies.values()]);
      if (tallies.some(({ clearReadyBelow }) => clearReadyBelow > 0)) {
        situations.reached("a clear continues after a takeover");
      }
      const tasks = world.bundle.images.flatMap((image) => [...image.tasks.values()]);
      if (tasks.some((text) => text.includes('"state":"running"'))) {
        situations.reached("a task continues after a takeover");
      }
    }
    if (event === "node unreachable") situations.reached("a node is unreachable");
    if (event !== "taking over shard") return;
    if (fields?.["reason"] === "lapsed") {
      situations.reached("another node replaces a lapsed owner");
    } else if (fields?.["reason"] === "own") {
      situations.reached("a node starts under the URL of the previous owner");
    }
  }

  trouble(): Promise<void> {
    return this.#faults.happen();
  }

  calm(): Promise<void> {
    return this.#faults.calm();
  }

  isCalm(): boolean {
    return this.#faults.isOver;
  }
}
