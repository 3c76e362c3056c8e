// Takes items from the outbox of the shard to their queues in others: dead queues, and those of outputs
// of a transact. Each item is kept by its sender until the receiver has committed it, and the receiver
// takes only what it has not had, so that a crash anywhere delivers it once. To each shard one page
// travels at a time, in the order of the outbox: order is what tells the receiver what it has had.

import type { OutboundItem } from "../../stores/item.ts";
import type { OutboxCount } from "../../stores/store.ts";
import { type Clock, TestClock } from "../model/clock.ts";
import { type Failure, QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Value } from "../model/messages.ts";
import type { Shard } from "../turn/shard.ts";
import type { Forward } from "./forward.ts";
import type { OtherShard } from "./other-shard.ts";

/** How long to wait before a shard that could not take a page, or hand one out, is asked again. */
const againMs = 1_000;

interface Route {
  readonly target: number;
  /** What waits at the source, by the queue that it is for. */
  waiting: ReadonlyMap<number, number>;
  /** Whether that has changed since the last page was asked for. */
  isNews: boolean;
  /** The last item that the target is known to have. */
  arrived: number;
  isBusy: boolean;
}

export interface CourierOptions {
  readonly clock: Clock;
  readonly shard: () => Pick<Shard, "shard" | "put">;
  readonly other: (shard: number) => Pick<OtherShard, "receive">;
  /** So many items were set aside, as no queue is known that they are for. */
  readonly setAside: (count: number) => void;
}

export class Courier {
  readonly #options: CourierOptions;
  readonly #clock: Clock;
  readonly #routes = new Map<number, Route>();
  /** With a test clock routes are busy one after the other, so that the order of arrival is certain. */
  readonly #isInTurn: boolean;
  #holds = 0;
  /** Called when nothing is on its way any more. */
  readonly #settled = new Set<() => void>();
  #departures = 0;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#clock = options.clock.machine;
    this.#isInTurn = options.clock instanceof TestClock;
  }

  /** What the outbox now has for another shard. */
  count(target: number, counts: readonly OutboxCount[]): void {
    const route = this.#routes.getOrInsertComputed(target, () => {
      return { target, waiting: new Map(), isNews: false, arrived: 0, isBusy: false };
    });
    route.waiting = new Map(counts.map(({ targetOwner, count }) => [targetOwner, count]));
    route.isNews = true;
    this.#go(route);
  }

  /** The same of all that the shard has just opened with. */
  countAll(counts: readonly OutboxCount[]): void {
    const byTarget = Map.groupBy(counts, ({ targetShard }) => targetShard);
    for (const target of new Set([...byTarget.keys(), ...this.#routes.keys()])) {
      this.count(target, byTarget.get(target) ?? []);
    }
  }

  /**
   * Resolves once nothing is on its way; then nothing sets out until `release` is called. What
   * all stores say at such a moment goes together. Throws `late`, and holds nothing, when something
   * is on its way for longer than `limits.holdMsMax`.
   */
  async hold(late: Failure): Promise<{ release: () => void }> {
    this.#holds += 1;
    const release = (): void => {
      this.#holds -= 1;
      this.#goAll();
    };
    if (await this.isQuiet(limits.holdMsMax)) return { release };
    release();
    throw QueueError.from(late);
  }

  /** Whether nothing is on its way, now or in time. */
  async isQuiet(timeoutMs: number): Promise<boolean> {
    if (!this.isBusy) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (): void => resolve(true);
    this.#settled.add(settle);
    const timer = this.#clock.at(this.#clock.now() + timeoutMs, () => resolve(false));
    const isQuiet = await promise;
    timer.cancel();
    this.#settled.delete(settle);
    return isQuiet;
  }

  /** How often something has set out on a way where nothing was; it only rises. */
  get departures(): number {
    return this.#departures;
  }

  get isBusy(): boolean {
    return this.#routes.values().some(({ isBusy }) => isBusy);
  }

  /** Until the sender knows that they arrived, items count as on their way. */
  isSending(owner: number): boolean {
    return this.#routes.values().some(({ waiting }) => waiting.has(owner));
  }

  #goAll(): void {
    const routes = [...this.#routes.values()];
    routes.sort((a, b) => a.target - b.target);
    for (const route of routes) this.#go(route);
  }

  get #isHeld(): boolean {
    return this.#holds > 0;
  }

  #go(route: Route): void {
    if (this.#isInTurn && this.isBusy) return;
    if (this.#isHeld || route.isBusy || route.waiting.size === 0) return;
    route.isBusy = true;
    this.#departures += 1;
    this.#ask(route);
  }

  /** Says what has arrived, and what never will, and gets the next page. */
  #ask(route: Route, strays: readonly number[] = []): void {
    const { target: targetShard, arrived } = route;
    route.isNews = false;
    const request: Forward = {
      kind: "forward",
      targetShard,
      arrived,
      ...(strays.length > 0 && { strays }),
    };
    const { shard, setAside } = this.#options;
    shard().put(request, (result) => {
      if (!result.ok) {
        if (result.code !== "closing") this.#later(route);
        return;
      }
      if (strays.length > 0) setAside(strays.length);
      if (result.value.kind === "outbound") this.#carry(route, result.value.items);
    });
  }

  #carry(route: Route, items: readonly OutboundItem[]): void {
    if (items.length === 0 || this.#isHeld) {
      route.isBusy = false;
      // What a turn puts into the outbox while it hands out a page is in none yet.
      if (route.isNews) this.#go(route);
      if (this.#isInTurn) this.#goAll();
      if (!this.isBusy) for (const settle of this.#settled) settle();
      return;
    }
    const { shard, other } = this.#options;
    const receiving = other(route.target).receive(shard().shard, items);
    void receiving.then(
      (result) => {
        if (result.ok) this.#arrived(route, items, result.value);
        else this.#later(route);
      },
      (cause) => {
        if (!(cause instanceof QueueError)) throw cause;
        this.#later(route);
      },
    );
  }

  #arrived(route: Route, items: readonly OutboundItem[], value: Value): void {
    const strays = value.kind === "received" ? value.strays : [];
    const [stray] = strays;
    const taken = stray === undefined ? items : items.filter((one) => one.outboundSeq < stray);
    route.arrived = taken.at(-1)?.outboundSeq ?? route.arrived;
    this.#ask(route, strays);
  }

  #later(route: Route): void {
    this.#clock.at(this.#clock.now() + againMs, () => this.#ask(route));
  }
}
