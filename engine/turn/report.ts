// The reports of a shard to its engine.

import type { CatalogEntry } from "../../stores/queue.ts";
import type { OutboxCount, StoredTask } from "../../stores/store.ts";
import type { Epochs } from "../model/epochs.ts";
import type { Answer, ItemEvents, PartitionCounts, Passed } from "../model/messages.ts";
import type { Granted } from "../state/lines.ts";

/** A shard's report after each turn. */
export interface Report {
  readonly answers: readonly Answer[];
  readonly granted: readonly Granted[];
  /** For every partition that the turn touched. */
  readonly counts: readonly PartitionCounts[];
  readonly events: readonly ItemEvents[];
  /** Waiting items by queue, for every shard whose outbox has changed. */
  readonly outbox: readonly ShardOutbox[];
  readonly commit: CommitReport | null;
  readonly receipts: number;
  /** The store had no room for the writes of the turn. */
  readonly full: boolean;
  /** Requests that only add are refused until there is room again. */
  readonly refusing: boolean;
}

/** One commit, for the metrics. */
export interface CommitReport {
  readonly items: number;
  readonly seconds: number;
  readonly quarantined: number;
  /** Only occasionally, because it costs a call to the file system. */
  readonly size: { readonly logBytes: number; readonly fileBytes: number } | null;
}

export interface ShardOutbox {
  readonly targetShard: number;
  readonly counts: readonly OutboxCount[];
}

/** A shard's report once it has read its store. */
export interface OpenedReport {
  readonly epochs: Epochs;
  readonly queues: readonly CatalogEntry[];
  readonly counts: readonly PartitionCounts[];
  readonly outbox: readonly OutboxCount[];
  readonly passed: Passed;
  /** Acknowledged commits that are lost; a lower bound. */
  readonly lostCommits: number;
  /** Answers of a turn that was committed before the store failed, but not answered. */
  readonly answers: readonly Answer[];
  readonly granted: readonly Granted[];
  readonly events: readonly ItemEvents[];
  /** Requests that wait for work that continues. */
  readonly settling: readonly number[];
  readonly receipts: number;
  readonly tasks: readonly StoredTask[];
  readonly quarantined: number;
  /** The difference between the items of its partitions and the counts of the commits. */
  readonly miscounted: number;
  /** The reserve for a full disk has no room, so requests that only add are refused. */
  readonly full: boolean;
}
