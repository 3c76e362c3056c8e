// The parameters of a world, from its seed: its size, and the frequency of calls and faults. Some
// worlds have no faults at all, and some queues no limits.

import { never, pending } from "../model/duration.ts";
import { limits } from "../model/limits.ts";
import type { Chance } from "./chance.ts";

/** A queue of the world. Only `orders` has a dead queue; `plain` discards its dead items. */
export interface QueueParameters {
  readonly name: string;
  readonly deadQueue: string;
  readonly partitions: number;
  readonly leaseTimeoutMs: number;
  readonly expireTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
  /** 0 = no limit. */
  readonly leasedMax: number;
  /** `""` = no limit. */
  readonly leaseRate: string;
  /** 0 = no limit. */
  readonly waitingMax: number;
  /** `""` = retries without a time are ready at once. */
  readonly retryBackoff: string;
  /** 0 = no unique keys. */
  readonly uniqueForMs: number;
  readonly priorityAgingMs: number;
  /** Its items have groups, so it has one partition; absent = they have none. */
  readonly grouped?: true;
  /** 0 = no limit. */
  readonly groupLeasedMax?: number;
  /** `""` = no limit. */
  readonly groupRate?: string;
  /** 0 = no limit. */
  readonly groupWaitingMax?: number;
  readonly groupOrder?: "loose" | "strict";
  readonly groupOnDead?: "continue" | "block";
}

export interface Parameters {
  readonly shardCount: number;
  readonly queues: readonly QueueParameters[];
  readonly clients: number;
  readonly batchMax: number;
  /** The share of scheduled items, per mille. */
  readonly scheduled: number;
  /** How far ahead items are scheduled at most. */
  readonly laterMsMax: number;
  readonly requestTimeoutMs: number;
  /** Time passes while the process is down, and leases and items reach their deadlines. */
  readonly hasDowntime: boolean;
  /** Queues move to other numbers of shards while the process is down. */
  readonly reshards?: true;
  /** Commits are synced some events after they are written. */
  readonly syncsLater: boolean;
  /** Searches and histories are checked. */
  readonly hasSearches: boolean;
  /** Items have priorities, and some leases ask for a least one. */
  readonly hasPriorities?: true;
  /** Some items have their own limit of attempts, lease timeout, or both. */
  readonly hasOwnSettings?: true;
  /** Items have only a text and a due time. */
  readonly isPlain?: boolean;
  /** Items have groups. */
  readonly hasGroups?: true;
  /** Calls have idempotency keys and are repeated. */
  readonly repeats: boolean;
  /** Every other client that disconnects repeats its call at once, on another connection. */
  readonly reconnects?: true;
  readonly hasTestClock?: true;
  /** Some tasks retry leased items. */
  readonly retriesLeased?: true;
  /** Some tasks change the priority of items. */
  readonly prioritizes?: true;
  /** The relative frequency of each kind of event. */
  readonly weights: {
    readonly produce: number;
    readonly lease: number;
    readonly complete: number;
    readonly retry: number;
    readonly extend: number;
    readonly release: number;
    readonly cancel: number;
    readonly pause: number;
    readonly abort: number;
    readonly rest: number;
    readonly pass: number;
    readonly leap: number;
    readonly storeFault: number;
    readonly slow: number;
    readonly kill: number;
    readonly damage: number;
    readonly resize: number;
    readonly clear: number;
    readonly recreate: number;
    readonly census: number;
    readonly repeat: number;
    /** Faults of the scenario. */
    readonly trouble: number;
    readonly transact: number;
    /** Items are redriven, promoted, rejected, prioritized and deleted. */
    readonly task: number;
    readonly import: number;
    /** Items arrive for minutes, and hardly any leave. */
    readonly crowd: number;
    /** Settings of groups change. */
    readonly group: number;
  };
  /** Bounds of a turn; small ones split work into pieces. */
  readonly bounds: {
    readonly sweepItemsMax: number;
    readonly turnRequestsMax: number;
    readonly turnWeightMax: number;
    readonly secondTurnWeightMin: number;
    readonly receiptsWindowMs: number;
    readonly historyBytes: number;
  };
}

/** The least priority that a client asks for. */
export function priorityMinOf(clientId: string, { hasPriorities }: Parameters): number {
  return hasPriorities && /[258]$/.test(clientId) ? 5 : 0;
}

/** The settings of an item by its number; 0 = none. */
export function ownSettings(number: number) {
  return {
    maxAttempts: [0, 1, 0, 4, 2][number % 5] ?? 0,
    leaseTimeoutMs: [0, second, 0, 30 * second][number % 4] ?? 0,
  };
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

const usualBounds = {
  sweepItemsMax: limits.sweepItemsMax,
  turnRequestsMax: limits.turnRequestsMax,
  turnWeightMax: limits.turnWeightMax,
  secondTurnWeightMin: limits.secondTurnWeightMin,
  receiptsWindowMs: limits.receiptsWindowMs,
  historyBytes: 0,
};

/** Some seeds get special worlds. The others never change, so that seeds that failed stay valid. */
export function parametersOf(chance: Chance, seed: number): Parameters {
  const usual = usualParameters(chance);
  const mixed = seed % 5 === 3 ? deadly(usual) : usual;
  const kept = [4, 5, 7].includes(seed % 8) ? keeping(mixed) : mixed;
  const repeated = [3, 5, 8, 11].includes(seed % 13) ? repeating(kept) : kept;
  const returned = seed % 13 === 11 ? returning(repeated) : repeated;
  const parameters = seed % 9 === 8 ? pausing(returned, Math.floor(seed / 9)) : returned;
  const unique = seed % 19 === 4 ? withUniques(parameters, Math.floor(seed / 19)) : parameters;
  // A third of the worlds with unique keys has transacts.
  const isWhole = [3, 8, 17].includes(seed % 19) || seed % 57 === 42;
  const whole = isWhole ? transacting(unique, seed % 3) : unique;
  const searched = seed % 11 === 4 ? searching(whole, Math.floor(seed / 11)) : whole;
  const isRepaired = [6, 9, 13].includes(seed % 17);
  const mended = isRepaired ? repairing(searched, seed) : searched;
  const repaired = seed % 17 === 9 ? reprioritizing(mended, Math.floor(seed / 17)) : mended;
  // A pause does not stop imports.
  const isImporting = seed % 23 === 7 && repaired.weights.pause === 0;
  const imported = isImporting ? importing(repaired) : repaired;
  const isTested = seed % 29 === 12 && imported.weights.pause === 0;
  const tested = isTested ? onTestClock(imported) : imported;
  const crowded = isCrowded(seed) ? crowding(tested) : tested;
  const moved = [4, 5].includes(seed % 16) ? resharding(crowded) : crowded;
  const prioritized = seed % 7 === 3 ? prioritizing(moved, Math.floor(seed / 7)) : moved;
  const cancelled = [3, 11].includes(seed % 13) ? cancelling(prioritized) : prioritized;
  const filled = seed % 6 === 5 ? filling(cancelled, Math.floor(seed / 6)) : cancelled;
  const resharded = seed % 8 === 2 ? backingOff(filled, Math.floor(seed / 8)) : filled;
  const grouped = withGroups.includes(seed % 31) ? grouping(resharded, seed) : resharded;
  // Few worlds have enough load for a turn during a sync; in odd seeds any load is enough.
  const secondTurnWeightMin = seed % 2 === 0 ? limits.secondTurnWeightMin : 1;
  return {
    ...grouped,
    ...(seed % 5 === 2 && { hasOwnSettings: true }),
    isPlain: seed % 7 === 6 && !crowded.hasSearches,
    syncsLater: !isCrowded(seed) && (seed % 7 === 1 || seed % 7 === 5),
    bounds: { ...grouped.bounds, secondTurnWeightMin },
  };
}

/** A world in which queues move, unless its outputs have unique keys and so cannot change shard. */
function resharding(parameters: Parameters): Parameters {
  const { shardCount, weights, queues } = parameters;
  const isUnique = queues.some(({ uniqueForMs }) => uniqueForMs > 0);
  if (weights.transact > 0 && isUnique && shardCount === 1) return parameters;
  return {
    ...parameters,
    reshards: true,
    weights: { ...weights, kill: Math.max(4, weights.kill) },
  };
}

function isCrowded(seed: number): boolean {
  return seed % 23 === 6 && seed % 29 !== 12;
}

/** A world whose time passes in advances, without store faults, which would delay an advance. */
function onTestClock(parameters: Parameters): Parameters {
  const { weights } = parameters;
  const noFaults = { storeFault: 0, slow: 0, damage: 0 };
  return {
    ...parameters,
    hasTestClock: true,
    hasDowntime: false,
    weights: { ...weights, ...noFaults, leap: Math.max(2, weights.leap) },
  };
}

/** A world in which items arrive faster than they leave for minutes, and clears are slow. */
function crowding(parameters: Parameters): Parameters {
  const { weights, bounds, queues } = parameters;
  const isUnique = queues.some(({ uniqueForMs }) => uniqueForMs > 0);
  return {
    ...parameters,
    batchMax: 10,
    scheduled: 0,
    queues: queues.map((one) => ({ ...one, expireTimeoutMs: Math.max(day, one.expireTimeoutMs) })),
    weights: { ...weights, crowd: 2, clear: isUnique ? 0 : 3, slow: Math.max(4, weights.slow) },
    bounds: { ...bounds, sweepItemsMax: 1 },
  };
}

/** A world with searches and histories; in some, the history is small and soon evicted. */
export function searching(parameters: Parameters, which: number): Parameters {
  const { weights, bounds } = parameters;
  const historyBytes = which % 3 === 0 ? 50_000 : 10_000_000;
  return {
    ...parameters,
    hasSearches: true,
    weights: { ...weights, census: 4 },
    bounds: { ...bounds, historyBytes },
  };
}

/** A world in which items die, and tasks act on dead and waiting items across kills. */
export function repairing(parameters: Parameters, which: number): Parameters {
  const { weights, queues } = parameters;
  const { kill, storeFault, retry, pass } = weights;
  const faults = { kill: Math.max(3, kill), storeFault: Math.max(4, storeFault) };
  return {
    ...parameters,
    ...(which % 4 === 3 && { retriesLeased: true }),
    scheduled: Math.max(300, parameters.scheduled),
    queues: queues.map((one) => (one.name === "orders" ? { ...one, maxAttempts: 2 } : one)),
    weights: {
      ...{ ...weights, ...faults },
      ...{ task: 12, census: 3, retry: Math.max(15, retry), pass: Math.max(15, pass) },
    },
  };
}

/** A world with transacts, mostly over several shards that fail. */
export function transacting(parameters: Parameters, which: number): Parameters {
  const { weights, shardCount, queues } = parameters;
  const { kill, storeFault, slow, lease, complete, retry } = weights;
  // Outputs have unique keys only if there is one shard.
  const isUnique = queues.some(({ uniqueForMs }) => uniqueForMs > 0);
  const faults = { kill: Math.max(4, kill), storeFault: Math.max(8, storeFault) };
  // Most leased items are left for transacts.
  const calls = {
    lease: Math.max(30, lease),
    complete: Math.min(5, complete),
    retry: Math.min(5, retry),
  };
  return {
    ...parameters,
    queues: which === 0 ? queues : queues.map((one) => ({ ...one, partitions: 1 })),
    shardCount: isUnique ? shardCount : Math.max(2, shardCount),
    weights: { ...weights, ...faults, ...calls, slow: Math.max(2, slow), transact: 40 },
  };
}

const noLimits = {
  ...{ leasedMax: 0, leaseRate: "", waitingMax: 0, retryBackoff: "", uniqueForMs: 0 },
  priorityAgingMs: minute,
};
const shortLived = { leaseTimeoutMs: minute, expireTimeoutMs: 10 * minute, maxAttempts: 1 };

/** A world in which dead letters are often in flight to another shard when the process dies. */
function deadly(parameters: Parameters): Parameters {
  const { shardCount, weights } = parameters;
  return {
    ...parameters,
    hasDowntime: true,
    shardCount: Math.max(2, shardCount),
    queues: parameters.queues.map((one) =>
      one.name === "orders" ? { ...one, ...shortLived, partitions: 2 } : one,
    ),
    weights: { ...weights, kill: Math.max(5, weights.kill) },
  };
}

/** A world in which leases are extended and released, and some have a timeout of their own. */
function keeping(parameters: Parameters): Parameters {
  return { ...parameters, weights: { ...parameters.weights, extend: 20, release: 8 } };
}

/** A world whose clients repeat calls. */
function repeating(parameters: Parameters): Parameters {
  const { weights, bounds } = parameters;
  return {
    ...parameters,
    repeats: true,
    weights: { ...weights, repeat: 25, kill: Math.max(2, weights.kill) },
    // Longer than any call, so that each repetition can be checked.
    bounds: { ...bounds, receiptsWindowMs: 20 * minute },
  };
}

/** A world whose clients lose their connections and return. */
function returning(parameters: Parameters): Parameters {
  return { ...parameters, reconnects: true, weights: { ...parameters.weights, abort: 16 } };
}

/** A world with imports that are repeated. */
function importing(parameters: Parameters): Parameters {
  const repeated = repeating(parameters);
  // A stalled shard may decide a repetition after its window.
  return { ...repeated, weights: { ...repeated.weights, slow: 0, import: 15 } };
}

/** A world with limits, and with pauses and resumes, often while a shard is down or slow. */
export function pausing(parameters: Parameters, which: number): Parameters {
  const { shardCount, weights, queues } = parameters;
  const { storeFault, slow } = weights;
  const leasedMax = [3, 0, 1, 12][which % 4] ?? 0;
  const leaseRate = ["", "5/1s", "3/1m"][which % 3] ?? "";
  return {
    ...parameters,
    shardCount: Math.max(2, shardCount),
    queues: queues.map((one) => ({
      ...one,
      ...(one.name === "orders" ? { leasedMax } : {}),
      ...(one.name === "plain" ? { leaseRate } : {}),
    })),
    weights: {
      ...weights,
      pause: 10,
      storeFault: Math.max(3, storeFault),
      slow: Math.max(3, slow),
    },
  };
}

/** A world whose queues are often full. */
export function filling(parameters: Parameters, which: number): Parameters {
  const waitingMax = [12, 30, 5][which % 3] ?? 12;
  return {
    ...parameters,
    queues: parameters.queues.map((one) => (one.name === "dead" ? one : { ...one, waitingMax })),
  };
}

/** A world whose queues set retried items aside. */
export function backingOff(parameters: Parameters, which: number): Parameters {
  const retryBackoff = ["1s..8s", "1m..5m", "10ms..1m"][which % 3] ?? "";
  const { weights, queues } = parameters;
  return {
    ...parameters,
    queues: queues.map((one) => ({ ...one, retryBackoff })),
    weights: { ...weights, retry: Math.max(15, weights.retry) },
  };
}

/** A world with priorities, which age quickly, slowly or not at all. */
export function prioritizing(parameters: Parameters, which: number): Parameters {
  const priorityAgingMs = [10, never, second, minute][which % 4] ?? minute;
  return {
    ...parameters,
    hasPriorities: true,
    queues: parameters.queues.map((one) => ({ ...one, priorityAgingMs })),
  };
}

/** A world in which tasks change priorities. */
function reprioritizing(parameters: Parameters, which: number): Parameters {
  return { ...prioritizing(parameters, which), prioritizes: true };
}

/** By the seed modulo 31. */
const withGroups = [2, 8, 14, 20, 26];

/** A world whose groups take turns, with limits, orders and settings of their own. */
export function grouping(parameters: Parameters, seed: number): Parameters {
  const which = Math.floor(seed / 31) * withGroups.length + withGroups.indexOf(seed % 31);
  const others = which % 3 === 1 ? prioritizing(parameters, which) : parameters;
  const { weights } = others;
  const rules = {
    grouped: true,
    partitions: 1,
    groupLeasedMax: [1, 0, 2, 0, 3][which % 5] ?? 0,
    groupRate: ["", "3/1s", "", "2/20ms", "", "1/1m", ""][which % 7] ?? "",
    groupWaitingMax: [0, 0, 0, 4][which % 4] ?? 0,
    groupOnDead: which % 8 < 4 ? "continue" : "block",
  } as const;
  const isStrict = which % 2 === 0;
  return {
    ...others,
    hasGroups: true,
    queues: others.queues.map((one) => {
      if (one.name !== "dead") {
        const groupOrder = (one.name === "orders") === isStrict ? "strict" : "loose";
        return { ...one, ...rules, groupOrder };
      }
      return which % 6 === 5 ? { ...one, grouped: true, partitions: 1 } : one;
    }),
    weights: { ...weights, group: which % 6 === 3 ? 0 : 10 },
  };
}

/** A world in which clients cancel leased and waiting items. */
function cancelling(parameters: Parameters): Parameters {
  return { ...parameters, weights: { ...parameters.weights, cancel: 10 } };
}

/** A world with unique keys, without clears, which would remove an unknown part of the keys. */
export function withUniques(parameters: Parameters, which: number): Parameters {
  const { weights, queues } = parameters;
  const uniqueForMs = [20 * second, pending, 10 * minute, pending][which % 4] ?? pending;
  return {
    ...parameters,
    queues: queues.map((one) => (one.name === "dead" ? one : { ...one, uniqueForMs })),
    weights: { ...weights, kill: Math.max(3, weights.kill), clear: 0, recreate: 0 },
  };
}

function usualParameters(chance: Chance): Parameters {
  const faulty = chance.hits(850);
  const unlucky = (most: number): number =>
    faulty && chance.hits(700) ? 1 + chance.below(most) : 0;
  return {
    shardCount: chance.between(1, 3),
    queues: [
      queue(chance, "orders", "dead"),
      queue(chance, "plain", ""),
      {
        name: "dead",
        deadQueue: "",
        partitions: chance.between(1, 3),
        leaseTimeoutMs: chance.one([second, minute]),
        expireTimeoutMs: 300 * day,
        maxAttempts: 0,
        ...noLimits,
      },
    ],
    clients: chance.between(1, 6),
    batchMax: chance.one([1, 3, 10]),
    scheduled: chance.one([0, 0, 100, 400]),
    laterMsMax: day,
    requestTimeoutMs: chance.one([10, second, minute]),
    hasDowntime: false,
    syncsLater: false,
    hasSearches: false,
    repeats: false,
    weights: {
      produce: chance.between(5, 40),
      lease: chance.between(10, 40),
      complete: chance.between(5, 30),
      retry: chance.between(0, 20),
      extend: 0,
      ...{ release: 0, cancel: 0 },
      pause: 0,
      abort: chance.one([0, 0, 4]),
      rest: chance.between(5, 60),
      pass: chance.between(2, 30),
      leap: chance.one([0, 1, 3]),
      storeFault: unlucky(6),
      slow: unlucky(5),
      kill: unlucky(5),
      damage: chance.hits(250) ? unlucky(3) : 0,
      resize: chance.one([0, 0, 2]),
      clear: chance.one([0, 0, 0, 2]),
      recreate: chance.one([0, 0, 0, 1]),
      census: 1,
      repeat: 0,
      trouble: 0,
      transact: 0,
      task: 0,
      import: 0,
      ...{ crowd: 0, group: 0 },
    },
    bounds: chance.hits(700)
      ? usualBounds
      : {
          sweepItemsMax: chance.one([1, 2, 5]),
          turnRequestsMax: chance.one([1, 2, 8]),
          turnWeightMax: chance.one([1, 4, 20]),
          secondTurnWeightMin: limits.secondTurnWeightMin,
          receiptsWindowMs: limits.receiptsWindowMs,
          historyBytes: 0,
        },
  };
}

function queue(chance: Chance, name: string, deadQueue: string): QueueParameters {
  const leaseTimeoutMs = chance.one([10, second, minute, hour]);
  const expireTimeoutMs = chance.one([2 * leaseTimeoutMs, 10 * minute, day, 30 * day]);
  return {
    name,
    deadQueue,
    partitions: chance.one([1, 1, 2, 5]),
    leaseTimeoutMs,
    expireTimeoutMs: Math.max(leaseTimeoutMs, expireTimeoutMs),
    maxAttempts: chance.one([0, 1, 2, 3, 10]),
    ...noLimits,
  };
}
