// What the steps of a turn share: what they work on, and the failures that more
// than one of them answers.

import type { Store } from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { failure } from "../errors.ts";
import type { NumberedRequest } from "../messages.ts";
import type { Scene } from "./moves.ts";
import type { Partition } from "./partition.ts";

export type Of<Kind extends NumberedRequest["kind"]> = Extract<NumberedRequest, { kind: Kind }>;

export interface TurnContext extends Scene {
  readonly store: Store;
  /** How leased items are handed over, as text. */
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
  /** Sequence numbers of recent grants by their request, for clients found to have left. */
  readonly grants: Map<number, readonly number[]>;
  /** Whether the store had no room lately; what would only add to it is refused. */
  readonly full: boolean;
  /** Filled with the requests that are answered only when a clear or a recount is done. */
  readonly settling: Settling[];
}

/** Requests whose answer comes later than their turn, because their work goes on in pieces. */
export interface Settling {
  readonly op: number;
  readonly work: "clear" | "recount";
  partitions: Set<Partition>;
}

export const fullFailure = failure(
  "store",
  "there is no space left on the disk; nothing was written",
);
