// The faults injected into a world of several nodes: nodes are stopped, killed and cut off, and
// databases stall, restart and fail over.

import { allShards } from "../../../engine/simulation/all-shards.ts";
import { Violation } from "../../../engine/simulation/auditor.ts";
import type { Chance } from "../../../engine/simulation/chance.ts";
import type { SimulatedDatabase } from "../../../engine/simulation/database.ts";
import { hour, minute, second } from "../../../engine/simulation/parameters.ts";
import type { World } from "../../../engine/simulation/world.ts";
import type { MemoryImage } from "../../../stores/memory/store.ts";
import type { Cluster, Place, Running } from "./cluster.ts";

/** How long a trouble may have an effect: connections end, leases lapse, nodes take over. */
const aftermathMs = 20 * second;
/** Rounds of the event loop from a call at one node to its answer by another. */
const roundsOfCall = 30;
/** The most partitions that a queue of a world has. */
const partitionsMax = 6;

const weights = {
  stop: 6,
  goOn: 6,
  kill: 5,
  start: 8,
  drain: 3,
  cutOff: 4,
  cut: 4,
  heal: 8,
  stall: 2,
  land: 4,
  restart: 2,
  strand: 6,
  linger: 5,
  doze: 3,
  sever: 0,
  part: 0,
  requestDrain: 0,
  replicate: 0,
  failOver: 0,
};
type Trouble = keyof typeof weights;

export interface TroublesOptions {
  readonly cluster: Cluster;
  readonly world: World;
  readonly chance: Chance;
  /** A standby that is behind may take over. */
  readonly isLossy: boolean;
  /** Nodes are requested to drain, and to accept shards again. */
  readonly requestsDrains: boolean;
}

export class Troubles {
  readonly #cluster: Cluster;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #weights: Readonly<Record<Trouble, number>>;
  /** Some connection is cut, or a database does not answer. */
  #isBroken = false;
  /** Until when the last trouble may have an effect, by the world's clock. */
  #feltUntil = 0;
  /** A standby took over without a change of queues that had been acknowledged. */
  #areQueuesOlder = false;
  readonly #troubles: { readonly [trouble in Trouble]: () => void | Promise<void> } = {
    stop: () => this.#stop(),
    goOn: () => this.#goOn(),
    kill: () => this.#kill(),
    start: () => this.#start(),
    drain: () => this.#drain(),
    cutOff: () => this.#cutOff(),
    cut: () => this.#cut(),
    heal: () => this.#heal(),
    stall: () => this.#stallForAWhile(),
    land: () => this.#land(),
    restart: () => this.#restart(),
    strand: () => this.#strand(),
    linger: () => this.#linger(),
    doze: () => this.#doze(),
    sever: () => this.#sever(),
    part: () => this.#part(),
    requestDrain: () => this.#requestDrain(),
    replicate: () => this.#replicate(),
    failOver: () => this.#failOver(),
  };

  constructor({ cluster, world, chance, isLossy, requestsDrains }: TroublesOptions) {
    this.#cluster = cluster;
    this.#world = world;
    this.#chance = chance;
    this.#weights = {
      ...weights,
      ...(isLossy && { replicate: 14, failOver: 6 }),
      ...(this.#extras.length > 0 && { sever: 12 }),
      ...(cluster.databases.length > 1 && { part: 6 }),
      ...(requestsDrains && { requestDrain: 10 }),
    };
  }

  async happen(): Promise<void> {
    await this.#troubles[this.#chance.weighted(this.#weights)]();
    this.#watch();
  }

  /** A trouble is present, or ended so recently that it may still have an effect. */
  get isFelt(): boolean {
    if (this.isOver) this.#cluster.isTroubled = false;
    return this.#cluster.isTroubled;
  }

  get isOver(): boolean {
    if (!this.#cluster.isTroubled) return true;
    const isAway = ({ running }: Place): boolean => running?.host.isStopped ?? true;
    return (
      this.#world.now > this.#feltUntil && !this.#isBroken && !this.#cluster.places.some(isAway)
    );
  }

  #wrong(event: string): void {
    this.#world.say(event);
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
      situations.reached("a commit is refused, because the shard is another owner's");
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
    if (takeovers > 1) situations.reached("an owner has its shards again");
    for (const one of running) {
      if (one.wasStopped && one !== owner && one.node.router.forwarded.size > 0) {
        situations.reached("an owner that was stopped goes on as one that forwards");
      }
    }
    if (wasStopped) owner.wasStopped = false;
  }

  #running(isMeant: (running: Running) => boolean): Running | undefined {
    return this.#chance.maybe(this.#cluster.running.filter(isMeant));
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
    this.#wrong(`${victim.url} is stopped`);
    victim.host.stop();
    await this.#perhapsPass();
  }

  #goOn(stopped = this.#running(({ host }) => host.isStopped)): void {
    if (stopped === undefined) return;
    this.#wrong(`${stopped.url} goes on`);
    stopped.host.goOn();
  }

  async #kill(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined) return;
    if (victim === this.#owner) this.#world.situations.reached("an owner is killed");
    this.#wrong(`${victim.url} is killed`);
    this.#cluster.end(victim);
    await this.#perhapsPass();
  }

  #start(): void {
    const place = this.#chance.maybe(
      this.#cluster.places.filter(({ running }) => running === null),
    );
    if (place === undefined) return;
    this.#wrong(`${place.url} starts`);
    this.#cluster.start(place);
  }

  #drain(victim = this.#victim()): void {
    if (victim === undefined || victim.isDraining) return;
    if (victim === this.#owner) this.#world.situations.reached("an owner hands over");
    this.#wrong(`${victim.url} drains`);
    this.#cluster.drain(victim);
  }

  async #requestDrain(): Promise<void> {
    const victim = this.#victim();
    if (victim === undefined) return;
    const isRequested = this.#chance.hits(600);
    if (victim === this.#owner && isRequested) {
      this.#world.situations.reached("an owner is asked to drain");
    }
    this.#wrong(`${victim.url} is ${isRequested ? "" : "no longer "}asked to drain`);
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
    this.#wrong(`${victim.url} is cut off from ${this.#namesOf(cut)}`);
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
    this.#wrong(`${one.url} and ${other.url} are cut off from each other`);
    this.#isBroken = true;
    this.#cluster.network.cut(one.url, other.url);
    await this.#perhapsPass();
  }

  #heal(): void {
    if (!this.#isBroken) return;
    this.#wrong("all are connected");
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
    this.#wrong(`${this.#namesOf(stalled)} says nothing`);
    this.#world.situations.reached("the database says nothing");
    this.#isBroken = true;
    for (const database of stalled) database.stall();
  }

  #land(): void {
    const landed = this.#cluster.databases.map((database) => database.landLate());
    const held = landed.reduce((sum, one) => sum + one.held, 0);
    const refused = landed.reduce((sum, one) => sum + one.refused, 0);
    if (held + refused === 0) return;
    this.#wrong(`commits come late, of which ${held} hold and ${refused} do not`);
    const { situations } = this.#world;
    if (held > 0) situations.reached("a commit comes late, and holds");
    if (refused > 0) situations.reached("a commit comes late, and is refused");
  }

  #restart(): void {
    const restarted = this.#someDatabases();
    this.#wrong(`${this.#namesOf(restarted)} is restarted`);
    this.#world.situations.reached("the database is restarted");
    for (const database of restarted) database.restart();
  }

  #replicate(): void {
    this.#world.say("the standby is in step");
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
    this.#wrong("a standby that was behind takes over");
    situations.reached("a standby that was behind takes over");
    if (queuesIn() !== queues) {
      situations.reached("queues are older than was told");
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
    if (lost > 0) situations.reached("an item that was acknowledged is lost");
    if (again > 0) situations.reached("a completed item is there again");
  }

  /** Until an owner notices the loss, it confirms changes that it believes to be in effect. */
  noticedLoss(): void {
    if (this.#areQueuesOlder) this.#doubtPauses();
  }

  #doubtPauses(): void {
    const { auditor, parameters } = this.#world;
    for (const { name } of parameters.queues) auditor.pauses.forget(name);
  }

  /** A lease waits while the owner is cut off from the database and other nodes take its shards. */
  async #strand(): Promise<void> {
    const isLongEnough = this.#world.parameters.requestTimeoutMs >= minute;
    const former = this.#cluster.ownerOf("dead");
    const isUp = ({ host, isDraining }: Running) => !host.isStopped && !isDraining;
    // Often at the former owner itself, which must detect the loss of its shards alone.
    const isFormer = this.#chance.hits(400);
    const one = this.#running((running) => isUp(running) && (!isFormer || running === former));
    if (former === undefined || one === undefined || this.#isBroken || !isLongEnough) return;
    await this.#callAt(one, () => this.#world.lease("dead"));
    await this.#callAt(one, () => this.#world.lease("dead"));
    const waiting = new Set(
      [...one.calls].filter(({ name, queue }) => name === "lease" && queue === "dead"),
    );
    this.#wrong(`${former.url} is cut off from the database, while leases wait at ${one.url}`);
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
  async #linger(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined || this.#isBroken) return;
    this.#stall([this.#cluster.databaseOf("orders")]);
    const call = this.#chance.one(["produce", "complete", "resize"] as const);
    await this.#callAt(owner, () => this.#world[call]());
    this.#world.situations.reached("a commit is on its way when its connection ends");
    await this.#world.pass(6 * second);
    if (this.#chance.hits(500) && !owner.isDraining) this.#drain(owner);
    await this.#world.pass(5 * second);
    this.#heal();
    await this.#world.pass(this.#chance.one([0, 0, second, 10 * second]));
    this.#land();
  }

  /** An owner is suspended before it reads a poll's answer, and reads it after it lost its shards. */
  async #doze(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined || this.#isBroken) return;
    this.#stall([this.#cluster.databaseOf("orders")]);
    await this.#world.pass(second);
    this.#wrong(`${owner.url} is stopped`);
    owner.host.stop();
    owner.wasStopped = true;
    this.#heal();
    await this.#world.pass(10 * second);
    const next = this.#owner;
    if (next === undefined || next === owner) return;
    this.#world.situations.reached("an owner hears too late that it has the shards");
    for (const call of ["produce", "lease"] as const) {
      await this.#callAt(next, () => this.#world[call]("orders"));
    }
    this.#goOn(owner);
    this.#cluster.only = owner;
    for (let count = 0; count < 3; count += 1) this.#world.complete();
    this.#cluster.only = null;
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
  async #sever(): Promise<void> {
    const owner = this.#owner;
    const one = this.#running((running) => running !== owner && !running.host.isStopped);
    if (owner === undefined || one === undefined || this.#isBroken) return;
    const { clock, network } = this.#cluster;
    // So that the call has items to use.
    await this.#callAt(one, () => this.#world.produce());
    this.#cluster.only = one;
    await this.#world.happen(this.#chance.one(this.#extras));
    this.#cluster.only = null;
    // At any point, or right after a commit, when no other process knows of it yet.
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
      this.#wrong(`${owner.url} is killed, while ${one.url} waits for it`);
      this.#cluster.end(owner);
    } else {
      this.#wrong(`${owner.url} and ${one.url} are cut off from each other`);
      this.#isBroken = true;
      network.cut(owner.url, one.url);
    }
    await this.#perhapsPass();
  }

  /** Only one of two databases fails. */
  async #part(): Promise<void> {
    await this.calm();
    const away = this.#chance.one(this.#cluster.databases);
    const names = this.#world.parameters.queues.map(({ name }) => name);
    if (this.#chance.hits(500)) {
      this.#stall([away]);
      await this.#world.pass(15 * second);
      await this.#checkServed(names.filter((name) => this.#cluster.databaseOf(name) !== away));
      this.#world.situations.reached("queues are served while another database says nothing");
      return;
    }
    const victim = this.#beginPart(this.#victim());
    if (victim === undefined) return;
    this.#wrong(`${victim.url} alone is cut off from ${this.#namesOf([away])}`);
    this.#isBroken = true;
    away.cutOff(victim.host);
    await this.#world.pass(15 * second);
    // By now the others own its shards, and it forwards calls for them.
    await this.#checkServed(names);
    this.#world.situations.reached("queues are served by a node that lacks their database");
  }

  /** Often restarts the victim, so that it has not reached any database yet. */
  #beginPart(victim: Running | undefined): Running | undefined {
    const place = this.#cluster.places.find(({ running }) => running === victim);
    if (victim === undefined || place === undefined || this.#chance.hits(500)) return victim;
    this.#cluster.end(victim);
    this.#cluster.start(place);
    return place.running ?? undefined;
  }

  /** Any node answers calls for these queues without delay. */
  async #checkServed(queues: readonly string[]): Promise<void> {
    const cluster = this.#cluster;
    const kinds = { ready: true, scheduled: false, retried: false, destructive: false };
    for (const running of cluster.running) {
      for (const queue of queues) {
        cluster.only = running;
        const started = await cluster.begin(() =>
          cluster.engine.clear({ queue, ...kinds, dryRun: true }),
        );
        cluster.only = null;
        if (started.ending === null) await this.#world.pass(second);
        if (started.ending?.ok === true) continue;
        const why = started.ending?.message ?? "the call still waits";
        throw new Violation("I11", `${queue} is not served at ${running.url}; ${why}`);
      }
    }
  }

  async #callAt(running: Running, call: () => void): Promise<void> {
    this.#cluster.only = running;
    call();
    this.#cluster.only = null;
    await this.#world.rest();
  }

  async calm(): Promise<void> {
    const { places, network, databases, running } = this.#cluster;
    this.#wrong("all is well");
    this.#isBroken = false;
    network.heal();
    for (const database of databases) database.heal();
    for (const { host } of running) host.goOn();
    for (const one of running) this.#cluster.requestDrain(one, false);
    this.#land();
    await this.#world.pass(aftermathMs / 2);
    for (const place of places) if (place.running === null) this.#cluster.start(place);
    await this.#world.pass(aftermathMs);
    await this.#useAll();
    this.#cluster.isTroubled = false;
    await this.#checkChange();
  }

  /** Whatever happened to the catalog, a queue can be changed. */
  async #checkChange(): Promise<void> {
    const requestedPartitions = this.#chance.one([1, 2, 3]);
    const changed = await this.#cluster.ending(() =>
      this.#cluster.engine.updateQueue({ name: "plain", requestedPartitions }),
    );
    if (!changed.ok) throw new Violation("I11", `a queue cannot be changed; ${changed.message}`);
  }

  /** Uses all connections, so that those that ended while idle are detected. */
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
