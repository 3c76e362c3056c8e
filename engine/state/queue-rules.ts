import type { Origin, Pause } from "../../stores/queue.ts";
import type { PartitionSettings, Target } from "../model/messages.ts";
import type { LogicalQueue, SlotOwner } from "./queue.ts";

/** The current state by which the turns of a shard decide. */
export interface QueueRules {
  /** `null` = no queue has the slot. */
  settingsAt(slot: number): PartitionSettings | null;
  ownerAt(slot: number): SlotOwner | undefined;
  /** Origins of the partition in the slot, see `PartitionPlace`. */
  originsAt(slot: number): readonly Origin[];
  /**
   * The slot in which an item of this priority is put now, for the queue of this owner; `null` = the
   * shard has no such queue.
   */
  homeOf(owner: number, priority: number): number | null;
  /** Whether the shard never had the queue: its store went back, or is another shard's store. */
  isLost(owner: number): boolean;
  queueOf(queueId: number): LogicalQueue | undefined;
  /** The queue of this name in any shard, even during its deletion; `null` = none. */
  targetOf(name: string): Target | null;
  /** Whether a queue of any shard exists and accepts items. */
  isOpen(owner: number): boolean;
  /** For a queue in any shard; `undefined` = not paused, or no such queue. */
  pauseOf(owner: number): Pause | undefined;
}
