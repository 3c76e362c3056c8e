// Takes items from the outbox of one shard to their queue in another: a dead queue, or that of an
// output of a transact. Each
// item is kept by its sender until the receiver has committed it, and the
// receiver takes only what it has not had, so that a crash anywhere delivers it
// once. Between two shards one page travels at a time, in the order of the outbox:
// order is what tells the receiver what it has had.

import type { OutboundItem } from "../../stores/item.ts";
import type { OutboxCount } from "../../stores/store.ts";
import type { Clock } from "../model/clock.ts";
import { type Failure, QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Shard } from "../turn/shard.ts";
import type { Forward } from "./forward.ts";

/** How long to wait before a shard that could not take a page, or hand one out, is asked again. */
const againMs = 1_000;

interface Route {
  readonly source: number;
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
  readonly port: (shard: number) => Shard | undefined;
  /** One route after the other, by their shards, so that the order of arrival is certain. */
  readonly isInTurn?: boolean;
  /** So many items of such queues were set aside where they waited. */
  readonly setAside?: (source: number, count: number) => void;
}

export class Courier {
  readonly #clock: Clock;
  readonly #port: (shard: number) => Shard | undefined;
  readonly #routes = new Map<string, Route>();
  readonly #isInTurn: boolean;
  readonly #setAside: (source: number, count: number) => void;
  #holds = 0;
  /** Called when nothing is on its way any more. */
  readonly #settled = new Set<() => void>();
  #departures = 0;

  constructor(options: CourierOptions) {
    this.#clock = options.clock.machine;
    this.#port = options.port;
    this.#isInTurn = options.isInTurn ?? false;
    this.#setAside = options.setAside ?? (() => undefined);
  }

  /** What the outbox of a shard now has for another one. */
  count(source: number, target: number, counts: readonly OutboxCount[]): void {
    const route = this.#routes.getOrInsertComputed(`${source}>${target}`, () => {
      return { source, target, waiting: new Map(), isNews: false, arrived: 0, isBusy: false };
    });
    route.waiting = new Map(counts.map(({ targetOwner, count }) => [targetOwner, count]));
    route.isNews = true;
    this.#go(route);
  }

  /** The same of all that a shard has just opened with. */
  countAll(source: number, counts: readonly OutboxCount[]): void {
    for (const [target, some] of Map.groupBy(counts, ({ targetShard }) => targetShard)) {
      this.count(source, target, some);
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
  isTargeted(owner: number): boolean {
    return this.#routes.values().some(({ waiting }) => waiting.has(owner));
  }

  #goAll(): void {
    const routes = [...this.#routes.values()];
    routes.sort((a, b) => a.source - b.source || a.target - b.target);
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
    this.#port(route.source)?.put(request, (result) => {
      if (!result.ok) {
        this.#again(route, result);
        return;
      }
      if (strays.length > 0) this.#setAside(route.source, strays.length);
      if (result.value.kind === "outbound") this.#carry(route, result.value.items);
    });
  }

  #carry(route: Route, items: readonly OutboundItem[]): void {
    const last = items.at(-1);
    if (last === undefined || this.#isHeld) {
      route.isBusy = false;
      // What a turn puts into the outbox while it hands out a page is in none yet.
      if (route.isNews) this.#go(route);
      if (this.#isInTurn) this.#goAll();
      if (!this.isBusy) for (const settle of this.#settled) settle();
      return;
    }
    const request = { kind: "receive", sourceShard: route.source, items } as const;
    this.#port(route.target)?.put(request, (result) => {
      if (!result.ok) {
        this.#again(route, result);
        return;
      }
      const strays = result.value.kind === "received" ? result.value.strays : [];
      const [stray] = strays;
      const taken = stray === undefined ? items : items.filter((one) => one.outboundSeq < stray);
      route.arrived = taken.at(-1)?.outboundSeq ?? route.arrived;
      this.#ask(route, strays);
    });
  }

  #again(route: Route, { code }: Failure): void {
    if (code === "closing") return;
    this.#clock.at(this.#clock.now() + againMs, () => this.#ask(route));
  }
}
