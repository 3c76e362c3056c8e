// Worlds in which the disk of one shard repeatedly returns to an earlier commit, while the others
// do not. Items that were acknowledged before such a rollback may be lost or stored twice. Items
// acknowledged afterwards must be stored once, in their queue. No id ever names a second item.

import type { QueueSettings } from "../model/api.ts";
import { limits } from "../model/limits.ts";
import { Violation } from "./auditor.ts";
import { Bundle, completeOf, idsOf, type Leased, produceOf, textsOf } from "./bundle.ts";
import { Chance } from "./chance.ts";
import { checkMemory } from "./memory-check.ts";
import { minute } from "./parameters.ts";
import { seededRandom } from "./seeded-random.ts";
import type { WorldReport } from "./world.ts";

export interface GoingBackOptions {
  readonly seed: number;
  readonly steps: number;
  /** Receives each event. */
  readonly trace?: (line: string) => void;
}

/** The request timeout of leases. */
const waitMs = 10;
/** Copies of each shard that a rollback can restore. */
const copiesMax = 3;
const dead = "dead";
const mails = "mails";
const worked = ["orders", "bills"];

type Step = keyof typeof weights;

const weights = {
  produce: 30,
  deadLetter: 12,
  complete: 12,
  transact: 12,
  keep: 6,
  late: 6,
  create: 4,
  delete: 3,
  pass: 6,
  copy: 8,
  restart: 3,
  goBack: 5,
  audit: 3,
};

export async function runGoingBack(options: GoingBackOptions): Promise<WorldReport> {
  const world = new GoingBack(options);
  await world.run();
  return world.report;
}

class GoingBack {
  readonly #chance: Chance;
  readonly #bundle: Bundle;
  readonly #shardCount: number;
  readonly #steps: number;
  readonly #log: (line: string) => void;
  readonly #begun: number;
  /** The queue of each item that was produced since the last rollback, by text. */
  #sure = new Map<string, string>();
  /** The first item of each id. */
  readonly #named = new Map<string, string>();
  /** Earlier leases, whose items may be lost. */
  readonly #kept: Leased[] = [];
  readonly #copies: (() => void)[][];
  #texts = 0;
  #queues = 0;
  #calls = 0;
  #kills = 0;

  constructor({ seed, steps, trace = () => undefined }: GoingBackOptions) {
    this.#chance = new Chance(seededRandom(seed));
    this.#shardCount = this.#chance.between(2, 3);
    this.#steps = steps;
    this.#log = trace;
    this.#bundle = new Bundle({ shardCount: this.#shardCount, seed, observe: checkMemory });
    this.#begun = this.#bundle.now;
    this.#copies = Array.from({ length: this.#shardCount }, () => []);
  }

  get report(): WorldReport {
    const commits = this.#copies.reduce(
      (sum, _, shard) => sum + this.#bundle.store(shard).commits,
      0,
    );
    const milliseconds = this.#bundle.now - this.#begun;
    return { calls: this.#calls, storeFaults: 0, kills: this.#kills, commits, milliseconds };
  }

  async run(): Promise<void> {
    try {
      await this.#bundle.open();
      await this.#createUsual();
      for (let step = 0; step < this.#steps; step += 1) {
        await this.#step(this.#chance.weighted(weights));
      }
      await this.#audit();
      await this.#bundle.engine.close();
    } catch (cause) {
      throw this.#bundle.bug() ?? cause;
    }
  }

  async #step(step: Step): Promise<void> {
    switch (step) {
      case "produce":
        return this.#produce(this.#chance.one(this.#workQueues));
      case "deadLetter":
        return this.#deadLetter();
      case "complete":
        return this.#complete(await this.#lease(this.#chance.one(this.#allQueues)));
      case "transact":
        return this.#transact();
      case "keep":
        return this.#keep();
      case "late":
        return this.#finishLate();
      case "create":
        return this.#create(`extra-${this.#queues}`, this.#chance.between(1, 3));
      case "delete":
        return this.#delete();
      case "pass":
        return this.#pass(this.#chance.one([1, 2_000, 2 * minute]));
      case "copy":
        return this.#copy();
      case "restart":
        return this.#restart();
      case "goBack":
        return this.#goBack();
      case "audit":
        return this.#audit();
    }
  }

  get #allQueues(): string[] {
    const request = { pivot: "", limit: 1_000 };
    return this.#bundle.engine.listQueues(request).map(({ name }) => name);
  }

  get #workQueues(): string[] {
    return this.#allQueues.filter((name) => name !== dead && name !== mails);
  }

  // queues ------------------------------------------------------------------

  async #create(name: string, requestedPartitions: number): Promise<void> {
    this.#queues += 1;
    const deadQueue = name === dead || name === mails ? "" : dead;
    const settings: QueueSettings = { ...usual, name, requestedPartitions, deadQueue };
    const { ending } = await this.#bundle.begin(() => this.#bundle.engine.createQueue(settings));
    this.#log(`${name} is created with ${requestedPartitions} partitions; ${ending?.ok}`);
  }

  /** Creates the usual queues that a rollback has lost. */
  async #createUsual(): Promise<void> {
    const present = new Set(this.#allQueues);
    for (const name of [dead, mails, ...worked]) {
      if (!present.has(name)) await this.#create(name, this.#chance.between(1, 2));
    }
  }

  async #delete(): Promise<void> {
    const name = this.#chance.maybe(this.#workQueues.filter((one) => !worked.includes(one)));
    if (name === undefined) return;
    await this.#bundle.begin(() => this.#bundle.engine.deleteQueue({ name, force: true }));
    await this.#pass(2_000);
    for (const [text, queue] of this.#sure) if (queue === name) this.#sure.delete(text);
    this.#log(`${name} is deleted`);
  }

  // items -------------------------------------------------------------------

  #newTexts(home: string): string[] {
    return Array.from({ length: this.#chance.between(1, 4) }, () => {
      this.#texts += 1;
      return `${home}#${this.#texts}`;
    });
  }

  async #produce(queue: string): Promise<void> {
    const texts = this.#newTexts(queue);
    this.#calls += 1;
    const ending = await this.#bundle.ending(() =>
      this.#bundle.engine.produce(produceOf(queue, texts)),
    );
    if (!ending.ok) return;
    for (const text of texts) this.#sure.set(text, queue);
    this.#log(`${queue} gets ${texts.join(" ")}`);
  }

  async #lease(queue: string): Promise<Leased | null> {
    this.#calls += 1;
    const batchSize = this.#chance.between(1, 5);
    const request = this.#bundle.leaseOf(queue, { batchSize, requestTimeoutMs: waitMs });
    const { ending } = await this.#bundle.begin(() => this.#bundle.engine.lease(request));
    if (ending?.ok !== true) {
      await this.#pass(waitMs);
      return null;
    }
    const { items } = ending.value;
    const texts = textsOf(items);
    this.#log(
      `${queue} offers ${texts.map((text, at) => `${text} as ${items[at]?.id}`).join(" ")}`,
    );
    for (const [at, text] of texts.entries()) {
      this.#checkHome(text, queue);
      const id = items[at]?.id ?? "";
      const first = this.#named.getOrInsert(id, text);
      if (first !== text)
        throw new Violation("I2", `id ${id} named ${first}, and now names ${text}`);
    }
    return ending.value;
  }

  #checkHome(text: string, queue: string): void {
    const [home = ""] = text.split("#");
    if (queue === home || (queue === dead && home !== mails)) return;
    throw new Violation("I1", `${text} is in ${queue}, but belongs to ${home}`);
  }

  async #complete(lease: Leased | null): Promise<void> {
    if (lease === null) return;
    this.#calls += 1;
    const { ending } = await this.#bundle.begin(() =>
      this.#bundle.engine.complete(completeOf(lease.queue, lease.partition, idsOf(lease.items))),
    );
    if (ending?.ok !== true) return;
    for (const text of textsOf(lease.items)) this.#sure.delete(text);
    this.#log(`${textsOf(lease.items).join(" ")} done`);
  }

  async #deadLetter(): Promise<void> {
    const lease = await this.#lease(this.#chance.one(this.#workQueues));
    if (lease === null) return;
    await this.#slowly(async () => {
      const isDone = await this.#succeeds(() => {
        const items = lease.items.map(({ id }) => ({ id, retryAt: null, dead: true }));
        return this.#bundle.engine.retry({ queue: lease.queue, partition: lease.partition, items });
      });
      if (!isDone) return;
      this.#log(`${textsOf(lease.items).join(" ")} dead`);
      for (const text of textsOf(lease.items)) if (this.#sure.has(text)) this.#sure.set(text, dead);
    });
  }

  async #transact(): Promise<void> {
    const lease = await this.#lease(this.#chance.one(this.#workQueues));
    if (lease === null) return;
    const texts = this.#newTexts(mails);
    await this.#slowly(async () => {
      const isDone = await this.#succeeds(() =>
        this.#bundle.engine.transact({
          requestTimeoutMs: minute,
          complete: [{ queue: lease.queue, partition: lease.partition, ids: idsOf(lease.items) }],
          produce: [{ queue: mails, items: texts.map((payload) => ({ payload })) }],
        }),
      );
      if (!isDone) return;
      this.#log(`${textsOf(lease.items).join(" ")} done, ${mails} gets ${texts.join(" ")}`);
      for (const text of textsOf(lease.items)) this.#sure.delete(text);
      for (const text of texts) this.#sure.set(text, mails);
    });
  }

  async #succeeds(call: () => Promise<unknown>): Promise<boolean> {
    this.#calls += 1;
    const { ending } = await this.#bundle.begin(call);
    return ending?.ok === true;
  }

  /** Sometimes stalls a shard during the work, so that items for it are in flight at a kill. */
  async #slowly(work: () => Promise<void>): Promise<void> {
    const isSlow = this.#chance.hits(300);
    const shard = this.#chance.below(this.#shardCount);
    if (!isSlow) return work();
    this.#bundle.store(shard).hold();
    this.#log(`shard ${shard} stalls`);
    await work();
    await (this.#chance.hits(500) ? this.#goBack() : this.#restart());
  }

  async #keep(): Promise<void> {
    const lease = await this.#lease(this.#chance.one(this.#allQueues));
    if (lease !== null) this.#kept.push(lease);
  }

  /** A client completes an old lease without knowing of any rollback. */
  async #finishLate(): Promise<void> {
    const lease = this.#chance.maybe(this.#kept);
    if (lease === undefined || !this.#allQueues.includes(lease.queue)) return;
    await this.#complete(lease);
  }

  // time and faults ---------------------------------------------------------

  async #pass(ms: number): Promise<void> {
    await this.#bundle.clock.advance(ms);
  }

  async #rest(): Promise<void> {
    await this.#pass(2 * limits.restartMsMax);
  }

  async #copy(): Promise<void> {
    await this.#rest();
    const shard = this.#chance.below(this.#shardCount);
    const copies = this.#copies[shard] ?? [];
    copies.push(this.#bundle.snapshot(shard));
    if (copies.length > copiesMax) copies.splice(this.#chance.below(copies.length), 1);
    this.#log(`shard ${shard} is copied`);
  }

  async #restart(): Promise<void> {
    this.#kills += 1;
    this.#log("the process is killed");
    this.#bundle.kill();
    await this.#open();
  }

  async #open(): Promise<void> {
    for (let shard = 0; shard < this.#shardCount; shard += 1) this.#bundle.store(shard).release();
    await this.#bundle.open({ now: this.#bundle.clock.now() + this.#chance.one([0, 1, minute]) });
  }

  async #goBack(): Promise<void> {
    const shard = this.#chance.below(this.#shardCount);
    const putBack = this.#chance.maybe(this.#copies[shard] ?? []);
    this.#kills += 1;
    this.#bundle.kill();
    if (putBack !== undefined) {
      putBack();
      this.#sure = new Map();
      this.#log(`the process is killed, and shard ${shard} goes back`);
    }
    await this.#openWithoutRoom();
    await this.#createUsual();
  }

  /** Items reported as set aside must be in quarantine, even if the disk is full at first. */
  async #openWithoutRoom(): Promise<void> {
    const shards = Array.from({ length: this.#shardCount }, (_, shard) => shard);
    const { notices } = this.#bundle;
    const quarantined = () =>
      shards.reduce((sum, shard) => sum + this.#bundle.image(shard).quarantined.length, 0);
    const [countBefore, noticesBefore] = [quarantined(), notices.length];
    for (const shard of shards) {
      const store = this.#bundle.store(shard);
      const faults = this.#chance.below(3);
      let commits = this.#chance.below(3);
      const fill = (): void => {
        if (commits === 0)
          for (let fault = 0; fault < faults; fault += 1) store.fail({ fault: "full" });
        commits -= 1;
      };
      fill();
      store.onCommit = fill;
    }
    await this.#open();
    for (const shard of shards) {
      this.#bundle.store(shard).onCommit = null;
      this.#bundle.store(shard).heal();
    }
    await this.#rest();
    const reported = notices.slice(noticesBefore).filter(({ kind }) => kind === "items_set_aside");
    const count = reported.reduce((sum, notice) => sum + (notice.count ?? 0), 0);
    const found = quarantined() - countBefore;
    if (found === count) return;
    throw new Violation("I1", `${count} items are reported as set aside, but ${found} are`);
  }

  // checks ------------------------------------------------------------------

  async #audit(): Promise<void> {
    await this.#rest();
    const found = new Map<string, string[]>();
    for (const queue of this.#allQueues) {
      for (const text of await this.#bundle.allListed(queue)) {
        this.#checkHome(text, queue);
        found.getOrInsertComputed(text, () => []).push(queue);
      }
    }
    for (const [text, queue] of this.#sure) {
      const places = found.get(text) ?? [];
      if (places.length === 1 && places[0] === queue) continue;
      const where = places.join(" and ") || "no queue";
      throw new Violation("I1", `${text} was acknowledged in ${queue}, but is in ${where}`);
    }
  }
}

const usual = {
  deadQueue: "",
  reference: "",
  leaseTimeoutMs: 10 * minute,
  expireTimeoutMs: 365 * 24 * 60 * minute,
  maxAttempts: 0,
};
