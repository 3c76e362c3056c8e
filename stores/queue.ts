// The stored definition of a queue, and of the partitions it owns.

/** A queue as its owner defined it. Instants are epoch milliseconds, durations milliseconds. */
export interface QueueDefinition {
  /** Unique, 1 to 512 bytes; never part of a file name. */
  readonly name: string;
  /** Name of the queue that takes failed and expired items; `""` = none, such items are removed. */
  readonly deadQueue: string;
  /** Free text for owner or metadata; the engine never reads it. */
  readonly reference: string;
  readonly leaseTimeoutMs: number;
  /** How long an item may wait before it expires; `never` (of the engine) = for ever. */
  readonly expireTimeoutMs: number;
  /** The durations as they were written when given, such as `60m`; answered unchanged. */
  readonly leaseTimeoutText: string;
  readonly expireTimeoutText: string;
  /** Leases granted before an item fails; 0 = no limit. */
  readonly maxAttempts: number;
  /** Partitions asked for; surplus ones drain, so the number in use may differ for a while. */
  readonly requestedPartitions: number;
  /** Items that may be leased at one time; absent = no limit. */
  readonly leasedMax?: number;
  /** Items that may be leased in an interval, such as `100/1s`; absent = no limit. */
  readonly leaseRate?: string;
  /** How long a unique key is taken from when an item was written with it; absent = it takes none. */
  readonly uniqueForMs?: number;
  /** As it was written when given; absent with it. */
  readonly uniqueForText?: string;
  /** Absent = it is not paused. */
  readonly pause?: Pause;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What of a queue is paused; time goes on for its items. */
export interface Pause {
  /** No item is leased; who asks waits. */
  readonly lease: boolean;
  /** A produce is refused. */
  readonly produce: boolean;
  /** Told to whom it stops; `""` = none was given. */
  readonly reason: string;
}

/**
 * Where one partition lives. `active` takes new items, `draining` only
 * gives away what it holds.
 */
export interface PartitionPlace {
  /** The number its users see; 0 and up within a queue. */
  readonly partition: number;
  /** The partition's number within its shard; reused only after the partition was emptied. */
  readonly slot: number;
  readonly state: "active" | "draining";
  /** Where the partition was before reshards moved it here, oldest first; absent if it never moved. */
  readonly origins?: readonly Origin[];
}

/** A place that a partition had in a store of an earlier number of shards. */
export interface Origin {
  /** The index of that store's epochs among those that the present store keeps. */
  readonly epochs: number;
  readonly slot: number;
}

/** One row of the catalog: a queue and the places of its partitions. */
export interface CatalogEntry {
  /** Stable while the queue exists, also across restarts. */
  readonly queueId: number;
  readonly definition: QueueDefinition;
  readonly places: readonly PartitionPlace[];
  /**
   * Which queue its dead queue is, as it may be deleted, and another be created with its name, without
   * this row being written anew; 0 = it has none.
   */
  readonly deadOwner: number;
  /** The queue was deleted and its items are still being removed; it is unknown to everyone but recovery. */
  readonly deleting: boolean;
  /**
   * The `queueId` that the queue was created with, if a reshard had to give it another one. Keys and
   * items on their way name the queue by it.
   */
  readonly createdAs?: number;
}

/** Whether a value read from outside is an entry, field by field. */
export function isCatalogEntry(value: unknown): value is CatalogEntry {
  return (
    hasForm(value, entryForm) &&
    hasForm(value["definition"], definitionForm) &&
    isAbsentOr("number", value["definition"]["leasedMax"]) &&
    isAbsentOr("string", value["definition"]["leaseRate"]) &&
    isAbsentOr("number", value["definition"]["uniqueForMs"]) &&
    isAbsentOr("string", value["definition"]["uniqueForText"]) &&
    isAbsentOr("number", value["createdAs"]) &&
    (value["definition"]["pause"] === undefined ||
      hasForm(value["definition"]["pause"], pauseForm)) &&
    Array.isArray(value["places"]) &&
    value["places"].every(
      (place: unknown) =>
        hasForm(place, placeForm) &&
        (place["state"] === "active" || place["state"] === "draining") &&
        (place["origins"] === undefined || areOrigins(place["origins"])),
    )
  );
}

function areOrigins(value: unknown): boolean {
  return Array.isArray(value) && value.every((origin: unknown) => hasForm(origin, originForm));
}

type Form<T> = { readonly [name in keyof T]: "number" | "string" | "boolean" | "object" };

const entryForm: Form<Omit<CatalogEntry, "createdAs">> = {
  queueId: "number",
  definition: "object",
  places: "object",
  deadOwner: "number",
  deleting: "boolean",
};
const definitionForm: Form<Omit<QueueDefinition, OptionalFields>> = {
  name: "string",
  deadQueue: "string",
  reference: "string",
  leaseTimeoutMs: "number",
  expireTimeoutMs: "number",
  leaseTimeoutText: "string",
  expireTimeoutText: "string",
  maxAttempts: "number",
  requestedPartitions: "number",
  createdAt: "number",
  updatedAt: "number",
};
/** Absent where the queue has none. */
type OptionalFields = "pause" | "leasedMax" | "leaseRate" | "uniqueForMs" | "uniqueForText";
const pauseForm: Form<Pause> = { lease: "boolean", produce: "boolean", reason: "string" };
const placeForm: Form<Omit<PartitionPlace, "origins">> = {
  partition: "number",
  slot: "number",
  state: "string",
};
const originForm: Form<Origin> = { epochs: "number", slot: "number" };

function isAbsentOr(type: "number" | "string", value: unknown): boolean {
  return value === undefined || typeof value === type;
}

function hasForm(
  value: unknown,
  form: Readonly<Record<string, string>>,
): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Object.entries(form).every(([name, type]) => typeof fields[name] === type);
}
