// A database in memory that several nodes share: the stored state of its shards, their chains of
// turns, and the rows of owners and nodes. It executes the statements that `stores/postgres/` sends
// to PostgreSQL, in the same order. Commits may come late and answers may be lost. A standby that
// was behind may take over, which loses acknowledged commits.

import type { Backend } from "../../stores/backend.ts";
import { noMaintenance } from "../../stores/maintenance.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import type {
  ClusterView,
  NodeProcess,
  NodeRow,
  NodeTable,
  Ownership,
  Self,
  ShardEpoch,
  ShardRow,
} from "../../stores/nodes.ts";
import {
  type Changes,
  type Image,
  type Store,
  StoreError,
  type Written,
} from "../../stores/store.ts";
import { newTag } from "../model/ids.ts";
import type { Random } from "../model/random.ts";
import { copyOf } from "./bundle.ts";
import type { Host } from "./host.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Identifies the opening that appended a row of a chain. */
type Token = number;

interface CommitPlace {
  readonly position: number;
  readonly token: Token;
}

interface Stored {
  readonly image: MemoryImage;
  /** The tokens of its rows. */
  readonly chain: Token[];
}

type OwnerRow = Omit<ShardRow, "isLapsed">;

/** The content of the database, or of its standby. */
interface State {
  readonly shards: Map<number, Stored>;
  /** One row per shard. */
  owners: readonly OwnerRow[];
  readonly nodes: Map<string, Omit<NodeRow, "isLive">>;
}

/** By shard, the last row of the chain that a process has acknowledged; it outlives the stores. */
export type Acknowledged = Map<number, CommitPlace>;

export interface DatabaseOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly shards: readonly number[];
  /** The duration of an ownership lease. */
  readonly leaseMs: number;
  /** Called with each commit, before its answer. */
  readonly committed: (shard: number, changes: Changes) => void;
}

/** How long a statement may have no answer before its connection is closed. */
const silenceMs = 10_000;

export class SimulatedDatabase {
  readonly #options: DatabaseOptions;
  readonly #sessions = new Set<Session>();
  readonly #cut = new Set<Host>();
  /** Statements of closed connections, which may still be executed. */
  #late: (() => void)[] = [];
  #tokens = 0;
  #state: State;
  #standby: State | null = null;
  #isStalled = false;
  commits = 0;
  /** Commits that were refused, because another owner had appended a row. */
  refusals = 0;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    const owners = options.shards.map((shard) => ({
      ...{ shard, url: null, epoch: 0, leaseUntil: 0, reservedFor: null, takenAt: null },
    }));
    this.#state = { shards: new Map(), owners, nodes: new Map() };
  }

  get clock(): VirtualClock {
    return this.#options.clock;
  }

  /** By shard, for those that were ever opened. */
  get images(): ReadonlyMap<number, MemoryImage> {
    return new Map([...this.#state.shards].map(([shard, { image }]) => [shard, image]));
  }

  image(shard: number): MemoryImage {
    return this.#stored(shard).image;
  }

  #stored(shard: number): Stored {
    return this.#state.shards.getOrInsertComputed(shard, () => ({
      image: new MemoryImage(newTag(this.#options.random)),
      chain: [0],
    }));
  }

  // faults ------------------------------------------------------------------

  isReachable(host: Host): boolean {
    return !this.#isStalled && !this.#cut.has(host);
  }

  /** Blocks messages in both directions; neither end is notified. */
  cutOff(host: Host): void {
    this.#cut.add(host);
  }

  stall(): void {
    this.#isStalled = true;
  }

  /** Delivers everything in flight. */
  heal(): void {
    this.#isStalled = false;
    this.#cut.clear();
    for (const session of this.#sessions) session.flush();
  }

  /** Executes the statements of closed connections; counts commits that held and were refused. */
  landLate(): { readonly held: number; readonly refused: number } {
    const late = this.#late;
    const { commits, refusals } = this;
    this.#late = [];
    for (const run of late) run();
    return { held: this.commits - commits, refused: this.refusals - refusals };
  }

  takeLate(work: () => void): void {
    this.#late.push(work);
  }

  /** Closes all connections; commits stay. */
  restart(): void {
    for (const session of [...this.#sessions]) session.end();
  }

  /** The standby catches up with all commits. */
  replicate(): void {
    const { owners, nodes } = this.#state;
    const shards = new Map<number, Stored>();
    for (const [shard, { image, chain }] of this.#state.shards) {
      shards.set(shard, { image: copyOf(image), chain: [...chain] });
    }
    this.#standby = { shards, owners, nodes: new Map(nodes) };
  }

  /**
   * The standby takes over, if there is one; commits that it lacks are lost. The clock that wrote
   * the leases of owners was ahead of its own by `aheadMs`.
   */
  failOver(aheadMs: number): boolean {
    if (this.#standby === null) return false;
    this.#late = [];
    this.#state = this.#standby;
    this.#state.owners = this.#state.owners.map((row) => ({
      ...row,
      leaseUntil: row.leaseUntil + aheadMs,
    }));
    this.#standby = null;
    this.restart();
    return true;
  }

  killed(host: Host): void {
    this.#cut.delete(host);
    for (const session of [...this.#sessions]) if (session.host === host) session.end();
  }

  // sessions ----------------------------------------------------------------

  openSession(host: Host): Session {
    const session = new Session(this, host);
    this.#sessions.add(session);
    return session;
  }

  disconnected(session: Session): void {
    this.#sessions.delete(session);
  }

  /** Opens the store of a shard for its owner. */
  async openStore(
    host: Host,
    shard: number,
    { ownership, acknowledged }: { ownership: Ownership; acknowledged: Acknowledged },
  ): Promise<Backend> {
    const session = this.openSession(host);
    this.#tokens += 1;
    const owned = new OwnedShard({ shard, token: this.#tokens, session, acknowledged });
    try {
      await owned.open(ownership);
    } catch (cause) {
      session.close();
      throw cause;
    }
    return { store: owned, maintenance: noMaintenance };
  }

  async openNodes(host: Host): Promise<NodeTable> {
    const session = this.openSession(host);
    return new Nodes(session);
  }

  // statements, each executed at once ---------------------------------------

  /** Appends the first row of an opening; `null` = the shard has another owner. */
  append(shard: number, token: Token, { url, epoch }: Ownership): CommitPlace | null {
    if (!this.#isOwner({ shard, url, epoch })) return null;
    const { chain } = this.#stored(shard);
    chain.push(token);
    return { position: chain.length - 1, token };
  }

  /** The token of a row, and the position of the last row. */
  row(
    shard: number,
    position: number,
  ): { readonly token: Token | undefined; readonly last: number } {
    const { chain } = this.#stored(shard);
    return { token: chain[position], last: chain.length - 1 };
  }

  ask(shard: number): Backend {
    return openMemoryStore({ tag: "", image: this.image(shard) });
  }

  load(shard: number, what?: { readonly receipts: boolean }): Promise<Image> {
    return this.ask(shard).store.load(what);
  }

  isLast(shard: number, { position, token }: CommitPlace): boolean {
    const { chain } = this.#stored(shard);
    return chain.length === position + 1 && chain[position] === token;
  }

  /** Appends the next row with its change; `null` = another owner has appended one. */
  next<T>(shard: number, place: CommitPlace, change: () => Promise<T>): Promise<T> | null {
    if (!this.isLast(shard, place)) {
      this.refusals += 1;
      return null;
    }
    // The memory store applies all changes synchronously.
    const changed = change();
    this.#stored(shard).chain.push(place.token);
    this.commits += 1;
    return changed;
  }

  commit(shard: number, place: CommitPlace, changes: Changes): Promise<Written> | null {
    return this.next(shard, place, () => {
      const written = this.ask(shard).store.commit(changes);
      this.#options.committed(shard, changes);
      return written;
    });
  }

  #row(shard: number): OwnerRow | undefined {
    return this.#state.owners.find((row) => row.shard === shard);
  }

  #isOwner({ shard, url, epoch }: ShardEpoch & Ownership): boolean {
    const row = this.#row(shard);
    return row?.url === url && row.epoch === epoch;
  }

  #setOwner(shard: number, change: Partial<OwnerRow>): void {
    this.#state.owners = this.#state.owners.map((row) =>
      row.shard === shard ? { ...row, ...change } : row,
    );
  }

  heartbeat({ url, key, version, isDraining }: Self, owned: readonly ShardEpoch[]): ClusterView {
    const { nodes } = this.#state;
    const { leaseMs } = this.#options;
    const now = this.clock.now();
    const before = nodes.get(url);
    const { startedAt, isDrainRequested } =
      before?.key === key ? before : { startedAt: now, isDrainRequested: false };
    nodes.set(url, {
      ...{ url, key, version, isDraining, isDrainRequested, startedAt },
      seenAt: now,
    });
    for (const { shard, epoch } of owned) {
      if (this.#isOwner({ shard, url, epoch }))
        this.#setOwner(shard, { leaseUntil: now + leaseMs });
    }
    return {
      shards: this.#state.owners.map((row) => ({ ...row, isLapsed: row.leaseUntil < now })),
      isContested: before !== undefined && before.key !== key,
      nodes: [...nodes.values()]
        .map((row) => ({ ...row, isLive: row.seenAt > now - leaseMs }))
        .sort((a, b) => (a.url < b.url ? -1 : 1)),
      now,
    };
  }

  takeOver({ url }: Self, shard: number, lapsed: number | null): number | null {
    const row = this.#row(shard);
    if (row === undefined) return null;
    const now = this.clock.now();
    const isSilent = row.leaseUntil < now || row.leaseUntil === lapsed;
    const isFree = row.url === null || row.url === url || isSilent;
    if (!isFree) return null;
    const epoch = row.epoch + 1;
    const leaseUntil = now + this.#options.leaseMs;
    this.#setOwner(shard, { url, epoch, leaseUntil, reservedFor: null, takenAt: now });
    return epoch;
  }

  release({ url }: Self, { shard, epoch }: ShardEpoch, reservedFor: string | null): void {
    if (this.#isOwner({ shard, url, epoch })) this.#setOwner(shard, { url: null, reservedFor });
  }

  requestDrain({ url, key }: NodeProcess, isRequested: boolean): boolean {
    const { nodes } = this.#state;
    const row = nodes.get(url);
    if (row?.key !== key) return false;
    nodes.set(url, { ...row, isDrainRequested: isRequested });
    return true;
  }

  leave({ url, key }: Self): void {
    if (this.#state.nodes.get(url)?.key === key) this.#state.nodes.delete(url);
  }
}

function takenOver(): StoreError {
  return new StoreError("failed", "the shard belongs to another owner");
}

class Session {
  readonly host: Host;
  readonly #database: SimulatedDatabase;
  /** Delayed messages, in order. */
  #held: { readonly run: () => void; readonly isChange: boolean }[] = [];
  readonly #asked = new Set<(cause: StoreError) => void>();
  #isOver = false;

  constructor(database: SimulatedDatabase, host: Host) {
    this.#database = database;
    this.host = host;
  }

  get database(): SimulatedDatabase {
    return this.#database;
  }

  /** Rejects if the outcome is unknown. */
  ask<T>(work: () => T | Promise<T>, { isChange = false } = {}): Promise<T> {
    if (this.#isOver) return Promise.reject(new StoreError("failed", "the database is gone"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { clock } = this.host;
    const failed = (cause: StoreError): void => {
      silence.cancel();
      this.#asked.delete(failed);
      reject(cause);
    };
    const silence = clock.at(clock.now() + silenceMs, () => this.close());
    this.#asked.add(failed);
    const answered = (settle: () => void): void => {
      this.#send(false, () =>
        this.host.deliver(() => {
          if (!this.#asked.delete(failed)) return;
          silence.cancel();
          settle();
        }),
      );
    };
    this.#send(isChange, () => {
      // An error of `work` is an answer of the database.
      const reported = (async () => work())();
      reported.then(
        (value) => answered(() => resolve(value)),
        (cause) => answered(() => reject(cause)),
      );
    });
    return promise;
  }

  #send(isChange: boolean, run: () => void): void {
    this.#database.clock.nextTick(() => {
      if (this.#isOver) return;
      const waits = this.#held.length > 0 || !this.#database.isReachable(this.host);
      if (waits) this.#held.push({ run, isChange });
      else run();
    });
  }

  flush(): void {
    for (const { run } of this.#held.splice(0)) run();
  }

  /** The process closes the connection; its statements may still be executed. */
  close(): void {
    this.end();
  }

  /** Ends the connection on both sides, for the process once it can be reached. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#database.disconnected(this);
    for (const { run, isChange } of this.#held.splice(0)) {
      if (isChange) this.#database.takeLate(run);
    }
    const cause = new StoreError("failed", "the database is gone");
    this.host.deliver(() => {
      for (const failed of [...this.#asked]) failed(cause);
    });
  }
}

interface OwnedOptions {
  readonly shard: number;
  readonly token: Token;
  readonly session: Session;
  readonly acknowledged: Acknowledged;
}

class OwnedShard implements Store {
  readonly #options: OwnedOptions;
  readonly #database: SimulatedDatabase;
  #place: CommitPlace;

  constructor(options: OwnedOptions) {
    this.#options = options;
    this.#database = options.session.database;
    this.#place = { position: 0, token: options.token };
  }

  /** Like `openPostgresStore`. */
  async open(ownership: Ownership): Promise<void> {
    const { shard, token, session, acknowledged } = this.#options;
    const place = await session.ask(() => this.#database.append(shard, token, ownership));
    if (place === null) throw new StoreError("locked", "the shard belongs to another node");
    this.#place = place;
    const known = acknowledged.get(shard);
    const row = await session.ask(() => this.#database.row(shard, known?.position ?? 0));
    const isLost = known !== undefined && row.token !== known.token;
    if (!isLost) return;
    this.#acknowledge(place);
    throw new StoreError("lost", "the database has lost what was acknowledged");
  }

  #acknowledge(place: CommitPlace): void {
    const { shard, acknowledged } = this.#options;
    this.#place = place;
    acknowledged.set(shard, place);
  }

  load(what?: { readonly receipts: boolean }): Promise<Image> {
    return this.#loaded(() => this.#database.load(this.#options.shard, what));
  }

  /** Refuses a state with rows of later owners, which would be taken for that of this one. */
  #loaded<T>(load: () => Promise<T>): Promise<T> {
    const { shard, session } = this.#options;
    return session.ask(async () => {
      const loaded = await load();
      if (!this.#database.isLast(shard, this.#place)) throw takenOver();
      return loaded;
    });
  }

  read(plan: Parameters<Store["read"]>[0]) {
    const { shard, session } = this.#options;
    return session.ask(() => this.#database.ask(shard).store.read(plan));
  }

  commit(changes: Changes): Promise<Written> {
    const { shard } = this.#options;
    return this.#change((place) => this.#database.commit(shard, place, changes));
  }

  async #change<T>(change: (place: CommitPlace) => Promise<T> | null): Promise<T> {
    const place = this.#place;
    const changed = await this.#options.session.ask(
      async () => {
        const work = change(place);
        return work === null ? null : { value: await work };
      },
      { isChange: true },
    );
    if (changed === null) throw takenOver();
    this.#acknowledge({ ...place, position: place.position + 1 });
    return changed.value;
  }

  async close(): Promise<void> {
    this.#options.session.close();
  }
}

class Nodes implements NodeTable {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  #ask<T>(work: (database: SimulatedDatabase) => T): Promise<T> {
    return this.#session.ask(() => work(this.#session.database));
  }

  heartbeat(self: Self, owned: readonly ShardEpoch[]): Promise<ClusterView> {
    return this.#ask((database) => database.heartbeat(self, owned));
  }

  takeOver(self: Self, shard: number, lapsed: number | null): Promise<number | null> {
    return this.#ask((database) => database.takeOver(self, shard, lapsed));
  }

  release(self: Self, owned: ShardEpoch, reservedFor: string | null): Promise<void> {
    return this.#ask((database) => database.release(self, owned, reservedFor));
  }

  requestDrain(node: NodeProcess, isRequested: boolean): Promise<boolean> {
    return this.#ask((database) => database.requestDrain(node, isRequested));
  }

  leave(self: Self): Promise<void> {
    return this.#ask((database) => database.leave(self));
  }

  async close(): Promise<void> {
    this.#session.close();
  }
}
