// This node's membership among the nodes of one database of a cluster. It renews its leases, takes
// over its share of the free shards, hands shards over to nodes with fewer, and computes until when
// it can trust that it still owns its shards.

import { after, type Clock, type Timer } from "../../engine/model/clock.ts";
import type {
  NodeProcess,
  NodeRow,
  NodesSeen,
  NodeTable,
  Owner,
  Self,
  ShardEpoch,
  ShardRow,
} from "../../stores/nodes.ts";
import type { Log } from "../observability/log.ts";
import { HandOvers } from "./hand-overs.ts";
import { Liveness, processOf } from "./liveness.ts";
import { NodeConnection } from "./node-connection.ts";
import { type ShardActions, ShardOwnership } from "./shard-ownership.ts";
import {
  type FreeShard,
  freeMsMax,
  leastLoaded,
  shardsToTake,
  shardToHandOver,
  takersAmong,
} from "./share.ts";
import {
  TakeoverCounts,
  type TakeoverReason,
  type Takeovers,
  takeoverReasonTexts,
} from "./takeovers.ts";
import { Watchers } from "./watchers.ts";

export interface MembershipOptions extends ShardActions {
  readonly self: Self;
  /** The database's name in logs and health reports; default `the database`. */
  readonly name?: string;
  /** Numbers of the shards in this database. */
  readonly shards: readonly number[];
  /** How long a node keeps ownership of a shard without renewing it. */
  readonly leaseMs: number;
  /** Must be steady: changes of the machine's clock do not affect it. */
  readonly clock: Clock;
  readonly openNodes: () => Promise<NodeTable>;
  readonly log: Log;
}

const looksPerLease = 10;
/** How far this node's clock may fall behind the database's between two looks. */
const standstillMsMax = 1_000;

const noNodes: NodesSeen = { shards: [], isContested: false, nodes: [], now: 0 };

/** When a look was sent, by the clock's `precise` and by the count of this node's row changes. */
interface Sent {
  readonly askedAt: number;
  readonly changes: number;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #shards: ReadonlyMap<number, ShardOwnership>;
  #self: Self;
  readonly #connection: NodeConnection;
  readonly #liveness: Liveness;
  readonly #watchers: Watchers;
  #seen: NodesSeen = noNodes;
  /** When the last successful look was sent, by the clock's `precise`. */
  #askedAt = 0;
  /** Until when the result of the last look is valid, by the clock's `precise`. */
  #trustedUntil = 0;
  /**
   * An owner that lost the database together with this node has until then to renew its lapsed
   * leases; by the clock's `precise`.
   */
  #patientUntil = 0;
  #isAway = false;
  /** The value in this process's row at the last look. */
  #isDrainRequested = false;
  #isHandingOverAll = false;
  /** The number of row changes by this node. */
  #changes = 0;
  /** The value of `#changes` at the last change of each shard's row. */
  readonly #changedIn = new Map<number, number>();
  readonly #takeovers = new TakeoverCounts();
  readonly #handOvers = new HandOvers();
  #timer: Timer | null = null;
  #looking: Promise<void> | null = null;
  #ended = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#self = options.self;
    this.#connection = new NodeConnection(options);
    this.#liveness = new Liveness({ leaseMs: options.leaseMs, now: () => this.#now() });
    this.#watchers = new Watchers(options.clock);
    const ownership = (shard: number) =>
      new ShardOwnership({
        ...{ shard, actions: options, log: options.log },
        now: () => this.#now(),
        // The others take any shard that they have seen free for `freeMsMax`, counted from a look.
        retryAgainMs: freeMsMax + (3 * options.leaseMs) / looksPerLease,
        giveUp: (held, meantFor) => this.#giveUp(held, meantFor),
        rowChanged: (row, change) => this.#rowChanged(row, change),
        changed: () => this.#watchers.notify(),
      });
    this.#shards = new Map(options.shards.map((shard) => [shard, ownership(shard)]));
  }

  #now(): number {
    return this.#options.clock.precise();
  }

  get #name(): string {
    return this.#options.name ?? "the database";
  }

  get seen(): NodesSeen {
    return this.#seen;
  }

  /** This node's takeovers of all shards. */
  get takeovers(): readonly Takeovers[] {
    return this.#takeovers.all;
  }

  /** The number of shards that this node has handed over. */
  get handOvers(): number {
    return this.#handOvers.count;
  }

  /** Numbers of the shards that this node owns and has open. */
  get held(): readonly number[] {
    return this.#all.filter(({ isOpen }) => isOpen).map(({ shard }) => shard);
  }

  /** This node owns the shard and has it open. */
  isOwner(shard: number): boolean {
    return this.#shards.get(shard)?.isOpen ?? false;
  }

  /** This node owns the shard at this epoch, open or not. */
  isCurrent(shard: number, epoch: number): boolean {
    return this.#shards.get(shard)?.epoch === epoch;
  }

  /** No other node can have taken the shard over yet, so the state in memory is current. */
  isTrusted(shard: number): boolean {
    return this.isOwner(shard) && !this.isStale;
  }

  /** This node is opening the shard or handing it over. */
  isChanging(shard: number): boolean {
    return this.#shards.get(shard)?.isChanging ?? false;
  }

  /** The last successful look is so old that other nodes may own this node's shards. */
  get isStale(): boolean {
    return this.#now() >= this.#trustedUntil;
  }

  /** Increases whenever the watchers are notified. */
  get version(): number {
    return this.#watchers.version;
  }

  /** The owner of a shard at the last look; `null`: the shard was free. */
  ownerOf(shard: number): Owner | null {
    const row = this.#row(shard);
    if (row === undefined || row.url === null) return null;
    return { url: row.url, epoch: row.epoch, isLapsed: row.isLapsed };
  }

  /** The live owner of the shard at the last look; it may be this node. */
  ownerNode(shard: number): NodeRow | null {
    const owner = this.#row(shard)?.url;
    return this.live.find(({ url }) => url === owner) ?? null;
  }

  /** The other nodes that were live at the last look, the owner of the shard first. */
  others(shard: number): readonly NodeRow[] {
    const owner = this.#row(shard)?.url;
    return this.#others.sort((a, b) => Number(b.url === owner) - Number(a.url === owner));
  }

  /** The nodes that were live at the last look. */
  get live(): readonly NodeRow[] {
    return this.#seen.nodes.filter(({ isLive }) => isLive);
  }

  /** The shards that no node was serving at the last look, and why; `null`: all have an owner. */
  get unserved(): { readonly why: string; readonly shards: readonly number[] } | null {
    if (this.isStale) {
      return { why: `${this.#name} does not answer`, shards: this.#options.shards };
    }
    const isUnserved = ({ shard, url, isLapsed }: ShardRow): boolean =>
      !this.isOwner(shard) && (url === null || isLapsed);
    const shards = this.#seen.shards.filter(isUnserved).map(({ shard }) => shard);
    if (shards.length === 0) return null;
    return {
      why: `no node has shard${shards.length === 1 ? "" : "s"} ${shards.join(", ")}`,
      shards,
    };
  }

  /** This node no longer takes shards, and no other node does. */
  get isLast(): boolean {
    return this.#takers.length === 0;
  }

  /** URLs of the live nodes that take shards, this one included if it does. */
  get #takers(): readonly string[] {
    const { url, isDraining } = this.#self;
    const self = { url, isDraining, isDrainRequested: this.#isDrainRequested, isLive: true };
    return takersAmong([self, ...this.#others]);
  }

  get #otherTakers(): readonly string[] {
    return this.#takers.filter((url) => url !== this.#self.url);
  }

  /** The node is neither stopping nor draining on request. */
  get #takesShards(): boolean {
    return this.#takers.includes(this.#self.url);
  }

  get #all(): readonly ShardOwnership[] {
    return [...this.#shards.values()];
  }

  get #others(): NodeRow[] {
    return this.live.filter(({ url }) => url !== this.#self.url);
  }

  #row(shard: number): ShardRow | undefined {
    return this.#seen.shards.find((row) => row.shard === shard);
  }

  /** Does the first look. Throws if the database is unreachable; call `look` later in that case. */
  async join(): Promise<void> {
    await this.#connection.open();
    await this.look();
  }

  /** Calls `run` at each change of an owner or of a shard's state, and after each failed look. */
  watch(run: () => void): void {
    this.#watchers.add(run);
  }

  /** Resolves once the version differs from `version`, or after `ms`. */
  change(version: number, ms: number): Promise<void> {
    return this.#watchers.change(version, ms);
  }

  #rowChanged(shard: number, change: Partial<ShardRow>): void {
    this.#changes += 1;
    this.#changedIn.set(shard, this.#changes);
    const shards = this.#seen.shards.map((row) =>
      row.shard === shard ? { ...row, ...change } : row,
    );
    this.#seen = { ...this.#seen, shards };
  }

  /** Looks now and schedules the next look; with the database unreachable, only as scheduled. */
  look(): Promise<void> {
    return this.#isAway && this.#timer !== null ? Promise.resolve() : this.#lookNow();
  }

  #lookNow(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
      if (this.#ended) return;
      const { clock, leaseMs } = this.#options;
      this.#timer = after(clock, leaseMs / looksPerLease, () => void this.#lookNow());
    });
    return this.#looking;
  }

  /** Looks, and does not accept a look that was already sent. */
  async lookAnew(): Promise<void> {
    await this.#looking;
    await this.look();
  }

  async #lookOnce(): Promise<void> {
    try {
      await this.#connection.use(async (nodes) => {
        const sent = { askedAt: this.#now(), changes: this.#changes };
        const held = this.#all.flatMap(({ shard, epoch }) =>
          epoch === null ? [] : { shard, epoch },
        );
        const found = await this.#connection.inTime(nodes.look(this.#self, held));
        await this.#found(found, sent);
      });
      this.#isAway = false;
    } catch (cause) {
      this.#patientUntil = this.#now() + this.#options.leaseMs;
      const { log } = this.#options;
      if (!this.#isAway)
        log.error("database of the nodes is away", cause, { database: this.#name });
      this.#isAway = true;
      this.#watchers.notify();
    }
  }

  async #found(found: NodesSeen, { askedAt, changes }: Sent): Promise<void> {
    const { leaseMs, log } = this.#options;
    const before = this.#seen;
    // This node has freed the row since the look was sent.
    const isOlder = ({ shard }: ShardRow): boolean =>
      (this.#changedIn.get(shard) ?? 0) > changes && this.#shards.get(shard)?.epoch === null;
    const shards = this.#liveness
      .seeShards(found.shards)
      .map((row) => (isOlder(row) ? (this.#row(row.shard) ?? row) : row));
    // At the first look, an earlier process with this URL may just have ended.
    const isContested = found.isContested && before.now > 0;
    if (isContested && !before.isContested) {
      log.warn("node URL is another process's too", { url: this.#self.url });
    }
    const standstillMs = this.#standstillMs(found);
    const nodes = this.#liveness.seeNodes(found.nodes);
    this.#seen = { shards, nodes, isContested, now: found.now };
    this.#seeDrains(nodes);
    this.#askedAt = askedAt;
    // Counted from the sending: after a stop of the process, the answer may be old when it is read.
    this.#trustedUntil = askedAt + leaseMs - leaseMs / 5;
    if (hasOtherOwner(before.shards, shards)) this.#watchers.notify();
    this.#loseOthers(standstillMs);
    const isPatient = this.#now() <= this.#patientUntil;
    const free = this.#liveness.seeFree(
      shards.filter(({ url, isLapsed }) => url === null || (isLapsed && !isPatient)),
    );
    await this.#take(free, askedAt);
    this.#rebalance(free);
  }

  #seeDrains(nodes: readonly NodeRow[]): void {
    for (const node of nodes) {
      if (node.isDraining || node.isDrainRequested) this.#handOvers.drains(processOf(node));
    }
    const { url, key } = this.#self;
    const own = nodes.find((node) => node.url === url && node.key === key);
    const isRequested = own?.isDrainRequested ?? false;
    if (isRequested === this.#isDrainRequested) return;
    this.#isDrainRequested = isRequested;
    this.#options.log.info("asked to drain", { draining: isRequested });
  }

  /**
   * How much more time has passed at the database than here since the last look, at least. A
   * machine that sleeps stops the clock that ends item leases.
   */
  #standstillMs({ now }: NodesSeen): number {
    if (this.#seen.now === 0) return 0;
    return Math.floor(now - this.#seen.now - (this.#now() - this.#askedAt));
  }

  /** Another node was reported to own a shard. Without the database, this one may not know it. */
  hear(node: NodeRow): void {
    const { nodes } = this.#seen;
    // A node that has restarted rejects connections with the key of its former process.
    const isSame = (one: NodeRow): boolean => processOf(one) === processOf(node);
    if (!this.isStale || nodes.some((one) => one.isLive && isSame(one))) return;
    this.#seen = { ...this.#seen, nodes: [...nodes.filter(({ url }) => url !== node.url), node] };
    this.#watchers.notify();
  }

  /** Another node has served the shard, so calls that wait at this one would never be answered. */
  depose(shard: number): void {
    const ownership = this.#shards.get(shard);
    if (ownership !== undefined && this.isStale) this.#lose(ownership);
  }

  /** Loses the shards that another node owns now, and all of them if the clock stood still. */
  #loseOthers(standstillMs: number): void {
    const isMine = ({ shard, epoch }: ShardOwnership): boolean => {
      const row = this.#row(shard);
      return row?.url === this.#self.url && row.epoch === epoch;
    };
    const held = this.#all.filter(({ epoch }) => epoch !== null);
    for (const shard of held) if (!isMine(shard)) this.#lose(shard);
    if (standstillMs <= standstillMsMax || !held.some(isMine)) return;
    this.#options.log.warn("clock stood still", { ms: standstillMs });
    for (const shard of held) if (isMine(shard)) shard.lose();
    this.#watchers.notify();
  }

  #lose(ownership: ShardOwnership): void {
    if (!ownership.lose()) return;
    this.#options.log.warn("shard is another node's", { shard: ownership.shard });
    this.#watchers.notify();
  }

  /** Takes over the shards whose rows name this node and its share of free ones, all at once. */
  async #take(free: readonly FreeShard[], askedAt: number): Promise<void> {
    if (!this.#takesShards || this.#ended) return;
    const readAt = this.#now();
    // An owner's time lags the database's by the age of this reading. If the process was stopped
    // before it read the answer, the next look does the takeover.
    if (readAt - askedAt >= this.#connection.answerMsMax) return;
    const isTakeable = ({ shard }: { readonly shard: number }): boolean =>
      this.#shards.get(shard)?.isTakeable ?? false;
    const others = this.#otherTakers;
    const { shards, isContested } = this.#seen;
    const own = shards.filter(({ url }) => url === this.#self.url && !isContested);
    const former = own.filter(isTakeable).map(({ shard }) => shard);
    const shared = shardsToTake({
      ...{ self: this.#self.url, others, shardCount: this.#shards.size },
      heldCount: this.#all.filter(({ epoch }) => epoch !== null).length + former.length,
      free: free.filter((one) => isTakeable(one) && !former.includes(one.shard)),
    });
    const taken = new Set([...former, ...shared]);
    const rows = shards.filter(({ shard }) => taken.has(shard));
    const takeovers = await Promise.allSettled(rows.map((row) => this.#takeOver(row, readAt)));
    const failed = takeovers.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  async #takeOver(row: ShardRow, readAt: number): Promise<void> {
    const { shard } = row;
    const { url } = this.#self;
    const { now } = this.#seen;
    const unrenewed = this.#liveness.isUnrenewed(row) ? row.leaseUntil : null;
    const epoch = await this.#connection.ask((nodes) =>
      nodes.takeOver(this.#self, shard, unrenewed),
    );
    // If the process was stopped since then, another node may already own the shard.
    if (epoch === null || this.#now() - readAt >= this.#connection.answerMsMax) return;
    const databaseNow = now + Math.floor(this.#now() - readAt);
    const reason: TakeoverReason = row.url === null ? "free" : row.isLapsed ? "lapsed" : "own";
    this.#takeovers.taken(reason);
    this.#handOvers.taken(shard, this.#now());
    this.#options.log.info("takes a shard over", {
      ...{ shard, epoch, why: takeoverReasonTexts[reason] },
    });
    this.#shards.get(shard)?.taken({ shard, epoch, url }, databaseNow, () => {
      this.#takeovers.opened(reason, (this.#now() - readAt) / 1_000);
    });
  }

  /** Hands one shard over if another node has too few, or all shards if asked to drain. */
  #rebalance(free: readonly FreeShard[]): void {
    const now = this.#now();
    if (this.#self.isDraining || this.#ended) return;
    if (!this.#takesShards) {
      void this.#handOverAll();
      return;
    }
    const isBusy = this.#all.some(({ isChanging }) => isChanging);
    if (isBusy || !this.#handOvers.isDue(now)) return;
    const others = this.#others;
    const takers = this.#otherTakers;
    const isKnown = (url: string): boolean => {
      const node = others.find((other) => other.url === url);
      if (node === undefined) return false;
      return this.#liveness.isKnown(node) && !this.#handOvers.isPaused(processOf(node), now);
    };
    const offer = shardToHandOver({
      ...{ self: this.#self.url, shards: this.#seen.shards, held: this.held, free },
      others: takers,
      known: takers.filter(isKnown),
    });
    const ownership = this.#shards.get(offer?.shard ?? -1);
    const to = others.find(({ url }) => url === offer?.to);
    if (ownership === undefined || to === undefined) return;
    this.#handOvers.begun(ownership.shard, processOf(to), now);
    void this.#handOver(ownership, to);
  }

  async #handOver(ownership: ShardOwnership, to: NodeRow | null): Promise<void> {
    if ((await ownership.handOver(to)) && to !== null) this.#handOvers.count += 1;
  }

  /** Ends once the node may keep shards again, or cannot hand any over. */
  async #handOverAll(): Promise<void> {
    if (this.#isHandingOverAll) return;
    this.#isHandingOverAll = true;
    while (!this.#takesShards && !this.isStale && !this.#ended) {
      const next = this.#all.find(({ isHeld }) => isHeld);
      if (next === undefined) break;
      await this.#handOver(next, this.#leastLoaded);
    }
    this.#isHandingOverAll = false;
  }

  /** The other node with the fewest shards; `null`: no other node takes shards. */
  get #leastLoaded(): NodeRow | null {
    const url = leastLoaded(this.#otherTakers, this.#seen.shards);
    return this.#others.find((node) => node.url === url) ?? null;
  }

  /** Records the request. `false`: the process has no row; `null`: there is no connection. */
  requestDrain(node: NodeProcess, isRequested: boolean): Promise<boolean | null> {
    return this.#connection.ask((nodes) => nodes.requestDrain(node, isRequested));
  }

  async #giveUp(held: ShardEpoch, meantFor: string | null): Promise<boolean> {
    const freed = await this.#connection.ask(async (nodes) => {
      await nodes.giveUp(this.#self, held, meantFor);
      return true;
    });
    return freed ?? false;
  }

  /** Stops taking shards, and hands over all that the node owns. */
  async drain(): Promise<void> {
    this.#self = { ...this.#self, isDraining: true };
    // A look that was sent before may still bring shards. The new one first announces the drain to
    // the other nodes, so that none of them waits for rows that are about to become free.
    await this.lookAnew();
    for (;;) {
      const held = this.#all.filter(({ isHeld }) => isHeld);
      if (held.length === 0) break;
      // With the database unreachable nothing can be handed over: order does not matter, and each
      // shard may take its time to close.
      const next = this.isStale ? held : held.slice(0, 1);
      const to = this.#leastLoaded;
      await Promise.all(next.map((ownership) => this.#handOver(ownership, to)));
    }
    await this.look();
  }

  /** Removes this node's row. */
  async leave(): Promise<void> {
    this.#ended = true;
    this.#timer?.cancel();
    await this.#looking;
    await this.#connection.ask((nodes) => nodes.leave(this.#self)).catch(() => undefined);
    await this.#connection.ask((nodes) => nodes.close()).catch(() => undefined);
  }
}

function hasOtherOwner(before: readonly ShardRow[], now: readonly ShardRow[]): boolean {
  return now.some(({ shard, url, epoch }) => {
    const known = before.find((row) => row.shard === shard);
    return known?.url !== url || known.epoch !== epoch;
  });
}
