// This node's ownership of one shard, from the takeover to the release of its row or the loss to
// another node.

import type { NodeRow, Self, ShardRow } from "../../stores/nodes.ts";
import type { Log } from "../observability/log.ts";
import type { NodeConnection } from "./node-connection.ts";
import type { TakeoversByReason } from "./takeover-stats.ts";

/** What a node does with a shard that it owns. */
export interface ShardActions {
  /**
   * Opens the shard for this epoch. The ownership may be lost meanwhile, and even be taken over
   * again: if the shard is abandoned before it is open, the opening must have no effect.
   */
  readonly open: (shard: number, epoch: number, databaseNow: number) => Promise<void>;
  /** The shard, open or being opened, belongs to another node now, or must be reopened. */
  readonly abandon: (shard: number) => void;
  /**
   * Closes an open shard for a hand-over; it answers no further calls. Must end even if the
   * database is unreachable. The ownership may be lost meanwhile.
   */
  readonly close: (shard: number) => Promise<void>;
  /** The row is free: the node that it is reserved for can be notified. */
  readonly handedOver?: (shard: number, node: NodeRow) => void;
}

export interface ShardOwnershipOptions {
  readonly shard: number;
  readonly self: Self;
  readonly connection: NodeConnection;
  readonly actions: ShardActions;
  /** Milliseconds by a steady clock. */
  readonly now: () => number;
  /** The pause after further failures to open, long enough for any other node to try. */
  readonly retryAgainMs: number;
  readonly takeovers: TakeoversByReason;
  /** This node has changed the row. */
  readonly rowChanged: (change: Partial<ShardRow>) => void;
  /** The state of the shard at this node has changed. */
  readonly changed: () => void;
  readonly log: Log;
}

interface Takeover {
  readonly row: ShardRow;
  /** The database's clock in the poll that returned the row. */
  readonly databaseNow: number;
  /** When the row was read, by the steady clock. */
  readonly readAt: number;
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
  /** The epoch of this node's ownership, until it releases the row. */
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

  get canTakeOver(): boolean {
    return this.#phase === "none" && this.#options.now() >= this.#retryAt;
  }

  /** This node does not own the shard, and no hand-over is running. */
  get isReleased(): boolean {
    return this.#epoch === null && this.#handingOver === null;
  }

  /**
   * Writes this node into the shard's row and starts to open the shard. Resolves to whether it is
   * the owner, without waiting for the opening. Throws if the database is unreachable.
   */
  async takeOver({ row, databaseNow, readAt }: Takeover): Promise<boolean> {
    const { shard, self, connection, now, takeovers, rowChanged, log } = this.#options;
    const { url } = self;
    const epoch = await connection.query((nodes) =>
      nodes.takeOver(self, shard, row.isLapsed ? row.leaseUntil : null),
    );
    // If the process was stopped since then, another node may already own the shard.
    if (epoch === null || now() - readAt >= connection.timeoutMs) return false;
    const takenAt = databaseNow + Math.floor(now() - readAt);
    const reason = row.url === null ? "free" : row.isLapsed ? "lapsed" : "own";
    const stats = takeovers[reason];
    stats.count += 1;
    log.info("taking over shard", { shard, epoch, reason });
    this.#phase = "opening";
    this.#epoch = epoch;
    rowChanged({ url, epoch, isLapsed: false, reservedFor: null, takenAt });
    void this.#open(epoch, takenAt, () => stats.seconds.add((now() - readAt) / 1_000));
    return true;
  }

  async #open(epoch: number, databaseNow: number, opened: () => void): Promise<void> {
    const { shard, actions, now, retryAgainMs, changed, log } = this.#options;
    const isOpening = (): boolean => this.#epoch === epoch && this.#phase === "opening";
    try {
      await actions.open(shard, epoch, databaseNow);
    } catch (cause) {
      log.error("failed to open shard", cause, { shard, epoch });
      if (!isOpening()) return;
      this.#failures += 1;
      this.#retryAt = now() + (this.#failures === 1 ? retryMs : retryAgainMs);
      await this.#release(epoch, null);
      return;
    }
    if (!isOpening()) return;
    this.#phase = "open";
    this.#failures = 0;
    opened();
    log.info("shard opened", { shard, epoch });
    changed();
  }

  /** Another node owns the shard, or it must be reopened. Returns whether this node owned it. */
  lose(): boolean {
    if (this.#epoch === null) return false;
    this.#epoch = null;
    this.#phase = this.#phase === "closing" ? "abandoned" : "none";
    this.#options.actions.abandon(this.shard);
    return true;
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
    log.info("handing over shard", { shard, to: to?.url ?? null });
    const wasOpen = this.isOpen;
    this.#phase = "closing";
    changed();
    if (wasOpen) await this.#close(epoch);
    else actions.abandon(shard);
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
      log.error("failed to close shard", cause, { shard, epoch });
      if (this.#epoch === epoch) actions.abandon(shard);
    }
  }

  /** Resolves to whether the row is known to be free; if not, the next poll returns the owner. */
  async #release(epoch: number, reservedFor: string | null): Promise<boolean> {
    const { shard, self, connection, rowChanged, changed } = this.#options;
    this.#phase = "releasing";
    this.#epoch = null;
    const released = connection.query(async (nodes) => {
      await nodes.release(self, { shard, epoch }, reservedFor);
      return true;
    });
    const isFree = (await released.catch(() => false)) ?? false;
    this.#phase = "none";
    if (isFree) rowChanged({ url: null, reservedFor });
    changed();
    return isFree;
  }
}
