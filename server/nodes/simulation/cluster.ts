// The nodes of a simulated world, in one thread: each the server's own `Node`, with its own engine
// and its own clock, on one network and one or several databases.

import { ShardEngine } from "../../../engine/engine.ts";
import type { Engine } from "../../../engine/model/api.ts";
import { after, type Clock } from "../../../engine/model/clock.ts";
import { closingFailure, QueueError, unknownOutcome } from "../../../engine/model/errors.ts";
import { limits, type TurnLimits } from "../../../engine/model/limits.ts";
import { shardOf } from "../../../engine/model/placement.ts";
import type { Random } from "../../../engine/model/random.ts";
import type { QueueReference } from "../../../engine/relay/other-shard.ts";
import type { Notice } from "../../../engine/shards.ts";
import { allShards } from "../../../engine/simulation/all-shards.ts";
import { Violation } from "../../../engine/simulation/auditor.ts";
import { Bundle, second, type Witness } from "../../../engine/simulation/bundle.ts";
import { type Acknowledged, SimulatedDatabase } from "../../../engine/simulation/database.ts";
import { Host } from "../../../engine/simulation/host.ts";
import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { operations } from "../../../openapi/operations.ts";
import type { MemoryImage } from "../../../stores/memory/store.ts";
import { type NodeRow, ofShard, shardsOf } from "../../../stores/nodes.ts";
import { type Changes, StoreError } from "../../../stores/store.ts";
import { CallServer } from "../../calls/call-server.ts";
import type { Log, LogFields } from "../../observability/log.ts";
import { OverviewReplies } from "../../observability/overview.ts";
import { itemRoutes } from "../../routes/items.ts";
import { monitoringRoutes } from "../../routes/monitoring.ts";
import { queueRoutes } from "../../routes/queue.ts";
import { queuesRoutes } from "../../routes/queues.ts";
import { storageRoutes } from "../../routes/storage.ts";
import { taskRoutes } from "../../routes/tasks.ts";
import { type ShardRoutes, shardedRoutes } from "../../shards/routes.ts";
import { renderLeased } from "../../wire/leased.ts";
import { Node } from "../node.ts";
import { ping, pong, type Wire } from "../peer.ts";
import { NodeCaller } from "./caller.ts";
import { type Accepted, Network } from "./network.ts";
import { Wholes } from "./wholes.ts";

const { machine } = operations.overview.replies[200].example;

/** The idle timeout of `peer-routes.ts`. */
const idleMs = 8_000;
/** How long a draining node waits for open calls. */
const shutdownMs = 10_000;
/** How long after its deadline a call may be answered, because another node may send the answer. */
const lateMsMax = 250;
const leaseLateMsMax = lateMsMax + limits.leaseStallMsMax;

type Memory = ReturnType<Witness["memoryOf"]>;

interface OpenedEngine {
  readonly memory: Memory;
  readonly clock: Clock;
  readonly engine: () => ShardEngine<string>;
}

export interface ClusterOptions {
  readonly seed: number;
  readonly nodeCount: number;
  readonly shardCount: number;
  readonly databaseCount: number;
  readonly leaseMs: number;
  readonly turnLimits: TurnLimits;
  /** The source of faults; clients have their own. */
  readonly chance: Random;
  /** How far the clock of a new process is ahead; negative = behind. */
  readonly aheadMs: () => number;
  readonly committed: (shard: number, changes: Changes) => void;
  /** Wraps the engine that clients call. */
  readonly watching: (engine: Engine) => Engine;
  /** Called when an owner notices that the database lost acknowledged commits. */
  readonly noticedLoss: () => void;
  /** Receives the log events of the nodes. */
  readonly logged: (url: string, event: string, fields: LogFields | undefined) => void;
}

/** A client's call that has not been answered. */
export interface OpenCall {
  readonly name: string;
  readonly queue: string | undefined;
  /** Aborted when the client has hung up. */
  readonly signal: AbortSignal | undefined;
  /** Ends the call with the process. */
  readonly end: () => void;
}

/** A running process of a node. */
export interface Running {
  readonly url: string;
  readonly host: Host;
  readonly node: Node;
  readonly caller: NodeCaller;
  /** `routes`: across all shards of the cluster. `shards`: this process's own, by number. */
  readonly routes: ShardRoutes;
  readonly shards: readonly ShardRoutes[];
  readonly calls: Set<OpenCall>;
  /** The engine that the process opened last, by shard. */
  readonly opened: Map<number, OpenedEngine>;
  isDraining: boolean;
  /** The process was stopped while it owned shards. */
  wasStopped: boolean;
}

/** Where one process of a node runs at a time. */
export interface Address {
  readonly url: string;
  running: Running | null;
}

export class Cluster extends Bundle {
  /** Shard i is in database i modulo their number. */
  readonly databases: readonly SimulatedDatabase[];
  readonly network: Network;
  readonly addresses: readonly Address[];
  readonly #settings: ClusterOptions;
  readonly #random: Random;
  readonly #wholes = new Wholes();
  #bug: unknown = null;
  /** A fault is present, or ended so recently that it may still have an effect. */
  isTroubled = false;
  /** The process that clients call; `null` = any. */
  target: Running | null = null;

  constructor(options: ClusterOptions) {
    super({ shardCount: options.shardCount, seed: options.seed });
    const { nodeCount, shardCount, databaseCount: databases, leaseMs, chance } = options;
    this.#settings = options;
    this.#random = seededRandom(options.seed);
    this.databases = Array.from({ length: databases }, (_, database) => {
      return new SimulatedDatabase({
        ...{ clock: this.clock, random: chance, leaseMs },
        shards: shardsOf({ shards: shardCount, database, databases }),
        committed: (shard, changes) => {
          this.store(shard).commits += 1;
          this.store(shard).onCommit?.(changes);
          options.committed(shard, changes);
        },
      });
    });
    this.network = new Network(this.clock);
    this.addresses = Array.from({ length: nodeCount }, (_, index) => ({
      url: `http://node-${index}`,
      running: null,
    }));
  }

  /** Processes that clients may call. */
  get running(): readonly Running[] {
    return this.addresses.flatMap(({ running }) => running ?? []);
  }

  /** After a failover, the first commit of a shard may find that the database lost commits. */
  protected override get patienceMs(): number {
    return second;
  }

  /** The process that owns the shard of a queue. */
  ownerOf(queue: string): Running | undefined {
    return this.#ownerAt(shardOf(queue, this.#settings.shardCount));
  }

  /** That process's engine for the shard of a queue. */
  engineOf({ node }: Running, queue: string): Engine<string> {
    return node.engines[shardOf(queue, this.#settings.shardCount)] as Engine<string>;
  }

  /** The nodes to which a process may forward calls for a queue, as far as it knows. */
  knownTo({ node }: Running, queue: string): readonly NodeRow[] {
    const shard = shardOf(queue, this.#settings.shardCount);
    return ofShard(shard, node.memberships).others(shard);
  }

  /** The database that a queue is in. */
  databaseOf(queue: string): SimulatedDatabase {
    return ofShard(shardOf(queue, this.#settings.shardCount), this.databases);
  }

  get commits(): number {
    return this.databases.reduce((sum, { commits }) => sum + commits, 0);
  }

  #ownerAt(shard: number): Running | undefined {
    return this.running.find(({ node }) => node.isTrusted(shard));
  }

  /** The owner of each shard, by number; `null` = a shard has none. */
  get #owners(): readonly Running[] | null {
    const owners = Array.from({ length: this.#settings.shardCount }, (_, shard) =>
      this.#ownerAt(shard),
    );
    return owners.every((owner) => owner !== undefined) ? owners : null;
  }

  /** The engine of each shard at its owner; `null` = a shard has no owner. */
  get engines(): readonly Engine<string>[] | null {
    return this.#owners?.map(({ node }, shard) => node.engines[shard] as Engine<string>) ?? null;
  }

  override async open(): Promise<void> {
    for (const address of this.addresses) this.start(address);
    await this.clock.advance(2 * this.#settings.leaseMs);
  }

  start(address: Address): void {
    const { leaseMs, aheadMs } = this.#settings;
    const host = new Host(this.clock, aheadMs());
    const acknowledged: Acknowledged = new Map();
    const { url } = address;
    const log = this.#log(url);
    const node = new Node({
      ...{ url, version: "simulated", leaseMs, log },
      clock: host.clock,
      connect: this.network.connector(url, host),
      openNodes: this.databases.map((database) => () => database.openNodes(host)),
      statusElsewhere: { now: 0, durability: "full", waitingLeases: 0, shards: [], queues: [] },
      shardCount: this.#settings.shardCount,
      createEngine: ({ ownership, now, ...shardOptions }) => {
        const { turnLimits } = this.#settings;
        const clock = host.clockFrom(now);
        const recordStart = (): void => {
          const memory = { since: clock.now() };
          running.opened.set(shardOptions.shard, { memory, clock, engine: () => engine });
        };
        recordStart();
        const engine = new ShardEngine<string>({
          ...shardOptions,
          ...{ shardCount: this.#settings.shardCount, clock, turnLimits, durability: "full" },
          ...{ renderLeased, random: this.#random },
          notice: (notice) => this.#noticed(notice),
          openStore: (shard) =>
            ofShard(shard, this.databases)
              .openStore(host, shard, { ownership, acknowledged })
              .catch((cause) => {
                // The engine then drops all its state.
                if (cause instanceof StoreError && cause.fault === "lost") {
                  recordStart();
                  this.#settings.noticedLoss();
                }
                throw cause;
              }),
        });
        return engine;
      },
    });
    const now = () => host.clock.now();
    const shards = node.engines.map(
      (engine) =>
        ({
          ...monitoringRoutes(
            engine,
            new OverviewReplies({ engine, machine: () => machine, now, machineNow: now }),
          ),
          ...queuesRoutes(engine),
          ...itemRoutes(engine),
          ...queueRoutes(engine),
          ...storageRoutes(engine),
          ...taskRoutes(engine),
        }) as ShardRoutes,
    );
    const routes = shardedRoutes(shards.map((own, shard) => node.router.around(own, shard)));
    const running: Running = {
      ...{ url, host, node, caller: new NodeCaller(routes), routes, shards },
      ...{ calls: new Set(), opened: new Map(), isDraining: false, wasStopped: false },
    };
    address.running = running;
    this.network.listen(url, {
      host,
      accept: (key, wire) => (key === node.key ? this.#accepted(running, wire) : null),
    });
    // A node that cannot reach its database when it starts exits.
    node.join().catch(() => this.end(running));
  }

  /** The counterpart of `peer-routes.ts`. */
  #accepted({ url, node, host }: Running, wire: Wire): Accepted {
    const { clock } = host;
    const callServer = new CallServer({
      answer: (call, caller) => node.router.serve(call, caller),
      send: (frame) => wire.send(frame),
      log: this.#log(url),
      nextTick: (run) => clock.nextTick(run),
    });
    const hangUp = (): void => wire.close();
    let idleTimer = after(clock, idleMs, hangUp);
    return {
      received: (text) => {
        idleTimer.cancel();
        idleTimer = after(clock, idleMs, hangUp);
        if (text === ping) wire.send(pong);
        else callServer.receive(text);
      },
      ended: () => {
        idleTimer.cancel();
        callServer.end();
      },
    };
  }

  /** The process ends at once. */
  end(running: Running): void {
    const { url, host, calls } = running;
    const address = this.addresses.find((one) => one.running === running);
    if (address === undefined) return;
    address.running = null;
    host.kill();
    this.network.disconnect(url, host);
    for (const database of this.databases) database.killed(host);
    for (const call of [...calls]) call.end();
  }

  /** Records the request in the databases, as any node would. */
  requestDrain({ url, node: { key } }: Running, isRequested: boolean): void {
    for (const database of this.databases) database.requestDrain({ url, key }, isRequested);
  }

  /** Shuts the process down gracefully, as a server does on SIGTERM. */
  drain(running: Running): void {
    const { node, host, calls } = running;
    running.isDraining = true;
    const leave = (): void => {
      node.leave().then(
        () => this.end(running),
        (cause) => this.#failed(cause),
      );
    };
    const wait = (until: number): void => {
      if (calls.size === 0 || host.clock.now() >= until) leave();
      else after(host.clock, 100, () => wait(until));
    };
    node.drain().then(
      () => wait(host.clock.now() + shutdownMs),
      (cause) => this.#failed(cause),
    );
  }

  #log(url: string): Log {
    const { logged } = this.#settings;
    const ignored = (): void => undefined;
    const failed: Log["error"] = (event, cause) => {
      if (event !== "node database unreachable") this.#failed(cause);
    };
    return {
      debug: ignored,
      info: (event, fields) => logged(url, event, fields),
      warn: (event, fields) => logged(url, event, fields),
      error: failed,
      fatal: failed,
    };
  }

  /** A failure of a store is not a bug. */
  #failed(cause: unknown): void {
    if (!(cause instanceof StoreError)) this.#bug ??= cause;
  }

  #noticed(notice: Notice): void {
    this.notices.push(notice);
    if (notice.kind === "shard_down") this.#failed(notice.cause);
  }

  override bug(): unknown {
    return this.#bug;
  }

  /** Calls go to any running node; methods that a caller lacks go to the owners of the shards. */
  override get engine(): Engine {
    const { running } = this;
    // The process may have ended since it was chosen.
    const target = running.find((node) => node === this.target);
    const one = target ?? running[this.#settings.chance.below(running.length)];
    const { engines } = this;
    const owner = engines === null ? undefined : allShards(engines);
    const engine = new Proxy({} as Engine, {
      get: (_, name: keyof Engine) => {
        if (name === "status") return () => this.#status(owner);
        if (one === undefined) return () => Promise.reject(QueueError.from(closingFailure));
        if (name in one.caller) return (request: unknown) => this.#call(one, name, request);
        if (owner === undefined) throw new Error(`no node owns the shards that ${name} needs`);
        return owner[name];
      },
    });
    return this.#settings.watching(engine);
  }

  /** The call ends without an answer if the process does. */
  #call({ host, caller, calls }: Running, name: string, request: unknown): Promise<unknown> {
    const ask = caller[name as keyof NodeCaller] as (request: unknown) => Promise<unknown>;
    const {
      queue,
      requestTimeoutMs = Number.POSITIVE_INFINITY,
      signal,
    } = request as {
      readonly queue?: string;
      readonly requestTimeoutMs?: number;
      readonly signal?: AbortSignal;
    };
    const { stops } = host;
    const isStopped = host.isStopped;
    const deadline =
      this.clock.now() + requestTimeoutMs + (name === "lease" ? leaseLateMsMax : lateMsMax);
    const answered = (): void => {
      // A process that was stopped meanwhile may answer late, and a killed one does not answer.
      if (host.isDead || isStopped || host.stops !== stops || this.clock.now() <= deadline) return;
      this.#bug ??= new Violation(
        "I11",
        `a ${name} is answered late by a node that was not stopped`,
      );
    };
    return new Promise((resolve, reject) => {
      const end = (): void => {
        calls.delete(call);
        reject(QueueError.from(unknownOutcome));
      };
      const call: OpenCall = { name, queue, signal, end };
      calls.add(call);
      host.deliver(() => {
        ask
          .call(caller, request)
          .finally(() => calls.delete(call))
          .finally(answered)
          .then(resolve, reject);
      });
    });
  }

  /** The owners of the shards; `null` while one of them restarts its engine. */
  override get witness(): Witness | null {
    const [owners, engines] = [this.#owners, this.engines];
    if (owners === null || engines === null) return null;
    const opened = owners.map((owner, shard) => owner.opened.get(shard));
    const memoryOf = (queue: string): Memory => {
      const { memory } = opened[shardOf(queue, opened.length)] ?? {};
      if (memory === undefined) throw new Error(`no node has recorded ${queue}`);
      return memory;
    };
    // The type of leased items does not matter here, because the witness leases none.
    const engine = allShards(engines) as unknown as Engine;
    try {
      engine.listQueues({ pivot: "", limit: 1 });
    } catch (cause) {
      if (cause instanceof QueueError) return null;
      throw cause;
    }
    const now = Math.max(...opened.map((one) => one?.clock.now() ?? 0));
    return { engine, memoryOf, now };
  }

  override async checkWholes(): Promise<void> {
    const [owners, engines] = [this.#owners, this.engines];
    if (owners === null || engines === null || this.witness === null) return;
    const locals = owners.map(({ shards }, shard) => shards[shard] as ShardRoutes);
    const asked = this.isTroubled ? undefined : this.running[this.#settings.chance.below(2)];
    const routes = asked?.routes ?? shardedRoutes(locals);
    await this.run(() => this.#wholes.check({ routes, locals, engines }));
    if (this.isTroubled) return;
    checkDirectories(owners.map(({ opened }, shard) => opened.get(shard)?.engine()));
    const waiting = this.running.flatMap(({ calls }) => [...calls]);
    const clients = waiting.filter(({ name, signal }) => name === "lease" && !signal?.aborted);
    const { waitingLeases } = allShards(engines).status();
    if (waitingLeases <= clients.length) return;
    throw new Violation("I23", `${waitingLeases} leases wait for ${clients.length} clients`);
  }

  #status(owner: Engine<string> | undefined): ReturnType<Engine["status"]> {
    const none = { now: 0, durability: "full", waitingLeases: 0, queues: [] } as const;
    if (owner !== undefined && !this.isTroubled) return owner.status();
    const shard = { up: false } as ReturnType<Engine["status"]>["shards"][number];
    return { ...none, shards: [shard] };
  }

  override image(shard = 0): MemoryImage {
    return ofShard(shard, this.databases).image(shard);
  }

  override get images(): readonly MemoryImage[] {
    const images = this.databases.flatMap((database) => [...database.images]);
    return images.sort(([a], [b]) => a - b).map(([, image]) => image);
  }
}

export const turnLimitsOf = (bounds: Partial<TurnLimits>): TurnLimits => ({ ...limits, ...bounds });

/** Each shard's directory of the other shards' queues must match their catalogs. */
function checkDirectories(engines: readonly (ShardEngine<string> | undefined)[]): void {
  const catalogs = engines.flatMap((engine) => engine?.advancing?.catalog ?? []);
  if (catalogs.length < engines.length) return;
  const textOf = (all: Iterable<QueueReference>): string =>
    JSON.stringify([...all].toSorted((a, b) => a.owner - b.owner));
  for (const [shard, { directory }] of catalogs.entries()) {
    const others = catalogs.flatMap(({ references }, other) => (other === shard ? [] : references));
    const [known, there] = [textOf(directory.all), textOf(others)];
    if (known !== there) {
      throw new Violation("I23", `the directory of shard ${shard} has ${known}, expected ${there}`);
    }
  }
}
