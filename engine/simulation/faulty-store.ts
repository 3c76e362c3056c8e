// Fault injection: wraps a store, and fails on command of its `StoreControl`, which outlives the
// store as a disk does.

import type { Backend } from "../../stores/backend.ts";
import type { Item } from "../../stores/item.ts";
import type { Maintenance, StoredCounts, StoreSize } from "../../stores/maintenance.ts";
import type {
  Changes,
  Image,
  Read,
  ReadPlan,
  ReadResult,
  Some,
  Store,
  Written,
} from "../../stores/store.ts";
import { DamagedItems, StoreError, type StoreFault } from "../../stores/store.ts";

export interface CommitFault {
  readonly fault: StoreFault;
  /** The commit fails only after it was applied. */
  readonly applied?: boolean;
  /** All later commits fail too, until `heal`. */
  readonly sticky?: boolean;
  /** Only commits with moves fail: rewritten items need the most room. */
  readonly ofMoves?: boolean;
  /** The sync fails, and the written commit is kept or lost. */
  readonly sync?: "kept" | "lost";
}

/** A commit that is written, and not yet synced. */
interface Unsynced {
  /** Restores the state before the commit, as a power cut does. */
  readonly lose: () => void;
}

export class StoreControl {
  commits = 0;
  /** Called with applied changes, before the answers. */
  onCommit: ((changes: Changes) => void) | null = null;
  /** Called when an injected fault fails a commit; `applies`: its changes were written. */
  onFault: ((commit: { readonly applies: boolean }) => void) | null = null;
  /** Whether the store reports that its reserve for a full disk is used up. */
  full = false;
  /** How often a commit failed because the store was full. */
  fullCount = 0;
  /** The shard knows that the store is full, and nothing has changed since. */
  hasReportedFull = false;
  /** The process has died at a commit. */
  isSilent = false;
  /** The store is too large to count its items at a start. */
  isLarge = false;
  /** Commits are synced some events after they are written; `copy` returns the undo of one. */
  syncsLater: {
    readonly nextTick: (run: () => void) => void;
    readonly copy: () => Unsynced["lose"];
  } | null = null;
  #unsynced: Unsynced | null = null;
  #syncHeld: Promise<void> | null = null;
  readsHeld: Promise<void> | null = null;
  /** The fault of the next openings. */
  openFault: StoreFault | null = null;
  /** Damaged items, as `slot/seq`. */
  readonly #damaged = new Set<string>();
  /** The limit of calls before `rested`, to detect a shard in an endless loop. */
  callsMax = Number.POSITIVE_INFINITY;
  #calls = 0;
  #faults: CommitFault[] = [];
  #faultAfter: { commits: number; readonly fault: CommitFault } | null = null;
  #killAfter: number | null = null;
  #killApplied = false;
  #held: Promise<void> | null = null;
  #heldAfter: number | null = null;
  #letGo: (() => void)[] = [];
  #generation = 0;

  /** Fails the next commit; several calls fail as many commits, in order. */
  fail(fault: CommitFault): void {
    this.#faults.push(fault);
  }

  /** Fails the commit after `commits` others. */
  failAfter(commits: number, fault: CommitFault): void {
    this.#faultAfter = { commits, fault };
  }

  heal(): void {
    this.#faults = [];
    this.#faultAfter = null;
    this.full = false;
    this.hasReportedFull = false;
    this.openFault = null;
  }

  /** Commits wait for `release`. */
  hold(): void {
    this.#held ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** Reads of turns wait for `release`. */
  holdReads(): void {
    this.readsHeld ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** Syncs wait for `release`. */
  holdSync(): void {
    this.#syncHeld ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** Commits after the next `commits` ones wait for `release`. */
  holdAfter(commits: number): void {
    this.#heldAfter = commits;
  }

  get isHeld(): boolean {
    return this.#held !== null || this.#syncHeld !== null;
  }

  release(): void {
    this.#held = null;
    this.#heldAfter = null;
    this.#syncHeld = null;
    this.readsHeld = null;
    for (const letGo of this.#letGo.splice(0)) letGo();
  }

  /** Kills the process at the commit after `commitsBefore` others, before or after applying it. */
  killAt({ commitsBefore, applied }: { commitsBefore: number; applied: boolean }): void {
    this.#killAfter = commitsBefore;
    this.#killApplied = applied;
  }

  /**
   * Every store opened so far stops answering, as after the kill of a process. A power cut also
   * loses an unsynced commit; returns whether there was one.
   */
  kill({ powerCut = false } = {}): boolean {
    this.#generation += 1;
    this.#killAfter = null;
    this.hasReportedFull = false;
    this.isSilent = false;
    const unsynced = this.#unsynced;
    this.#unsynced = null;
    if (powerCut) unsynced?.lose();
    this.release();
    return powerCut && unsynced !== null;
  }

  damage(slot: number, seq: number): void {
    this.#damaged.add(`${slot}/${seq}`);
  }

  /** The items were moved to another store. */
  emptied(): void {
    this.#damaged.clear();
  }

  /** Marks damaged items in a page as a store does; only their place is right. */
  spoil<T extends Item>({ found, isAll }: Some<Read<T>>): Some<Read<T>> {
    if (this.#damaged.size === 0) return { found, isAll };
    return { found: found.map((item) => this.#spoiled(item)), isAll };
  }

  /** Marks damaged items in the heads of groups. */
  spoilGroups(groups: ReadResult["groups"]): ReadResult["groups"] {
    return groups.map(({ found, isAll }) => ({
      found: found.map((row) => (row.item ? { ...row, item: this.#spoiled(row.item) } : row)),
      isAll,
    }));
  }

  #spoiled<T extends Item>(item: Read<T>): Read<T> {
    if (!this.#isDamaged(item)) return item;
    return { ...item, damaged: true, createdAt: 0, attempts: 0, payload: new Uint8Array(1) };
  }

  #isDamaged({ slot, seq }: { readonly slot: number; readonly seq: number }): boolean {
    return this.#damaged.has(`${slot}/${seq}`);
  }

  rested(): void {
    this.#calls = 0;
  }

  called(): void {
    this.#calls += 1;
    if (this.#calls > this.callsMax) throw new Error("a shard does not come to rest");
  }

  /** Rises with each kill. */
  get generation(): number {
    return this.#generation;
  }

  /** `generation`: the one in which the opening of the store began. */
  wrap({ store, maintenance, ...rest }: Backend, generation: number): Backend {
    return {
      ...rest,
      store: new FaultyStore(store, this, generation),
      maintenance: new FaultyUpkeep(maintenance, this, generation),
    };
  }

  isDead(generation: number): boolean {
    return generation < this.#generation;
  }

  /** A call that changes nothing. */
  ask<T>(generation: number, work: () => Promise<T>): Promise<T> {
    if (this.isDead(generation)) return silence();
    this.called();
    return work();
  }

  /** A call that changes the store, unless a fault is injected. */
  async change<T>(
    generation: number,
    work: () => Promise<T>,
    { moves }: { readonly moves: boolean },
  ): Promise<Written & { readonly result: T }> {
    if (this.#heldAfter !== null && this.#heldAfter-- === 0) this.hold();
    await this.#held;
    if (this.isDead(generation)) return silence();
    if (this.#unsynced !== null) throw new Error("a commit overtakes the sync of the one before");
    const dies = this.#killAfter !== null && this.#killAfter-- === 0;
    if (this.#faultAfter !== null && this.#faultAfter.commits-- === 0) {
      this.fail(this.#faultAfter.fault);
      this.#faultAfter = null;
    }
    const fault = this.#faults.find(({ ofMoves = false }) => moves || !ofMoves);
    if (fault !== undefined && fault.sticky !== true) {
      this.#faults.splice(this.#faults.indexOf(fault), 1);
    }
    if (fault?.fault === "full") {
      this.full = true;
      this.fullCount += 1;
      this.hasReportedFull = true;
    }
    if (dies) {
      this.hasReportedFull = false;
      this.isSilent = true;
    }
    const applies = dies
      ? this.#killApplied
      : fault === undefined || fault.applied === true || fault.sync !== undefined;
    if (dies || fault !== undefined) this.onFault?.({ applies });
    if (!applies) {
      if (dies) return silence();
      throw new StoreError(fault?.fault ?? "failed", "injected store failure");
    }
    const lose = this.syncsLater?.copy();
    const result = await work();
    this.commits += 1;
    // A commit whose process was killed meanwhile is not a commit of the next process.
    if (lose !== undefined && !this.isDead(generation)) this.#unsynced = { lose };
    if (dies) return silence();
    if (fault !== undefined && fault.sync === undefined) {
      this.#unsynced = null;
      throw new StoreError(fault.fault, "injected store failure");
    }
    return { result, synced: lose === undefined ? null : this.#sync(generation, fault) };
  }

  async #sync(generation: number, fault: CommitFault | undefined): Promise<void> {
    const { nextTick } = this.syncsLater ?? { nextTick: queueMicrotask };
    // Varies the length, so that different numbers of requests arrive during a sync.
    for (let round = this.commits % 4; round >= 0; round -= 1) {
      await new Promise<void>((resolve) => nextTick(resolve));
    }
    await this.#syncHeld;
    if (this.isDead(generation)) return silence();
    if (fault?.sync === "lost") this.#unsynced?.lose();
    this.#unsynced = null;
    if (fault !== undefined) throw new StoreError(fault.fault, "injected sync failure");
  }

  async commit(store: Store, changes: Changes): Promise<void> {
    const damaged = changes.move.filter((move) => this.#isDamaged(move));
    if (damaged.length > 0) throw new DamagedItems(damaged);
    await store.commit(changes);
    this.onCommit?.(changes);
  }
}

function silence(): Promise<never> {
  return new Promise(() => undefined);
}

class FaultyStore implements Store {
  readonly #store: Store;
  readonly #control: StoreControl;
  readonly #generation: number;

  constructor(store: Store, control: StoreControl, generation: number) {
    this.#store = store;
    this.#control = control;
    this.#generation = generation;
  }

  load(what?: { readonly receipts: boolean }): Promise<Image> {
    return this.#control.ask(this.#generation, () => this.#store.load(what));
  }

  read(plan: ReadPlan): Promise<ReadResult> {
    const spoilEach = <K, T extends Item>(pages: ReadonlyMap<K, Some<Read<T>>>) =>
      new Map([...pages].map(([key, page]) => [key, this.#control.spoil(page)]));
    return this.#control.ask(this.#generation, async () => {
      if (this.#control.readsHeld !== null) await this.#control.readsHeld;
      const readResult = await this.#store.read(plan);
      return {
        ...readResult,
        groups: this.#control.spoilGroups(readResult.groups),
        heads: spoilEach(readResult.heads),
        items: spoilEach(readResult.items),
        scheduled: spoilEach(readResult.scheduled),
      };
    });
  }

  commit(changes: Changes): Promise<Written> {
    const work = () => this.#control.commit(this.#store, changes);
    const moves = changes.move.length > 0;
    return this.#control.change(this.#generation, work, { moves });
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}

class FaultyUpkeep implements Maintenance {
  readonly #maintenance: Maintenance;
  readonly #control: StoreControl;
  readonly #generation: number;

  constructor(maintenance: Maintenance, control: StoreControl, generation: number) {
    this.#maintenance = maintenance;
    this.#control = control;
    this.#generation = generation;
  }

  relieve(): Promise<void> {
    return this.#control.ask(this.#generation, () => this.#maintenance.relieve());
  }

  tidy(): Promise<boolean> {
    return this.#control.ask(this.#generation, () => this.#maintenance.tidy());
  }

  backup(folder: string): Promise<number | null> {
    return this.#control.ask(this.#generation, () => this.#maintenance.backup(folder));
  }

  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    return this.#control.ask(this.#generation, async () =>
      this.#control.isLarge ? null : this.#maintenance.countItems(),
    );
  }

  size(): StoreSize {
    return { ...this.#maintenance.size(), full: this.#control.full };
  }
}
