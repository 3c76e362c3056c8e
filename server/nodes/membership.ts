// This node's membership among the nodes of one database of a cluster. It polls the database, which
// renews its ownership leases. After each poll it takes over its share of the free shards and hands
// shards over to nodes with fewer.

import { after, type Clock, type Timer } from "../../engine/model/clock.ts";
import type {
  ClusterView,
  NodeProcess,
  NodeRow,
  NodeTable,
  Self,
  ShardEpoch,
  ShardRow,
} from "../../stores/nodes.ts";
import type { Log } from "../observability/log.ts";
import {
  acceptingUrls,
  afterPoll,
  type ClusterState,
  freeRows,
  initialState,
  isDrainRequested,
  liveNodes,
  otherAccepting,
  otherNodes,
  rowOf,
  withNode,
  withRow,
} from "./cluster-state.ts";
import { HandOvers } from "./hand-overs.ts";
import { Liveness, processOf } from "./liveness.ts";
import { NodeConnection } from "./node-connection.ts";
import { type ShardActions, ShardOwnership } from "./shard-ownership.ts";
import {
  type FreeShard,
  freeMsMax,
  leastLoaded,
  shardsToTakeOver,
  shardToHandOver,
} from "./share.ts";
import { noTakeovers } from "./takeover-stats.ts";
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

const pollsPerLease = 10;
/** The part of a lease for which an owner trusts that it still owns the shards. */
const trustedPart = 4 / 5;

export class Membership {
  readonly #options: MembershipOptions;
  readonly #name: string;
  readonly #shards: ReadonlyMap<number, ShardOwnership>;
  readonly #connection: NodeConnection;
  readonly #liveness: Liveness;
  readonly handOvers = new HandOvers();
  readonly takeovers = noTakeovers();
  /** Notified of each change of an owner or of a shard's state, and of each failed poll. */
  readonly watchers: Watchers;
  #state: ClusterState;
  /** Shards that this node has released since the last poll was sent. */
  readonly #released = new Set<number>();
  #polling: Promise<void> | null = null;
  #nextPoll: Timer | null = null;
  #isHandingOverAll = false;
  #isUnreachable = false;
  #hasLeft = false;

  constructor(options: MembershipOptions) {
    const { clock, leaseMs, log, self } = options;
    this.#options = options;
    this.#name = options.name ?? "the database";
    this.#state = initialState(self);
    this.#connection = new NodeConnection(options);
    const now = () => this.#now();
    this.#liveness = new Liveness({ leaseMs, now });
    this.watchers = new Watchers(clock);
    const ownership = (shard: number) =>
      new ShardOwnership({
        ...{ shard, self, now, log, connection: this.#connection, takeovers: this.takeovers },
        actions: options,
        // The others take any shard that was free in their polls for `freeMsMax`.
        retryAgainMs: freeMsMax + (3 * leaseMs) / pollsPerLease,
        rowChanged: (change) => this.#rowChanged(shard, change),
        changed: () => this.watchers.notify(),
      });
    this.#shards = new Map(options.shards.map((shard) => [shard, ownership(shard)]));
  }

  #now(): number {
    return this.#options.clock.precise();
  }

  /** The rows of the last successful poll. */
  get view(): ClusterView {
    return this.#state.view;
  }

  /** Numbers of the shards that this node owns and has open. */
  get openShards(): readonly number[] {
    return this.#all.filter(({ isOpen }) => isOpen).map(({ shard }) => shard);
  }

  /** This node owns the shard and has it open. */
  isOwner(shard: number): boolean {
    return this.#shards.get(shard)?.isOpen ?? false;
  }

  /** No other node can have taken the shard over yet, so the state in memory is current. */
  isTrusted(shard: number): boolean {
    return this.isOwner(shard) && !this.isStale;
  }

  /** This node is opening the shard or handing it over. */
  isChanging(shard: number): boolean {
    return this.#shards.get(shard)?.isChanging ?? false;
  }

  /** The last successful poll is so old that other nodes may own this node's shards. */
  get isStale(): boolean {
    return this.#now() >= this.#state.polledAt + this.#options.leaseMs * trustedPart;
  }

  /** The live owner of the shard at the last poll; it may be this node. */
  ownerNode(shard: number): NodeRow | null {
    const owner = rowOf(this.#state, shard)?.url;
    return this.live.find(({ url }) => url === owner) ?? null;
  }

  /** The other nodes that were live at the last poll, the owner of the shard first. */
  others(shard: number): readonly NodeRow[] {
    const owner = rowOf(this.#state, shard)?.url;
    const isOwner = ({ url }: NodeRow): number => Number(url === owner);
    return otherNodes(this.#state).toSorted((a, b) => isOwner(b) - isOwner(a));
  }

  /** The nodes that were live at the last poll. */
  get live(): readonly NodeRow[] {
    return liveNodes(this.#state);
  }

  /** The shards that no node was serving at the last poll, and why; `null`: all have an owner. */
  get unserved(): { readonly why: string; readonly shards: readonly number[] } | null {
    if (this.isStale) {
      return { why: `${this.#name} does not answer`, shards: this.#options.shards };
    }
    const isUnserved = ({ shard, url, isLapsed }: ShardRow): boolean =>
      !this.isOwner(shard) && (url === null || isLapsed);
    const shards = this.view.shards.filter(isUnserved).map(({ shard }) => shard);
    if (shards.length === 0) return null;
    return {
      why: `no node owns shard${shards.length === 1 ? "" : "s"} ${shards.join(", ")}`,
      shards,
    };
  }

  /** This node no longer accepts shards, and no other node does. */
  get isLast(): boolean {
    return acceptingUrls(this.#state).length === 0;
  }

  /** The node is neither stopping nor draining on request. */
  get #isAccepting(): boolean {
    return acceptingUrls(this.#state).includes(this.#state.self.url);
  }

  get #all(): readonly ShardOwnership[] {
    return [...this.#shards.values()];
  }

  /** Polls for the first time. Throws if the database is unreachable; call `poll` in that case. */
  async join(): Promise<void> {
    await this.#connection.open();
    await this.poll();
  }

  #rowChanged(shard: number, change: Partial<ShardRow>): void {
    if (change.url === null) this.#released.add(shard);
    this.#state = withRow(this.#state, shard, change);
  }

  /** Polls now and schedules the next poll; with the database unreachable, only as scheduled. */
  async poll(): Promise<void> {
    if (!this.#isUnreachable || this.#nextPoll === null) await this.#pollNow();
  }

  /** Polls, and does not accept a poll that was already sent. */
  async pollAgain(): Promise<void> {
    await this.#polling;
    await this.poll();
  }

  #pollNow(): Promise<void> {
    this.#nextPoll?.cancel();
    this.#nextPoll = null;
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null;
      if (this.#hasLeft) return;
      const { clock, leaseMs } = this.#options;
      this.#nextPoll = after(clock, leaseMs / pollsPerLease, () => void this.#pollNow());
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    try {
      await this.#connection.use(async (nodes) => {
        const sentAt = this.#now();
        this.#released.clear();
        const answer = nodes.heartbeat(this.#state.self, this.#owned);
        await this.#polled(await this.#connection.withTimeout(answer), sentAt);
      });
      this.#isUnreachable = false;
    } catch (cause) {
      const { leaseMs, log } = this.#options;
      if (!this.#isUnreachable)
        log.error("node database unreachable", cause, { database: this.#name });
      this.#isUnreachable = true;
      this.#state = { ...this.#state, graceUntil: this.#now() + leaseMs };
      this.watchers.notify();
    }
  }

  get #owned(): readonly ShardEpoch[] {
    return this.#all.flatMap(({ shard, epoch }) => (epoch === null ? [] : { shard, epoch }));
  }

  /** Steps down from lost shards, then takes over free ones, then hands over if it has too many. */
  async #polled(received: ClusterView, sentAt: number): Promise<void> {
    const receivedAt = this.#now();
    const before = this.#state;
    const result = afterPoll(before, {
      ...{ sentAt, receivedAt, owned: this.#owned, released: this.#released },
      view: {
        ...received,
        shards: this.#liveness.markLapsed(received.shards),
        nodes: this.#liveness.markLive(received.nodes),
      },
    });
    this.#state = result.state;
    this.#noticeChanges(before);
    if (result.isOwnerChanged) this.watchers.notify();
    for (const shard of result.lost) this.#lose(shard);
    this.#reopen(result.outdated, result.lagMs);
    const free = this.#liveness.freeShards(freeRows(this.#state, this.#owned, receivedAt));
    await this.#takeOver(free, sentAt);
    this.#rebalance(free);
  }

  #noticeChanges(before: ClusterState): void {
    const { log } = this.#options;
    const { self, view } = this.#state;
    if (view.isContested && !before.view.isContested) {
      log.warn("node URL used by another process", { url: self.url });
    }
    const draining = isDrainRequested(this.#state);
    if (draining !== isDrainRequested(before)) log.info("drain requested", { draining });
    for (const node of view.nodes) {
      if (node.isDraining || node.isDrainRequested) this.handOvers.drains(processOf(node));
    }
  }

  /** The owner of a shard was reported by another node; the rows of a stale node may not have it. */
  discover(node: NodeRow): void {
    if (!this.isStale) return;
    const before = this.#state;
    this.#state = withNode(before, node);
    if (this.#state !== before) this.watchers.notify();
  }

  /** Another node has served the shard, so calls that wait at this one would never be answered. */
  stepDown(shard: number): void {
    if (this.isStale) this.#lose(shard);
  }

  #lose(shard: number): void {
    if (this.#shards.get(shard)?.lose() !== true) return;
    this.#options.log.warn("shard ownership lost", { shard });
    this.watchers.notify();
  }

  #reopen(shards: readonly number[], lagMs: number): void {
    if (shards.length === 0) return;
    this.#options.log.warn("clock fell behind", { ms: lagMs });
    for (const shard of shards) this.#shards.get(shard)?.lose();
    this.watchers.notify();
  }

  /** Takes over this node's share of the free shards, all at once. */
  async #takeOver(free: readonly FreeShard[], sentAt: number): Promise<void> {
    if (!this.#isAccepting || this.#hasLeft) return;
    const readAt = this.#now();
    // An owner's time lags the database's by the age of this reading. If the process was stopped
    // before it read the answer, the next poll does the takeover.
    if (readAt - sentAt >= this.#connection.timeoutMs) return;
    const shards = shardsToTakeOver({
      ...{ self: this.#state.self.url, accepting: acceptingUrls(this.#state) },
      ...{ shardCount: this.#shards.size, ownedCount: this.#owned.length },
      free: free.filter(({ shard }) => this.#shards.get(shard)?.canTakeOver),
    });
    const databaseNow = this.view.now;
    const takeovers = shards.map(async (shard) => {
      const row = rowOf(this.#state, shard);
      const ownership = this.#shards.get(shard);
      if (row === undefined || ownership === undefined) return;
      if (await ownership.takeOver({ row, databaseNow, readAt }))
        this.handOvers.takenOver(shard, this.#now());
    });
    const failed = (await Promise.allSettled(takeovers)).find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** Hands one shard over if another node has too few, or all shards if asked to drain. */
  #rebalance(free: readonly FreeShard[]): void {
    const now = this.#now();
    const { self, view } = this.#state;
    if (self.isDraining || this.#hasLeft) return;
    if (!this.#isAccepting) {
      void this.#drainOnRequest();
      return;
    }
    const isBusy = this.#all.some(({ isChanging }) => isChanging);
    if (isBusy || !this.handOvers.isDue(now)) return;
    const receivers = otherAccepting(this.#state).filter(
      (node) =>
        this.#liveness.isEstablished(node) && !this.handOvers.isPaused(processOf(node), now),
    );
    const handOver = shardToHandOver({
      ...{ self: self.url, accepting: acceptingUrls(this.#state), receivers },
      ...{ shards: view.shards, open: this.openShards, free },
    });
    const ownership = this.#shards.get(handOver?.shard ?? -1);
    if (handOver === null || ownership === undefined) return;
    this.handOvers.started(handOver.shard, processOf(handOver.to), now);
    void this.#handOver(ownership, handOver.to);
  }

  async #handOver(ownership: ShardOwnership, to: NodeRow | null): Promise<void> {
    if ((await ownership.handOver(to)) && to !== null) this.handOvers.count += 1;
  }

  /** Ends once the node may keep shards again, or cannot hand any over. */
  async #drainOnRequest(): Promise<void> {
    if (this.#isHandingOverAll) return;
    this.#isHandingOverAll = true;
    await this.#handOverAll(() => !this.#isAccepting && !this.isStale && !this.#hasLeft);
    this.#isHandingOverAll = false;
  }

  async #handOverAll(isWanted: () => boolean): Promise<void> {
    for (;;) {
      const owned = this.#all.filter(({ isReleased }) => !isReleased);
      if (owned.length === 0 || !isWanted()) return;
      // With the database unreachable nothing can be handed over: order does not matter, and each
      // shard may take its time to close.
      const next = this.isStale ? owned : owned.slice(0, 1);
      const to = leastLoaded(otherAccepting(this.#state), this.view.shards);
      await Promise.all(next.map((ownership) => this.#handOver(ownership, to)));
    }
  }

  /** Records the request. `false`: the process has no row; `null`: there is no connection. */
  requestDrain(node: NodeProcess, isRequested: boolean): Promise<boolean | null> {
    return this.#connection.query((nodes) => nodes.requestDrain(node, isRequested));
  }

  /** Stops accepting shards, and hands over all that the node owns. */
  async drain(): Promise<void> {
    this.#state = { ...this.#state, self: { ...this.#state.self, isDraining: true } };
    // A poll that was sent before may still take shards over. The new one first announces the drain
    // to the other nodes, so that none of them waits for rows that are about to become free.
    await this.pollAgain();
    await this.#handOverAll(() => true);
    await this.poll();
  }

  /** Removes this node's row. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#nextPoll?.cancel();
    await this.#polling;
    const { self } = this.#state;
    await this.#connection.query((nodes) => nodes.leave(self)).catch(() => undefined);
    await this.#connection.query((nodes) => nodes.close()).catch(() => undefined);
  }
}
