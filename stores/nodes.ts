// The seam between the nodes that share a database and what tells them of each other. That one of
// them alone commits is not up to it but to the store; it says who is to try, and for how long
// what an owner has in memory is the truth.

export interface NodeRow {
  /** Where the others reach it, such as `http://10.0.0.7:9090`. */
  readonly url: string;
  /** What it expects of the others. */
  readonly key: string;
  readonly version: string;
  /** Instants of the database's clock. */
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isDraining: boolean;
  /** It gave a sign of life within the time that an owner has. */
  readonly isLive: boolean;
}

export type Self = Omit<NodeRow, "startedAt" | "seenAt" | "isLive">;

export interface Owner {
  readonly url: string;
  /** Rises by one with each takeover. */
  readonly epoch: number;
  /** Nobody has renewed it in time: whoever comes first takes over. */
  readonly isLapsed: boolean;
}

/** What one look at the rows showed. */
export interface NodesSeen {
  /** `null`: it was given up, and nobody has taken over. */
  readonly owner: Owner | null;
  /** How often the shards have been taken over. */
  readonly epoch: number;
  /** Until when the owner has them, by the database's clock; each renewal changes it. */
  readonly leaseUntil: number;
  /** Another process gives signs of life under this node's URL. */
  readonly isContested: boolean;
  readonly nodes: readonly NodeRow[];
  /** The database's clock. */
  readonly now: number;
}

/** Whom the shards have to belong to, to be opened. */
export interface Ownership {
  readonly url: string;
  readonly epoch: number;
}

/** Every method throws `StoreError` where the database cannot be asked. */
export interface NodeTable {
  /** Says that the node lives, renews its ownership of that epoch if it has one, and looks around. */
  look(self: Self, epoch: number | null): Promise<NodesSeen>;
  /**
   * Takes the shards if they are nobody's, this node's own from before, or still have that
   * `leaseUntil`, which was seen for as long as a lease; the epoch, or `null`.
   */
  takeOver(self: Self, unrenewed: number | null): Promise<number | null>;
  /** The shards are closed; whoever comes first takes them. */
  giveUp(self: Self, epoch: number): Promise<void>;
  /** The others forget it. */
  leave(self: Self): Promise<void>;
  close(): Promise<void>;
}
