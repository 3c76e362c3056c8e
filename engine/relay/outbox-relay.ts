// Delivers items from the outbox of the shard to queues in other shards: to dead queues, and
// outputs of a transact. The sender keeps each item until the receiver has committed it. The
// receiver skips items that it already has, so a crash anywhere delivers an item once. At most one
// page per target is in transit, in outbox order: the receiver recognizes duplicates by the order.

import type { OutboundItem } from "../../stores/item.ts";
import type { OutboxCount } from "../../stores/store.ts";
import { type Clock, TestClock } from "../model/clock.ts";
import { type Failure, QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Value } from "../model/messages.ts";
import type { Shard } from "../turn/shard.ts";
import type { Forward } from "./forward.ts";
import type { OtherShard } from "./other-shard.ts";

/** Pause before retrying a shard that could not take a page or hand one out. */
const retryMs = 1_000;

interface Route {
  readonly target: number;
  /** Waiting items at the source, by destination queue. */
  waiting: ReadonlyMap<number, number>;
  /** Whether that has changed since the last page was requested. */
  hasChanged: boolean;
  /** The last item that the target is known to have. */
  arrived: number;
  isBusy: boolean;
}

export interface OutboxRelayOptions {
  readonly clock: Clock;
  readonly shard: () => Pick<Shard, "shard" | "put">;
  readonly other: (shard: number) => Pick<OtherShard, "receive">;
  /** Called with the number of items set aside because their queue is unknown. */
  readonly setAside: (count: number) => void;
}

export class OutboxRelay {
  readonly #options: OutboxRelayOptions;
  readonly #clock: Clock;
  readonly #routes = new Map<number, Route>();
  /** With a test clock one route is busy at a time, for a deterministic order of arrival. */
  readonly #isInTurn: boolean;
  #holds = 0;
  /** Called when nothing is in transit any more. */
  readonly #settled = new Set<() => void>();
  #departures = 0;

  constructor(options: OutboxRelayOptions) {
    this.#options = options;
    this.#clock = options.clock.machine;
    this.#isInTurn = options.clock instanceof TestClock;
  }

  /** Updates the counts of the outbox for one target. */
  count(target: number, counts: readonly OutboxCount[]): void {
    const route = this.#routes.getOrInsertComputed(target, () => {
      return { target, waiting: new Map(), hasChanged: false, arrived: 0, isBusy: false };
    });
    route.waiting = new Map(counts.map(({ targetOwner, count }) => [targetOwner, count]));
    route.hasChanged = true;
    this.#start(route);
  }

  /** Updates the counts of all targets after the shard has opened. */
  countAll(counts: readonly OutboxCount[]): void {
    const byTarget = Map.groupBy(counts, ({ targetShard }) => targetShard);
    for (const target of new Set([...byTarget.keys(), ...this.#routes.keys()])) {
      this.count(target, byTarget.get(target) ?? []);
    }
  }

  /**
   * Resolves once nothing is in transit; then nothing departs until `release`. The states of all
   * stores are consistent at such a moment. Throws `late`, and holds nothing, if something is in
   * transit for longer than `limits.holdMsMax`.
   */
  async hold(late: Failure): Promise<{ release: () => void }> {
    this.#holds += 1;
    const release = (): void => {
      this.#holds -= 1;
      this.#startAll();
    };
    if (await this.isQuiet(limits.holdMsMax)) return { release };
    release();
    throw QueueError.from(late);
  }

  /** Whether nothing is in transit, now or within the timeout. */
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

  /** How often an idle route has become busy; never decreases. */
  get departures(): number {
    return this.#departures;
  }

  get isBusy(): boolean {
    return this.#routes.values().some(({ isBusy }) => isBusy);
  }

  /** Items count as in transit until the sender knows that they arrived. */
  isSending(owner: number): boolean {
    return this.#routes.values().some(({ waiting }) => waiting.has(owner));
  }

  #startAll(): void {
    const routes = [...this.#routes.values()];
    routes.sort((a, b) => a.target - b.target);
    for (const route of routes) this.#start(route);
  }

  get #isHeld(): boolean {
    return this.#holds > 0;
  }

  #start(route: Route): void {
    if (this.#isInTurn && this.isBusy) return;
    if (this.#isHeld || route.isBusy || route.waiting.size === 0) return;
    route.isBusy = true;
    this.#departures += 1;
    this.#requestPage(route);
  }

  /** Reports what has arrived and what never will, and requests the next page. */
  #requestPage(route: Route, strays: readonly number[] = []): void {
    const { target: targetShard, arrived } = route;
    route.hasChanged = false;
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
      if (result.value.kind === "outbound") this.#deliver(route, result.value.items);
    });
  }

  #deliver(route: Route, items: readonly OutboundItem[]): void {
    if (items.length === 0 || this.#isHeld) {
      route.isBusy = false;
      // The page lacks items that the same turn put into the outbox.
      if (route.hasChanged) this.#start(route);
      if (this.#isInTurn) this.#startAll();
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
    this.#requestPage(route, strays);
  }

  #later(route: Route): void {
    this.#clock.at(this.#clock.now() + retryMs, () => this.#requestPage(route));
  }
}
