// The faults injected into a world of several nodes: nodes are stopped, killed and cut off, and
// databases stall, restart and fail over.

import { allShards } from "../../../engine/simulation/all-shards.ts";
import { Violation } from "../../../engine/simulation/auditor.ts";
import type { Chance } from "../../../engine/simulation/chance.ts";
import type { SimulatedDatabase } from "../../../engine/simulation/database.ts";
import { hour, minute, second } from "../../../engine/simulation/parameters.ts";
import type { World } from "../../../engine/simulation/world.ts";
import type { MemoryImage } from "../../../stores/memory/store.ts";
import type { Address, Cluster, Running } from "./cluster.ts";

/** How long a fault may have an effect: connections end, leases lapse, nodes take over. */
const aftermathMs = 20 * second;
/** Rounds of the event loop from a call at one node to its answer by another. */
const roundsOfCall = 30;
/** The maximum number of partitions of a queue. */
const partitionsMax = 6;

const weights = {
  stop: 6,
  resume: 6,
  kill: 5,
  start: 8,
  drain: 3,
  cutOff: 4,
  cut: 4,
  heal: 8,
  stall: 2,
  deliverLate: 4,
  restart: 2,
  strandLease: 6,
  delayCommit: 5,
  suspendAtPoll: 3,
  interruptForward: 0,
  failOneDatabase: 0,
  requestDrain: 0,
  replicate: 0,
  failOver: 0,
};
type Fault = keyof typeof weights;

export interface FaultInjectionOptions {
  readonly cluster: Cluster;
  readonly world: World;
  readonly chance: Chance;
  /** A standby that is behind may take over. */
  readonly isLossy: boolean;
  /** Nodes are requested to drain, and to accept shards again. */
  readonly requestsDrains: boolean;
}

export class FaultInjection {
  readonly #cluster: Cluster;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #weights: Readonly<Record<Fault, number>>;
  /** A connection is cut, or a database does not answer. */
  #isBroken = false;
  /** Until when the last fault may have an effect, by the world's clock. */
  #feltUntil = 0;
  /** A standby took over that lacks an acknowledged change of queues. */
  #areQueuesOlder = false;
  readonly #faults: { readonly [fault in Fault]: () => void | Promise<void> } = {
    stop: () => this.#stop(),
    resume: () => this.#resume(),
    kill: () => this.#kill(),
    start: () => this.#start(),
    drain: () => this.#drain(),
    cutOff: () => this.#cutOff(),
    cut: () => this.#cut(),
    heal: () => this.#heal(),
    stall: () => this.#stallForAWhile(),
    deliverLate: () => this.#deliverLate(),
    restart: () => this.#restart(),
    strandLease: () => this.#strandLease(),
    delayCommit: () => this.#delayCommit(),
    suspendAtPoll: () => this.#suspendAtPoll(),
    interruptForward: () => this.#interruptForward(),
    failOneDatabase: () => this.#failOneDatabase(),
    requestDrain: () => this.#requestDrain(),
    replicate: () => this.#replicate(),
    failOver: () => this.#failOver(),
  };

  constructor({ cluster, world, chance, isLossy, requestsDrains }: FaultInjectionOptions) {
    this.#cluster = cluster;
    this.#world = world;
    this.#chance = chance;
    this.#weights = {
      ...weights,
      ...(isLossy && { replicate: 14, failOver: 6 }),
      ...(this.#extras.length > 0 && { interruptForward: 12 }),
      ...(cluster.databases.length > 1 && { failOneDatabase: 6 }),
      ...(requestsDrains && { requestDrain: 10 }),
    };
  }

  async happen(): Promise<void> {
    await this.#faults[this.#chance.weighted(this.#weights)]();
    this.#watch();
  }

  /** Whether a fault is present, or ended so recently that it may still have an effect. */
  get isFelt(): boolean {
    if (this.isOver) this.#cluster.isTroubled = false;
    return this.#cluster.isTroubled;
  }

  get isOver(): boolean {
    if (!this.#cluster.isTroubled) return true;
    const isAway = ({ running }: Address): boolean => running?.host.isStopped ?? true;
    return (
      this.#world.now > this.#feltUntil && !this.#isBroken && !this.#cluster.addresses.some(isAway)
    );
  }

  #injected(event: string): void {
    this.#world.log(event);
    this.#cluster.isTroubled = true;
    this.#feltUntil = this.#world.now + aftermathMs;
    this.#world.auditor.faulted();
  }

  /** Records the situations that no event reports. */
  #watch(): void {
    const { situations } = this.#world;
    const { databases, running } = this.#cluster;
    if (running.some(({ node }) => node.router.forwarded.size > 0)) {
      situations.reached("a call is forwarded");
    }
    if (databases.some(({ refusals }) => refusals > 0)) {
      situations.reached("a commit is refused, because the shard has another owner");
    }
    for (const { node } of running) {
      if (node.figures().handOvers > 0) situations.reached("a node gets its share by a hand-over");
    }
    const owner = this.#owner;
    if (owner === undefined) return;
    const { host, node, wasStopped } = owner;
    if (host.aheadMs === hour) situations.reached("an owner whose clock is an hour ahead");
    if (host.aheadMs === -hour) situations.reached("an owner whose clock is an hour behind");
    const takeovers = node.figures().takeovers.reduce((sum, { count }) => sum + count, 0);
    if (takeovers > 1) situations.reached("an owner regains its shards");
    for (const one of running) {
      if (one.wasStopped && one !== owner && one.node.router.forwarded.size > 0) {
        situations.reached("an owner that was stopped continues as a forwarding node");
      }
    }
    if (wasStopped) owner.wasStopped = false;
  }

  #running(isCandidate: (running: Running) => boolean): Running | undefined {
    return this.#chance.maybe(this.#cluster.running.filter(isCandidate));
  }

  /** Often the owner of the queue that most calls use. */
  #victim(): Running | undefined {
    const owner = this.#owner;
    if (owner !== undefined && this.#chance.hits(600)) return owner;
    return this.#running(() => true);
  }

  /** The owner of the queue that most calls use. */
  get #owner(): Running | undefined {
    return this.#cluster.ownerOf("orders");
  }

  /** Often lets time pass, sometimes long enough for the others to notice. */
  async #perhapsPass(): Promise<void> {
    if (!this.#chance.hits(500)) return;
    await this.#world.pass(this.#chance.one([second, 4 * second, 6 * second, 15 * second]));
  }

  async #stop(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined || victim.host.isStopped) return;
    if (victim === this.#owner) {
      this.#world.situations.reached("an owner is stopped");
      victim.wasStopped = true;
    }
    // Stop either before or after calls that have just arrived.
    if (this.#chance.hits(500)) await Promise.resolve();
    this.#injected(`${victim.url} is stopped`);
    victim.host.stop();
    await this.#perhapsPass();
  }

  #resume(stopped = this.#running(({ host }) => host.isStopped)): void {
    if (stopped === undefined) return;
    this.#injected(`${stopped.url} continues`);
    stopped.host.goOn();
  }

  async #kill(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined) return;
    if (victim === this.#owner) this.#world.situations.reached("an owner is killed");
    this.#injected(`${victim.url} is killed`);
    this.#cluster.end(victim);
    await this.#perhapsPass();
  }

  #start(): void {
    const address = this.#chance.maybe(
      this.#cluster.addresses.filter(({ running }) => running === null),
    );
    if (address === undefined) return;
    this.#injected(`${address.url} starts`);
    this.#cluster.start(address);
  }

  #drain(victim = this.#victim()): void {
    if (victim === undefined || victim.isDraining) return;
    if (victim === this.#owner) this.#world.situations.reached("an owner hands over");
    this.#injected(`${victim.url} drains`);
    this.#cluster.drain(victim);
  }

  async #requestDrain(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined) return;
    const isRequested = this.#chance.hits(600);
    if (victim === this.#owner && isRequested) {
      this.#world.situations.reached("an owner is asked to drain");
    }
    this.#injected(`${victim.url} is ${isRequested ? "" : "no longer "}asked to drain`);
    this.#cluster.requestDrain(victim, isRequested);
    await this.#perhapsPass();
  }

  async #cutOff(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined) return;
    if (victim === this.#owner) {
      this.#world.situations.reached("an owner is cut off from the database");
    }
    const cut = this.#someDatabases();
    this.#injected(`${victim.url} is cut off from ${this.#namesOf(cut)}`);
    this.#isBroken = true;
    for (const database of cut) database.cutOff(victim.host);
    await this.#perhapsPass();
  }

  async #cut(): Promise<void> {
    const one = this.#victim();
    const other = this.#running((running) => running !== one);
    if (one === undefined || other === undefined) return;
    if (one === this.#owner) {
      this.#world.situations.reached("an owner is cut off from another node");
    }
    this.#injected(`${one.url} and ${other.url} are cut off from each other`);
    this.#isBroken = true;
    this.#cluster.network.cut(one.url, other.url);
    await this.#perhapsPass();
  }

  #heal(): void {
    if (!this.#isBroken) return;
    this.#injected("all connections are restored");
    this.#isBroken = false;
    this.#cluster.network.heal();
    for (const database of this.#cluster.databases) database.heal();
  }

  /** Usually one of several databases. */
  #someDatabases(): readonly SimulatedDatabase[] {
    const { databases } = this.#cluster;
    if (databases.length === 1 || this.#chance.hits(250)) return databases;
    return [this.#chance.one(databases)];
  }

  #namesOf(some: readonly SimulatedDatabase[]): string {
    const { databases } = this.#cluster;
    if (databases.length === 1) return "the database";
    return some.map((one) => `database ${databases.indexOf(one) + 1}`).join(" and ");
  }

  async #stallForAWhile(): Promise<void> {
    this.#stall(this.#someDatabases());
    await this.#perhapsPass();
  }

  #stall(stalled: readonly SimulatedDatabase[]): void {
    this.#injected(`${this.#namesOf(stalled)} does not answer`);
    this.#world.situations.reached("the database does not respond");
    this.#isBroken = true;
    for (const database of stalled) database.stall();
  }

  #deliverLate(): void {
    const landed = this.#cluster.databases.map((database) => database.landLate());
    const held = landed.reduce((sum, one) => sum + one.held, 0);
    const refused = landed.reduce((sum, one) => sum + one.refused, 0);
    if (held + refused === 0) return;
    this.#injected(`late commits arrive; ${held} are accepted and ${refused} refused`);
    const { situations } = this.#world;
    if (held > 0) situations.reached("a late commit takes effect");
    if (refused > 0) situations.reached("a late commit is refused");
  }

  #restart(): void {
    const restarted = this.#someDatabases();
    this.#injected(`${this.#namesOf(restarted)} is restarted`);
    this.#world.situations.reached("the database is restarted");
    for (const database of restarted) database.restart();
  }

  #replicate(): void {
    this.#world.log("the standby is in step");
    for (const database of this.#cluster.databases) database.replicate();
  }

  #failOver(): void {
    const cluster = this.#cluster;
    const before = placesOf(cluster.images);
    const queuesIn = () => JSON.stringify(cluster.images.map(({ queues }) => [...queues]));
    const queues = queuesIn();
    // The standby's clock is behind, so that leases would last longer by it.
    if (!cluster.databases.every((database) => database.failOver(hour))) return;
    const now = placesOf(cluster.images);
    const { auditor, situations } = this.#world;
    this.#injected("a standby that was behind takes over");
    situations.reached("a standby that was behind takes over");
    if (queuesIn() !== queues) {
      situations.reached("queues are older than reported");
      this.#areQueuesOlder = true;
      this.#doubtPauses();
    }
    this.#world.tasks.wentBack();
    this.#world.histories.wentBack();
    const { lost, again } = auditor.wentBack(
      this.#world.now,
      (key) => before.get(key) !== now.get(key),
      now,
    );
    if (lost > 0) situations.reached("an acknowledged item is lost");
    if (again > 0) situations.reached("a completed item reappears");
  }

  /** Until an owner notices the loss, it confirms changes that are lost. */
  noticedLoss(): void {
    if (this.#areQueuesOlder) this.#doubtPauses();
  }

  #doubtPauses(): void {
    const { auditor, parameters } = this.#world;
    for (const { name } of parameters.queues) auditor.pauses.forget(name);
  }

  /** A lease waits while the owner is cut off from the database and other nodes take its shards. */
  async #strandLease(): Promise<void> {
    const isLongEnough = this.#world.parameters.requestTimeoutMs >= minute;
    const former = this.#cluster.ownerOf("dead");
    const isUp = ({ host, isDraining }: Running) => !host.isStopped && !isDraining;
    // Often at the former owner itself, which must detect by itself that it lost its shards.
    const isFormer = this.#chance.hits(400);
    const one = this.#running((running) => isUp(running) && (!isFormer || running === former));
    if (former === undefined || one === undefined || this.#isBroken || !isLongEnough) return;
    await this.#callAt(one, () => this.#world.lease("dead"));
    await this.#callAt(one, () => this.#world.lease("dead"));
    const waiting = new Set(
      [...one.calls].filter(({ name, queue }) => name === "lease" && queue === "dead"),
    );
    this.#injected(`${former.url} is cut off from the database, while leases wait at ${one.url}`);
    this.#isBroken = true;
    this.#cluster.databaseOf("dead").cutOff(former.host);
    const others = this.#cluster.running.filter((running) => running !== former && running !== one);
    // Then no other node reports the new owner to it.
    if (one !== former && this.#chance.hits(500)) {
      for (const { url } of others) this.#cluster.network.cut(former.url, url);
    }
    await this.#world.pass(15 * second);
    const next = this.#cluster.ownerOf("dead");
    const isServed = next !== undefined && next !== former;
    if (!isServed || one.calls.isDisjointFrom(waiting)) return;
    // A node that was alone when it was cut off knows no other node.
    const known = this.#cluster.knownTo(one, "dead");
    // A node that has restarted since rejects it, unless a third node reports the new key.
    const isKnown = known.some(({ url, key }) => url === next.url && key === next.node.key);
    if (!isKnown && one !== next) return;
    this.#world.situations.reached("a lease waits at a node that has lost the shards");
    // A produce at the waiting node makes it poll for the owner.
    const producer = this.#chance.hits(500) ? one : next;
    for (let count = 0; count < 5; count += 1) {
      await this.#callAt(producer, () => this.#world.produce("dead"));
    }
    await this.#world.pass(second);
    if (!one.calls.isDisjointFrom(waiting)) await this.#checkStranded(one, next);
  }

  async #checkStranded(one: Running, next: Running): Promise<void> {
    const { ending } = await this.#cluster.begin(() =>
      this.#cluster.engineOf(next, "dead").stats("dead"),
    );
    if (ending?.ok !== true) return;
    const ready = ending.value.partitions.reduce(
      (sum, { total, totalLeased }) => sum + total - totalLeased,
      0,
    );
    if (ready > 0) {
      const text = `a lease waits at ${one.url}, while ${next.url} has ${ready} items for it`;
      throw new Violation("I11", text);
    }
  }

  /** Commits are in flight when their connections end, and arrive after later commits. */
  async #delayCommit(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined || this.#isBroken) return;
    this.#stall([this.#cluster.databaseOf("orders")]);
    const call = this.#chance.one(["produce", "complete", "resize"] as const);
    await this.#callAt(owner, () => this.#world[call]());
    this.#world.situations.reached("a commit is in transit when its connection ends");
    await this.#world.pass(6 * second);
    if (this.#chance.hits(500) && !owner.isDraining) this.#drain(owner);
    await this.#world.pass(5 * second);
    this.#heal();
    await this.#world.pass(this.#chance.one([0, 0, second, 10 * second]));
    this.#deliverLate();
  }

  /** An owner is suspended before it reads a poll's answer, and reads it after it lost its shards. */
  async #suspendAtPoll(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined || this.#isBroken) return;
    this.#stall([this.#cluster.databaseOf("orders")]);
    await this.#world.pass(second);
    this.#injected(`${owner.url} is stopped`);
    owner.host.stop();
    owner.wasStopped = true;
    this.#heal();
    await this.#world.pass(10 * second);
    const next = this.#owner;
    if (next === undefined || next === owner) return;
    this.#world.situations.reached("an owner learns too late that it owns the shards");
    for (const call of ["produce", "lease"] as const) {
      await this.#callAt(next, () => this.#world[call]("orders"));
    }
    this.#resume(owner);
    this.#cluster.target = owner;
    for (let count = 0; count < 3; count += 1) this.#world.complete();
    this.#cluster.target = null;
    await this.#world.rest();
  }

  /** The calls that only some worlds make. */
  get #extras() {
    const { weights: usual, queues } = this.#world.parameters;
    const isUnique = queues.some(({ uniqueForMs }) => uniqueForMs > 0);
    const rare = (["pause", "clear", "transact", "task"] as const).filter((one) => usual[one] > 0);
    return isUnique ? [...rare, "produce" as const] : rare;
  }

  /** An owner is killed or cut off at some point between a forwarded call and its answer. */
  async #interruptForward(): Promise<void> {
    const owner = this.#owner;
    const one = this.#running((running) => running !== owner && !running.host.isStopped);
    if (owner === undefined || one === undefined || this.#isBroken) return;
    const { clock, network } = this.#cluster;
    // The call needs items.
    await this.#callAt(one, () => this.#world.produce());
    this.#cluster.target = one;
    await this.#world.happen(this.#chance.one(this.#extras));
    this.#cluster.target = null;
    // Interrupts it at any point, or right after a commit, before any other process knows of it.
    const isAtCommit = this.#chance.hits(600);
    // A call may take several commits, and only the last one completes it.
    const commits = isAtCommit
      ? this.#cluster.commits + this.#chance.below(3)
      : Number.POSITIVE_INFINITY;
    const rounds = this.#chance.between(1, roundsOfCall);
    for (let round = 0; round < rounds && this.#cluster.commits <= commits; round += 1) {
      await clock.rounds(1);
    }
    this.#world.situations.reached("an owner ends while a call is forwarded to it");
    if (this.#chance.hits(700)) {
      this.#injected(`${owner.url} is killed, while ${one.url} waits for it`);
      this.#cluster.end(owner);
    } else {
      this.#injected(`${owner.url} and ${one.url} are cut off from each other`);
      this.#isBroken = true;
      network.cut(owner.url, one.url);
    }
    await this.#perhapsPass();
  }

  /** Only one of two databases fails. */
  async #failOneDatabase(): Promise<void> {
    await this.calm();
    const away = this.#chance.one(this.#cluster.databases);
    const names = this.#world.parameters.queues.map(({ name }) => name);
    if (this.#chance.hits(500)) {
      this.#stall([away]);
      await this.#world.pass(15 * second);
      await this.#checkServed(names.filter((name) => this.#cluster.databaseOf(name) !== away));
      this.#world.situations.reached("queues are served while another database does not respond");
      return;
    }
    const victim = this.#perhapsRestart(this.#victim());
    if (victim === undefined) return;
    this.#injected(`${victim.url} alone is cut off from ${this.#namesOf([away])}`);
    this.#isBroken = true;
    away.cutOff(victim.host);
    await this.#world.pass(15 * second);
    // By now the others own its shards, and it forwards calls for them.
    await this.#checkServed(names);
    this.#world.situations.reached("queues are served by a node that lacks their database");
  }

  /** Often restarts the victim, so that it has not reached any database yet. */
  #perhapsRestart(victim: Running | undefined): Running | undefined {
    const address = this.#cluster.addresses.find(({ running }) => running === victim);
    if (victim === undefined || address === undefined || this.#chance.hits(500)) return victim;
    this.#cluster.end(victim);
    this.#cluster.start(address);
    return address.running ?? undefined;
  }

  /** Any node answers calls for these queues without delay. */
  async #checkServed(queues: readonly string[]): Promise<void> {
    const cluster = this.#cluster;
    const kinds = { ready: true, scheduled: false, retried: false, destructive: false };
    for (const running of cluster.running) {
      for (const queue of queues) {
        cluster.target = running;
        const started = await cluster.begin(() =>
          cluster.engine.clear({ queue, ...kinds, dryRun: true }),
        );
        cluster.target = null;
        if (started.ending === null) await this.#world.pass(second);
        if (started.ending?.ok === true) continue;
        const why = started.ending?.message ?? "the call still waits";
        throw new Violation("I11", `${queue} is not served at ${running.url}; ${why}`);
      }
    }
  }

  async #callAt(running: Running, call: () => void): Promise<void> {
    this.#cluster.target = running;
    call();
    this.#cluster.target = null;
    await this.#world.rest();
  }

  async calm(): Promise<void> {
    const { addresses, network, databases, running } = this.#cluster;
    this.#injected("all faults end");
    this.#isBroken = false;
    network.heal();
    for (const database of databases) database.heal();
    for (const { host } of running) host.goOn();
    for (const one of running) this.#cluster.requestDrain(one, false);
    this.#deliverLate();
    await this.#world.pass(aftermathMs / 2);
    for (const address of addresses) {
      if (address.running === null) this.#cluster.start(address);
    }
    await this.#world.pass(aftermathMs);
    await this.#useAll();
    this.#cluster.isTroubled = false;
    await this.#checkChange();
  }

  /** Checks that a queue can still be changed. */
  async #checkChange(): Promise<void> {
    const count = this.#chance.one([1, 2, 3]);
    // A queue with groups has one partition.
    const requestedPartitions = this.#world.parameters.hasGroups ? 1 : count;
    const changed = await this.#cluster.ending(() =>
      this.#cluster.engine.updateQueue({ name: "plain", requestedPartitions }),
    );
    if (!changed.ok) throw new Violation("I11", `a queue cannot be changed; ${changed.message}`);
  }

  /** Uses all connections, so that broken idle ones are detected. */
  async #useAll(): Promise<void> {
    const { engines } = this.#cluster;
    const engine = engines && allShards(engines);
    for (const { name: queue } of this.#world.parameters.queues) {
      for (let partition = 0; partition < partitionsMax; partition += 1) {
        const page = { queue, partition, pivot: "", limit: 1 };
        engine?.listItems(page).catch(() => undefined);
      }
    }
    await this.#world.pass(5 * second);
  }
}

/** The slot and lease of each item, as text, by the name at the start of its payload. */
function placesOf(images: readonly MemoryImage[]): ReadonlyMap<string, string> {
  const utf8 = new TextDecoder();
  const places = new Map<string, string>();
  for (const [shard, { slots, leases, outbound }] of images.entries()) {
    const put = (payload: Uint8Array, place: string): void => {
      places.set(utf8.decode(payload).split("|", 1)[0] ?? "", `${shard}/${place}`);
    };
    const held = leases.values();
    for (const [slot, { items, scheduled }] of slots) {
      for (const { seq, payload } of items.values()) {
        const lease = held.find((one) => one.slot === slot && one.first <= seq && one.last >= seq);
        put(payload, `${slot}/${seq}/${lease?.leaseDeadline ?? ""}`);
      }
      for (const { seq, payload } of scheduled.values()) put(payload, `${slot}/${seq}/later`);
    }
    for (const { outboundSeq, payload } of outbound.values()) put(payload, `out/${outboundSeq}`);
  }
  return places;
}
