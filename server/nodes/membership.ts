// This node among those that share the database: it gives signs of life, takes the shards over
// when they are nobody's, and knows until when it may trust that they are its own.

import type { NodeRow, NodesSeen, NodeTable, Owner, Self } from "../../stores/nodes.ts";
import type { Log } from "../log.ts";

export interface MembershipOptions {
  readonly self: Self;
  /** How long an owner has without a sign of life. */
  readonly leaseMs: number;
  readonly openNodes: () => Promise<NodeTable>;
  /** Opens the shards as of this epoch. */
  readonly own: (epoch: number, databaseNow: number) => Promise<void>;
  /** The shards are another's by now. */
  readonly lose: () => void;
  readonly log: Log;
}

/** Looks within a lease. */
const looksPerLease = 10;
/** A look that brings nothing for longer is given up, and its connection with it. */
const lookMsMax = 2_000;

export class Membership {
  readonly #options: MembershipOptions;
  #self: Self;
  #nodes: NodeTable | null = null;
  #seen: NodesSeen = { owner: null, nodes: [], now: 0 };
  /** As of which it owns the shards, whether they are open already or not. */
  #epoch: number | null = null;
  #isOpen = false;
  /** By `performance.now()`. */
  #trustedUntil = 0;
  #takeovers = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #looking: Promise<void> | null = null;
  #ended = false;
  readonly #watchers = new Set<() => void>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#self = options.self;
  }

  get seen(): NodesSeen {
    return this.#seen;
  }

  get owner(): Owner | null {
    return this.#seen.owner;
  }

  get takeovers(): number {
    return this.#takeovers;
  }

  /** The shards are this node's own, and open. */
  get isOwner(): boolean {
    return this.#isOpen;
  }

  /** Nobody else can have taken over yet: what is in memory is the truth. */
  get isTrusted(): boolean {
    return this.#isOpen && performance.now() < this.#trustedUntil;
  }

  /** Somebody has the shards. */
  get isServed(): boolean {
    return this.#isOpen || (this.owner !== null && !this.owner.isLapsed);
  }

  /** It takes nothing over any more, and nobody else is there to do so. */
  get isLast(): boolean {
    const isHeir = ({ url, isDraining }: NodeRow): boolean => url !== this.#self.url && !isDraining;
    return this.#self.isDraining && !this.#live.some(isHeir);
  }

  get liveCount(): number {
    return this.#live.length;
  }

  get #live(): NodeRow[] {
    const { nodes, now } = this.#seen;
    return nodes.filter(({ seenAt }) => seenAt > now - this.#options.leaseMs);
  }

  /** The first look; throws where the database cannot be reached. */
  async join(): Promise<void> {
    this.#nodes = await this.#options.openNodes();
    await this.look();
  }

  /** Resolves with the next change of what is known, or after so long. */
  async change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watchers.add(resolve);
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#watchers.delete(resolve);
  }

  #tell(): void {
    for (const resolve of this.#watchers) resolve();
  }

  /** Looks now, and then in its rhythm. */
  look(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
      this.#tell();
      if (this.#ended) return;
      const everyMs = this.#options.leaseMs / looksPerLease;
      this.#timer = setTimeout(() => void this.look(), everyMs);
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    try {
      this.#nodes ??= await this.#options.openNodes();
      const askedAt = performance.now();
      const seen = await within(lookMsMax, this.#nodes.look(this.#self, this.#epoch));
      await this.#found(seen, askedAt);
    } catch (cause) {
      const nodes = this.#nodes;
      this.#nodes = null;
      void nodes?.close();
      if (nodes !== null) this.#options.log.error("database of the nodes is away", cause);
    }
  }

  async #found(seen: NodesSeen, askedAt: number): Promise<void> {
    const { leaseMs, lose } = this.#options;
    const { owner } = seen;
    this.#seen = seen;
    const isMine = owner !== null && owner.url === this.#self.url && owner.epoch === this.#epoch;
    if (isMine) {
      this.#trustedUntil = askedAt + leaseMs - leaseMs / 5;
      return;
    }
    if (this.#epoch !== null) {
      this.#epoch = null;
      this.#isOpen = false;
      lose();
    }
    const isFree = owner === null || owner.isLapsed || owner.url === this.#self.url;
    if (isFree && !this.#self.isDraining && !this.#ended) await this.#takeOver(seen);
  }

  async #takeOver({ now, owner }: NodesSeen): Promise<void> {
    const { leaseMs, own, log } = this.#options;
    const askedAt = performance.now();
    const epoch = (await this.#nodes?.takeOver(this.#self)) ?? null;
    if (epoch === null) return;
    this.#epoch = epoch;
    this.#takeovers += 1;
    this.#seen = { ...this.#seen, owner: { url: this.#self.url, epoch, isLapsed: false } };
    const why = owner === null ? "free" : owner.isLapsed ? "lapsed" : "its own before";
    log.info("takes the shards over", { epoch, why });
    // Beside the looks, which have to go on meanwhile.
    void own(epoch, now).then(
      () => {
        if (this.#epoch !== epoch) return;
        this.#trustedUntil = Math.max(this.#trustedUntil, askedAt + leaseMs - leaseMs / 5);
        this.#isOpen = true;
        log.info("owns the shards", { epoch });
        this.#tell();
      },
      (cause: unknown) => {
        log.error("shards cannot be opened", cause, { epoch });
        if (this.#epoch === epoch) void this.#giveUp(epoch);
      },
    );
  }

  async #giveUp(epoch: number): Promise<void> {
    this.#epoch = null;
    this.#isOpen = false;
    await this.#nodes?.giveUp(this.#self, epoch).catch(() => undefined);
  }

  /** Takes nothing over any more; `closed`: closes the shards, of which nothing is answered any more. */
  async drain(closed: () => Promise<void>): Promise<void> {
    this.#self = { ...this.#self, isDraining: true };
    const epoch = this.#epoch;
    // Said first, so that nobody waits for the row that is about to be free.
    await this.look();
    this.#isOpen = false;
    await closed();
    if (epoch !== null) await this.#giveUp(epoch);
    await this.look();
  }

  /** The last word: the others forget this node. */
  async leave(): Promise<void> {
    this.#ended = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    if (this.#nodes === null) return;
    await within(lookMsMax, this.#nodes.leave(this.#self)).catch(() => undefined);
    await within(lookMsMax, this.#nodes.close()).catch(() => undefined);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`nothing came within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
