// This node's ownership of one shard: opening it once its row names this node, and closing it and
// freeing the row, or losing it to another node.

import type { NodeRow, ShardEpoch, ShardRow } from "../../stores/nodes.ts";
import type { Log } from "../observability/log.ts";

/** What a node does with a shard that it owns. */
export interface ShardActions {
  /**
   * Opens the shard for this epoch. The shard may be lost meanwhile, and even taken over again: if
   * the epoch is no longer current once it is open, what was opened must be abandoned.
   */
  readonly own: (shard: number, epoch: number, databaseNow: number) => Promise<void>;
  /** The shard, open or being opened, belongs to another node now, or must be reopened. */
  readonly lose: (shard: number) => void;
  /**
   * Closes an open shard for a hand-over; it answers no further calls. Must end even if the
   * database is unreachable. The shard may be lost meanwhile.
   */
  readonly close: (shard: number) => Promise<void>;
  /** The row is free: the node that it is meant for can be notified. */
  readonly handedOver?: (shard: number, node: NodeRow) => void;
}

export interface ShardOwnershipOptions {
  readonly shard: number;
  readonly actions: ShardActions;
  /** Milliseconds by a steady clock. */
  readonly now: () => number;
  /** The pause after further failures to open, long enough for any other node to try. */
  readonly retryAgainMs: number;
  /** Resolves to whether the row is known to be free; may throw. */
  readonly giveUp: (held: ShardEpoch, meantFor: string | null) => Promise<boolean>;
  /** This node has changed the row. */
  readonly rowChanged: (shard: number, change: Partial<ShardRow>) => void;
  /** The state of the shard at this node has changed. */
  readonly changed: () => void;
  readonly log: Log;
}

/**
 * `closing`, `releasing`: the two steps of a hand-over; first the shard is closed, then its row is
 * freed. `abandoned`: it was lost while closing, and the closing has not ended.
 */
type Phase = "none" | "opening" | "open" | "closing" | "releasing" | "abandoned";

/** The pause after the first failure to open a shard. */
const retryMs = 1_000;

export class ShardOwnership {
  readonly #options: ShardOwnershipOptions;
  #phase: Phase = "none";
  /** The epoch of this node's ownership, until it frees the row. */
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

  /** The shard is being opened or handed over. */
  get isChanging(): boolean {
    return ["opening", "closing", "releasing"].includes(this.#phase);
  }

  get isTakeable(): boolean {
    return this.#phase === "none" && this.#options.now() >= this.#retryAt;
  }

  /** Starts to open the shard, whose row names this node. Looks must not wait for it. */
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

  /** Another node owns the shard, or it must be reopened. Returns whether this node owned it. */
  lose(): boolean {
    if (this.#epoch === null) return false;
    this.#epoch = null;
    this.#phase = this.#phase === "closing" ? "abandoned" : "none";
    this.#options.actions.lose(this.shard);
    return true;
  }

  /** This node owns the shard, or its hand-over has not ended. */
  get isHeld(): boolean {
    return this.#epoch !== null || this.#handingOver !== null;
  }

  /** Closes the shard and frees its row, for `to` or any node. Resolves to whether it is free. */
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

  /** Resolves to whether the row is known to be free; if not, the next look shows the owner. */
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
