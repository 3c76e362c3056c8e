// Introduces the shards to each other: which queues each one has, and which items between them have
// arrived. A shard introduces itself when it opens, and sends each later change. A shard that
// missed a change is sent everything, repeatedly until it has received it.

import { after, type Clock, type Timer } from "../model/clock.ts";
import { QueueError, unknownShardFailure } from "../model/errors.ts";
import type { Passed } from "../model/messages.ts";
import type { Others } from "../others.ts";
import type { ReferenceChange, Requester, ShardVersion, Standing } from "./other-shard.ts";

/** How long an opening, or a change, waits for a shard that does not reply. */
const replyMsMax = 1_000;
/** Pause before retrying a shard that could not be reached. */
const retryMs = 1_000;

export interface IntroductionsOptions {
  /** The machine's clock. */
  readonly clock: Clock;
  readonly shard: number;
  readonly others: Others;
  /** Unique to this opening of the shard. */
  readonly run: string;
  /** The present state of the shard, without the progress of items. */
  readonly own: () => Pick<Standing, "now" | "queues" | "claims" | "retiring">;
  /** The known opening of another shard; `null` = none. */
  readonly knownRun: (shard: number) => string | null;
  /** Whether everything that another shard has sent is known. */
  readonly isCurrent: (shard: number, version: ShardVersion) => boolean;
  readonly met: (standing: Standing) => void;
  /**
   * Once everything before it is decided: gives the shard the numbers that another one has of its
   * items, and returns its own.
   */
  readonly agree: (taken: Passed["taken"]) => Promise<Passed>;
  /** Another shard introduced itself after this one had begun. */
  readonly metLate: (standing: Standing) => void;
}

export class Introductions {
  readonly #options: IntroductionsOptions;
  /** The state at the opening; `null` once the shard decides. */
  #opened: Passed | null = null;
  /** The introductions of other shards, until this one begins. */
  readonly #standings = new Map<number, Standing>();
  /** Increases with each change sent. */
  #version = 0;
  #order = 0;
  /** Shards that missed something. */
  readonly #behind: Set<number>;
  /** Introductions to such shards in progress. */
  readonly #introducing = new Map<number, Promise<boolean>>();
  #timer: Timer | null = null;
  #isOver = false;

  constructor(options: IntroductionsOptions) {
    this.#options = options;
    this.#behind = new Set(options.others.numbers);
  }

  /** The store is open; `passed` is its state. */
  opened(passed: Passed): void {
    this.#opened = passed;
  }

  /** Introduces this shard before it decides anything; returns the states received in time. */
  async begin(): Promise<Standing[]> {
    await this.#inTime(this.#introduceAll());
    this.#opened = null;
    return [...this.#standings.values()];
  }

  get version(): ShardVersion {
    return { run: this.#options.run, version: this.#version };
  }

  /** Identifies a request to another shard that has a lasting effect. */
  requester(): Requester {
    const { shard, run } = this.#options;
    this.#order += 1;
    return { shard, run, order: this.#order };
  }

  /** A lasting request, or its withdrawal, did not reach the other shard. */
  missed(other: number): void {
    this.#behind.add(other);
    this.#later();
  }

  /** Learns the present state of another shard. Throws `not_ready` if it does not reply in time. */
  async catchUp(other: number): Promise<void> {
    const { others, isCurrent } = this.#options;
    const isDone = await this.#inTime(
      succeeds(async () => {
        const version = await others.at(other).lastVersion();
        if (!isCurrent(other, version)) await this.#exchange(other);
        if (!isCurrent(other, version)) throw QueueError.from(unknownShardFailure);
      }),
    );
    if (!isDone) throw QueueError.from(unknownShardFailure);
  }

  /** Ends when every reachable shard has received the change. */
  async announce(change: Pick<ReferenceChange, "put" | "removed" | "isPause">): Promise<void> {
    const { others, shard, run } = this.#options;
    this.#version += 1;
    const sent = { ...change, shard, run, version: this.#version };
    await Promise.all(others.numbers.map((other) => this.#announceTo(other, sent)));
  }

  async #announceTo(other: number, change: ReferenceChange): Promise<void> {
    const { others } = this.#options;
    if (!this.#behind.has(other)) {
      const received = succeeds(() => others.at(other).receiveChange(change));
      // A pause waits without a time limit: no earlier decision of that shard may take effect
      // later.
      if (await (change.isPause ? received : this.#inTime(received))) return;
    }
    this.#behind.add(other);
    const isUnderWay = this.#introducing.has(other);
    await this.#inTime(this.#introduce(other));
    // The introduction in progress may predate the change.
    if (isUnderWay && this.#behind.has(other)) await this.#inTime(this.#introduce(other));
  }

  /** Handles the introduction of another shard. */
  async receive(standing: Standing): Promise<Standing> {
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
    return this.#introducing.getOrInsertComputed(other, async () => {
      const isDone = await succeeds(() => this.#exchange(other));
      this.#introducing.delete(other);
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

  /** A message of an earlier opening may arrive after one of the present opening. */
  async #refuseFormer({ shard: other, run }: Standing): Promise<void> {
    const { others, knownRun } = this.#options;
    if (knownRun(other) === run) return;
    const present = await others.at(other).lastVersion();
    if (present.run !== run) throw QueueError.from(unknownShardFailure);
  }

  #later(): void {
    if (this.#isOver || this.#timer !== null) return;
    this.#timer = after(this.#options.clock, retryMs, () => {
      this.#timer = null;
      void this.#introduceAll();
    });
  }

  /** Whether the work succeeded in time. */
  async #inTime(work: Promise<boolean>): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = after(this.#options.clock, replyMsMax, () => resolve(false));
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
