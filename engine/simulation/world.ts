// One simulated world: the real engines of all shards in this thread, clients, a virtual clock, and
// stores that fail on command. Everything follows from the seed. During a phase of faults no answer
// may be wrong (safety); then, in the drain phase, everything must come to an end (liveness).

import type { Backend } from "../../stores/backend.ts";
import type {
  Imported,
  LeaseRequest,
  Outcome,
  Produced,
  Repeatable,
  RetryItem,
} from "../model/api.ts";
import { limits } from "../model/limits.ts";
import { Advances } from "./advances.ts";
import { Auditor, type CancelTarget, Violation } from "./auditor.ts";
import { Bundle, type Ending, type Leased, start } from "./bundle.ts";
import { Chance } from "./chance.ts";
import { drain, takeCensus, usualDrainSteps } from "./drain-phase.ts";
import { Explanations } from "./explanations.ts";
import type { StoreControl } from "./faulty-store.ts";
import { GroupCalls } from "./group-calls.ts";
import { Histories } from "./histories.ts";
import { Ledger } from "./ledger.ts";
import { checkMemory } from "./memory-check.ts";
import {
  day,
  minute,
  ownSettings,
  type Parameters,
  parametersOf,
  priorityMinOf,
  second,
} from "./parameters.ts";
import type { Sides } from "./pauses.ts";
import { answeredWithinMs, type RepeatedCall, Repeats } from "./repeats.ts";
import { seededRandom } from "./seeded-random.ts";
import type { Situations } from "./situations.ts";
import { TaskCalls } from "./task-calls.ts";
import { handedIn, type ItemText, imported } from "./tracked.ts";
import { Transacts } from "./transacts.ts";
import { Watch } from "./watch.ts";
import type { DrainSteps } from "./world-parts.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly steps: number;
  readonly situations: Situations;
  /** Opens the store of a shard, instead of one in memory, on its state at the last kill. */
  readonly openStore?: (shard: number) => Promise<Backend>;
  readonly scenario?: Scenario;
  /** Receives each event. */
  readonly trace?: (line: string) => void;
}

export interface WorldReport {
  readonly calls: number;
  readonly storeFaults: number;
  readonly kills: number;
  readonly commits: number;
  /** Simulated time. */
  readonly milliseconds: number;
}

/** The scenario of a world that is not in one process: its engine, and its faults. */
export interface Scenario {
  readonly parameters: (usual: Parameters) => Parameters;
  readonly bundle: (world: World) => Bundle;
  readonly trouble: () => Promise<void>;
  /** Ends all faults. */
  readonly calm: () => Promise<void>;
  /** Whether there is no fault, and was none recently. */
  readonly isCalm: () => boolean;
  readonly drainSteps: DrainSteps;
  /** How far the time of the engine may be behind that of the world. */
  readonly behindMs: number;
  /** The command line option that selects it. */
  readonly option: string;
}

interface Open {
  readonly what: string;
  readonly lost: () => void;
}

interface SentLease {
  /** Aborts the connection on which it was last sent. */
  controller: AbortController;
  /** The number of kills before it was last sent. */
  kills: number;
  isOver: boolean;
  readonly send: (key: Repeatable) => Promise<Leased>;
}

/** A lease as its client knows it; it may have lapsed. */
interface HeldLease {
  readonly queue: string;
  readonly partition: number;
  readonly ids: string[];
  readonly deadline: number;
}

const eventsKept = 60;
/** Some groups have more items than others. */
const groupNames = ["a", "", "b", "a", "é 1", "a", "b"];
/** Calls of a shard to its store between two events; a correct one needs a few hundred. */
const callsMax = 30_000;

/** Throws `Violation`, with the command to play the world again, if a promise is broken. */
export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  const world = new World(options);
  try {
    return await world.run();
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    error.message = `${error.message}\n${world.account()}`;
    throw error;
  }
}

export class World {
  readonly parameters: Parameters;
  readonly auditor: Auditor;
  readonly bundle: Bundle;
  readonly situations: Situations;
  readonly #options: WorldOptions;
  readonly #chance: Chance;
  readonly #watch: Watch;
  readonly #repeats: Repeats;
  readonly #ledger = new Ledger();
  readonly histories: Histories;
  /** The number of shard deaths before the process started. */
  #downsBefore = 0;
  readonly explanations: Explanations;
  readonly #transacts: Transacts;
  readonly tasks: TaskCalls;
  readonly #advances: Advances;
  readonly #groups: GroupCalls;
  /** The next commits may kill the process. */
  #isDying = false;
  #shardCount: number;
  /** A generator of its own, so that old seeds play the same worlds. */
  readonly #moves: Chance;
  /** Items may have changed without being counted by any shard. */
  #isUncounted = false;
  readonly #open = new Set<Open>();
  readonly #events: string[] = [];
  readonly #heldLeases: HeldLease[] = [];
  readonly #sentLeases: SentLease[] = [];
  readonly #happenings: {
    readonly [event in keyof Parameters["weights"]]: () => void | Promise<void>;
  } = {
    produce: () => this.produce(),
    import: () => this.#import(),
    lease: () => this.lease(),
    complete: () => this.complete(),
    retry: () => this.#retry(),
    transact: () => this.#transacts.start(),
    task: () => this.tasks.start(),
    extend: () => this.#extend(),
    release: () => this.#release(),
    cancel: () => this.#cancel(),
    repeat: () => this.#repeats.repeat(),
    pause: () => this.#pause(),
    abort: () => this.#abort(),
    rest: () => this.rest(),
    pass: () => this.pass(this.#chance.one([1, 10, 100, second, 10 * second])),
    leap: () => this.#leap(),
    storeFault: () => {
      this.#failStore();
      this.#transactInto();
    },
    slow: () => this.#slowDown(),
    kill: () => this.#kill(),
    damage: () => this.#damage(),
    resize: () => this.resize(),
    clear: () => this.#clear(),
    recreate: () => this.#recreate(),
    census: () => this.#census(),
    trouble: () => this.#options.scenario?.trouble(),
    crowd: () => this.#crowd(),
    group: () => this.#groups.start(),
  };
  #violation: unknown = null;
  #isRecreating = false;
  #slow = false;
  #slowTimes = 0;
  #keys = 0;
  #step = 0;
  #calls = 0;
  #faults = 0;
  #kills = 0;
  #elapsed = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.situations = options.situations;
    this.#chance = new Chance(seededRandom(options.seed));
    this.#moves = new Chance(seededRandom(options.seed + 1));
    const usual = parametersOf(this.#chance, options.seed);
    this.parameters = options.scenario?.parameters(usual) ?? usual;
    this.#shardCount = this.parameters.shardCount;
    this.auditor = new Auditor(this.parameters, options.situations, {
      hasNodes: options.scenario !== undefined,
    });
    this.#watch = new Watch(options.situations, this.parameters.bounds.sweepItemsMax);
    this.histories = new Histories(this.situations, () => this.earliest);
    this.explanations = this.#explanations();
    this.bundle =
      options.scenario?.bundle(this) ??
      new Bundle({
        shardCount: this.#shardCount,
        seed: options.seed,
        waitingLeasesMax: 50,
        syncsLater: this.parameters.syncsLater,
        hasTestClock: this.parameters.hasTestClock === true,
        turnLimits: { ...limits, ...this.parameters.bounds },
        ...(options.openStore === undefined ? {} : { openStore: options.openStore }),
        watching: (engine) => {
          this.#downsBefore = this.bundle.downs;
          this.#isUncounted = this.auditor.damagedCount > 0;
          const { hasSearches } = this.parameters;
          return this.#ledger.watching(hasSearches ? this.histories.watching(engine) : engine);
        },
        // This check doubles the time of a world, and most bugs that it finds show in many worlds.
        ...(this.#chance.hits(400) ? { observe: checkMemory } : {}),
      });
    this.#repeats = new Repeats({
      chance: this.#chance,
      situations: this.situations,
      now: () => this.now,
      earliest: () => this.earliest,
      log: (event) => this.log(event),
      receiptsWindowMs: this.parameters.bounds.receiptsWindowMs,
      hasNodes: options.scenario !== undefined,
      hasExtends: this.parameters.weights.extend > 0,
      reconnects: this.parameters.reconnects === true,
      send: (what, call, answered, timeoutMs) => this.#call(what, call, answered, timeoutMs),
    });
    this.#transacts = this.#transactCalls();
    this.tasks = this.#taskCalls();
    this.#groups = this.#groupCalls();
    this.#advances = new Advances({
      situations: options.situations,
      bundle: () => this.bundle,
      log: (event) => this.log(event),
    });
    this.#watchStores();
  }

  #explanations(): Explanations {
    return new Explanations({
      auditor: this.auditor,
      situations: this.situations,
      queues: this.parameters.queues,
      stores: () => this.#stores,
      clearing: (queue) => (this.parameters.syncsLater ? 0 : this.bundle.clearing(queue)),
      witness: () => this.bundle.witness,
      faults: () => this.auditor.faults + this.bundle.downs,
      hasNodes: this.#options.scenario !== undefined,
      now: () => this.now,
    });
  }

  #transactCalls(): Transacts {
    return new Transacts({
      parameters: this.parameters,
      chance: this.#chance,
      auditor: this.auditor,
      situations: this.situations,
      engine: () => this.bundle.engine,
      now: () => this.now,
      earliest: () => this.earliest,
      log: (event) => this.log(event),
      batch: () => this.#batch(),
      text: (mayBeUnique) => this.#text(mayBeUnique),
      queueName: () => this.#queueName(),
      repeatable: (call) => this.#repeatable(call),
      endingText,
    });
  }

  #groupCalls(): GroupCalls {
    return new GroupCalls({
      queues: this.parameters.queues,
      names: [...new Set(groupNames)],
      chance: this.#chance,
      auditor: this.auditor,
      situations: this.situations,
      engine: () => this.bundle.engine,
      now: () => this.now,
      log: (event) => this.log(event),
      call: (what, send, ended) => this.#call(what, send, ended),
      endingText,
    });
  }

  #taskCalls(): TaskCalls {
    return new TaskCalls({
      retriesLeased: this.parameters.retriesLeased === true,
      prioritizes: this.parameters.prioritizes === true,
      chance: this.#chance,
      auditor: this.auditor,
      situations: this.situations,
      bundle: () => this.bundle,
      now: () => this.now,
      log: (event) => this.log(event),
      repeatable: (call) => this.#repeatable(call),
      rest: () => this.rest(),
      endingText,
    });
  }

  #watchStores(): void {
    for (let shard = 0; shard < this.#shardCount; shard += 1) {
      const store = this.bundle.store(shard);
      store.onCommit = (changes) => this.#watch.committed(shard, changes);
      store.onFault = (commit) => this.auditor.faulted(commit);
      store.callsMax = callsMax;
    }
  }

  get #stores(): StoreControl[] {
    return Array.from({ length: this.#shardCount }, (_, shard) => this.bundle.store(shard));
  }

  get now(): number {
    return this.bundle.now;
  }

  /** No engine has an earlier time than this. */
  get earliest(): number {
    return this.now - (this.#options.scenario?.behindMs ?? 0);
  }

  get drainSteps(): DrainSteps {
    return this.#options.scenario?.drainSteps ?? usualDrainSteps;
  }

  account(): string {
    const { seed, steps } = this.#options;
    return [
      `seed ${seed}, step ${this.#step} of ${steps}: bun run sim --seed ${seed} --steps ${steps}${this.#options.scenario?.option ?? ""}`,
      JSON.stringify(this.parameters),
      ...this.#events,
    ].join("\n");
  }

  log(event: string): void {
    const line = `${this.now - start} ${event}`;
    this.#options.trace?.(line);
    this.#events.push(line);
    if (this.#events.length > eventsKept) this.#events.shift();
  }

  /** Throws the violation that a callback found, between two events, so that the world stops. */
  #rethrow(): void {
    if (this.#violation !== null) throw this.#violation;
    const bug = this.bundle.bug();
    if (bug !== null) throw bug;
    for (let shard = 0; shard < this.#shardCount; shard += 1) {
      this.bundle.store(shard).rested();
    }
  }

  async rest(): Promise<void> {
    await this.bundle.clock.settle();
    this.#rested();
    await this.bundle.checkWholes();
  }

  async pass(ms: number): Promise<void> {
    await this.#advance(ms);
    await this.bundle.clock.advance(ms);
    this.#elapsed += ms;
    this.#rested();
  }

  /** Advances the test clock, while everything else stands still. */
  async #advance(ms: number): Promise<void> {
    if (this.parameters.hasTestClock !== true || ms === 0) return;
    await this.#advances.advance(ms, { isDying: this.#isDying });
  }

  /** Once the clock has settled, all messages have arrived, unless a store delays them. */
  #rested(): void {
    this.#rethrow();
    const isUp = ({ up }: { readonly up: boolean }): boolean => up;
    const { engine, downs } = this.bundle;
    const status = engine.status();
    const isSlow = this.#slow || this.#stores.some(({ isHeld, isSilent }) => isHeld || isSilent);
    const isHealthy = !isSlow && status.shards.every(isUp);
    if (isHealthy) this.auditor.rested(this.now);
    if (isHealthy && this.parameters.weights.task > 0) this.tasks.watch();
    const { scenario } = this.#options;
    this.explanations.check({ isCalm: scenario?.isCalm() ?? !isSlow });
    // With several nodes, each owner counts from zero.
    if (!isHealthy || scenario !== undefined) return;
    this.#isUncounted ||= downs > this.#downsBefore || this.auditor.damagedCount > 0;
    this.#ledger.check(status, !this.#isUncounted);
  }

  async run(): Promise<WorldReport> {
    await this.#begin();
    for (this.#step = 0; this.#step < this.#options.steps; this.#step += 1) {
      await this.#happen();
      this.#rethrow();
    }
    await this.calmDown();
    if (this.parameters.weights.pause > 0) await this.#resumeAll();
    if (this.parameters.hasGroups) await this.#openGroups();
    await drain(this);
    this.auditor.finish(this.now);
    this.#rethrow();
    let commits = 0;
    for (let shard = 0; shard < this.#shardCount; shard += 1) {
      commits += this.bundle.store(shard).commits;
    }
    return {
      calls: this.#calls,
      storeFaults: this.#faults,
      kills: this.#kills,
      commits,
      milliseconds: this.#elapsed,
    };
  }

  async #begin(): Promise<void> {
    await this.bundle.open();
    this.explanations.restarted();
    for (const queue of [...this.parameters.queues].reverse()) await this.#create(queue.name);
  }

  async #create(name: string): Promise<void> {
    const queue = this.parameters.queues.find((one) => one.name === name);
    if (queue === undefined) return;
    const { partitions, ...settings } = queue;
    const ending = await this.bundle.ending(() =>
      this.bundle.engine.createQueue({
        ...settings,
        reference: "",
        requestedPartitions: partitions,
      }),
    );
    if (!ending.ok && !ending.message.includes("already exists")) {
      throw new Violation("I8", `a queue could not be created; ${ending.message}`);
    }
  }

  async #happen(): Promise<void> {
    await this.happen(this.#chance.weighted(this.parameters.weights));
  }

  async happen(event: keyof Parameters["weights"]): Promise<void> {
    await this.#happenings[event]();
  }

  async #leap(): Promise<void> {
    // A shard checks a full disk for room once per second, which is too often for days.
    this.#heal();
    const ms = this.#chance.one([minute, 20 * minute, 61 * minute, day, 31 * day]);
    if (this.parameters.hasTestClock === true && this.#chance.hits(500)) await this.#advance(ms);
    else await this.pass(ms);
    this.situations.reached("days pass at once");
  }

  /** Items arrive faster than they leave, for long enough to become a finding. */
  async #crowd(): Promise<void> {
    const queue = this.#queueName();
    this.#heal();
    for (let passed = 0; passed < 7 * minute; passed += 20 * second) {
      for (let count = 0; count < 2; count += 1) this.produce(queue);
      await this.pass(20 * second);
    }
  }

  // clients ---------------------------------------------------------------

  /** Starts a call; the auditor gets its answer even if its client has disconnected. */
  #call<T>(
    what: string,
    call: () => Promise<T>,
    ended: (ending: Ending<T> | null) => void,
    timeoutMs = Number.POSITIVE_INFINITY,
  ): void {
    this.#calls += 1;
    const deadline = this.bundle.clock.now() + timeoutMs;
    const open: Open = { what, lost: () => ended(null) };
    this.#open.add(open);
    const end = (ending: Ending<T>): void => {
      if (!this.#open.delete(open)) return;
      try {
        // A stopped node answers after it continues.
        const isLate = this.bundle.clock.now() > deadline && this.#options.scenario === undefined;
        if (isLate) throw new Violation("I11", `a ${what} is answered after its deadline`);
        const isUnknown = !ending.ok && ending.code === "unknown";
        if (!ending.ok && ending.message.includes("no node owns the shard of")) {
          this.situations.reached("a call finds no owner of its shard");
        }
        if (isUnknown) this.situations.reached("a call is answered before its outcome is known");
        ended(isUnknown ? null : ending);
      } catch (cause) {
        this.#violation ??= cause;
      }
    };
    this.bundle.outcome(call).then(end, (cause) => {
      this.#violation ??= cause;
    });
  }

  /** A call that may be repeated, in worlds with idempotency keys. */
  #repeatable<T extends Outcome>(call: RepeatedCall<T>): void {
    const isKeyed =
      this.parameters.repeats &&
      // The receipts of a queue do not survive its delete.
      !(call.queue === "plain" && this.#isRecreating) &&
      this.#chance.hits(600);
    if (isKeyed) this.#repeats.begin(call);
    else {
      const { what, send } = call;
      const ended = (ending: Ending<T> | null) => call.ended(ending, false);
      this.#call(what, () => send({}), ended, answeredWithinMs(call));
    }
  }

  #queueName(): string {
    return this.#chance.one(["orders", "orders", "plain"]);
  }

  produce(queue = this.#queueName()): void {
    const count = this.#chance.between(1, this.parameters.batchMax);
    const { uniqueForMs = 0 } = this.parameters.queues.find(({ name }) => name === queue) ?? {};
    const texts = Array.from({ length: count }, () => this.#text(uniqueForMs > 0));
    const hasKeys = texts.some(({ uniqueKey }) => uniqueKey !== "");
    const call = this.auditor.produceBegun(queue, texts, this.earliest);
    const { downs } = this.bundle;
    const request = {
      queue,
      requestTimeoutMs: this.parameters.requestTimeoutMs,
      items: texts.map(handedIn),
    };
    this.log(`produce ${count} to ${queue} from ${texts[0]?.key}`);
    this.#repeatable({
      what: "produce",
      queue,
      timeoutMs: this.parameters.requestTimeoutMs,
      send: (key) => {
        call.begunAt = Math.min(call.begunAt, this.earliest);
        return this.bundle.engine.produce({ ...request, ...key });
      },
      sendOther: (key) => {
        // With and without unique keys, a call has different partitions.
        const kept = request.items.slice(hasKeys ? 0 : 1);
        const items = [...kept, { payload: "of another request" }];
        return this.bundle.engine.produce({ ...request, items, ...key });
      },
      doubted: () => this.auditor.produceDoubted(call),
      ended: (ending) => {
        this.log(`  produced ${texts[0]?.key}: ${endingText(ending)}`);
        this.auditor.produceEnded(call, ending, this.now);
        this.auditor.checkWaiting(call, ending, this.now);
        this.#watch.ended("produce", ending, this.bundle.downs > downs);
      },
    });
  }

  /** Like `produce`, but the caller chooses the partition. */
  #import(): void {
    const queue = this.#queueName();
    const { partitions = 1 } = this.parameters.queues.find(({ name }) => name === queue) ?? {};
    const count = this.#chance.between(1, this.parameters.batchMax);
    const texts = Array.from({ length: count }, () => this.#text(false));
    const call = this.auditor.produceBegun(queue, texts, this.earliest);
    const partition = this.#chance.below(partitions);
    const request = { queue, partition, items: texts.map(imported) };
    this.log(`import ${count} to ${queue}/${partition} from ${texts[0]?.key}`);
    this.#repeatable({
      what: "import",
      queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      isAnsweredLater: true,
      send: (key) => {
        call.begunAt = Math.min(call.begunAt, this.earliest);
        return this.bundle.engine.importItems({ ...request, ...key });
      },
      sendOther: (key) => {
        const items = [...request.items, { payload: "of another request" }];
        return this.bundle.engine.importItems({ ...request, items, ...key });
      },
      doubted: () => this.auditor.produceDoubted(call),
      ended: (ending) => {
        this.log(`  imported ${texts[0]?.key}: ${endingText(ending)}`);
        this.auditor.produceEnded(call, asProduced(ending), this.now);
        if (ending?.ok === true) this.situations.reached("items are imported");
      },
    });
  }

  #text(mayBeUnique: boolean): ItemText {
    this.#keys += 1;
    const uniqueKey = mayBeUnique && this.#chance.hits(600) ? `u${this.#chance.below(8)}` : "";
    const key = `i${this.#keys}`;
    const isLater = this.#chance.hits(this.parameters.scheduled);
    const asBytes = this.#chance.hits(300);
    const { laterMsMax } = this.parameters;
    if (asBytes) this.situations.reached("bytes and text are stored");
    const text = {
      key,
      payload: `${key}|${this.#chance.one(["", "é\u0000\n", "x".repeat(300)])}`,
      kind: this.#chance.one(["", "kind"]),
      encoding: this.#chance.one(["", "utf-8"]),
      reference: this.#chance.one(["", key]),
      asBytes,
      enqueueAt: isLater ? this.now + this.#chance.one([1, second, minute, laterMsMax]) : null,
      uniqueKey,
      // Not by chance, so that worlds without priorities stay as they are.
      priority: this.parameters.hasPriorities ? ([0, 5, 0, 9, 4, 5][this.#keys % 6] ?? 0) : 0,
      ...ownSettings(this.parameters.hasOwnSettings ? this.#keys : 0),
      group: this.parameters.hasGroups ? (groupNames[this.#keys % groupNames.length] ?? "") : "",
      headers: this.#keys % 3 === 0 ? { of: key } : undefined,
    };
    if (!this.parameters.isPlain) return text;
    return {
      ...text,
      ...{ kind: "", encoding: "", reference: "" },
      asBytes: false,
      headers: undefined,
      ...ownSettings(0),
    };
  }

  lease(name?: string): void {
    const client = this.#chance.below(this.parameters.clients);
    const queue = name ?? (this.#chance.hits(150) ? "dead" : this.#queueName());
    const leaseTimeoutMs = this.#leaseTimeout();
    const request: LeaseRequest = {
      leaseTimeoutMs,
      queue,
      clientId: `client-${client}`,
      batchSize: this.#chance.between(1, this.parameters.batchMax),
      requestTimeoutMs: this.parameters.requestTimeoutMs,
      priorityMin: priorityMinOf(`client-${client}`, this.parameters),
      groupRuns: client % 2 === 0,
    };
    const { begun } = this.auditor;
    const sentLease = this.#sendLease(request);
    const begunAt = this.earliest;
    const { faults, pauses } = this.auditor;
    const paused = pauses.since(queue).lease;
    const stepBegun = this.#step;
    const wasSlow = this.#slow;
    const slowBegun = this.#slowTimes;
    const isSlow = () => wasSlow || this.#slow || this.#slowTimes > slowBegun;
    // A grant that is too late for its client is requeued at the tail, or lapses before.
    const sent = { batchSize: request.batchSize, begun, begunAt };
    const unanswered = () => this.auditor.leaseUnanswered(queue, sent);
    this.log(`lease ${request.batchSize} of ${queue} by ${request.clientId}`);
    this.#repeatable({
      what: "lease",
      queue,
      timeoutMs: this.parameters.requestTimeoutMs,
      isAnsweredLater: true,
      send: sentLease.send,
      doubted: (answer) => {
        const hasLeft = sentLease.controller.signal.aborted;
        // A killed process releases nothing: a repetition is answered from the receipt.
        const isStalled = answer === null && sentLease.kills === this.#kills;
        if (this.parameters.reconnects || hasLeft || isStalled) unanswered();
        // A commit in progress may have granted items to a client that has disconnected.
        if (hasLeft && isSlow()) this.auditor.faulted();
        else if (isStalled) this.auditor.mayHaveLapsed(queue);
      },
      ended: (ending, wasLost) => {
        sentLease.isOver = true;
        this.log(`  leased by ${request.clientId}: ${leaseText(ending)}`);
        if (ending?.ok !== true) {
          // A timeout guarantees that nothing was leased.
          const isSure = ending !== null && !wasLost && this.#isTimeout(ending);
          if (!isSure) unanswered();
          const { priorityMin = 0 } = request;
          if (isSure && !isSlow()) {
            this.auditor.checkIdle(queue, { begun, faults, priorityMin }, this.now);
          }
          if (isSlow()) {
            if (!isSure) this.auditor.faulted();
            this.situations.reached("a lease times out while a commit is slow");
          }
        } else {
          // The clock may have been set back since the call was first sent.
          const since = wasLost ? Number.NEGATIVE_INFINITY : begunAt;
          const { clientId, priorityMin = 0 } = request;
          const asked = { begun, begunAt: since, leaseTimeoutMs, clientId, priorityMin };
          const call = { ...asked, faults, paused };
          this.auditor.leased(ending.value, call, this.now);
          this.#keep(ending.value);
        }
        this.#watch.leaseEnded(ending, this.now > begunAt || this.#step > stepBegun + 5);
      },
    });
  }

  #sendLease(request: LeaseRequest): SentLease {
    const sentLease: SentLease = {
      controller: new AbortController(),
      kills: this.#kills,
      isOver: false,
      send: (key) => {
        sentLease.controller = new AbortController();
        sentLease.kills = this.#kills;
        const { signal } = sentLease.controller;
        return this.explanations.asking(request.queue, () =>
          this.bundle.engine.lease({ ...request, ...key, signal }),
        );
      },
    };
    this.#sentLeases.push(sentLease);
    return sentLease;
  }

  /** With several nodes, an owner may fail with a lease that another node then answers. */
  #isTimeout(ending: Ending<Leased>): boolean {
    if (ending.ok || ending.code !== "empty" || this.#options.scenario !== undefined) return false;
    return /^(request timeout|queue is paused);/.test(ending.message);
  }

  /** Most clients receive the answer; leases of the others lapse. */
  #keep({ queue, partition, items }: Leased): void {
    if (this.#chance.hits(50) || items.length === 0) return;
    const ids = items.map(({ id }) => id);
    this.#heldLeases.push({ queue, partition, ids, deadline: items[0]?.leaseDeadline ?? 0 });
    if (this.#heldLeases.length > 50) this.#heldLeases.shift();
  }

  /** A lease to finish and some of its ids, sometimes with a wrong or repeated one. */
  #batch(): { held: HeldLease; ids: string[] } | undefined {
    const held = this.#chance.maybe(this.#heldLeases);
    if (held === undefined) return undefined;
    const ids = this.#chance.hits(700) ? [...held.ids] : this.#chance.some(held.ids);
    const isKept = this.#chance.hits(100);
    if (!isKept) {
      for (const id of ids) held.ids.splice(held.ids.indexOf(id), 1);
      if (held.ids.length === 0) this.#heldLeases.splice(this.#heldLeases.indexOf(held), 1);
    }
    if (held.ids.length > 0 && !isKept) this.situations.reached("a part of a lease is completed");
    if (this.#chance.hits(40)) ids.push(ids[0] ?? "");
    if (this.#chance.hits(40)) {
      const other = this.#chance.maybe(
        this.#heldLeases.filter(({ queue }) => queue === held.queue),
      );
      const id = other?.ids[0];
      if (id !== undefined && !ids.includes(id)) ids.push(id);
    }
    return ids.length === 0 ? undefined : { held, ids };
  }

  complete(): void {
    const batch = this.#batch();
    if (batch === undefined) return;
    this.#startComplete(batch);
    // The client gets no answer and repeats the call, or two clients share the lease.
    if (this.#chance.hits(60)) this.#startComplete(batch);
  }

  #startComplete({ held: { queue, partition }, ids }: { held: HeldLease; ids: string[] }): void {
    const call = this.auditor.finishBegun("complete", { partition, ids }, this.earliest);
    const { downs } = this.bundle;
    const request = { queue, partition, requestTimeoutMs: this.parameters.requestTimeoutMs, ids };
    this.log(`complete ${ids.length} of ${queue}/${partition} ${call.items[0]?.key}`);
    this.#repeatable({
      what: "complete",
      queue,
      timeoutMs: this.parameters.requestTimeoutMs,
      send: (key) => this.bundle.engine.complete({ ...request, ...key }),
      doubted: () => this.auditor.finishDoubted(call),
      ended: (ending, wasLost) => {
        this.log(`  completed ${call.items[0]?.key}: ${endingText(ending)}`);
        this.auditor.finishEnded(call, ending, { now: this.now, wasLost });
        this.#watch.ended("complete", ending, this.bundle.downs > downs);
      },
    });
  }

  #retry(): void {
    const batch = this.#batch();
    if (batch === undefined) return;
    const { held, ids } = batch;
    const items = ids.map((id): RetryItem => {
      const ms = this.#chance.hits(400) ? this.#chance.one([-second, 1, second, 5 * minute]) : null;
      const dead = this.#chance.hits(150);
      if (ms === null) return { id, retryAt: null, dead, reason: `why ${id}` };
      return ms === second
        ? { id, retryAt: null, retryAfterMs: ms, dead }
        : { id, retryAt: this.now + ms, dead };
    });
    const place = { partition: held.partition, ids };
    const call = this.auditor.finishBegun("retry", place, this.earliest, { how: items });
    const { downs } = this.bundle;
    const request = { queue: held.queue, partition: held.partition, items };
    this.log(`retry ${ids.length} of ${held.queue}/${held.partition} ${call.items[0]?.key}`);
    this.#repeatable({
      what: "retry",
      queue: held.queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      send: (key) => this.bundle.engine.retry({ ...request, ...key }),
      doubted: () => this.auditor.finishDoubted(call),
      ended: (ending, wasLost) => {
        this.log(`  retried ${call.items[0]?.key}: ${endingText(ending)}`);
        this.auditor.finishEnded(call, ending, { now: this.now, wasLost });
        this.#watch.ended("retry", ending, this.bundle.downs > downs);
      },
    });
  }

  /** A lease timeout for a call, in worlds with extends; `null` = that of the queue. */
  #leaseTimeout(): number | null {
    if (this.parameters.weights.extend === 0 || this.#chance.hits(600)) return null;
    this.situations.reached("a lease has a timeout of its own");
    return this.#chance.one([10, second, minute, 10 * minute]);
  }

  /** The client keeps the lease, and may still complete its items. */
  #extend(): void {
    const held = this.#chance.maybe(this.#heldLeases);
    if (held === undefined) return;
    const { queue, partition } = held;
    const some = this.#chance.hits(500) ? [...held.ids] : this.#chance.some(held.ids);
    if (some.length === 0) return;
    const leaseTimeoutMs = this.#leaseTimeout();
    const ids = leaseTimeoutMs === null ? this.auditor.likeFirst(some) : some;
    const where = { partition, ids };
    const call = this.auditor.finishBegun("extend", where, this.earliest, { leaseTimeoutMs });
    const request = { queue, partition, ids, leaseTimeoutMs };
    this.log(`extend ${ids.length} of ${queue}/${partition} ${call.items[0]?.key}`);
    this.#repeatable({
      what: "extend",
      queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      send: (key) => this.bundle.engine.extend({ ...request, ...key }),
      doubted: () => this.auditor.finishDoubted(call),
      ended: (ending, wasLost) => {
        this.log(`  extended ${call.items[0]?.key}: ${endingText(ending)}`);
        this.auditor.extendEnded(call, ending, { now: this.now, wasLost });
      },
    });
  }

  #release(): void {
    const batch = this.#batch();
    if (batch === undefined) return;
    const { held, ids } = batch;
    const { queue, partition } = held;
    const call = this.auditor.finishBegun("release", { partition, ids }, this.earliest);
    const request = { queue, partition, ids };
    this.log(`release ${ids.length} of ${queue}/${partition} ${call.items[0]?.key}`);
    this.#repeatable({
      what: "release",
      queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      send: (key) => this.bundle.engine.release({ ...request, ...key }),
      doubted: () => this.auditor.finishDoubted(call),
      ended: (ending, wasLost) => {
        this.log(`  released ${call.items[0]?.key}: ${endingText(ending)}`);
        this.auditor.finishEnded(call, ending, { now: this.now, wasLost });
      },
    });
  }

  /** Items of a lease, whose holder keeps their ids, or items of a partition as listed. */
  #cancel(): void {
    const held = this.#chance.maybe(this.#heldLeases);
    if (held !== undefined && this.#chance.hits(500)) {
      const targets = this.#chance.some(held.ids).map((id) => ({ id }));
      this.#startCancel(held.queue, targets);
      return;
    }
    // Nodes are only asked for what a client calls.
    if (this.#options.scenario !== undefined) return;
    const request = { queue: this.#queueName(), partition: 0, pivot: "", limit: 3 };
    const { engine } = this.bundle;
    const isLater = this.#chance.hits(300);
    this.#call(
      "list",
      () => (isLater ? engine.listScheduled(request) : engine.listItems(request)),
      (ending) => {
        if (ending?.ok === true) this.#startCancel(request.queue, ending.value);
      },
    );
  }

  #startCancel(queue: string, targets: readonly CancelTarget[]): void {
    if (targets.length === 0) return;
    const call = this.auditor.cancelBegun(targets, this.earliest);
    const ids = targets.map(({ id }) => id);
    this.log(`cancel ${ids.length} of ${queue} ${ids[0]}`);
    this.#repeatable({
      what: "cancel",
      queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      send: (key) => this.bundle.engine.cancelItems({ queue, ids, ...key }),
      doubted: () => undefined,
      ended: (ending, wasLost) => {
        this.log(`  cancelled ${ids[0]}: ${endingText(ending)}`);
        this.auditor.cancelEnded(call, ending, { now: this.now, wasLost });
      },
    });
  }

  #abort(): void {
    const sentLease = this.#chance.maybe(this.#sentLeases.filter(({ isOver }) => !isOver));
    if (sentLease === undefined) return;
    this.log("a client disconnects");
    sentLease.controller.abort();
    this.situations.reached("a client disconnects while its lease waits");
    if (this.parameters.reconnects && this.#chance.hits(500)) this.#repeats.repeat(sentLease.send);
  }

  // operators -------------------------------------------------------------

  resize(name = this.#queueName()): void {
    const requestedPartitions = this.#chance.one([1, 2, 3, 6]);
    const { engine } = this.bundle;
    this.log(`${name} gets ${requestedPartitions} partitions`);
    this.#call(
      "resize",
      () => engine.updateQueue({ name, requestedPartitions }),
      (ending) => this.log(`  resized ${name}: ${endingText(ending)}`),
    );
  }

  async #pause(): Promise<void> {
    const queue = this.#queueName();
    if (this.#chance.hits(200)) await this.#breakBefore(queue);
    const isResumed = this.#chance.hits(500);
    const [lease, produce] = this.#chance.one([
      [true, false],
      [true, false],
      [true, true],
      [false, true],
    ] as const);
    const asked = isResumed ? { lease: false, produce: false } : { lease, produce };
    if (!this.auditor.pauses.isOpen(queue)) this.#startPause(queue, asked);
  }

  /** Takes a shard down with leases, produces and updates in flight. */
  async #breakBefore(queue: string): Promise<void> {
    if (this.#options.scenario !== undefined) return await this.#options.scenario.trouble();
    this.produce(queue);
    await this.rest();
    const shard = this.#chance.below(this.#shardCount);
    this.log(`store ${shard} is slow, and fails`);
    this.auditor.faulted();
    this.bundle.store(shard).fail({ fault: "failed", applied: this.#chance.hits(500) });
    this.bundle.store(shard).hold();
    this.produce(queue);
    await this.rest();
    this.resize(queue);
    await this.rest();
    for (let count = 0; count < 3; count += 1) this.lease(queue);
    this.produce(queue);
    await this.rest();
    this.#releaseAll();
    await this.rest();
    this.situations.reached("a shard goes down before its queue is paused");
  }

  #startPause(queue: string, asked: Sides): void {
    const call = this.auditor.pauses.begun(queue, asked);
    const isResume = !asked.lease && !asked.produce;
    const { engine } = this.bundle;
    this.log(`pause ${queue} ${JSON.stringify(asked)}`);
    this.#call(
      "pause",
      () => (isResume ? engine.resume(queue) : engine.pause({ queue, ...asked })),
      (ending) => {
        this.log(`  paused ${queue}: ${endingText(ending)}`);
        this.auditor.pauses.ended(call, ending, this.now);
        if (ending?.ok === true) {
          this.situations.reached(isResume ? "a queue is resumed" : "a queue is paused");
        }
      },
    );
  }

  /** Lifts all limits and pauses, so that the drain phase can consume everything. */
  async #resumeAll(): Promise<void> {
    this.auditor.limitsLifted();
    for (const { name } of this.parameters.queues) {
      await this.bundle.run(() =>
        this.bundle.engine.updateQueue({ name, leasedMax: 0, leaseRate: "", waitingMax: 0 }),
      );
      this.#startPause(name, { lease: false, produce: false });
      await this.rest();
    }
  }

  async #openGroups(): Promise<void> {
    this.auditor.groupLimitsLifted();
    this.#groups.openAll();
    await this.rest();
  }

  #clear(): void {
    const queue = this.#queueName();
    const ready = this.#chance.hits(700);
    const what = {
      ready,
      scheduled: !ready || this.#chance.hits(500),
      retried: this.#chance.hits(500),
      destructive: this.#chance.hits(500),
    };
    const call = this.auditor.clearBegun(
      queue,
      { isDelete: false, ready, takesLeased: ready && what.destructive },
      this.now,
    );
    const { engine } = this.bundle;
    const kills = this.#kills;
    if (this.parameters.weights.crowd > 0 && !this.#slow) {
      this.#slow = true;
      this.#slowTimes += 1;
      for (const store of this.#stores) store.holdAfter(1);
      this.auditor.faulted();
    }
    const isLost = this.parameters.syncsLater && !this.parameters.hasTestClock;
    if (isLost && this.#chance.hits(300)) this.#loseClear();
    this.log(`clear ${queue} ${JSON.stringify(what)}`);
    this.#call(
      "clear",
      () => engine.clear({ queue, ...what }),
      (ending) => {
        this.log(`  cleared ${queue}: ${endingText(ending)}`);
        // A stalled shard still has the call.
        if (ending === null && kills === this.#kills) return;
        this.auditor.clearEnded(call, ending, this.now);
        if (ending?.ok === true) {
          this.situations.reached(
            what.ready && what.destructive
              ? "a queue is cleared with its leases"
              : "a queue is cleared",
          );
        }
      },
    );
  }

  /** Loses one of the turns of the clear, perhaps its last one. */
  #loseClear(): void {
    const shard = this.#chance.below(this.#shardCount);
    const commits = this.#chance.below(3);
    this.#faults += 1;
    this.log(`store ${shard} fails to sync after ${commits} commits, and what it wrote is lost`);
    this.bundle.store(shard).failAfter(commits, { fault: "failed", sync: "lost" });
    this.situations.reached("a sync fails");
  }

  async #recreate(): Promise<void> {
    if (this.#repeats.isSending("plain")) return;
    this.#repeats.giveUp("plain");
    this.#isRecreating = true;
    this.explanations.deleting("plain");
    const force = this.#chance.hits(500);
    const call = this.auditor.clearBegun(
      "plain",
      { isDelete: true, ready: true, takesLeased: true },
      this.now,
    );
    const { engine } = this.bundle;
    this.log(`delete plain ${force ? "by force" : ""}`);
    this.#call(
      "delete",
      () => engine.deleteQueue({ name: "plain", force }),
      (ending) => {
        this.log(`  deleted plain: ${endingText(ending)}`);
        this.#isRecreating = false;
        this.auditor.clearEnded(call, ending, this.now);
        if (ending?.ok === true) this.situations.reached("a queue is deleted with its items");
        else if (ending?.code === "refused") {
          this.situations.reached("a delete is refused, because the queue holds items");
        }
      },
    );
    if (this.#chance.hits(700)) await this.rest();
    this.#call(
      "create",
      () => engine.createQueue(this.#plainSettings()),
      (ending) => this.log(`  created plain: ${endingText(ending)}`),
    );
  }

  #plainSettings() {
    const plain = this.parameters.queues.find(({ name }) => name === "plain");
    if (plain === undefined) throw new Error("the world has no queue to delete");
    const { partitions, ...settings } = plain;
    return { ...settings, reference: "", requestedPartitions: partitions };
  }

  // faults ----------------------------------------------------------------

  #failStore(): void {
    const shard = this.#chance.below(this.#shardCount);
    const store = this.bundle.store(shard);
    this.#faults += 1;
    if (this.#chance.hits(350)) {
      const sticky = this.#chance.hits(300);
      this.log(`store ${shard} is full ${sticky ? "until freed" : "once"}`);
      store.fail({ fault: "full", sticky });
      this.situations.reached("a store is full");
      return;
    }
    if (this.parameters.syncsLater && this.#chance.hits(500)) {
      const sync = this.#chance.one(["kept", "lost"] as const);
      this.log(`store ${shard} fails to sync, and what it wrote is ${sync}`);
      store.fail({ fault: "failed", sync });
      this.situations.reached("a sync fails");
      return;
    }
    const applied = this.#chance.hits(500);
    this.log(`store ${shard} fails ${applied ? "after" : "before"} it commits`);
    store.fail({ fault: "failed", applied });
    this.situations.reached(
      applied ? "a store fails after it committed" : "a store fails before it commits",
    );
  }

  /** In worlds with transacts, lets the next fault mostly hit one of them. */
  #transactInto(): void {
    if (this.parameters.weights.transact === 0) return;
    for (let count = this.#chance.below(4); count > 0; count -= 1) this.#transacts.start();
  }

  async #slowDown(): Promise<void> {
    const shard = this.#chance.below(this.#shardCount);
    this.log(`store ${shard} is ${this.#slow ? "released" : "slow"}`);
    if (this.#slow) {
      this.#releaseAll();
      return;
    }
    this.#slow = true;
    this.#slowTimes += 1;
    if (this.parameters.syncsLater && this.#chance.hits(700)) {
      this.bundle.store(shard).holdSync();
      this.situations.reached("a sync is slow");
      return;
    }
    this.bundle.store(shard).hold();
    this.situations.reached("a commit is slow");
  }

  #releaseAll(): void {
    this.#slow = false;
    for (let shard = 0; shard < this.#shardCount; shard += 1) {
      this.bundle.store(shard).release();
    }
  }

  #heal(): void {
    for (let shard = 0; shard < this.#shardCount; shard += 1) {
      this.bundle.store(shard).heal();
    }
  }

  /** Calls that wait in a killed process are never answered. */
  #lose(): void {
    this.auditor.faulted();
    const lost = [...this.#open];
    this.#open.clear();
    for (const { lost: end } of lost) end();
    this.#sentLeases.length = 0;
  }

  async #kill(): Promise<void> {
    this.#kills += 1;
    // A store may apply commits without an answer now.
    this.#isUncounted = true;
    const shard = this.#chance.below(this.#shardCount);
    if (this.parameters.hasDowntime && this.#chance.hits(500)) await this.#strand(shard);
    else if (this.#chance.hits(600)) {
      const applied = this.#chance.hits(500);
      this.log(`the process dies ${applied ? "after" : "before"} a commit of store ${shard}`);
      this.bundle.store(shard).killAt({ commitsBefore: this.#chance.below(3), applied });
      this.#isDying = true;
      this.#transactInto();
      if (this.#chance.hits(500)) this.produce();
      if (this.#chance.hits(500)) this.complete();
      await this.pass(this.#chance.one([0, 1, second]));
      this.situations.reached(
        applied ? "the process is killed after a commit" : "the process is killed before a commit",
      );
    } else {
      this.log("the process dies");
      this.situations.reached("the process is killed between two turns");
    }
    await this.#restart();
  }

  /** Kills while dead letters are in flight to a slow shard; others lapse after the kill. */
  async #strand(shard: number): Promise<void> {
    this.log(`store ${shard} is slow, and the process dies`);
    this.situations.reached("the process is killed while a shard is slow");
    this.auditor.faulted();
    this.#slow = true;
    this.#slowTimes += 1;
    this.bundle.store(shard).hold();
    for (const ms of [2 * minute, second]) {
      for (const call of [() => this.produce(), () => this.lease()]) {
        call();
        await this.rest();
      }
      // In steps, because the many retries of a full store would look like an endless loop.
      for (let passed = 0; passed < ms; passed += second) await this.pass(second);
    }
  }

  async #restart(): Promise<void> {
    const powerCut = this.parameters.syncsLater && this.#chance.hits(500);
    if (this.bundle.kill({ powerCut })) {
      this.log("what was not synced is lost");
      this.situations.reached("the power is cut before a sync");
    }
    this.#slow = false;
    this.#isDying = false;
    this.auditor.restarted();
    this.#watch.killed(this.bundle.images);
    this.#lose();
    if (this.#chance.hits(200)) {
      await this.bundle.openAndKill(this.#chance.between(1, 12));
      this.situations.reached("the process is killed while it starts");
    }
    if (this.#chance.hits(100)) await this.#cannotOpen();
    await this.#reshard();
    const isBack = this.#chance.hits(200);
    const now =
      this.bundle.clock.now() - (isBack ? this.#chance.one([1, minute, day]) : -this.#away());
    if (isBack) this.situations.reached("the clock was set back at a restart");
    this.#heal();
    await this.bundle.open({ now });
    this.explanations.restarted();
    this.#repeats.restarted();
    this.log("the process is up");
    if (this.auditor.pauses.of("orders").lease) {
      this.situations.reached("a queue is paused while the process is down");
    }
    // A delete without an answer may have been done.
    await this.#create("plain");
  }

  /** Moves the queues to another number of shards. */
  async #reshard(): Promise<void> {
    const { reshards } = this.parameters;
    const isElsewhere = this.#options.openStore ?? this.#options.scenario;
    if (reshards !== true || isElsewhere !== undefined || !this.#moves.hits(400)) return;
    // The kill came before the first commit of some shard: a reshard is refused until the next
    // start.
    const labelled = this.bundle.images.filter(({ tags }) => tags.includes("/")).length;
    if (labelled > 0 && labelled < this.#shardCount) return;
    const count = this.#moves.one([1, 2, 3, 4, 5].filter((one) => one !== this.#shardCount));
    await this.bundle.moveStored(count);
    this.log(`its queues move from ${this.#shardCount} to ${count} shards`);
    this.#shardCount = count;
    this.#watchStores();
    this.#watch.killed(this.bundle.images);
    this.situations.reached("queues move to another number of shards");
  }

  /** The time for which the process is down; work due meanwhile is done by its first turns. */
  #away(): number {
    if (!this.parameters.hasDowntime) return 0;
    this.situations.reached("time passes while the process is down");
    return this.#chance.one([0, minute, 20 * minute]);
  }

  async #cannotOpen(): Promise<void> {
    const shard = this.#chance.below(this.#shardCount);
    const store = this.bundle.store(shard);
    store.openFault = this.#chance.one(["locked", "damaged", "unusable"]);
    const opened = await this.bundle.tryOpen();
    if (opened) throw new Violation("I14", "the engine opened without one of its stores");
    store.openFault = null;
    this.bundle.kill();
    this.situations.reached("a store cannot be opened");
  }

  async #damage(): Promise<void> {
    if (this.#options.openStore !== undefined || this.#slow) return;
    await this.rest();
    const shard = this.#chance.below(this.#shardCount);
    const stored = this.bundle.storedItems(shard);
    const victim = this.#chance.maybe(stored);
    const item = victim === undefined ? undefined : this.auditor.itemOf(victim.payload);
    if (victim === undefined || item === undefined) return;
    this.log(`${item.key} is damaged`);
    this.auditor.damaged(item, this.bundle.now);
    this.bundle.store(shard).damage(victim.slot, victim.seq);
  }

  // drain -----------------------------------------------------------------

  /** Ends all faults, until every shard is up and no call is open except waiting leases. */
  async calmDown(): Promise<void> {
    this.#releaseAll();
    this.#heal();
    this.#repeats.giveUp();
    this.#watch.counted(this.bundle.engine.status());
    await this.#options.scenario?.calm();
    await this.pass(4 * limits.restartMsMax);
    for (const { what } of this.#open) {
      if (what !== "lease") throw new Violation("I11", `a ${what} is never answered`);
    }
    this.auditor.settled(this.now);
    await this.#create("plain");
    this.#watch.counted(this.bundle.engine.status());
  }

  async #census(): Promise<void> {
    await this.calmDown();
    await this.rest();
    await takeCensus(this);
  }
}

/** An error after the items were stored counts as no answer. */
function asProduced(ending: Ending<Imported> | null): Ending<Produced> | null {
  if (ending?.ok === true) {
    return { ok: true, value: { replayed: ending.value.replayed, duplicates: [] } };
  }
  return ending?.message.includes("after the items were stored") === true ? null : ending;
}

function endingText(ending: Ending<unknown> | null): string {
  if (ending === null) return "no answer";
  return ending.ok ? "ok" : `${ending.code}, ${ending.message}`;
}

function leaseText(ending: Ending<Leased> | null): string {
  if (ending?.ok !== true) return endingText(ending);
  const { queue, partition, items } = ending.value;
  const ids = items.map(({ payload, attempts }) => {
    const key = new TextDecoder().decode(payload).split("|", 1)[0];
    return `${key}×${attempts}`;
  });
  return `${queue}/${partition} ${ids.join(" ")}`;
}
