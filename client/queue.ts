// The methods of one queue.

import { type CallOptions, callChecks, refusing } from "./call.ts";
import { InvalidRequest, LeaseEmpty, NotAuthorized, OutcomeUnknown } from "./errors.ts";
import { checkedItems, type NewItem } from "./items.ts";
import { type Lease, openLease } from "./lease.ts";
import { openLeasePoller, type PollOptions, pollChecks, wantedFields } from "./lease-poller.ts";
import { randomName } from "./names.ts";
import { anything, type Checks, checkOptions, flag, priority, text } from "./options.ts";
import { type Differences, differencesOf, type QueueSettings } from "./settings.ts";
import { type Build, transact } from "./transaction.ts";
import type { Transport } from "./transport.ts";
import type {
  CancelledItem,
  FindItemsRequest,
  FoundItem,
  GroupInfo,
  GroupsListRequest,
  GroupsSetRequest,
  Inspect,
  Operation,
  QueueClearRequest,
  QueueClientsReply,
  QueueExplainReply,
  QueueInfo,
  QueuePauseRequest,
  QueueStatsReply,
  QueueUpdateRequest,
  RedriveRequest,
  RepairRequest,
  ReplyFor,
  RequestFor,
  TaskBegun,
  TransactReply,
} from "./wire.ts";
import { type Handler, startWorker, type Worker, type WorkOptions } from "./worker.ts";

export interface LeaseOptions extends CallOptions {
  /** Maximum number of items; default 1. */
  readonly batch?: number;
  /** Name of the consumer, unique among those waiting; default a random name. */
  readonly clientId?: string;
  /** Duration of the lease, such as `30s`; default each item's, or the queue's. */
  readonly leaseTimeout?: string;
  /** Leases no items of a lower priority; default 0. */
  readonly priorityMin?: number;
  /**
   * Of a group with a limit of one leased item, takes several that follow each other, if no other
   * group is open. Handle them in order; default one.
   */
  readonly groupRuns?: boolean;
}

export interface LeasesOptions extends PollOptions {
  /** Maximum number of items per lease; default 1. */
  readonly batch?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface EnsureOptions extends CallOptions {
  /** Changes an existing queue to the settings; default false. */
  readonly update?: boolean;
}

/** Item counts by state. */
export type ItemCounts = NonNullable<ReplyFor<"clear">["counts"]>;

export interface DeleteOptions extends CallOptions {
  readonly force?: boolean;
  /** Only reports what would be removed; default false. */
  readonly dry_run?: boolean;
  /** Refuses to delete a queue with more items than this. */
  readonly expect?: number;
}

export interface Produced {
  /** Indexes of items that were not written because their `unique_key` is taken, ascending. */
  readonly duplicates: readonly number[];
  /** Ids in the order of the items, `""` for a duplicate; only with `returnIds`. */
  readonly ids?: readonly string[];
}

export interface ProduceOptions extends CallOptions {
  /** Returns the items' ids; default false. */
  readonly returnIds?: boolean;
}

/** `Json`: type of the items' JSON payloads, which is not validated. */
export interface Queue<Json = unknown> {
  readonly name: string;
  /** Resolves once all items are stored. If it rejects, see the error's `code`. */
  produce(
    items: NewItem<Json> | readonly NewItem<Json>[],
    options?: ProduceOptions,
  ): Promise<Produced>;
  /** Waits for items; `null` = none arrived in time. */
  lease(options?: LeaseOptions): Promise<Lease<Json> | null>;
  /** Leases in a loop. Finish the items of each lease before requesting the next. */
  leases(options?: LeasesOptions): AsyncGenerator<Lease<Json>, void, undefined>;
  /** Starts a worker that runs `handler` for each item until it is stopped. */
  work(handler: Handler<Json>, options?: WorkOptions): Worker;
  /** Same as the client's `transact`: items may be from any lease, and go to any queue. */
  transact(build: Build, options?: CallOptions): Promise<TransactReply>;
  create(settings: QueueSettings, options?: CallOptions): Promise<void>;
  /**
   * Creates the queue unless it exists. With `update`, changes an existing queue to the settings;
   * otherwise returns how it differs.
   */
  ensure(settings: QueueSettings, options?: EnsureOptions): Promise<Differences>;
  update(changes: Omit<QueueUpdateRequest, "queue_name">, options?: CallOptions): Promise<void>;
  info(options?: CallOptions): Promise<QueueInfo>;
  stats(options?: CallOptions): Promise<QueueStatsReply>;
  inspect(options?: CallOptions): Promise<Inspect>;
  /** Once it resolves, no item is leased until `resume`; with `produce`, produces are refused. */
  pause(what?: Omit<QueuePauseRequest, "queue_name">, options?: CallOptions): Promise<void>;
  resume(options?: CallOptions): Promise<void>;
  /** Yields items that match a filter, in any state, as they are found. */
  find(
    what?: Omit<FindItemsRequest, "queue_name" | "pivot">,
    options?: CallOptions,
  ): AsyncGenerator<FoundItem, void, undefined>;
  /**
   * Starts a task on the server that sends dead items of this queue back to where they came from,
   * or to another queue.
   */
  redrive(what?: Omit<RedriveRequest, "queue_name">, options?: CallOptions): Promise<TaskBegun>;
  /**
   * Starts a task on the server that promotes, rejects, prioritizes or deletes items that are not
   * leased, or returns leased items to their queue.
   */
  repair(what: Omit<RepairRequest, "queue_name">, options?: CallOptions): Promise<TaskBegun>;
  /**
   * Removes unfinished items in any state, 1 to 1,000, and returns the state of each before that.
   * The worker that holds a leased one gets `LeaseLost`.
   */
  cancel(ids: readonly string[], options?: CallOptions): Promise<readonly CancelledItem[]>;
  /** Yields the groups of a grouped queue that have items or settings of their own, by name. */
  groups(
    what?: Omit<GroupsListRequest, "queue_name">,
    options?: CallOptions,
  ): AsyncGenerator<GroupInfo, void, undefined>;
  /** Changes what a group has of its own, and returns the group as it is then. */
  setGroup(
    group: string,
    changes: Omit<GroupsSetRequest, "queue_name" | "group">,
    options?: CallOptions,
  ): Promise<GroupInfo>;
  /** Findings about the queue, the worst first. */
  explain(options?: CallOptions): Promise<QueueExplainReply>;
  /** Clients that wait for items or hold some; at most `limit` of each, default 100. */
  clients(options?: CallOptions & { readonly limit?: number }): Promise<QueueClientsReply>;
  /**
   * Returns the counts of removed items, or with `dry_run` of those that would be removed. `null`
   * if the server reports no counts, as without `dry_run` and `expect`.
   */
  clear(
    what: Partial<Omit<QueueClearRequest, "queue_name">>,
    options?: CallOptions,
  ): Promise<ItemCounts | null>;
  /**
   * `force` deletes the queue even if it has items or is another queue's dead queue; default false.
   * Returns counts like `clear`.
   */
  delete(options?: DeleteOptions): Promise<ItemCounts | null>;
}

export function openQueue(transport: Transport, name: string): Queue {
  const of = { queue_name: name } as const;

  async function call<Id extends Operation>(
    operation: Id,
    request: RequestFor<Id>,
    options?: CallOptions,
  ): Promise<ReplyFor<Id>> {
    return (await transport.call(operation, request, options)).reply;
  }

  return {
    name,
    lease: (options) => leaseOnce(transport, name, options),
    leases: (options) => leasesOf(transport, name, options),
    work: (handler, options = {}) => startWorker({ transport, queue: name, handler, options }),

    produce: (items, options) => produceInto(transport, name, { items, ...options }),
    transact: (build, options) => transact(transport.call, build, options),

    async create(settings, options) {
      await call("createQueue", { ...settings, ...of }, options);
    },

    async ensure(settings, { update = false, ...options } = {}) {
      try {
        await call("createQueue", { ...settings, ...of }, options);
        return {};
      } catch (error) {
        // The queue exists already, or the settings are invalid: `queueInfo` tells which.
        if (!mayExist(error)) throw error;
        const info = await call("queueInfo", { name }, options).catch(() => {
          throw error;
        });
        const differences = differencesOf(settings, info);
        if (!update || Object.keys(differences).length === 0) return differences;
      }
      await call("updateQueue", { ...settings, ...of }, options);
      return {};
    },

    async update(changes, options) {
      await call("updateQueue", { ...changes, ...of }, options);
    },

    info: (options) => call("queueInfo", { name }, options),
    stats: (options) => call("stats", of, options),
    inspect: (options) => call("inspect", of, options),
    explain: (options) => call("explain", of, options),
    clients: ({ limit, ...options } = {}) =>
      call("clients", { ...of, ...(limit === undefined ? {} : { limit }) }, options),

    async pause(what, options) {
      await call("pause", { ...what, ...of }, options);
    },

    async resume(options) {
      await call("resume", of, options);
    },

    ...searches(of, call),
    ...removals(of, call),
  };
}

type CallForReply = <Id extends Operation>(
  operation: Id,
  request: RequestFor<Id>,
  options?: CallOptions,
) => Promise<ReplyFor<Id>>;

function searches(
  of: { readonly queue_name: string },
  call: CallForReply,
): Pick<Queue, "find" | "redrive" | "repair" | "groups" | "setGroup"> {
  return {
    find: (what = {}, options) =>
      foundBy((pivot) => call("findItems", { ...what, ...of, pivot }, options)),

    groups: ({ pivot: from = "", ...what } = {}, options) =>
      foundBy((pivot) => call("listGroups", { ...what, ...of, pivot }, options), from),
    setGroup: (group, changes, options) => call("setGroup", { ...changes, ...of, group }, options),

    redrive: (what, options) => call("redrive", { ...what, ...of }, options),
    repair: (what, options) => call("repair", { ...what, ...of }, options),
  };
}

function removals(
  of: { readonly queue_name: string },
  call: CallForReply,
): Pick<Queue, "cancel" | "clear" | "delete"> {
  return {
    cancel: async (ids, options) => {
      const { items } = await call("cancelItems", { ids: [...ids], ...of }, options);
      return items;
    },
    async clear(what, options) {
      const nothing = { queue: false, scheduled: false, retry: false, destructive: false };
      const { counts } = await call("clear", { ...nothing, ...what, ...of }, options);
      return counts ?? null;
    },

    async delete({ force = false, dry_run, expect, ...options } = {}) {
      const guard = {
        ...(dry_run === undefined ? {} : { dry_run }),
        ...(expect === undefined ? {} : { expect }),
      };
      const { counts } = await call("deleteQueue", { ...of, force, ...guard }, options);
      return counts ?? null;
    },
  };
}

type Producing = { readonly items: NewItem | readonly NewItem[] } & NonNullable<
  Parameters<Queue["produce"]>[1]
>;

const produceChecks: Checks<ProduceOptions> = { ...callChecks, returnIds: flag };

async function produceInto(
  transport: Transport,
  queue_name: string,
  { items, ...given }: Producing,
): Promise<Produced> {
  refusing("produce", () => checkOptions(given, produceChecks));
  const { returnIds = false, ...options } = given;
  const wanted = returnIds ? { return_ids: true } : {};
  const request = { queue_name, items: checkedItems("produce", items), ...wanted };
  const { reply } = await transport.produce(request, options);
  const { duplicates = [], ids } = reply;
  return { duplicates, ...(ids && { ids }) };
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_pivot: string;
}

async function* foundBy<Item>(page: (pivot: string) => Promise<Page<Item>>, from = "") {
  for (let pivot: string | null = from; pivot !== null; ) {
    const { items, next_pivot }: Page<Item> = await page(pivot);
    yield* items;
    pivot = next_pivot === "" ? null : next_pivot;
  }
}

const leaseChecks: Checks<LeaseOptions> = {
  ...callChecks,
  batch: anything,
  clientId: text,
  leaseTimeout: text,
  priorityMin: priority,
  groupRuns: flag,
};

async function leaseOnce(transport: Transport, queue_name: string, given: LeaseOptions = {}) {
  refusing("lease", () => checkOptions(given, leaseChecks));
  const { batch = 1, clientId, leaseTimeout, priorityMin, groupRuns, ...options } = given;
  const client_id = clientId ?? randomName(16);
  try {
    const wanted = wantedFields({ leaseTimeout, priorityMin });
    const runs = groupRuns === undefined ? {} : { group_runs: groupRuns };
    const request = { queue_name, client_id, batch_size: batch, ...wanted, ...runs };
    const answered = await transport.call("lease", request, options);
    return openLease({ call: transport.call, leaseTimeout, ...answered });
  } catch (error) {
    if (error instanceof LeaseEmpty) return null;
    throw error;
  }
}

/** An API key that may not create queues may still use this one. */
function mayExist(error: unknown): boolean {
  const isNotAllowed = error instanceof NotAuthorized && error.reason === "not_allowed";
  return isNotAllowed || error instanceof InvalidRequest || error instanceof OutcomeUnknown;
}

async function* leasesOf(
  transport: Transport,
  queue: string,
  { batch = 1, signal, ...options }: LeasesOptions = {},
) {
  checkOptions(options, pollChecks);
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  const poll = openLeasePoller({ transport, queue, leave: leaving.signal, ...options });
  try {
    for (let next = await poll.next(batch); next !== null; next = await poll.next(batch)) {
      yield next;
    }
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}
