// This node among those that share the database: it gives signs of life, takes the shards over
// when they are nobody's, and knows until when it may trust that they are its own.

import { after, type Clock, type Timer } from "../../engine/model/clock.ts";
import { Observations } from "../../engine/model/histogram.ts";
import type { NodeRow, NodesSeen, NodeTable, Owner, Self } from "../../stores/nodes.ts";
import type { Log } from "../log.ts";
import { Unchanged } from "./unchanged.ts";

export interface MembershipOptions {
  readonly self: Self;
  /** How long an owner has without a sign of life. */
  readonly leaseMs: number;
  /** Steady, whatever becomes of the machine's. */
  readonly clock: Clock;
  readonly openNodes: () => Promise<NodeTable>;
  /** Opens the shards as of this epoch. */
  readonly own: (epoch: number, databaseNow: number) => Promise<void>;
  /** The shards are another's by now, or have to be opened anew. */
  readonly lose: () => void;
  readonly log: Log;
}

/** Looks within a lease. */
const looksPerLease = 10;
/**
 * A look that brings nothing for longer is given up, and its connection with it: an owner has then
 * time for further ones before the shards may be another's. A longer lease bears a slower database.
 */
const lookMsMax = { least: 2_000, ofLease: 1 / 5 };
/** More time than this has to have gone by at the database alone, from a look to the next. */
const standstillMsMax = 1_000;

/** Nobody had the shards; their owner was silent; they were this node's own before. */
export const takeoverReasons = ["free", "lapsed", "own"] as const;
type TakeoverReason = (typeof takeoverReasons)[number];

export interface Takeovers {
  readonly reason: TakeoverReason;
  readonly count: number;
  /** From the row of the owner to shards that are open, of those that came so far. */
  readonly seconds: Observations;
}

const takeoverSecondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const whyTexts: Readonly<Record<TakeoverReason, string>> = {
  free: "free",
  lapsed: "lapsed",
  own: "its own before",
};

const noNodes: NodesSeen = {
  ...{ owner: null, epoch: 0, leaseUntil: 0, isContested: false, nodes: [], now: 0 },
};

export class Membership {
  readonly #options: MembershipOptions;
  #self: Self;
  #nodes: Promise<NodeTable> | null = null;
  #seen: NodesSeen = noNodes;
  /** As of which it owns the shards, whether they are open already or not. */
  #epoch: number | null = null;
  #isOpen = false;
  #isGivingUp = false;
  /** By the clock's `precise`, when it asked for what it has seen. */
  #askedAt = 0;
  /** By the clock's `precise`, as is the next: until then what the last look showed is the truth. */
  #trustedUntil = 0;
  readonly #lease = new Unchanged();
  readonly #signsOfLife = new Unchanged();
  /** An owner that was cut off together with this node has until then to renew what has lapsed. */
  #patientUntil = 0;
  #isAway = false;
  #version = 0;
  readonly #takeovers = takeoverReasons.map((reason) => ({
    ...{ reason, count: 0 },
    seconds: new Observations(takeoverSecondsBounds),
  }));
  #timer: Timer | null = null;
  #looking: Promise<void> | null = null;
  #ended = false;
  readonly #watchers = new Set<() => void>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#self = options.self;
  }

  #now(): number {
    return this.#options.clock.precise();
  }

  get seen(): NodesSeen {
    return this.#seen;
  }

  get owner(): Owner | null {
    return this.#seen.owner;
  }

  /** By this node. */
  get takeovers(): readonly Takeovers[] {
    return this.#takeovers;
  }

  /** The shards are this node's own, and open. */
  get isOwner(): boolean {
    return this.#isOpen;
  }

  /** Nobody else can have taken over yet: what is in memory is the truth. */
  get isTrusted(): boolean {
    return this.#isOpen && !this.isStale;
  }

  /** They are this node's own, and are being opened or handed over. */
  get isChanging(): boolean {
    return (this.#epoch !== null || this.#isGivingUp) && !this.#isOpen;
  }

  /** It has not seen the database for so long that the shards may be anyone's. */
  get isStale(): boolean {
    return this.#now() >= this.#trustedUntil;
  }

  /** Rises whenever those who watch are told. */
  get version(): number {
    return this.#version;
  }

  /** The others that lived when it looked last, the owner first. */
  get others(): readonly NodeRow[] {
    const { owner } = this.#seen;
    return this.live
      .filter(({ url }) => url !== this.#self.url)
      .sort((a, b) => Number(b.url === owner?.url) - Number(a.url === owner?.url));
  }

  /** The one that has the shards, itself included, as far as it knows. */
  get ownerNode(): NodeRow | null {
    return this.live.find(({ url }) => url === this.owner?.url) ?? null;
  }

  /** Those that lived when it looked last. */
  get live(): readonly NodeRow[] {
    return this.#seen.nodes.filter(({ isLive }) => isLive);
  }

  /** Why nobody is served, as far as it knows; `null`: somebody has the shards. */
  get unserved(): string | null {
    if (this.isStale) return "the database does not answer";
    const isLapsed = this.owner?.isLapsed ?? true;
    return this.#isOpen || !isLapsed ? null : "no node has the shards";
  }

  /** It takes nothing over any more, and nobody else is there to do so. */
  get isLast(): boolean {
    return this.#self.isDraining && this.others.every(({ isDraining }) => isDraining);
  }

  /** The first look; throws where the database cannot be reached. */
  async join(): Promise<void> {
    this.#nodes = this.#options.openNodes();
    await this.#nodes;
    await this.look();
  }

  /** Told of each change of who has the shards, and of each look that brought nothing. */
  watch(run: () => void): void {
    this.#watchers.add(run);
  }

  /** Resolves once the version is not that one, or after so long. */
  async change(version: number, ms: number): Promise<void> {
    if (version !== this.#version) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watchers.add(resolve);
    const timer = after(this.#options.clock, ms, resolve);
    await promise;
    timer.cancel();
    this.#watchers.delete(resolve);
  }

  #tell(): void {
    this.#version += 1;
    for (const run of this.#watchers) run();
  }

  /** Looks now, and then in its rhythm. */
  look(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
      if (this.#ended) return;
      const { clock, leaseMs } = this.#options;
      this.#timer = after(clock, leaseMs / looksPerLease, () => void this.look());
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    try {
      const nodes = await this.#opened();
      const askedAt = this.#now();
      try {
        const seen = await this.#soon(nodes.look(this.#self, this.#epoch));
        await this.#found(seen, askedAt);
      } catch (cause) {
        this.#nodes = null;
        nodes.close().catch(() => undefined);
        throw cause;
      }
      this.#isAway = false;
    } catch (cause) {
      this.#patientUntil = this.#now() + this.#options.leaseMs;
      if (!this.#isAway) this.#options.log.error("database of the nodes is away", cause);
      this.#isAway = true;
      this.#tell();
    }
  }

  /** An opening has bounds of its own, and goes on when a look is over: it may have several hosts to try. */
  #opened(): Promise<NodeTable> {
    if (this.#nodes === null) {
      const nodes = this.#options.openNodes();
      this.#nodes = nodes;
      nodes.catch(() => {
        if (this.#nodes === nodes) this.#nodes = null;
      });
    }
    return this.#soon(this.#nodes);
  }

  async #found(found: NodesSeen, askedAt: number): Promise<void> {
    const { leaseMs } = this.#options;
    const unrenewed = this.#unrenewed(found);
    const nodes = this.#withSilent(found.nodes);
    const seen = unrenewed === null ? found : withLapsed(found);
    const { owner } = seen;
    const isNews = owner?.url !== this.owner?.url || owner?.epoch !== this.owner?.epoch;
    // Before the first look, a process of the same URL may just have ended.
    const isContested = seen.isContested && this.#seen.now > 0;
    if (isContested && !this.#seen.isContested) {
      this.#options.log.warn("node URL is another process's too", { url: this.#self.url });
    }
    const standstillMs = this.#standstillMs(seen);
    this.#seen = { ...seen, nodes, isContested };
    this.#askedAt = askedAt;
    // From when it was sent: an owner that was stopped hears what was true before.
    this.#trustedUntil = askedAt + leaseMs - leaseMs / 5;
    if (isNews) this.#tell();
    const isMine = owner !== null && owner.url === this.#self.url && owner.epoch === this.#epoch;
    if (isMine && standstillMs <= standstillMsMax) return;
    this.#lose(isMine ? standstillMs : null);
    const isLapsed = owner?.isLapsed === true && this.#now() > this.#patientUntil;
    const isOwn = owner?.url === this.#self.url && !isContested;
    const isFree = owner === null || isLapsed || isOwn;
    if (isFree && !this.#self.isDraining && !this.#ended)
      await this.#takeOver(seen, { askedAt, unrenewed });
  }

  /**
   * The lease of an owner that has not renewed it for so long by this node's own clock; else `null`.
   * By that of a database that was set back it would last for as much longer.
   */
  #unrenewed({ epoch, leaseUntil }: NodesSeen): number | null {
    const now = this.#now();
    this.#lease.see([["owner", `${epoch} ${leaseUntil}`]], now);
    return this.#lease.msOf("owner", now) > this.#options.leaseMs ? leaseUntil : null;
  }

  /** Nor does a node live whose last sign of life is that old, however far ahead its instant lies. */
  #withSilent(nodes: readonly NodeRow[]): NodeRow[] {
    const now = this.#now();
    const signs = nodes.map(({ url, seenAt }) => [url, String(seenAt)] as const);
    this.#signsOfLife.see(signs, now);
    return nodes.map((node) => {
      const isSilent = this.#signsOfLife.msOf(node.url, now) > this.#options.leaseMs;
      return { ...node, isLive: node.isLive && !isSilent };
    });
  }

  /**
   * How much more time has gone by at the database since the last look, at least: a machine that
   * sleeps stops the clock by which leases of items end.
   */
  #standstillMs({ now }: NodesSeen): number {
    if (this.#seen.now === 0) return 0;
    return Math.floor(now - this.#seen.now - (this.#now() - this.#askedAt));
  }

  /** Another node was said to have the shards: one that is cut off may never have seen it. */
  hear(node: NodeRow): void {
    const { nodes } = this.#seen;
    // One that has started anew lets nobody in who knows the process before it.
    const isSame = ({ url, key }: NodeRow): boolean => url === node.url && key === node.key;
    if (!this.isStale || nodes.some((one) => one.isLive && isSame(one))) return;
    this.#seen = { ...this.#seen, nodes: [...nodes.filter(({ url }) => url !== node.url), node] };
    this.#tell();
  }

  /** Another node was heard to serve: what waits here waits for nothing. */
  depose(): void {
    if (this.isStale) this.#lose(null);
  }

  /** `null`: they are another's by now. */
  #lose(standstillMs: number | null): void {
    if (this.#epoch === null) return;
    this.#epoch = null;
    this.#isOpen = false;
    const { lose, log } = this.#options;
    lose();
    if (standstillMs === null) log.warn("shards are another node's");
    else log.warn("clock stood still", { ms: standstillMs });
    this.#tell();
  }

  async #takeOver(
    { now, owner }: NodesSeen,
    { askedAt, unrenewed }: { readonly askedAt: number; readonly unrenewed: number | null },
  ): Promise<void> {
    const { own, log } = this.#options;
    const heardAt = this.#now();
    // The owner's time stays behind the database's by the age of this reading. A process that was
    // stopped before it heard the answer leaves the takeover to the next look.
    if (heardAt - askedAt >= this.#lookMsMax) return;
    const epoch = await this.#ask((nodes) => nodes.takeOver(this.#self, unrenewed));
    // After a stop since then the shards may already be another node's.
    if (epoch === null || this.#now() - heardAt >= this.#lookMsMax) return;
    const databaseNow = now + Math.floor(this.#now() - heardAt);
    this.#epoch = epoch;
    const reason = owner === null ? "free" : owner.isLapsed ? "lapsed" : "own";
    const takeovers = this.#takeovers[takeoverReasons.indexOf(reason)];
    if (takeovers !== undefined) takeovers.count += 1;
    this.#seen = { ...this.#seen, epoch, owner: { url: this.#self.url, epoch, isLapsed: false } };
    log.info("takes the shards over", { epoch, why: whyTexts[reason] });
    // Beside the looks, which have to go on meanwhile.
    void own(epoch, databaseNow).then(
      () => {
        if (this.#epoch !== epoch) return;
        this.#isOpen = true;
        takeovers?.seconds.add((this.#now() - heardAt) / 1_000);
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
    this.#isGivingUp = true;
    this.#epoch = null;
    this.#isOpen = false;
    await this.#ask((nodes) => nodes.giveUp(this.#self, epoch)).catch(() => undefined);
    this.#isGivingUp = false;
    this.#tell();
  }

  /** What was asked on a connection that says nothing may yet be done: a look shows whether it was. */
  async #ask<T>(ask: (nodes: NodeTable) => Promise<T>): Promise<T | null> {
    return this.#nodes === null ? null : await this.#soon(this.#nodes.then(ask));
  }

  /** Takes nothing over any more; `closed`: closes the shards, of which nothing is answered any more. */
  async drain(closed: () => Promise<void>): Promise<void> {
    this.#self = { ...this.#self, isDraining: true };
    const epoch = this.#epoch;
    // Said first, so that nobody waits for the row that is about to be free.
    await this.look();
    this.#isOpen = false;
    this.#tell();
    await closed();
    if (epoch !== null) await this.#giveUp(epoch);
    await this.look();
  }

  /** The last word: the others forget this node. */
  async leave(): Promise<void> {
    this.#ended = true;
    this.#timer?.cancel();
    await this.#looking;
    await this.#ask((nodes) => nodes.leave(this.#self)).catch(() => undefined);
    await this.#ask((nodes) => nodes.close()).catch(() => undefined);
  }

  get #lookMsMax(): number {
    return Math.max(lookMsMax.least, this.#options.leaseMs * lookMsMax.ofLease);
  }

  async #soon<T>(work: Promise<T>): Promise<T> {
    const ms = this.#lookMsMax;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = (): void => reject(new Error(`nothing came within ${ms} ms`));
    const timer = after(this.#options.clock, ms, late);
    try {
      return await Promise.race([work, promise]);
    } finally {
      timer.cancel();
      work.catch(() => undefined);
    }
  }
}

/** Whoever comes first takes over from it. */
function withLapsed(seen: NodesSeen): NodesSeen {
  return { ...seen, owner: seen.owner && { ...seen.owner, isLapsed: true } };
}
