// I18: each finding about a queue is true, and each certain problem has a finding. Findings are
// compared with the calls of the clients and the auditor's knowledge of the items.

import type {
  EngineStatus,
  Explanation,
  Finding,
  FindingWord,
  HealthWord,
  Outcome,
  QueueClients,
} from "../model/api.ts";
import { parseRate } from "../model/lease-rate.ts";
import { type Auditor, Violation } from "./auditor.ts";
import type { Witness } from "./bundle.ts";
import type { StoreControl } from "./faulty-store.ts";
import { hour, minute, type QueueParameters, second } from "./parameters.ts";
import { type Bounds, Recent } from "./recent.ts";
import { SinceWhen } from "./since.ts";
import type { Situations } from "./situations.ts";
import type { HeldItem, Tally } from "./tally.ts";
import { isCertain } from "./tracked.ts";

/** The minimum time without a lease request before the finding `no_consumers`. */
const askGraceMs = 10 * second;
/** The time without movement before `all_leased`, and after which the health is not `flows`. */
const restMs = { allLeased: 5 * second, flows: 10 * second };
/** How early the next due time may be, because due times are merged; it is never late. */
const dueGrainMs = second;
/** After this time each shard knows that its store has room again. */
const roomMs = 5 * second;
/** A smaller rise may be chance. */
const riseMin = 60;

/** Worst first. */
const order: readonly FindingWord[] = [
  ...(["shard_down", "store_full", "no_consumers", "backlog_growing", "leases_lapsing"] as const),
  ...([
    "dead_items",
    "groups_blocked",
    "clearing",
    "paused",
    "at_leased_max",
    "at_lease_rate",
  ] as const),
  ...(["all_leased", "all_scheduled"] as const),
];

type Memory = ReturnType<Witness["memoryOf"]>;

/** The state of one queue; it is reset with the memory of the witness. */
interface Seen {
  /** The memory of the witness; `null` = there is no witness. */
  readonly memory: Memory | null;
  /** When that memory was complete; it may have begun before. */
  readonly startedAt: number;
  /** When the last lease was requested that was granted items. */
  granted: number;
  readonly recent: Recent;
  readonly since: SinceWhen;
  /** The items leased at the last check, with their deadlines. */
  held: readonly {
    readonly item: HeldItem;
    readonly grant: HeldItem["grant"];
    readonly until: number;
  }[];
  /** When leases have certainly lapsed. */
  lapses: number[];
  /** The number of faults at the last check. */
  faults: number;
}

/** Adds the lease requests of clients. */
interface KnownQueue extends Seen {
  /** Lease requests without an answer. */
  open: number;
  /** When the last one arrived, including repeated and refused ones. */
  last: number;
}

/** One check of one queue. */
interface Look {
  readonly place: QueueParameters;
  readonly explained: Explanation;
  readonly known: KnownQueue;
  readonly tally: Tally;
  /** No store is slow and every shard is up, so all due work is done. */
  readonly isHealthy: boolean;
  /** A store may have no room, so due work may wait. */
  readonly mayBeFull: boolean;
  readonly now: number;
}

export interface ExplanationsOptions {
  readonly auditor: Auditor;
  readonly situations: Situations;
  readonly queues: readonly QueueParameters[];
  readonly stores: () => readonly StoreControl[];
  readonly witness: () => Witness | null;
  /** The number of faults so far, including dead shards. */
  readonly faults: () => number;
  /** Other nodes forward requests, so they may reach the witness later, or its successor. */
  readonly hasNodes: boolean;
  /** Ready items of a queue that a clear has marked and that are still stored. */
  readonly clearing: (queue: string) => number;
  /** By the clock of the world. */
  readonly now: () => number;
}

export class Explanations {
  readonly #options: ExplanationsOptions;
  readonly #known = new Map<string, KnownQueue>();
  /** Deleted queues: a finding may be about the old or the new queue of the name. */
  readonly #deleted = new Set<string>();
  /** How often stores were full, and when that may last have been reported. */
  #full = { count: 0, at: Number.NEGATIVE_INFINITY };

  constructor(options: ExplanationsOptions) {
    this.#options = options;
  }

  get #now(): number {
    return this.#options.witness()?.now ?? this.#options.now();
  }

  /** A new process has no waiting requests. */
  restarted(): void {
    this.#known.clear();
    this.#deleted.clear();
  }

  #seenNothing(queue: string): Seen {
    const witness = this.#options.witness();
    const memory = witness?.memoryOf(queue) ?? null;
    const startedAt = witness?.now ?? this.#options.now();
    const since = memory?.since ?? startedAt;
    return {
      ...{ memory, startedAt },
      ...{ granted: 0, held: [], lapses: [], faults: 0 },
      recent: new Recent(since),
      since: new SinceWhen(since),
    };
  }

  /** A new queue may get the name. */
  deleting(queue: string): void {
    this.#deleted.add(queue);
  }

  #knownOf(queue: string): KnownQueue {
    return this.#known.getOrInsertComputed(queue, () => ({
      ...{ open: 0, last: 0 },
      ...this.#seenNothing(queue),
    }));
  }

  async asking<T extends Outcome>(queue: string, lease: () => Promise<T>): Promise<T> {
    const { now, hasNodes } = this.#options;
    const known = this.#knownOf(queue);
    const begunAt = now();
    known.open += 1;
    known.last = this.#now;
    try {
      const leased = await lease();
      const at = this.#now - (now() - begunAt);
      if (!leased.replayed) known.granted = Math.max(known.granted, at);
      return leased;
    } finally {
      known.open -= 1;
      if (hasNodes) known.last = this.#now;
    }
  }

  check({ isCalm }: { readonly isCalm: boolean }): void {
    const { auditor, queues } = this.#options;
    const witness = this.#options.witness();
    if (witness === null) return;
    const { engine, now } = witness;
    const status = engine.status();
    const isHealthy = isCalm && status.shards.every(({ up }) => up);
    const mayBeFull = this.#mayBeFull(now);
    for (const place of queues) {
      const { name } = place;
      const gauges = status.queues.find(({ queue }) => queue === name);
      const isThere = engine.listQueues({ pivot: name, limit: 1 }).some((one) => one.name === name);
      if (gauges === undefined || !isThere) continue;
      const known = this.#knownOf(place.name);
      if (known.memory !== witness.memoryOf(place.name)) {
        Object.assign(known, this.#seenNothing(place.name));
      }
      const tally = auditor.tallyOf(place, now);
      known.recent.look(now, gauges, readyBounds(tally, isHealthy));
      const explained = engine.explain(place.name);
      const look = { place, explained, known, tally, isHealthy, mayBeFull, now };
      this.#noteLapses(look);
      this.#checkPaused(look);
      this.#checkShards(look, status);
      this.#checkClearing(look, status);
      this.#checkConsumers(look);
      if (!this.#deleted.has(place.name)) this.#checkRecent(look);
      if (isHealthy) this.#checkState(look);
      this.#checkHealth(look);
      for (const { kind } of explained.findings) {
        this.#options.situations.reached(`a queue is explained: ${kind}`);
      }
    }
  }

  /** An idle shard checks its full store for room once per second. */
  #mayBeFull(now: number): boolean {
    const stores = this.#options.stores();
    const count = stores.reduce((sum, { fullCount }) => sum + fullCount, 0);
    if (count > this.#full.count || stores.some(({ full }) => full))
      this.#full = { count, at: now };
    return now - this.#full.at < roomMs;
  }

  #checkPaused({ explained }: Look): void {
    const { queue } = explained;
    const { pauses } = this.#options.auditor;
    const { lease, produce } = pauses.of(queue);
    expectFinding(explained, "paused", {
      must: lease || produce,
      may: pauses.mayBe(queue),
    });
  }

  #checkShards({ explained, isHealthy, mayBeFull }: Look, { shards }: EngineStatus): void {
    expectFinding(explained, "shard_down", {
      must: shards.every(({ up }) => !up),
      may: shards.some(({ up }) => !up),
    });
    const stores = this.#options.stores();
    expectFinding(explained, "store_full", {
      must: isHealthy && stores.every(({ hasReportedFull }) => hasReportedFull),
      may: !isHealthy || mayBeFull,
    });
  }

  /** Compares the finding with the stored items that a clear has marked. */
  #checkClearing({ explained, isHealthy, mayBeFull }: Look, { shards }: EngineStatus): void {
    const { auditor, clearing, stores } = this.#options;
    const isUnreported = stores().some(({ isSilent }) => isSilent);
    if (mayBeFull || isUnreported || shards.some(({ up }) => !up)) return;
    const { queue } = explained;
    // A queue that is being deleted is hidden, so the findings are about the next queue of the
    // name.
    const least = this.#deleted.has(queue) ? 0 : clearing(queue);
    const found = expectFinding(explained, "clearing", {
      must: least > 0,
      may: !isHealthy || auditor.isBeingCleared(queue),
    });
    // A draining partition that has only marked items left is not reported any more.
    checkCount(queue, found, { least: 1, most: Number.POSITIVE_INFINITY });
  }

  #checkConsumers({ place, explained, known, tally, isHealthy, now }: Look): void {
    const { pauses } = this.#options.auditor;
    const { hasNodes } = this.#options;
    const { queue } = explained;
    const { open, last, granted, memory, startedAt } = known;
    // A node that is cut off may have the waiting requests.
    const isAsked = open > 0 && (isHealthy || !hasNodes);
    const bornAt = memory?.since ?? startedAt;
    const graceMs = Math.max(askGraceMs, place.leaseTimeoutMs);
    const since = Math.max(last, startedAt, tally.readySince);
    // No requests are needed during a pause, and its end is not known.
    const isExcused = pauses.mayEverHaveBeen(queue) || queue === "dead";
    const isMeantToWait = pauses.of(queue).lease || queue === "dead";
    const found = expectFinding(explained, "no_consumers", {
      must: isHealthy && !isExcused && open === 0 && now - since >= graceMs,
      may: !isAsked && !isMeantToWait && now - Math.max(granted, bornAt) >= askGraceMs,
    });
    if (found === undefined) return;
    if (isHealthy) checkCount(queue, found, readyBounds(tally, true));
    const isSure = isHealthy && since < Number.POSITIVE_INFINITY && !this.#deleted.has(queue);
    if (found.since < granted || (isSure && found.since > since)) {
      throw new Violation("I18", `${queue} has no consumers since ${since}, not ${found.since}`);
    }
  }

  /** Compares findings about recent events with the counters. */
  #checkRecent({ explained, known, isHealthy, mayBeFull, now }: Look): void {
    const { queue } = explained;
    const { recent } = known;
    known.since.look(explained, isHealthy);
    const dead = recent.within("died", hour, 5 * minute);
    checkCount(queue, expectFinding(explained, "dead_items", boundsOf(dead)), dead);
    const counted = recent.within("lapsed", 5 * minute, minute);
    const sure = known.lapses.filter((at) => now - at < 4 * minute).length;
    const lapsed = { ...counted, least: Math.max(counted.least, sure) };
    checkCount(queue, expectFinding(explained, "leases_lapsing", boundsOf(lapsed)), lapsed);
    const { pauses } = this.#options.auditor;
    const isMeantToWait = pauses.of(queue).lease || queue === "dead";
    const { rise } = recent;
    if (rise === null || !isHealthy || mayBeFull) return;
    const found = expectFinding(explained, "backlog_growing", {
      must: rise.least >= riseMin && !pauses.mayBe(queue) && queue !== "dead",
      may: rise.most >= riseMin && !isMeantToWait,
    });
    checkCount(queue, found, rise);
  }

  /** Compares findings about the present state with the tally. */
  #checkState({ place, explained, known, tally, mayBeFull, now }: Look): void {
    const { auditor } = this.#options;
    const { queue } = explained;
    const { held, ready, aside, most, dueAt, dueBy } = tally;
    const isAllKnown = held.length + aside === most;
    const mayBeReady = most > held.length + aside;
    const rest = known.recent.restMs;
    const restLeast = Math.min(rest.least, now - known.startedAt);
    const isDeleted = this.#deleted.has(queue);
    const isLimited = !auditor.isUnlimited;
    const mayBeHeld = most - ready - aside;
    const atMax = expectFinding(explained, "at_leased_max", {
      must: isLimited && place.leasedMax > 0 && held.length >= place.leasedMax && ready > 0,
      may: place.leasedMax > 0 && mayBeReady && (mayBeHeld >= place.leasedMax || mayBeFull),
    });
    checkCount(queue, atMax, readyBounds(tally, true));
    checkNext(queue, atMax, { first: lapseOf(held), isAll: false, now: mayBeFull ? 0 : now });
    const atRate = expectFinding(explained, "at_lease_rate", {
      must: isLimited && auditor.isAtRate(place, now) && ready > 0,
      may: place.leaseRate !== "" && mayBeReady,
    });
    checkCount(queue, atRate, readyBounds(tally, true));
    const { intervalMs = 0 } = parseRate(place.leaseRate) ?? {};
    const moreBy = mayBeFull ? Number.POSITIVE_INFINITY : now + 1.1 * intervalMs;
    checkNext(queue, atRate, { first: moreBy, isAll: false, now });
    expectFinding(explained, "groups_blocked", {
      must: false,
      may: place.grouped === true && mayBeReady,
    });
    const isAll = isAllKnown && held.length > 0 && !mayBeFull;
    const allLeased = expectFinding(explained, "all_leased", {
      must: isAll && !isDeleted && restLeast >= restMs.allLeased,
      may: ready === 0 && most > aside && (isDeleted || rest.most >= restMs.allLeased),
    });
    checkCount(queue, allLeased, { least: held.length, most: most - ready - aside });
    checkNext(queue, allLeased, { first: lapseOf(held), isAll, now: mayBeFull ? 0 : now });
    const allScheduled = expectFinding(explained, "all_scheduled", {
      must: aside > 0 && aside === most,
      may: ready === 0 && held.length === 0 && most > 0,
    });
    checkCount(queue, allScheduled, { least: aside, most });
    const isAllAside = aside === most;
    const first = dueAt - (isAllAside ? dueGrainMs : 0);
    checkNext(queue, allScheduled, { first: dueBy, isAll: false, now: isAllAside ? first : 0 });
  }

  /** The health is the worst finding; without findings, it depends on items and recent movement. */
  #checkHealth({ explained, known, tally, isHealthy }: Look): void {
    const { queue, findings, health } = explained;
    const places = findings.map(({ kind }) => order.indexOf(kind));
    if (places.some((place, index) => place <= (places[index - 1] ?? -1))) {
      throw new Violation("I18", `the worst finding of ${queue} is not the first`);
    }
    const [worst] = findings;
    const words =
      worst === undefined ? this.#calmWords({ known, tally, isHealthy }) : [wordOf(worst)];
    if (!words.includes(health) && !(worst === undefined && this.#deleted.has(queue))) {
      throw new Violation("I18", `${queue} is reported as ${health}, expected ${words}`);
    }
  }

  #calmWords({ known, tally, isHealthy }: Pick<Look, "known" | "tally" | "isHealthy">) {
    const { restMs: rest } = known.recent;
    const words = new Set<HealthWord>();
    // A node that is cut off may have the waiting requests.
    const mayBeEither = this.#options.hasNodes && !isHealthy;
    const isSomething = tally.ready + tally.aside + tally.held.length > 0;
    if (tally.most > 0 || rest.least < restMs.flows || !isHealthy) words.add("flows");
    if (isHealthy && (isSomething || rest.most < restMs.flows)) return [...words];
    if (mayBeEither || known.open > 0) words.add("idle");
    if (mayBeEither || known.open === 0) words.add("empty");
    return [...words];
  }

  /** Records leases of the last check that only time can have ended. */
  #noteLapses({ known, tally, isHealthy, mayBeFull, now }: Look): void {
    const faults = this.#options.faults();
    const isSure = isHealthy && !mayBeFull;
    // The counts of a turn may be lost with a dead shard.
    for (const { item, grant, until } of isSure && faults === known.faults ? known.held : []) {
      const isSame = item.grant === grant && grant.deadline === until && !grant.isOver;
      const isUntouched = isSame && item.open === 0 && grant.unansweredExtends === 0;
      if (isUntouched && until <= now && isCertain(item)) known.lapses.push(until);
    }
    known.lapses = known.lapses.filter((at) => now - at < hour);
    known.faults = faults;
    known.held = isSure
      ? tally.held.map((item) => ({ item, grant: item.grant, until: item.grant.deadline }))
      : [];
  }

  /** A client must be reported with at least the items that it certainly holds. */
  checkClients({ queue, holding }: QueueClients): void {
    const { auditor, situations } = this.#options;
    const place = this.#options.queues.find(({ name }) => name === queue);
    const held = place === undefined ? [] : auditor.tallyOf(place, this.#now).held;
    const grants = held.map(({ grant }) => grant).filter(({ client }) => client !== null);
    for (const [client, its] of Map.groupBy(grants, (one) => one.client)) {
      const reported = holding.find((one) => one.client === client)?.items ?? 0;
      if (reported < its.length) {
        const text = `${client} is reported with ${reported} items of ${queue}, but holds ${its.length}`;
        throw new Violation("I18", text);
      }
      situations.reached("a client is reported with the items that it holds");
    }
  }
}

function finding({ findings }: Explanation, word: FindingWord): Finding | undefined {
  return findings.find(({ kind }) => kind === word);
}

/** The finding, after checks that it is allowed, or required. */
function expectFinding(
  explained: Explanation,
  word: FindingWord,
  { must, may }: { readonly must: boolean; readonly may: boolean },
): Finding | undefined {
  const found = finding(explained, word);
  const { queue, asOf } = explained;
  if (found !== undefined && !may) throw new Violation("I18", `${queue} is reported as ${word}`);
  if (found === undefined && must) {
    throw new Violation("I18", `${queue} is ${word} at ${asOf}, but is not reported as such`);
  }
  return found;
}

function boundsOf({ least, most }: Bounds) {
  return { must: least > 0, may: most > 0 };
}

function readyBounds({ ready, held, aside, most }: Tally, isHealthy: boolean): Bounds {
  if (!isHealthy) return { least: 0, most: Number.POSITIVE_INFINITY };
  return { least: ready, most: most - held.length - aside };
}

function checkCount(queue: string, found: Finding | undefined, { least, most }: Bounds): void {
  if (found === undefined || (found.count >= least && found.count <= most)) return;
  const reported = `${found.kind} of ${queue} counts ${found.count}, expected ${least} to ${most}`;
  throw new Violation("I18", reported);
}

function lapseOf(held: readonly HeldItem[]): number {
  return Math.min(...held.map(({ grant }) => grant.deadline));
}

/** `first`: the first known event; with `isAll` it is exactly the next one. */
function checkNext(
  queue: string,
  found: Finding | undefined,
  { first, isAll, now }: { readonly first: number; readonly isAll: boolean; readonly now: number },
): void {
  if (found === undefined) return;
  const { kind, nextAt } = found;
  const isRight = nextAt === null ? first === Infinity : nextAt <= first && nextAt > now;
  if (isRight && (!isAll || nextAt === first)) return;
  throw new Violation("I18", `${kind} of ${queue} may end at ${nextAt}, expected ${first}`);
}

function wordOf({ kind }: Finding): HealthWord {
  return kind === "at_leased_max" || kind === "at_lease_rate" ? "at_limit" : kind;
}
