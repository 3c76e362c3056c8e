// Makes the shard and the others known to each other: which queues each of them has, and how far the items
// between them have come. Each says so when it opens, and tells what changes after that. One that could not
// be told of a change is told of everything, again and again until it has heard.

import { after, type Clock, type Timer } from "../model/clock.ts";
import { QueueError, unknownShardFailure } from "../model/errors.ts";
import type { Passed } from "../model/messages.ts";
import type { Others } from "../others.ts";
import type { Asker, ReferenceChange, Said, Standing } from "./other-shard.ts";

/** How long an opening, or a change, waits for one that says nothing. */
const silenceMsMax = 1_000;
/** How long until one that could not be told something is told again. */
const againMs = 1_000;

export interface IntroductionsOptions {
  /** The machine's. */
  readonly clock: Clock;
  readonly shard: number;
  readonly others: Others;
  /** No other opening of the shard has it. */
  readonly run: string;
  /** What it has now, but for how far items have come. */
  readonly own: () => Pick<Standing, "now" | "queues" | "claims" | "retiring">;
  /** The opening of another shard that is known; `null` = none is. */
  readonly knownRun: (shard: number) => string | null;
  /** Whether all is known that another shard has said. */
  readonly isCurrent: (shard: number, said: Said) => boolean;
  /** Learns what another shard has. */
  readonly met: (standing: Standing) => void;
  /**
   * Once all that came before is decided: has the shard go by what another one has of its items, and
   * returns how far they have come.
   */
  readonly agree: (taken: Passed["taken"]) => Promise<Passed>;
  /** It has learned, after it began, what another shard has. */
  readonly metLate: (standing: Standing) => void;
}

export class Introductions {
  readonly #options: IntroductionsOptions;
  /** As it was opened; `null` once the shard decides. */
  #opened: Passed | null = null;
  /** What other shards said, until it begins. */
  readonly #standings = new Map<number, Standing>();
  /** Rises with each change that is told. */
  #version = 0;
  #order = 0;
  /** Shards that lack something. */
  readonly #behind: Set<number>;
  /** Those of them that are being told; each ends when that has. */
  readonly #asked = new Map<number, Promise<boolean>>();
  #timer: Timer | null = null;
  #isOver = false;

  constructor(options: IntroductionsOptions) {
    this.#options = options;
    this.#behind = new Set(options.others.numbers);
  }

  /** The store is open, and holds this. */
  opened(passed: Passed): void {
    this.#opened = passed;
  }

  /** Asks all other shards before this one decides anything; returns what those have that answer in time. */
  async begin(): Promise<Standing[]> {
    await this.#inTime(this.#introduceAll());
    this.#opened = null;
    return [...this.#standings.values()];
  }

  get said(): Said {
    return { run: this.#options.run, version: this.#version };
  }

  /** As which the shard asks another for something that lasts. */
  asker(): Asker {
    const { shard, run } = this.#options;
    this.#order += 1;
    return { shard, run, order: this.#order };
  }

  /** What the shard asked for, or was to ask no more, has not come there. */
  missed(other: number): void {
    this.#behind.add(other);
    this.#later();
  }

  /** Learns what another shard has by now. Throws `not_ready` if it does not say so in time. */
  async catchUp(other: number): Promise<void> {
    const { others, isCurrent } = this.#options;
    const isDone = await this.#inTime(
      succeeds(async () => {
        const said = await others.at(other).lastSaid();
        if (!isCurrent(other, said)) await this.#exchange(other);
        if (!isCurrent(other, said)) throw QueueError.from(unknownShardFailure);
      }),
    );
    if (!isDone) throw QueueError.from(unknownShardFailure);
  }

  /** Ends when every shard knows that can be reached. */
  async tell(change: Pick<ReferenceChange, "put" | "removed" | "isPause">): Promise<void> {
    const { others, shard, run } = this.#options;
    this.#version += 1;
    const told = { ...change, shard, run, version: this.#version };
    await Promise.all(others.numbers.map((other) => this.#tellOne(other, told)));
  }

  async #tellOne(other: number, told: ReferenceChange): Promise<void> {
    const { others } = this.#options;
    if (!this.#behind.has(other)) {
      const heard = succeeds(() => others.at(other).hear(told));
      // What is paused is not to come from there any more, however long that takes.
      if (await (told.isPause ? heard : this.#inTime(heard))) return;
    }
    this.#behind.add(other);
    const isUnderWay = this.#asked.has(other);
    await this.#inTime(this.#introduce(other));
    // What was under way may have been of before.
    if (isUnderWay && this.#behind.has(other)) await this.#inTime(this.#introduce(other));
  }

  /** Another shard has introduced itself. */
  async hear(standing: Standing): Promise<Standing> {
    const passed = await this.#meet(standing);
    this.#behind.delete(standing.shard);
    return this.#standing(passed);
  }

  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #standing(passed: Passed): Standing {
    const { shard, run, own } = this.#options;
    return { shard, run, version: this.#version, order: this.#order, passed, ...own() };
  }

  async #introduceAll(): Promise<boolean> {
    await Promise.all([...this.#behind].map((other) => this.#introduce(other)));
    return true;
  }

  #introduce(other: number): Promise<boolean> {
    return this.#asked.getOrInsertComputed(other, async () => {
      const isDone = await succeeds(() => this.#exchange(other));
      this.#asked.delete(other);
      if (!isDone || this.#behind.has(other)) this.#later();
      return isDone;
    });
  }

  async #exchange(other: number): Promise<void> {
    const { others, agree } = this.#options;
    const own = this.#standing(this.#opened ?? (await agree([])));
    await this.#meet(await others.at(other).introduce(own));
    const isNow = own.version === this.#version && own.order === this.#order;
    if (isNow) this.#behind.delete(other);
  }

  async #meet(standing: Standing): Promise<Passed> {
    const { shard, met, metLate, agree } = this.#options;
    await this.#refuseFormer(standing);
    met(standing);
    if (this.#opened !== null) {
      this.#standings.set(standing.shard, standing);
      return this.#opened;
    }
    if (!this.#standings.has(standing.shard)) metLate(standing);
    this.#standings.set(standing.shard, standing);
    return await agree([[standing.shard, new Map(standing.passed.taken).get(shard) ?? 0]]);
  }

  /** What an earlier opening has said may come late, behind what the present one said. */
  async #refuseFormer({ shard: other, run }: Standing): Promise<void> {
    const { others, knownRun } = this.#options;
    if (knownRun(other) === run) return;
    const present = await others.at(other).lastSaid();
    if (present.run !== run) throw QueueError.from(unknownShardFailure);
  }

  #later(): void {
    if (this.#isOver || this.#timer !== null) return;
    this.#timer = after(this.#options.clock, againMs, () => {
      this.#timer = null;
      void this.#introduceAll();
    });
  }

  /** Whether it was done, in time. */
  async #inTime(work: Promise<boolean>): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = after(this.#options.clock, silenceMsMax, () => resolve(false));
    const isDone = await Promise.race([work, late]);
    timer.cancel();
    return isDone;
  }
}

async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (cause) {
    if (!(cause instanceof QueueError)) throw cause;
    return false;
  }
}
