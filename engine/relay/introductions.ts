// Makes the shard and the others known to each other: which queues each of them has, and how far the items
// between them have come. Each says so when it opens, and tells what changes after that. One that could not
// be told of a change is told of everything, again and again until it has heard.

import { after, type Clock, type Timer } from "../model/clock.ts";
import { QueueError } from "../model/errors.ts";
import type { Passed } from "../model/messages.ts";
import type { Others } from "../others.ts";
import type { QueueReference, ReferenceChange, Standing } from "./other-shard.ts";

/** How long an opening waits for one that says nothing. */
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
  readonly own: () => Pick<Standing, "now"> & { readonly queues: readonly QueueReference[] };
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
  /** Shards that lack something. */
  readonly #behind: Set<number>;
  /** Those of them that are being told. */
  readonly #asked = new Set<number>();
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
    const { clock } = this.#options;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = after(clock, silenceMsMax, resolve);
    await Promise.race([this.#introduceAll(), late]);
    timer.cancel();
    this.#opened = null;
    return [...this.#standings.values()];
  }

  /** Ends when every shard knows that can be reached. */
  async tell(change: Pick<ReferenceChange, "put" | "removed" | "isPause">): Promise<void> {
    const { others, shard, run } = this.#options;
    this.#version += 1;
    const told = { ...change, shard, run, version: this.#version };
    const numbers = others.numbers.filter((other) => !this.#behind.has(other));
    const telling = numbers.map(async (other) => {
      if (!(await succeeds(() => others.at(other).hear(told)))) this.#later(other);
    });
    await Promise.all(telling);
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
    return { shard, run, version: this.#version, passed, ...own() };
  }

  async #introduceAll(): Promise<void> {
    const numbers = [...this.#behind].filter((other) => !this.#asked.has(other));
    await Promise.all(numbers.map((other) => this.#introduce(other)));
  }

  async #introduce(other: number): Promise<void> {
    this.#asked.add(other);
    const isDone = await succeeds(async () => {
      const { others, agree } = this.#options;
      const own = this.#standing(this.#opened ?? (await agree([])));
      await this.#meet(await others.at(other).introduce(own));
      if (own.version === this.#version) this.#behind.delete(other);
    });
    this.#asked.delete(other);
    if (!isDone || this.#behind.has(other)) this.#later(other);
  }

  async #meet(standing: Standing): Promise<Passed> {
    const { shard, met, metLate, agree } = this.#options;
    met(standing);
    if (this.#opened !== null) {
      this.#standings.set(standing.shard, standing);
      return this.#opened;
    }
    if (!this.#standings.has(standing.shard)) metLate(standing);
    this.#standings.set(standing.shard, standing);
    return await agree([[standing.shard, new Map(standing.passed.taken).get(shard) ?? 0]]);
  }

  #later(other: number): void {
    this.#behind.add(other);
    if (this.#isOver || this.#timer !== null) return;
    this.#timer = after(this.#options.clock, againMs, () => {
      this.#timer = null;
      void this.#introduceAll();
    });
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
