// A store that fails on command, in front of one that does not. The command is
// given to its `StoreControl`, which outlives the store as a disk does.

import type { Backend } from "../../stores/backend.ts";
import type { Item } from "../../stores/item.ts";
import type {
  Changes,
  Facts,
  Image,
  Read,
  Some,
  Store,
  Wants,
  Written,
} from "../../stores/store.ts";
import { SpoiltItems, StoreError, type StoreFault } from "../../stores/store.ts";
import type { StoredCounts, StoreSize, Upkeep } from "../../stores/upkeep.ts";

/** How a commit fails. */
export interface CommitFault {
  readonly fault: StoreFault;
  /** It fails only after everything was applied. */
  readonly applied?: boolean;
  /** So do all that follow, until `heal`. */
  readonly sticky?: boolean;
  /** Only a commit that moves items: what is written anew needs the most room. */
  readonly ofMoves?: boolean;
  /** It is its sync that fails; then what was written may be lost. */
  readonly sync?: "kept" | "lost";
}

/** A commit that is written, and not yet synced. */
interface Unsynced {
  /** Puts back what was stored before it, as a power cut does. */
  readonly lose: () => void;
}

export class StoreControl {
  /** Commits that were applied. */
  commits = 0;
  /** Called with what was applied, before anyone is told. */
  onCommit: ((changes: Changes) => void) | null = null;
  /** Called when a commit fails as it was told to; `applies`: what it wrote is there all the same. */
  onFault: ((commit: { readonly applies: boolean }) => void) | null = null;
  /** Whether the store says that what it set aside for a full disk is used up. */
  full = false;
  /** How often it was found to be. */
  fullCount = 0;
  /** Its shard has found it to be, and nothing has changed since. */
  isToldFull = false;
  /** Its process has died at a commit. */
  isSilent = false;
  /** There is too much in the store to count it at a start. */
  isLarge = false;
  /** Commits are synced some events after they are written, and not within; `lose` undoes one. */
  syncsLater: {
    readonly soon: (run: () => void) => void;
    readonly copy: () => Unsynced["lose"];
  } | null = null;
  #unsynced: Unsynced | null = null;
  #syncHeld: Promise<void> | null = null;
  readsHeld: Promise<void> | null = null;
  /** Opening the store fails like this. */
  openFault: StoreFault | null = null;
  /** Items that are no longer what was written, as `slot/seq`. */
  readonly #damaged = new Set<string>();
  /** Calls that are too many until `rested`: a shard that goes round in circles. */
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

  /** The next commit fails, or the next ones in turn when called several times. */
  fail(fault: CommitFault): void {
    this.#faults.push(fault);
  }

  /** The same for the commit after so many more. */
  failAfter(commits: number, fault: CommitFault): void {
    this.#faultAfter = { commits, fault };
  }

  heal(): void {
    this.#faults = [];
    this.#faultAfter = null;
    this.full = false;
    this.isToldFull = false;
    this.openFault = null;
  }

  /** Commits take until `release`. */
  hold(): void {
    this.#held ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** Reads of turns take until `release`. */
  holdReads(): void {
    this.readsHeld ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** Syncs take until `release`. */
  holdSync(): void {
    this.#syncHeld ??= new Promise((resolve) => this.#letGo.push(resolve));
  }

  /** The same from after so many more commits on. */
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

  /** The process dies at the commit after so many more, before it is applied or after. */
  killAt({ commitsBefore, applied }: { commitsBefore: number; applied: boolean }): void {
    this.#killAfter = commitsBefore;
    this.#killApplied = applied;
  }

  /**
   * Every store opened so far falls silent, as with a process that was killed. Where the power is
   * cut as well, what was not synced is lost; returns whether anything was.
   */
  kill({ powerCut = false } = {}): boolean {
    this.#generation += 1;
    this.#killAfter = null;
    this.isToldFull = false;
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

  /** All that was stored is in another store now. */
  emptied(): void {
    this.#damaged.clear();
  }

  /** As a store reads items of which some are damaged: only their place can be trusted. */
  spoil<T extends Item>({ found, isAll }: Some<Read<T>>): Some<Read<T>> {
    if (this.#damaged.size === 0) return { found, isAll };
    const seen = found.map((item) =>
      this.#isDamaged(item)
        ? { ...item, damaged: true, createdAt: 0, attempts: 0, payload: new Uint8Array(1) }
        : item,
    );
    return { found: seen, isAll };
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

  /** `generation`: that in which the opening of the store began. */
  wrap({ store, upkeep, ...rest }: Backend, generation: number): Backend {
    return {
      ...rest,
      store: new FaultyStore(store, this, generation),
      upkeep: new FaultyUpkeep(upkeep, this, generation),
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

  /** A call that changes something, unless it was told to fail; a shard hears how a turn fails. */
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
      this.isToldFull = true;
    }
    if (dies) {
      this.isToldFull = false;
      this.isSilent = true;
    }
    const applies = dies
      ? this.#killApplied
      : fault === undefined || fault.applied === true || fault.sync !== undefined;
    if (dies || fault !== undefined) this.onFault?.({ applies });
    if (!applies) {
      if (dies) return silence();
      throw new StoreError(fault?.fault ?? "failed", "the store was told to fail");
    }
    const lose = this.syncsLater?.copy();
    const result = await work();
    this.commits += 1;
    // One that was killed meanwhile is no commit of the process that came after.
    if (lose !== undefined && !this.isDead(generation)) this.#unsynced = { lose };
    if (dies) return silence();
    if (fault !== undefined && fault.sync === undefined) {
      this.#unsynced = null;
      throw new StoreError(fault.fault, "the store was told to fail");
    }
    return { result, synced: lose === undefined ? null : this.#sync(generation, fault) };
  }

  async #sync(generation: number, fault: CommitFault | undefined): Promise<void> {
    const { soon } = this.syncsLater ?? { soon: queueMicrotask };
    // Of different length, so that now more and now fewer requests come meanwhile.
    for (let round = this.commits % 4; round >= 0; round -= 1) {
      await new Promise<void>((resolve) => soon(resolve));
    }
    await this.#syncHeld;
    if (this.isDead(generation)) return silence();
    if (fault?.sync === "lost") this.#unsynced?.lose();
    this.#unsynced = null;
    if (fault !== undefined) throw new StoreError(fault.fault, "the sync was told to fail");
  }

  async commit(store: Store, changes: Changes): Promise<void> {
    const spoilt = changes.move.filter((move) => this.#isDamaged(move));
    if (spoilt.length > 0) throw new SpoiltItems(spoilt);
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

  read(wants: Wants): Promise<Facts> {
    const spoilEach = <K, T extends Item>(pages: ReadonlyMap<K, Some<Read<T>>>) =>
      new Map([...pages].map(([key, page]) => [key, this.#control.spoil(page)]));
    return this.#control.ask(this.#generation, async () => {
      if (this.#control.readsHeld !== null) await this.#control.readsHeld;
      const facts = await this.#store.read(wants);
      return {
        ...facts,
        heads: spoilEach(facts.heads),
        items: spoilEach(facts.items),
        scheduled: spoilEach(facts.scheduled),
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

class FaultyUpkeep implements Upkeep {
  readonly #upkeep: Upkeep;
  readonly #control: StoreControl;
  readonly #generation: number;

  constructor(upkeep: Upkeep, control: StoreControl, generation: number) {
    this.#upkeep = upkeep;
    this.#control = control;
    this.#generation = generation;
  }

  relieve(): Promise<void> {
    return this.#control.ask(this.#generation, () => this.#upkeep.relieve());
  }

  tidy(): Promise<boolean> {
    return this.#control.ask(this.#generation, () => this.#upkeep.tidy());
  }

  backup(folder: string): Promise<number | null> {
    return this.#control.ask(this.#generation, () => this.#upkeep.backup(folder));
  }

  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    return this.#control.ask(this.#generation, async () =>
      this.#control.isLarge ? null : this.#upkeep.countItems(),
    );
  }

  size(): StoreSize {
    return { ...this.#upkeep.size(), full: this.#control.full };
  }
}
