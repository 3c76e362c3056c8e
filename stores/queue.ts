// The stored definition of a queue and its partitions.

/** Settings of a queue. Instants are epoch milliseconds, durations milliseconds. */
export interface QueueDefinition {
  /** Unique, 1 to 512 bytes; never part of a file name. */
  readonly name: string;
  /** Name of the queue for failed and expired items; `""` = none, such items are removed. */
  readonly deadQueue: string;
  /** Free text of the user; the engine never reads it. */
  readonly reference: string;
  readonly leaseTimeoutMs: number;
  /** How long an item may wait before it expires; the engine's `never` = no limit. */
  readonly expireTimeoutMs: number;
  /** The durations as the user wrote them, such as `60m`; returned unchanged. */
  readonly leaseTimeoutText: string;
  readonly expireTimeoutText: string;
  /** Leases granted before an item fails; 0 = no limit. */
  readonly maxAttempts: number;
  /** Surplus partitions drain, so the number in use may differ for a while. */
  readonly requestedPartitions: number;
  /** Items that may be leased at one time; absent = no limit. */
  readonly leasedMax?: number;
  /** Items that may be leased in an interval, such as `100/1s`; absent = no limit. */
  readonly leaseRate?: string;
  /** Items that may wait before a produce is refused; absent = no limit. */
  readonly waitingMax?: number;
  /** How long a retry without an instant sets items aside, such as `1s..5m`; absent = not at all. */
  readonly retryBackoff?: string;
  /**
   * How long a unique key stays taken once an item has it; absent = no unique keys, `pending` =
   * while the item is unfinished.
   */
  readonly uniqueForMs?: number;
  /** `uniqueForMs` as the user wrote it; absent if that is. */
  readonly uniqueForText?: string;
  /**
   * How long an item waits for each priority that it gains; the engine's `never` = it gains none.
   * Absent = the default.
   */
  readonly priorityAgingMs?: number;
  /** `priorityAgingMs` as the user wrote it; absent if that is. */
  readonly priorityAgingText?: string;
  /** Its items have groups, which take turns; absent = they have none. */
  readonly grouped?: boolean;
  /** Items of a group that may be leased at one time; absent = no limit. */
  readonly groupLeasedMax?: number;
  /** Items of a group that may be leased in an interval, such as `10/1s`; absent = no limit. */
  readonly groupRate?: string;
  /** Items of a group that may wait before a produce is refused; absent = no limit. */
  readonly groupWaitingMax?: number;
  /** An item that comes back keeps its place and closes its group; absent = it goes to the tail. */
  readonly groupOrder?: "loose" | "strict";
  /** A dead letter closes its group; absent = it does not. */
  readonly groupOnDead?: "continue" | "block";
  /** Absent = not paused. */
  readonly pause?: Pause;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which operations are paused; leases still lapse and items still expire. */
export interface Pause {
  /** No item is leased; lease requests wait. */
  readonly lease: boolean;
  /** Produce requests are refused. */
  readonly produce: boolean;
  /** Returned to paused callers; `""` = no reason. */
  readonly reason: string;
}

/** Where a partition is stored. `active` accepts new items; `draining` only delivers its own. */
export interface PartitionPlace {
  /** The number that users see, from 0 within a queue. */
  readonly partition: number;
  /** The partition's number within its shard; reused only after the partition is empty. */
  readonly slot: number;
  readonly state: "active" | "draining";
  /** Earlier places of the partition before reshards, oldest first; absent if it never moved. */
  readonly origins?: readonly Origin[];
}

/** A partition's place in a store before a reshard. */
export interface Origin {
  /** Index of that store's epochs among those that the current store has recorded. */
  readonly epochs: number;
  readonly slot: number;
}

/** A row of the catalog. */
export interface CatalogEntry {
  /** Stable for as long as the queue exists, across restarts. */
  readonly queueId: number;
  readonly definition: QueueDefinition;
  readonly places: readonly PartitionPlace[];
  /**
   * The `queueId` of its dead queue; 0 = none. The name is not enough: the dead queue can be
   * deleted and recreated without this row being rewritten.
   */
  readonly deadOwner: number;
  /** The queue is deleted, but some items are not removed yet. Only recovery still sees it. */
  readonly deleting: boolean;
  /**
   * The `queueId` that the queue was created with, if a reshard had to change it. Keys and items
   * in transit still use it.
   */
  readonly createdAs?: number;
}

/** Validates a stored entry, field by field. */
export function isCatalogEntry(value: unknown): value is CatalogEntry {
  return (
    hasForm(value, entryForm) &&
    hasForm(value["definition"], definitionForm) &&
    isAbsentOr("number", value["definition"]["leasedMax"]) &&
    isAbsentOr("string", value["definition"]["leaseRate"]) &&
    isAbsentOr("number", value["definition"]["waitingMax"]) &&
    isAbsentOr("string", value["definition"]["retryBackoff"]) &&
    isAbsentOr("number", value["definition"]["uniqueForMs"]) &&
    isAbsentOr("string", value["definition"]["uniqueForText"]) &&
    isAbsentOr("number", value["definition"]["priorityAgingMs"]) &&
    isAbsentOr("string", value["definition"]["priorityAgingText"]) &&
    isAbsentOr("boolean", value["definition"]["grouped"]) &&
    isAbsentOr("number", value["definition"]["groupLeasedMax"]) &&
    isAbsentOr("string", value["definition"]["groupRate"]) &&
    isAbsentOr("number", value["definition"]["groupWaitingMax"]) &&
    isAbsentOr("string", value["definition"]["groupOrder"]) &&
    isAbsentOr("string", value["definition"]["groupOnDead"]) &&
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
type OptionalFields =
  | ("pause" | "leasedMax" | "leaseRate" | "waitingMax" | "uniqueForMs" | "uniqueForText")
  | ("priorityAgingMs" | "priorityAgingText" | "retryBackoff")
  | ("grouped" | "groupLeasedMax" | "groupRate" | "groupWaitingMax" | "groupOrder" | "groupOnDead");
const pauseForm: Form<Pause> = { lease: "boolean", produce: "boolean", reason: "string" };
const placeForm: Form<Omit<PartitionPlace, "origins">> = {
  partition: "number",
  slot: "number",
  state: "string",
};
const originForm: Form<Origin> = { epochs: "number", slot: "number" };

function isAbsentOr(type: "number" | "string" | "boolean", value: unknown): boolean {
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
