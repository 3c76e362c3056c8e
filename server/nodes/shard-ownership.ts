// What this node has of one shard: from the row that names it as the owner, over a shard that is open,
// to a row that is free again, or another node's.

import type { NodeRow, ShardEpoch, ShardRow } from "../../stores/nodes.ts";
import type { Log } from "../observability/log.ts";

/** What a node does with a shard that it owns. */
export interface ShardActions {
  /**
   * Opens the shard as of this epoch. It may be lost meanwhile, and even taken over again: unless
   * `isCurrent` when it is open, what was opened has to be abandoned.
   */
  readonly own: (shard: number, epoch: number, databaseNow: number) => Promise<void>;
  /** The shard, open or being opened, is another's by now, or has to be opened anew. */
  readonly lose: (shard: number) => void;
  /**
   * Closes an open shard to hand it over; nothing of it is answered any more. Has to end, also if the
   * database is unreachable. The shard may be lost meanwhile.
   */
  readonly close: (shard: number) => Promise<void>;
  /** The row is free: the node that it is meant for may be told to look at once. */
  readonly handedOver?: (shard: number, node: NodeRow) => void;
}

export interface ShardOwnershipOptions {
  readonly shard: number;
  readonly actions: ShardActions;
  /** Milliseconds by a steady clock. */
  readonly now: () => number;
  /** How long until it tries once more to open a shard: long enough for any other node to try. */
  readonly retryAgainMs: number;
  /** Whether the row is known to be free; it may throw instead. */
  readonly giveUp: (held: ShardEpoch, meantFor: string | null) => Promise<boolean>;
  /** This node has changed the row. */
  readonly rowChanged: (shard: number, change: Partial<ShardRow>) => void;
  /** The state of the shard at this node has changed. */
  readonly changed: () => void;
  readonly log: Log;
}

/**
 * `closing`, `releasing`: it is handed over; the row is still this node's, and is being freed.
 * `abandoned`: it was lost while it was being closed, which is not over.
 */
type Phase = "none" | "opening" | "open" | "closing" | "releasing" | "abandoned";

/** How long a node waits before it tries again to open a shard that it could not open. */
const retryMs = 1_000;

export class ShardOwnership {
  readonly #options: ShardOwnershipOptions;
  #phase: Phase = "none";
  /** As of which this node has the shard, until it frees the row. */
  #epoch: number | null = null;
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #handingOver: Promise<boolean> | null = null;

  constructor(options: ShardOwnershipOptions) {
    this.#options = options;
  }

  get shard(): number {
    return this.#options.shard;
  }

  get epoch(): number | null {
    return this.#epoch;
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** It is being opened or handed over. */
  get isChanging(): boolean {
    return ["opening", "closing", "releasing"].includes(this.#phase);
  }

  get isTakeable(): boolean {
    return this.#phase === "none" && this.#options.now() >= this.#retryAt;
  }

  /** The row names this node as the owner. Opens the shard beside the looks, which must not wait for it. */
  taken(row: ShardEpoch & { readonly url: string }, databaseNow: number, opened: () => void): void {
    const { shard, actions, rowChanged, changed, log } = this.#options;
    const { url, epoch } = row;
    this.#phase = "opening";
    this.#epoch = epoch;
    rowChanged(shard, { url, epoch, isLapsed: false, meantFor: null, takenAt: databaseNow });
    const isOpening = (): boolean => this.#epoch === epoch && this.#phase === "opening";
    void actions.own(shard, epoch, databaseNow).then(
      () => {
        if (!isOpening()) return;
        this.#phase = "open";
        this.#failures = 0;
        opened();
        log.info("owns a shard", { shard, epoch });
        changed();
      },
      async (cause: unknown) => {
        log.error("shard cannot be opened", cause, { shard, epoch });
        if (!isOpening()) return;
        this.#failures += 1;
        const { retryAgainMs } = this.#options;
        this.#retryAt = this.#options.now() + (this.#failures === 1 ? retryMs : retryAgainMs);
        await this.#release(epoch, null);
      },
    );
  }

  /** It is another node's by now, or has to be opened anew; whether this node had it. */
  lose(): boolean {
    if (this.#epoch === null) return false;
    this.#epoch = null;
    this.#phase = this.#phase === "closing" ? "abandoned" : "none";
    this.#options.actions.lose(this.shard);
    return true;
  }

  /** Whether this node has the shard, or has not yet handed it over. */
  get isHeld(): boolean {
    return this.#epoch !== null || this.#handingOver !== null;
  }

  /** Closes the shard and frees its row for the other node, or for any; whether the row is free. */
  handOver(to: NodeRow | null): Promise<boolean> {
    this.#handingOver ??= this.#handOver(to).finally(() => {
      this.#handingOver = null;
    });
    return this.#handingOver;
  }

  async #handOver(to: NodeRow | null): Promise<boolean> {
    const { shard, actions, changed, log } = this.#options;
    const epoch = this.#epoch;
    if (epoch === null) return false;
    log.info("hands a shard over", { shard, to: to?.url ?? null });
    const wasOpen = this.isOpen;
    this.#phase = "closing";
    changed();
    if (wasOpen) await this.#close(epoch);
    else actions.lose(shard);
    if (this.#epoch !== epoch) {
      this.#phase = "none";
      return false;
    }
    const isFree = await this.#release(epoch, to?.url ?? null);
    if (isFree && to !== null) actions.handedOver?.(shard, to);
    return isFree;
  }

  async #close(epoch: number): Promise<void> {
    const { shard, actions, log } = this.#options;
    try {
      await actions.close(shard);
    } catch (cause) {
      log.error("shard cannot be closed", cause, { shard, epoch });
      if (this.#epoch === epoch) actions.lose(shard);
    }
  }

  /** Whether the row is known to be free; else the next look shows whose it is. */
  async #release(epoch: number, meantFor: string | null): Promise<boolean> {
    const { shard, giveUp, rowChanged, changed } = this.#options;
    this.#phase = "releasing";
    this.#epoch = null;
    const isFree = await giveUp({ shard, epoch }, meantFor).catch(() => false);
    this.#phase = "none";
    if (isFree) rowChanged(shard, { url: null, meantFor });
    changed();
    return isFree;
  }
}
