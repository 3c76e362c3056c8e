// Takes items from the outbox of one shard to the dead queue in another. Each
// item is kept by its sender until the receiver has committed it, and the
// receiver takes only what it has not had, so that a crash anywhere delivers it
// once. Between two shards one message travels at a time: order is what tells
// the receiver what it has had.

import type { OutboundItem } from "../stores/item.ts";
import type { Clock } from "./clock.ts";
import { type Failure, QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { ShardPort } from "./port.ts";

/** How long to wait before an item is offered again to a shard that had no room. */
const againMs = 1_000;

interface Route {
  readonly source: number;
  readonly target: number;
  readonly waiting: Map<number, OutboundItem>;
  busy: boolean;
}

export class Courier {
  readonly #clock: Clock;
  readonly #port: (shard: number) => ShardPort | undefined;
  readonly #routes = new Map<string, Route>();
  #isHeld = false;
  /** Called when nothing is on its way any more; set by whoever holds. */
  #settled: (() => void) | null = null;

  constructor(options: { clock: Clock; port: (shard: number) => ShardPort | undefined }) {
    this.#clock = options.clock;
    this.#port = options.port;
  }

  /** Items of a shard's outbox, in order; those already on their way are known by their number. */
  carry(source: number, items: readonly OutboundItem[]): void {
    for (const item of items) {
      const name = `${source}>${item.targetShard}`;
      let route = this.#routes.get(name);
      if (route === undefined) {
        route = { source, target: item.targetShard, waiting: new Map(), busy: false };
        this.#routes.set(name, route);
      }
      if (!route.waiting.has(item.outboundSeq)) route.waiting.set(item.outboundSeq, item);
    }
    for (const route of this.#routes.values()) if (route.source === source) this.#go(route);
  }

  /**
   * Resolves once nothing is on its way; then nothing sets out until `release` is called. What
   * all stores say at such a moment goes together. Throws a `QueueError`, and holds nothing, when
   * something is on its way for longer than `limits.holdMsMax`.
   */
  async hold(): Promise<{ release: () => void }> {
    this.#isHeld = true;
    const release = (): void => {
      this.#isHeld = false;
      for (const route of this.#routes.values()) this.#go(route);
    };
    if (await this.#isQuiet()) return { release };
    release();
    throw new QueueError(
      "store",
      "items on their way to a dead queue do not arrive; its shard is down or busy, try again later",
    );
  }

  /** Whether nothing is on its way, now or in time. */
  async #isQuiet(): Promise<boolean> {
    if (!this.#isBusy) return true;
    const isQuiet = await new Promise<boolean>((resolve) => {
      const timer = this.#clock.at(this.#clock.now() + limits.holdMsMax, () => resolve(false));
      this.#settled = () => {
        timer.cancel();
        resolve(true);
      };
    });
    this.#settled = null;
    return isQuiet;
  }

  get #isBusy(): boolean {
    for (const { busy } of this.#routes.values()) if (busy) return true;
    return false;
  }

  isTargeted(shard: number, slot: number): boolean {
    for (const { target, waiting } of this.#routes.values()) {
      if (target !== shard) continue;
      for (const item of waiting.values()) if (item.targetSlot === slot) return true;
    }
    return false;
  }

  #go(route: Route): void {
    const target = this.#port(route.target);
    if (this.#isHeld && !this.#isBusy) this.#settled?.();
    if (this.#isHeld || route.busy || route.waiting.size === 0 || target === undefined) return;
    route.busy = true;
    const items = [...route.waiting.values()].slice(0, limits.sweepItemsMax);
    target.put({ kind: "receive", sourceShard: route.source, items }, (result) => {
      if (result.ok) this.#confirm(route, items);
      else this.#again(route, result);
    });
  }

  /** Until the sender knows, the items count as on their way: what is sent twice is taken once. */
  #confirm(route: Route, items: readonly OutboundItem[]): void {
    const outboundSeqs = items.map(({ outboundSeq }) => outboundSeq);
    this.#port(route.source)?.put({ kind: "received", outboundSeqs }, (result) => {
      if (!result.ok) {
        this.#again(route, result);
        return;
      }
      for (const outboundSeq of outboundSeqs) route.waiting.delete(outboundSeq);
      route.busy = false;
      this.#go(route);
    });
  }

  #again(route: Route, { code }: Failure): void {
    if (code === "closing") return;
    this.#clock.at(this.#clock.now() + againMs, () => {
      route.busy = false;
      this.#go(route);
    });
  }
}
