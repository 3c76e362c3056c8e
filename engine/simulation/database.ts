// A database that several nodes share, in memory: the stored state of its shards, the chain of turns
// of each, and the rows of its owner. It does what `stores/postgres/` asks of PostgreSQL,
// in its order. Commits may come late, answers may be lost, and a standby that was behind may take
// over, which loses what was acknowledged.

import type { Backend } from "../../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import type {
  NodeProcess,
  NodeRow,
  NodesSeen,
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
import { noUpkeep } from "../../stores/upkeep.ts";
import { newTag } from "../model/ids.ts";
import type { Random } from "../model/random.ts";
import { copyOf } from "./bundle.ts";
import type { Host } from "./host.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Who appended a row of a chain. */
type Token = number;

/** A row of a chain. */
interface Place {
  readonly position: number;
  readonly token: Token;
}

interface Stored {
  readonly image: MemoryImage;
  /** Of each row, who appended it. */
  readonly chain: Token[];
}

type OwnerRow = Omit<ShardRow, "isLapsed">;

/** All that a copy of the database has. */
interface State {
  readonly shards: Map<number, Stored>;
  /** By shard. */
  owners: readonly OwnerRow[];
  readonly nodes: Map<string, Omit<NodeRow, "isLive">>;
}

/** The last row of each shard's chain that a process has acknowledged; it outlives its stores. */
export type Acknowledged = Map<number, Place>;

export interface DatabaseOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Numbers of the shards in it. */
  readonly shards: readonly number[];
  /** Of an owner. */
  readonly leaseMs: number;
  /** Hears what was committed, before anyone is told. */
  readonly committed: (shard: number, changes: Changes) => void;
}

/** How long a statement may say nothing before its connection is cut. */
const silenceMs = 10_000;

export class SimulatedDatabase {
  readonly #options: DatabaseOptions;
  readonly #sessions = new Set<Session>();
  readonly #cut = new Set<Host>();
  /** Of connections that are gone: what they had asked for may still be done. */
  #late: (() => void)[] = [];
  #tokens = 0;
  #state: State;
  #standby: State | null = null;
  #isStalled = false;
  commits = 0;
  /** Commits that were refused, because others had come before. */
  refusals = 0;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    const owners = options.shards.map((shard) => ({
      ...{ shard, url: null, epoch: 0, leaseUntil: 0, meantFor: null, takenAt: null },
    }));
    this.#state = { shards: new Map(), owners, nodes: new Map() };
  }

  get clock(): VirtualClock {
    return this.#options.clock;
  }

  /** By shard, of those that were ever opened. */
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

  // what happens to it ------------------------------------------------------

  isReachable(host: Host): boolean {
    return !this.#isStalled && !this.#cut.has(host);
  }

  /** Nothing comes through any more, in either direction, and neither end is told. */
  cutOff(host: Host): void {
    this.#cut.add(host);
  }

  stall(): void {
    this.#isStalled = true;
  }

  /** What is on its way comes now. */
  heal(): void {
    this.#isStalled = false;
    this.#cut.clear();
    for (const session of this.#sessions) session.flush();
  }

  /** What connections that are gone had asked for is done now; how often it was, and was not. */
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

  /** All connections end; what was committed stays. */
  restart(): void {
    for (const session of [...this.#sessions]) session.end();
  }

  /** The standby has all that is committed by now. */
  replicate(): void {
    const { owners, nodes } = this.#state;
    const shards = new Map<number, Stored>();
    for (const [shard, { image, chain }] of this.#state.shards) {
      shards.set(shard, { image: copyOf(image), chain: [...chain] });
    }
    this.#standby = { shards, owners, nodes: new Map(nodes) };
  }

  /**
   * The standby takes over, if there is one; what it lacks is lost. The leases of the owners were
   * written by a clock that is ahead of its own.
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

  // what is asked of it -----------------------------------------------------

  openSession(host: Host): Session {
    const session = new Session(this, host);
    this.#sessions.add(session);
    return session;
  }

  disconnected(session: Session): void {
    this.#sessions.delete(session);
  }

  /** The store of a shard, for the node that its row names. */
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
    return { store: owned, upkeep: noUpkeep };
  }

  async openNodes(host: Host): Promise<NodeTable> {
    const session = this.openSession(host);
    return new Nodes(session);
  }

  // statements, each done at once ------------------------------------------

  /** The beginning of an owner, behind whatever there is; `null`: the shard is another's. */
  append(shard: number, token: Token, { url, epoch }: Ownership): Place | null {
    if (!this.#isOwner({ shard, url, epoch })) return null;
    const { chain } = this.#stored(shard);
    chain.push(token);
    return { position: chain.length - 1, token };
  }

  /** Who appended that row, and the last one. */
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

  /** Nobody has appended a row behind it. */
  isLast(shard: number, { position, token }: Place): boolean {
    const { chain } = this.#stored(shard);
    return chain.length === position + 1 && chain[position] === token;
  }

  /** The next row of the chain, and what it brings; `null`: somebody else has appended one. */
  next<T>(shard: number, place: Place, change: () => Promise<T>): Promise<T> | null {
    if (!this.isLast(shard, place)) {
      this.refusals += 1;
      return null;
    }
    // The memory store changes all at once, when it is called.
    const changed = change();
    this.#stored(shard).chain.push(place.token);
    this.commits += 1;
    return changed;
  }

  commit(shard: number, place: Place, changes: Changes): Promise<Written> | null {
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

  look({ url, key, version, isDraining }: Self, held: readonly ShardEpoch[]): NodesSeen {
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
    for (const { shard, epoch } of held) {
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

  takeOver({ url }: Self, shard: number, unrenewed: number | null): number | null {
    const row = this.#row(shard);
    if (row === undefined) return null;
    const now = this.clock.now();
    const isSilent = row.leaseUntil < now || row.leaseUntil === unrenewed;
    const isFree = row.url === null || row.url === url || isSilent;
    if (!isFree) return null;
    const epoch = row.epoch + 1;
    const leaseUntil = now + this.#options.leaseMs;
    this.#setOwner(shard, { url, epoch, leaseUntil, meantFor: null, takenAt: now });
    return epoch;
  }

  giveUp({ url }: Self, { shard, epoch }: ShardEpoch, meantFor: string | null): void {
    if (this.#isOwner({ shard, url, epoch })) this.#setOwner(shard, { url: null, meantFor });
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

/** A connection of a process. */
class Session {
  readonly host: Host;
  readonly #database: SimulatedDatabase;
  /** What is held up on its way, in order. */
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

  /** Rejects where it is not known what became of it. */
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
      // What throws there is what the database says.
      const told = (async () => work())();
      told.then(
        (value) => answered(() => resolve(value)),
        (cause) => answered(() => reject(cause)),
      );
    });
    return promise;
  }

  #send(isChange: boolean, run: () => void): void {
    this.#database.clock.soon(() => {
      if (this.#isOver) return;
      const waits = this.#held.length > 0 || !this.#database.isReachable(this.host);
      if (waits) this.#held.push({ run, isChange });
      else run();
    });
  }

  flush(): void {
    for (const { run } of this.#held.splice(0)) run();
  }

  /** The process has given it up; what it asked for may still be done. */
  close(): void {
    this.end();
  }

  /** Both ends are told, once they can be. */
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
  #place: Place;

  constructor(options: OwnedOptions) {
    this.#options = options;
    this.#database = options.session.database;
    this.#place = { position: 0, token: options.token };
  }

  /** As `openPostgresStore` does. */
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

  #acknowledge(place: Place): void {
    const { shard, acknowledged } = this.#options;
    this.#place = place;
    acknowledged.set(shard, place);
  }

  load(what?: { readonly receipts: boolean }): Promise<Image> {
    return this.#loaded(() => this.#database.load(this.#options.shard, what));
  }

  /** What others have written since would be taken for this owner's. */
  #loaded<T>(load: () => Promise<T>): Promise<T> {
    const { shard, session } = this.#options;
    return session.ask(async () => {
      const loaded = await load();
      if (!this.#database.isLast(shard, this.#place)) throw takenOver();
      return loaded;
    });
  }

  read(wants: Parameters<Store["read"]>[0]) {
    const { shard, session } = this.#options;
    return session.ask(() => this.#database.ask(shard).store.read(wants));
  }

  commit(changes: Changes): Promise<Written> {
    const { shard } = this.#options;
    return this.#change((place) => this.#database.commit(shard, place, changes));
  }

  async #change<T>(change: (place: Place) => Promise<T> | null): Promise<T> {
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

  look(self: Self, held: readonly ShardEpoch[]): Promise<NodesSeen> {
    return this.#ask((database) => database.look(self, held));
  }

  takeOver(self: Self, shard: number, unrenewed: number | null): Promise<number | null> {
    return this.#ask((database) => database.takeOver(self, shard, unrenewed));
  }

  giveUp(self: Self, held: ShardEpoch, meantFor: string | null): Promise<void> {
    return this.#ask((database) => database.giveUp(self, held, meantFor));
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
