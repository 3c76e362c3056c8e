// A store that fails on command, in front of one that does not. The command is
// given to its `StoreControl`, which outlives the store as a disk does.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import type {
  Changes,
  EarlyRef,
  Image,
  LeasedSeq,
  Read,
  ReadLimit,
  Span,
  Store,
  StoredCounts,
  StoreSize,
} from "../../stores/store.ts";
import { StoreError, type StoreFault } from "../../stores/store.ts";

/** How a commit fails. */
export interface CommitFault {
  readonly fault: StoreFault;
  /** It fails only after everything was applied. */
  readonly applied?: boolean;
  /** So do all that follow, until `heal`. */
  readonly sticky?: boolean;
}

export class StoreControl {
  /** Commits that were applied. */
  commits = 0;
  /** Called with what was applied, before anyone is told. */
  onCommit: ((changes: Changes) => void) | null = null;
  /** Called when a commit fails as it was told to. */
  onFault: (() => void) | null = null;
  /** Whether the store says that what it set aside for a full disk is used up. */
  full = false;
  /** There is too much in the store to count it at a start. */
  isLarge = false;
  /** Opening the store fails like this. */
  openFault: StoreFault | null = null;
  /** Items that are no longer what was written, as `slot/seq`. */
  readonly #damaged = new Set<string>();
  /** Calls that are too many until `rested`: a shard that goes round in circles. */
  callsMax = Number.POSITIVE_INFINITY;
  #calls = 0;
  #faults: CommitFault[] = [];
  #killAfter: number | null = null;
  #killApplied = false;
  #held: Promise<void> | null = null;
  #letGo: () => void = () => undefined;
  #generation = 0;

  /** The next commit fails, or the next ones in turn when called several times. */
  fail(fault: CommitFault): void {
    this.#faults.push(fault);
  }

  heal(): void {
    this.#faults = [];
    this.full = false;
    this.openFault = null;
  }

  /** Commits take until `release`. */
  hold(): void {
    this.#held ??= new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  release(): void {
    this.#held = null;
    this.#letGo();
  }

  /** The process dies at the commit after so many more, before it is applied or after. */
  killAt({ commitsBefore, applied }: { commitsBefore: number; applied: boolean }): void {
    this.#killAfter = commitsBefore;
    this.#killApplied = applied;
  }

  /** Every store opened so far falls silent, as with a process that was killed. */
  kill(): void {
    this.#generation += 1;
    this.#killAfter = null;
    this.release();
  }

  damage(slot: number, seq: number): void {
    this.#damaged.add(`${slot}/${seq}`);
  }

  /** As a store reads items of which some are damaged: only their place can be trusted. */
  spoil<T extends Item>(items: Read<T>[]): Read<T>[] {
    if (this.#damaged.size === 0) return items;
    return items.map((item) =>
      this.#damaged.has(`${item.slot}/${item.seq}`)
        ? { ...item, damaged: true, createdAt: 0, attempts: 0, payload: new Uint8Array(1) }
        : item,
    );
  }

  rested(): void {
    this.#calls = 0;
  }

  called(): void {
    this.#calls += 1;
    if (this.#calls > this.callsMax) throw new Error("a shard does not come to rest");
  }

  wrap(store: Store): Store {
    return new FaultyStore(store, this, this.#generation);
  }

  isDead(generation: number): boolean {
    return generation < this.#generation;
  }

  async commit(store: Store, changes: Changes, generation: number): Promise<void> {
    await this.#held;
    if (this.isDead(generation)) return silence();
    const dies = this.#killAfter !== null && this.#killAfter-- === 0;
    const [fault] = this.#faults;
    if (fault !== undefined && fault.sticky !== true) this.#faults.shift();
    if (fault?.fault === "full") this.full = true;
    if (dies || fault !== undefined) this.onFault?.();
    const applies = dies ? this.#killApplied : fault === undefined || fault.applied === true;
    if (!applies) {
      if (dies) return silence();
      throw new StoreError(fault?.fault ?? "failed", "the store was told to fail");
    }
    await store.commit(changes);
    this.commits += 1;
    this.onCommit?.(changes);
    if (dies) return silence();
    if (fault !== undefined) throw new StoreError(fault.fault, "the store was told to fail");
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

  #read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#control.isDead(this.#generation)) return silence();
    this.#control.called();
    return work();
  }

  #readItems<T extends Item>(work: () => Promise<Read<T>[]>): Promise<Read<T>[]> {
    return this.#read(async () => this.#control.spoil(await work()));
  }

  load(): Promise<Image> {
    return this.#read(() => this.#store.load());
  }

  items(slot: number, from: number, before: number, limit: ReadLimit): Promise<Read<Item>[]> {
    return this.#readItems(() => this.#store.items(slot, from, before, limit));
  }

  heads(spans: readonly Span[]): Promise<Map<number, Read<Item>[]>> {
    return this.#read(async () => {
      const heads = await this.#store.heads(spans);
      return new Map([...heads].map(([slot, items]) => [slot, this.#control.spoil(items)]));
    });
  }

  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    return this.#read(async () => (this.#control.isLarge ? null : this.#store.countItems()));
  }

  seqs(slot: number, from: number, before: number, limit: number): Promise<LeasedSeq[]> {
    return this.#read(() => this.#store.seqs(slot, from, before, limit));
  }

  present(slot: number, seqs: readonly number[]): Promise<number[]> {
    return this.#read(() => this.#store.present(slot, seqs));
  }

  presentSources(slot: number, sourceIds: readonly string[]): Promise<string[]> {
    return this.#read(() => this.#store.presentSources(slot, sourceIds));
  }

  scheduled(
    slot: number,
    from: number,
    before: number,
    limit: ReadLimit,
  ): Promise<Read<ScheduledItem>[]> {
    return this.#readItems(() => this.#store.scheduled(slot, from, before, limit));
  }

  waking(now: number, limit: ReadLimit): Promise<Read<ScheduledItem>[]> {
    return this.#readItems(() => this.#store.waking(now, limit));
  }

  nextWake(): Promise<number | null> {
    return this.#read(() => this.#store.nextWake());
  }

  early(after: EarlyRef, limit: number): Promise<EarlyRef[]> {
    return this.#read(() => this.#store.early(after, limit));
  }

  commit(changes: Changes): Promise<void> {
    return this.#control.commit(this.#store, changes, this.#generation);
  }

  relieve(idle: boolean): Promise<void> {
    return this.#read(() => this.#store.relieve(idle));
  }

  backup(folder: string): Promise<number | null> {
    return this.#read(() => this.#store.backup(folder));
  }

  tidy(): Promise<boolean> {
    return this.#read(() => this.#store.tidy());
  }

  size(): StoreSize {
    return { ...this.#store.size(), full: this.#control.full };
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}
