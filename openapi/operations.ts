// The table of operations, in API order: names, requests, replies and descriptions. The server's
// routes and validation, the OpenAPI document and the client are derived from it.

import type { Static, TSchema } from "@sinclair/typebox";
import { bounds, sizeText } from "./bounds.ts";
import { type ReplyCode, replyCodes } from "./codes.ts";
import type { Reason } from "./reasons.ts";
import type { Role } from "./roles.ts";
import * as schemas from "./schemas.ts";

/** The meaning of a reply code for one operation, and what a client should do. */
export interface OperationReply {
  readonly meaning: string;
  readonly reaction: string;
  readonly example: unknown;
}

/** The API key that an operation requires if the server has API keys. */
export interface Needs {
  /** `any`: any role is enough. */
  readonly role: Role | "any";
  /**
   * `named` (default): the role for each queue that the request names. `visible`: the role for any
   * queue; the reply is limited to the key's queues. `all`: the role for all queues.
   */
  readonly reach?: "named" | "visible" | "all";
}

/**
 * The effect of a second call without an `Idempotency-Key` after the first was carried out.
 * - `reads`: the operation changes nothing.
 * - `same`: it changes nothing more and has the same reply.
 * - `harmless`: it changes nothing more, but may be refused because of the first.
 * - `twice`: it repeats the work, or has another unintended effect.
 */
export type Repeat = "reads" | "same" | "harmless" | "twice";

export interface Operation<Request extends TSchema = TSchema, Response extends TSchema = TSchema>
  extends Needs {
  readonly path: `/v1/${string}`;
  /** Whether a request is logged with its API key and listed by `actions.list`; absent = never. */
  audits?(request: Static<Request>): boolean;
  /** Takes an `Idempotency-Key`. */
  readonly keyed?: true;
  readonly repeat: Repeat;
  readonly tag: Tag;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly request: Request;
  /** The body of a 200; every other code is answered with a `Reply`. */
  readonly response: Response;
  /** The default of a limit that an operator can set. */
  readonly bodyBytesMax: number;
  readonly example: Static<Request>;
  /** By code. 401 is added to every operation; 404 and 405 are listed with none. */
  readonly replies: { readonly 200: OperationReply & { readonly example: Static<Response> } } & {
    readonly [Code in ReplyCode]?: OperationReply;
  };
}

/** The groups of the API reference, in its order. */
export const tags = {
  Items:
    "The life of an item: produce it, lease it, then complete it or retry it. All items of a lease come from one partition: send the `partition` of the lease reply with each operation on them.",
  Queues: "Definitions of queues: list, create, update, describe and delete them.",
  Operations: "Measure, count, pause and clear a queue, and advance a test clock.",
  Storage:
    "Stored items: list, find, import and delete them, for repairs and migrations. A consumer needs none of these.",
  Server: "The server itself: health, metrics, backups, API keys and the log of actions.",
} as const;
export type Tag = keyof typeof tags;

export const keyHeader = "idempotency-key";
/** Set on a reply that was returned before, to an earlier call with the same key. */
export const replayedHeader = "idempotency-replayed";

const always = () => true;
const unlessDry = ({ dry_run }: { readonly dry_run?: boolean | null }) => dry_run !== true;

type Row<Request extends TSchema, Response extends TSchema> = Omit<
  Operation<Request, Response>,
  "bodyBytesMax"
> & { readonly bodyBytesMax?: number };

function row<Request extends TSchema, Response extends TSchema>(
  operation: Row<Request, Response>,
): Operation<Request, Response> {
  return { bodyBytesMax: bounds.bodyBytesMax, ...operation };
}

function refusal(
  code: Exclude<ReplyCode, 200>,
  refused: {
    meaning: string;
    reaction?: string;
    reason: Reason;
    message: string;
    details?: Record<string, string>;
  },
): OperationReply {
  const example: schemas.Reply = {
    code,
    code_text: replyCodes[code].text,
    message: refused.message,
    reason: refused.reason,
    ...(refused.details === undefined ? {} : { details: refused.details }),
  };
  return {
    meaning: refused.meaning,
    reaction: refused.reaction ?? replyCodes[code].reaction,
    example,
  };
}

const done: schemas.Reply = { code: 200, code_text: "OK", message: "" };

/** The 503 of a call that needs every shard. `effect`: what did not happen; `why` as a clause. */
function unreachedShard(effect: string, why: string): OperationReply {
  return refusal(503, {
    meaning: `The server is shutting down, or a shard could not be reached within one second and ${why}; ${effect}.`,
    reason: "shutting_down",
    message: "service is shutting down; nothing was changed",
  });
}

/** A 200 after which the client has nothing to do. */
function answer<Example>(meaning: string, example: Example) {
  return { meaning, reaction: replyCodes[200].reaction, example };
}

/** A 200 without data. */
const success = (meaning: string) => answer(meaning, done);

const unknownOutcome = refusal(504, {
  meaning: "The store did not answer in time. The call may have been carried out or not.",
  reason: "unknown_outcome",
  message: "request timeout; it may be done or not",
});

/** Refusals common to all operations. `effect`: what has not happened, as a clause. */
function sharedRefusals(options: { effect: string; bodyBytesMax?: number; split?: string }) {
  const {
    effect,
    bodyBytesMax = bounds.bodyBytesMax,
    split = "Make the request smaller.",
  } = options;
  const bodyLimit = sizeText(bodyBytesMax);
  return {
    403: refusal(403, {
      meaning: `The \`Host\` or \`Origin\` header names a site that is not allowed on this server, or the API key does not allow this operation or queue; ${effect}.`,
      reason: "origin_not_allowed",
      message: "origin is not allowed; got 'https://example.com'",
    }),
    413: refusal(413, {
      meaning: `The body is larger than ${bodyLimit}; ${effect}.`,
      reaction: split,
      reason: "too_large",
      message: `request body exceeds ${bodyLimit} limit`,
    }),
    415: refusal(415, {
      meaning: `The header \`Content-Type\` is absent, or is neither \`application/json\` nor \`application/protobuf\`; ${effect}.`,
      reason: "unsupported_content",
      message:
        "content type is not supported; send 'Content-Type: application/json', got 'text/plain'",
    }),
    500: refusal(500, {
      meaning: `The server failed; ${effect}.`,
      reason: "internal",
      message: "Internal Error",
    }),
    503: refusal(503, {
      meaning: `The server is shutting down; ${effect}.`,
      reason: "shutting_down",
      message: "service is shutting down; nothing was changed",
    }),
  };
}

/** Refusals of an operation that changes something. */
function changeRefusals(options: Parameters<typeof sharedRefusals>[0]) {
  return { ...sharedRefusals(options), 504: unknownOutcome };
}

/** Refusals of an operation that changes the definition of a queue. */
function queueRefusals(effect: string) {
  return {
    ...changeRefusals({ effect }),
    454: refusal(454, {
      meaning: `The store of the queue definitions did not answer within 5 minutes; ${effect}.`,
      reason: "late",
      message: "request timeout; the queue was not changed, try again",
    }),
  };
}

function overloaded(effect: string): OperationReply {
  return refusal(429, {
    meaning: `Too many requests are waiting for the store; ${effect}.`,
    reason: "full",
    message: "too many requests wait for the store; try again later",
  });
}

const unknownQueue = "queue does not exist; no such queue named 'orders'";
const noSuchQueue = refusal(400, {
  meaning: "The queue does not exist.",
  reason: "no_such_queue",
  message: unknownQueue,
});
const badPartition = "partition is invalid; '9' is not a valid partition";
const badPage = refusal(400, {
  meaning:
    "The queue or the partition does not exist, `pivot` is not an id, or `limit` is out of bounds; nothing was listed.",
  reason: "no_such_partition",
  message: badPartition,
});
const notInTime = (what: string) => `request timeout; the items were not ${what}, try again`;
const sampleId = schemas.sampleStorageItem.id;
const notLeased = (what: string) =>
  `item(s) cannot be ${what}; '${sampleId}' is not marked as leased`;
const otherId = "1h0LdFaStQ2vX000000000000Ke";

/** Refusals of an operation on leased items whose `request_timeout` is optional. */
function heldRefusals(verb: string) {
  const effect = `no item was ${verb}`;
  return {
    ...sharedRefusals({ effect }),
    400: refusal(400, {
      meaning: `The queue or the partition does not exist, a timeout is out of bounds, or there are no ids or too many; ${effect}.`,
      reason: "no_such_partition",
      message: badPartition,
    }),
    429: overloaded(effect),
    453: refusal(453, {
      meaning: `An id is malformed, unknown, not leased or listed twice, or was leased from another queue or partition; ${effect}. \`details\` lists each such id with its reason.`,
      reaction:
        "Remove the ids in `details` and send the rest again. If its lease has lapsed, leave the item to another consumer.",
      reason: "not_leased",
      message: notLeased(verb),
      details: { [sampleId]: notLeased(verb) },
    }),
    454: refusal(454, {
      meaning: `The call could not be carried out within \`request_timeout\`; ${effect}.`,
      reason: "late",
      message: notInTime(verb),
    }),
    504: unknownOutcome,
  };
}

/** The 400 of an operation whose request has no required field. */
const unknownKey = refusal(400, {
  meaning: "The body has an unknown field.",
  reason: "malformed",
  message: "node is unknown; expected no key",
});

const sampleFinding: schemas.Finding = {
  kind: "no_consumers",
  since: "2026-03-01T12:53:00.000Z",
  count: 48_210,
  next_at: null,
  text: "48,210 items are ready, the oldest for 41 minutes, and no client requests them; the last lease request was from worker-2, 12 minutes ago.",
};

const sampleOverview: schemas.ServerOverviewReply = {
  now: "2026-03-01T13:05:00.310Z",
  machine_now: "2026-03-01T13:05:00.310Z",
  as_of: "2026-03-01T13:05:00.000Z",
  since: "mf3k2a9c.1042",
  whole: true,
  poll_after_ms: 1000,
  totals: schemas.sampleTotals,
  queues: schemas.sampleOverviewQueues,
  removed: [],
  shards: [
    {
      ...{ shard: 0, state: "up", since: null, commit_p50_us: 1000, commit_p99_us: 5000 },
      ...{ waiting: 0, restarts: 0, failures: 0, quarantined: 0, miscounted: 0 },
      ...{ log_bytes: 4_194_304, file_bytes: 8_388_608, items_per_second: 120 },
    },
  ],
  alarms: [
    {
      kind: "no_consumers",
      since: sampleFinding.since,
      count: sampleFinding.count,
      queue_name: "orders",
      shard: -1,
      text: sampleFinding.text,
    },
  ],
  tasks: [schemas.sampleTask],
  machine: {
    name: "eu-1",
    version: "1.0.0",
    store: "sqlite",
    started_at: "2026-03-01T12:00:00.000Z",
    memory_bytes: 88_080_384,
    disk_bytes: 107_374_182_400,
    disk_free_bytes: 85_899_345_920,
    last_backup_at: "2026-03-01T03:00:00.000Z",
  },
  unreached: [],
};

const tooManyTasks = (effect: string) =>
  refusal(429, {
    meaning: `Too many requests are waiting for the store, or too many tasks are running; ${effect}.`,
    reason: "full",
    message: "too many tasks are running; there cannot be more than 100, try again later",
  });

const moreLost = refusal(453, {
  meaning: "More commits have been lost than `expect` allows; none was confirmed.",
  reaction:
    "Review the commits lost since then, and send the call again with the count in `details`.",
  reason: "count_changed",
  message: "count has changed; 3 lost commits would be confirmed, expected at most 2",
  details: { count: "3" },
});

const changedCount = refusal(453, {
  meaning: "More items would be removed than `expect` allows; nothing was changed.",
  reaction:
    "Check the count in `details`. To remove that many items, send the call again with it as `expect`.",
  reason: "count_changed",
  message: "count has changed; 1300 items would be removed, expected at most 1284",
  details: { count: "1300" },
});

/** The keys are the operation ids. Every operation is a POST with a body in JSON or protobuf. */
export const operations = {
  produce: row({
    path: "/v1/queue.produce",
    repeat: "twice",
    role: "produce",
    keyed: true,
    tag: "Items",
    summary: "Produce items",
    description: `Adds 1 to ${bounds.produceItemsMax} items to a queue. After a 200, all of them are in the store; after any other code except 504, none is.

All items go to the partition with the fewest ready items and are offered in the given order. To process all items of a queue strictly in order, use one partition and one consumer.

An item with a higher \`priority\`, from 0 (the default) to ${bounds.priorityMax}, is offered first. It keeps its priority for as long as it exists, in every queue.

In a queue that is \`grouped\`, items of one \`group\` wait behind each other, and groups take turns. Items without a group are one group. A queue that is not grouped refuses items with a group.

An item may have its own \`max_attempts\` and \`lease_timeout\`, which apply instead of those of its queue. In a dead queue those of the queue apply; once it is redriven, its own apply again.

An item with a future \`enqueue_at\` joins the tail of its partition when it is due, and its \`expire_timeout\` counts from then.

An item with a \`unique_key\` is written once within the queue's \`unique_for\`: a second item with the same unique key is not written, and \`duplicates\` in the reply has its position. If any item of a call has a unique key, all items of that call go to the first partition, however many items it already holds.

If more items would then wait in the queue than its \`waiting_max\`, the call is refused with \`queue_full\`. Items that are leased do not count, and duplicates add nothing. In the same way \`group_waiting_max\` limits each group, with \`group_full\`.

If the connection breaks before the reply, send the same call again with the same \`Idempotency-Key\`: the items are written once. Without the key you cannot know whether they were written.`,
    request: schemas.ProduceRequest,
    response: schemas.ProduceReply,
    bodyBytesMax: bounds.produceBodyBytesMax,
    example: {
      queue_name: "orders",
      request_timeout: "5m",
      items: [
        { kind: "order-placed", encoding: "application/json", utf8: '{"order":42}' },
        { kind: "reminder", enqueue_at: "2026-03-01T12:00:00.000Z", bytes: "eyJvcmRlciI6NDJ9" },
      ],
    },
    replies: {
      ...sharedRefusals({
        effect: "no item was written",
        bodyBytesMax: bounds.produceBodyBytesMax,
        split: "Produce fewer items per request.",
      }),
      200: success("Every item is in the store."),
      400: refusal(400, {
        meaning:
          "The queue does not exist or does not accept unique keys, `request_timeout` is out of bounds, there are no items or too many, or an item is malformed; no item was written.",
        reason: "malformed",
        message: "items cannot be empty; at least one item is required",
      }),
      429: overloaded("no item was written"),
      453: refusal(453, {
        meaning: "Produces are paused, or the queue or a group is full; no item was written.",
        reaction: "Keep the items, and produce them after the queue is resumed or has room.",
        reason: "queue_paused",
        message: "queue is paused; moving to the new database",
      }),
      454: refusal(454, {
        meaning: "The items could not be written within `request_timeout`; no item was written.",
        reason: "late",
        message: notInTime("written"),
      }),
      504: unknownOutcome,
      500: refusal(500, {
        meaning: "The store failed, for instance because its disk is full; no item was written.",
        reason: "store_full",
        message: "there is no space left on the disk; nothing was written",
      }),
    },
  }),

  lease: row({
    path: "/v1/queue.lease",
    repeat: "twice",
    role: "consume",
    keyed: true,
    tag: "Items",
    summary: "Lease items",
    description: `Leases up to \`batch_size\` items to one consumer until their \`lease_deadline\`. The consumer must complete or retry each item before then.

The reply is sent as soon as one item is available. All of its items come from one partition, the one with the most ready items, and have the same \`priority\`. In a queue whose items have different priorities, the highest comes first; an item gains one for each \`priority_aging\` that it has been ready. With \`priority_min\`, a request takes no items of a lower priority, whatever they have gained. If no partition has a ready item, the request waits until an item is ready or \`request_timeout\` passes. Requests that wait on a queue are served in the order of arrival, and the available items are shared evenly among them. A client that disconnects loses its place in line before any item is leased to it.

If a lease passes its deadline, the item is offered again to any consumer, under a new id. Each lease counts as an attempt; after the last attempt that \`max_attempts\` allows, a lapse sends the item to the dead queue.`,
    request: schemas.LeaseRequest,
    response: schemas.LeaseReply,
    example: { queue_name: "orders", client_id: "worker-7", request_timeout: "1m", batch_size: 10 },
    replies: {
      ...sharedRefusals({ effect: "nothing was leased" }),
      200: {
        meaning: "The items are yours until their `lease_deadline`.",
        reaction:
          "Do the work, then complete or retry each item with the `queue_name` and `partition` of this reply.",
        example: {
          items: [
            {
              id: sampleId,
              encoding: "application/json",
              kind: "order-placed",
              reference: "account-4711",
              priority: 0,
              attempts: 1,
              lease_deadline: "2026-03-01T13:00:00.000Z",
              bytes: "eyJvcmRlciI6NDJ9",
            },
          ],
          queue_name: "orders",
          partition: 0,
          max_attempts: 10,
          retry_backoff: "",
          now: "2026-03-01T12:00:00.000Z",
        },
      },
      400: refusal(400, {
        meaning:
          "The queue does not exist, `client_id` is empty, another lease with this `client_id` is waiting on this queue, or `batch_size` or a timeout is out of bounds; nothing was leased.",
        reaction: "Correct the request. Give each consumer a `client_id` of its own.",
        reason: "duplicate_client",
        message:
          "duplicate client id; a client cannot make multiple leased requests to the same queue",
      }),
      429: refusal(429, {
        meaning: "Too many leases are waiting already; nothing was leased.",
        reason: "full",
        message: "too many leases wait; there cannot be more than 10000",
      }),
      453: refusal(453, {
        meaning: "The queue was deleted while the request waited; nothing was leased.",
        reaction: "Stop consuming, or create the queue again.",
        reason: "queue_deleted",
        message: "queue is shutting down; it was deleted",
      }),
      454: refusal(454, {
        meaning:
          "Until `request_timeout` the queue was empty, was paused, or had as many items leased as its limits allow; `message` says which.",
        reaction: "Send the same request again.",
        reason: "empty",
        message: "request timeout; no items are in the queue, try again",
      }),
      504: refusal(504, {
        meaning:
          "The store was working on the request at `request_timeout` and did not answer within two more seconds. Any items that it leased return to the queue at once, or when their lease lapses.",
        reaction: "Send the same request again.",
        reason: "unknown_outcome",
        message: "request timeout; it may be done or not",
      }),
    },
  }),

  retry: row({
    path: "/v1/queue.retry",
    repeat: "harmless",
    role: "consume",
    audits: ({ items }) => items.some(({ dead }) => dead === true),
    keyed: true,
    tag: "Items",
    summary: "Retry items",
    description: `Returns leased items to their queue before the deadline, to be offered again \`retry_after\` from now or at \`retry_at\`. If both are empty, they wait as the queue's \`retry_backoff\` says, or are offered at once. They go to the tail of their partition under new ids, and the attempt counts. An item whose attempts have reached \`max_attempts\` goes to the dead queue instead, and so does an item with \`dead: true\`, however many attempts remain. If the queue has no dead queue, an item without attempts left is removed, and \`dead: true\` is refused.

Send the \`queue_name\` and \`partition\` of the lease reply. Each id must be leased now; if one is not, no item is changed.`,
    request: schemas.RetryRequest,
    response: schemas.Reply,
    example: {
      queue_name: "orders",
      partition: 0,
      items: [
        { id: sampleId, retry_after: "15m", dead: false },
        { id: otherId, retry_at: null, dead: false },
      ],
    },
    replies: {
      ...sharedRefusals({ effect: "no item was returned" }),
      200: success("Every item was returned to the queue; their ids are no longer valid."),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `request_timeout` is out of bounds, there are no items or too many, a `retry_at` or a `retry_after` is malformed, or an item has both; no item was returned.",
        reason: "no_such_partition",
        message: badPartition,
      }),
      429: overloaded("no item was returned"),
      453: refusal(453, {
        meaning:
          "An id is malformed, unknown, not leased or listed twice, was leased from another queue or partition, or has `dead: true` in a queue without a dead queue; no item was returned. `details` lists each such id with its reason.",
        reaction:
          "Remove the ids in `details` and send the rest again. If its lease has lapsed, leave the item to another consumer.",
        reason: "not_leased",
        message: notLeased("retried"),
        details: { [sampleId]: notLeased("retried") },
      }),
      454: refusal(454, {
        meaning: "The items could not be returned within `request_timeout`; no item was.",
        reason: "late",
        message: notInTime("retried"),
      }),
      504: unknownOutcome,
    },
  }),

  complete: row({
    path: "/v1/queue.complete",
    repeat: "harmless",
    role: "consume",
    keyed: true,
    tag: "Items",
    summary: "Complete items",
    description: `Removes leased items whose work is done; they are never offered again and never go to the dead queue. Either all ids of the request are completed, or none is.

Send the \`queue_name\` and \`partition\` of the lease reply. After its lease deadline, an item is offered again under a new id: its old id is no longer valid, and the reply is 453.`,
    request: schemas.CompleteRequest,
    response: schemas.Reply,
    example: {
      queue_name: "orders",
      partition: 0,
      request_timeout: "5m",
      ids: [sampleId, otherId],
    },
    replies: {
      ...sharedRefusals({ effect: "no item was completed" }),
      200: success("Every item is completed and removed from the store."),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `request_timeout` is out of bounds, or there are no ids or too many; no item was completed.",
        reason: "malformed",
        message: "ids is invalid; list of ids cannot be empty",
      }),
      429: overloaded("no item was completed"),
      453: refusal(453, {
        meaning:
          "An id cannot be completed: it is malformed, unknown, not leased or listed twice, or its lease has lapsed. No item was completed. `details` lists each such id with its reason.",
        reaction:
          "Remove the ids in `details` and send the rest again. If its lease has lapsed, leave the item to another consumer.",
        reason: "not_leased",
        message: notLeased("completed"),
        details: { [sampleId]: notLeased("completed") },
      }),
      454: refusal(454, {
        meaning: "The items could not be completed within `request_timeout`; no item was.",
        reason: "late",
        message: notInTime("completed"),
      }),
      504: unknownOutcome,
    },
  }),

  extend: row({
    path: "/v1/queue.extend",
    repeat: "harmless",
    role: "consume",
    keyed: true,
    tag: "Items",
    summary: "Extend leases",
    description: `Extends leases: the items are held for \`lease_timeout\` from now, by default each for its own, or for that of the queue. Send it while you are still working, well before the deadline. Either all ids of the request are extended, or none is.

An extension never shortens a lease, and no item is offered again before the latest deadline that was returned for it. The items may then have different deadlines; the reply has the earliest.`,
    request: schemas.ExtendRequest,
    response: schemas.ExtendReply,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId], lease_timeout: "5m" },
    replies: {
      ...heldRefusals("extended"),
      200: {
        meaning: "Every item is yours until the deadline.",
        reaction: "Continue the work.",
        example: { lease_deadline: "2026-03-01T13:05:00.000Z", now: "2026-03-01T13:00:00.000Z" },
      },
    },
  }),

  release: row({
    path: "/v1/queue.release",
    repeat: "harmless",
    role: "consume",
    keyed: true,
    tag: "Items",
    summary: "Release items",
    description: `Returns leased items to their queue without counting the attempt: they go to the tail of their partition under new ids. Use it in a worker that stops before it has started on them. Either all ids of the request are released, or none is.`,
    request: schemas.ReleaseRequest,
    response: schemas.Reply,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId] },
    replies: {
      ...heldRefusals("released"),
      200: success("Every item was returned to the queue; their ids are no longer valid."),
    },
  }),

  transact: row({
    path: "/v1/queue.transact",
    keyed: true,
    tag: "Items",
    summary: "Finish and produce together",
    repeat: "twice",
    role: "produce",
    audits: ({ retry = [] }) => retry.some(({ items }) => items.some(({ dead }) => dead === true)),
    description: `Completes and retries leased items and produces others, in one commit. After a 200, the inputs are finished and each output exists once; after any other reply except 504, nothing was changed.

The inputs may come from several partitions and queues, but must be in one store; the items of one lease always are. Outputs may go to any queues. If an output's queue is in the same store, its items are in the queue with the 200 (\`delivered: true\`). Otherwise they are kept in the store of the inputs by the same commit and moved to their queue milliseconds later, once each and in order (\`delivered: false\`, without a \`partition\`). A store that is down or full delays the move. If the queue is deleted before then, its items are deleted too.

A transact without inputs writes to several queues atomically. An output with a \`unique_key\` is accepted only if its queue is in the same store; with one shard (\`--shards 1\`) it always is.`,
    request: schemas.TransactRequest,
    response: schemas.TransactReply,
    bodyBytesMax: bounds.produceBodyBytesMax,
    example: {
      request_timeout: "5m",
      complete: [{ queue_name: "orders", partition: 0, ids: [sampleId] }],
      produce: [
        { queue_name: "invoices", items: [{ kind: "invoice", utf8: '{"order":42}' }] },
        { queue_name: "mails", items: [{ kind: "confirmation", utf8: '{"order":42}' }] },
      ],
    },
    replies: {
      ...sharedRefusals({
        effect: "nothing was changed",
        bodyBytesMax: bounds.produceBodyBytesMax,
        split: "Produce fewer items per request.",
      }),
      200: answer("Every input is finished, and every output is in a store.", {
        produced: [
          { queue_name: "invoices", partition: 0, delivered: true },
          { queue_name: "mails", delivered: false },
        ],
      }),
      400: refusal(400, {
        meaning:
          "A queue or a partition does not exist, `request_timeout` is out of bounds, there is nothing to do or too much, or an output is malformed or has a `unique_key` and goes to a queue in another shard; nothing was changed.",
        reason: "malformed",
        message: "transact is invalid; expected complete, retry or produce to name something",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning:
          "An id cannot be finished (`details` lists each such id with its reason), the inputs are in different shards, or the queue of an output is paused or full; nothing was changed.",
        reaction:
          "If a lease has lapsed, leave its item and its outputs to another consumer. Finish inputs in different shards with one transact each; queues whose names contain the same `{tag}` are in one shard.",
        reason: "not_leased",
        message: notLeased("completed"),
        details: { [sampleId]: notLeased("completed") },
      }),
      454: refusal(454, {
        meaning: "The transact could not be done within `request_timeout`; nothing was changed.",
        reason: "late",
        message: "request timeout; nothing was changed, try again",
      }),
      504: unknownOutcome,
      500: refusal(500, {
        meaning: "The store failed, for instance because its disk is full; nothing was changed.",
        reason: "store_full",
        message: "there is no space left on the disk; nothing was written",
      }),
    },
  }),

  listQueues: row({
    path: "/v1/queues.list",
    repeat: "reads",
    role: "read",
    reach: "visible",
    tag: "Queues",
    summary: "List queues",
    description:
      "Returns the definitions of queues in the order of their names, starting at `pivot`. `dead_queue` is empty for a queue that is itself a dead queue. A page with fewer than `limit` queues is the last. Queues in shards that could not be reached within one second are missing; `unreached` lists these shards.",
    request: schemas.QueuesListRequest,
    response: schemas.QueuesListReply,
    example: { pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The queues from `pivot` on; an empty list if no name follows it.",
        reaction: "For the next page, send the last name as `pivot` and skip it in the reply.",
        example: { items: [schemas.sampleQueue], unreached: [] },
      },
      400: refusal(400, {
        meaning: "`pivot` or `limit` is absent, or `limit` is out of bounds; nothing was listed.",
        reason: "malformed",
        message: "limit is invalid; cannot be greater than 1000",
      }),
    },
  }),

  createQueue: row({
    path: "/v1/queues.create",
    repeat: "twice",
    role: "admin",
    audits: always,
    tag: "Queues",
    summary: "Create a queue",
    description:
      "Creates a queue, which is ready for use after the 200. Create a dead queue before the queue that names it. `created_at`, `updated_at` and the pause fields are ignored, so the reply of `queues.info` can be sent back.",
    request: schemas.QueueCreateRequest,
    response: schemas.Reply,
    example: {
      queue_name: "orders",
      reference: "team-checkout",
      lease_timeout: "60m",
      expire_timeout: "24h",
      max_attempts: 10,
      requested_partitions: 4,
    },
    replies: {
      ...queueRefusals("the queue was not created"),
      200: success("The queue exists."),
      400: refusal(400, {
        meaning:
          "The name is taken or malformed, a timeout is malformed, `lease_timeout` is longer than `expire_timeout`, a number is out of bounds, or the dead queue does not exist or cannot be one; the queue was not created.",
        reason: "queue_exists",
        message: "invalid queue; 'orders' already exists",
      }),
      429: overloaded("the queue was not created"),
    },
  }),

  updateQueue: row({
    path: "/v1/queues.update",
    repeat: "same",
    role: "admin",
    audits: unlessDry,
    tag: "Queues",
    summary: "Update a queue",
    description: `Changes the definition of a queue. An absent field keeps its value; a present one sets it, even to 0 or \`""\`; \`null\` is refused, because it could mean either. The name and \`created_at\` never change.

A new \`max_attempts\`, \`dead_queue\` or \`priority_aging\` also applies to items already in the queue; new timeouts, limits and a new \`retry_backoff\` apply to leases granted, items produced and items retried afterwards. Additional \`requested_partitions\` are created at once; surplus partitions accept no new items and are removed once they are empty. With \`dry_run\` nothing changes, and \`counts\` reports the items in the surplus partitions. With \`expect\` the update is refused if they hold more items than that.`,
    request: schemas.QueueUpdateRequest,
    response: schemas.GuardedReply,
    example: { queue_name: "orders", max_attempts: 0, requested_partitions: 8 },
    replies: {
      ...queueRefusals("the queue was not changed"),
      200: success("The new definition is in effect."),
      400: refusal(400, {
        meaning:
          "The queue does not exist, a timeout is malformed, `lease_timeout` would be longer than `expire_timeout`, a number is out of bounds, or the dead queue does not exist or cannot be one; the queue was not changed.",
        reason: "bad_dead_queue",
        message: "dead_queue does not exist; 'orders-dead' was not found, create it first",
      }),
      429: overloaded("the queue was not changed"),
      453: changedCount,
    },
  }),

  queueInfo: row({
    path: "/v1/queues.info",
    repeat: "reads",
    role: "any",
    tag: "Queues",
    summary: "Describe a queue",
    description:
      "Returns the definition of one queue, with the timeouts as they were written. Send its name as `name` or as `queue_name`.",
    request: schemas.QueueInfoRequest,
    response: schemas.QueueInfo,
    example: { name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was read" }),
      200: answer("The definition of the queue.", schemas.sampleQueue),
      400: refusal(400, {
        meaning: "`name` is absent, or the queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
    },
  }),

  deleteQueue: row({
    path: "/v1/queues.delete",
    repeat: "twice",
    role: "admin",
    audits: unlessDry,
    tag: "Queues",
    summary: "Delete a queue",
    description:
      "Deletes a queue. Without `force`, the queue must hold no items and must not be the dead queue of another. With `force`, its items are deleted too, including leased and scheduled ones; lease requests that wait on it are answered 453; and queues that named it as their dead queue no longer have one. The API key needs the role `admin` for those queues too. Nothing is restored if the name is used again.\n\nWith `dry_run` the queue is kept, and the reply reports what would be deleted. With `expect` it is deleted only if it holds at most that many items; dead items on their way to it from other queues are not counted.",
    request: schemas.QueueDeleteRequest,
    response: schemas.GuardedReply,
    example: { queue_name: "orders", force: false },
    replies: {
      ...queueRefusals("the queue was not deleted"),
      200: success("The queue and its items are removed from the store."),
      400: refusal(400, {
        meaning: "The queue does not exist, or `force` is absent; no queue was deleted.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("the queue was not deleted"),
      453: refusal(453, {
        meaning:
          "Without `force`: the queue holds items, or another queue names it as its dead queue. With `expect`: it holds more items than that, including those of produces in progress. The queue was not deleted.",
        reaction:
          "Empty the queue, or change the queue that names it as its dead queue; or send `force: true` if its items may be lost.",
        reason: "queue_not_empty",
        message: "queue is not empty; 'orders' holds 500 items",
      }),
    },
  }),

  stats: row({
    path: "/v1/queue.stats",
    repeat: "reads",
    role: "read",
    tag: "Operations",
    summary: "Get the statistics of a queue",
    description:
      "Returns counts and ages for each partition of a queue, and the number of requests that wait on it. The figures are a snapshot for people and dashboards, and are cheap to compute. With `columns` the partitions are returned as lists of figures, in a tenth of the bytes.",
    request: schemas.QueueStatsRequest,
    response: schemas.QueueStatsReply,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was measured" }),
      200: answer("The current figures.", {
        queue_name: "orders",
        logical_queues: [
          {
            average_leased_age: "4.2s",
            produce_waiting: 0,
            lease_waiting: 8,
            complete_waiting: 0,
            in_flight: 2,
            partitions: [schemas.samplePartitionStats],
            counters: schemas.sampleCounters,
          },
        ],
      }),
      400: noSuchQueue,
      429: overloaded("nothing was measured"),
    },
  }),

  inspect: row({
    path: "/v1/queue.inspect",
    repeat: "reads",
    role: "read",
    tag: "Operations",
    summary: "Count the items of a queue",
    description:
      "Returns how many items of a queue are ready, leased, waiting for a retry and scheduled, and how many its dead queue holds.",
    request: schemas.InspectRequest,
    response: schemas.Inspect,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was counted" }),
      200: answer("The current counts.", {
        queue_name: "orders",
        partitions: 4,
        queued: 485,
        leased: 12,
        retried: 1,
        scheduled: 2,
        dead_letter: 0,
      }),
      400: noSuchQueue,
      429: overloaded("nothing was counted"),
    },
  }),

  explain: row({
    path: "/v1/queue.explain",
    tag: "Operations",
    summary: "Explain a queue",
    repeat: "reads",
    role: "read",
    description: `Reports what is wrong with a queue: why its items wait, or are lost. Findings are sorted worst first. Each has its start, the number of items concerned, and the next time at which it may change by itself. The reply is built from memory without waiting for a shard, so it works even while a shard stalls or is down; counts may be slightly out of date.

| finding | applies while |
|---|---|
| \`shard_down\` | partitions of the queue cannot be reached |
| \`store_full\` | a shard of the queue has no room: produces are refused |
| \`no_consumers\` | items are ready, but no lease request is waiting and none arrived for 10 seconds; while items are leased, for \`lease_timeout\` |
| \`backlog_growing\` | in nearly every one of the last five minutes, more items arrived than left, and leases are not paused |
| \`leases_lapsing\` | leases lapsed within the last five minutes |
| \`dead_items\` | within the last hour, items went to the dead queue, or were removed because there is none |
| \`groups_blocked\` | groups with ready items are paused, or closed by a dead letter |
| \`clearing\` | a clear has items left to remove |
| \`paused\` | leases or produces are paused |
| \`at_leased_max\`, \`at_lease_rate\` | items are ready and the limit allows no more leases |
| \`all_leased\` | no items are ready, items are leased, and no item was leased or finished for five seconds |
| \`all_scheduled\` | all items wait for their \`enqueue_at\` or \`retry_at\` |

Findings are derived from the latest reports of the shards.`,
    request: schemas.QueueExplainRequest,
    response: schemas.QueueExplainReply,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: answer("The current findings.", {
        queue_name: "orders",
        as_of: "2026-03-01T13:05:00.000Z",
        health: "no_consumers",
        findings: [sampleFinding],
      }),
      400: noSuchQueue,
      429: overloaded("nothing was changed"),
    },
  }),

  clients: row({
    path: "/v1/queue.clients",
    tag: "Operations",
    summary: "List the clients of a queue",
    repeat: "reads",
    role: "read",
    description:
      "Lists the clients whose lease requests wait on a queue, in the order in which they will be served, and the clients that hold items, sorted by the number of items, with the time at which the first of their leases lapses. Holders are kept in memory only: the holders of items leased before the server started are not known.",
    request: schemas.QueueClientsRequest,
    response: schemas.QueueClientsReply,
    example: { queue_name: "orders", limit: 20 },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: answer("The current clients.", {
        queue_name: "orders",
        as_of: "2026-03-01T13:05:00.000Z",
        waiting_count: 1,
        waiting: [
          {
            client_id: "worker-2",
            since: "2026-03-01T13:04:48.000Z",
            batch_size: 10,
            position: 1,
          },
        ],
        holding_count: 1,
        holding: [
          {
            client_id: "worker-9",
            items: 32,
            partitions: [0, 3],
            next_lapse_at: "2026-03-01T13:05:14.000Z",
          },
        ],
        partial: false,
      }),
      400: refusal(400, {
        meaning: "The queue does not exist, or `limit` is out of bounds.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("nothing was changed"),
    },
  }),

  overview: row({
    path: "/v1/server.overview",
    tag: "Operations",
    summary: "Get an overview of all queues",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description:
      "Returns the state of all queues for a console, in one cheap call that can be made once per second: counts, health, counters, shards, alarms, running tasks and the machine. The reply is built from memory at most once per second, whatever the number of clients; changes caused by time alone appear within five seconds. With `since`, only queues that have changed are returned. Shards that could not be reached within one second are missing and are listed in `unreached`; the next reply includes the changes that this one lacks. An API key for some queues gets only those queues, and their totals. Compute rates from two replies: a counter lower than before has been reset.",
    request: schemas.ServerOverviewRequest,
    response: schemas.ServerOverviewReply,
    example: { since: "mf3k2a9c.1041" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "The queues, at most one second old.",
        reaction: "Send the next request after `poll_after_ms`.",
        example: sampleOverview,
      },
      400: refusal(400, {
        meaning: "The body has an unknown field.",
        reason: "malformed",
        message: "queue_name is unknown; expected one of since",
      }),
      429: overloaded("nothing was changed"),
    },
  }),

  pause: row({
    path: "/v1/queue.pause",
    repeat: "same",
    role: "admin",
    audits: always,
    tag: "Operations",
    summary: "Pause a queue",
    description: `Stops leases, produces, or both, until \`queue.resume\`. After the 200 nothing is leased, not even by calls in progress. A restart does not end the pause. Waiting lease requests keep their place in line; they are answered 454 when their \`request_timeout\` passes.

Deadlines still apply: items become due, lapse and expire. Leased items can be completed, retried, extended and released, and items can be imported. A new pause replaces the previous one.`,
    request: schemas.QueuePauseRequest,
    response: schemas.Reply,
    example: { queue_name: "orders", lease: true, reason: "moving to the new database" },
    replies: {
      ...queueRefusals("nothing was paused"),
      200: success("It is paused."),
      400: refusal(400, {
        meaning:
          "The queue does not exist, `reason` is too long, or neither `lease` nor `produce` is true; nothing was paused.",
        reason: "malformed",
        message: "pause is invalid; expected lease or produce to be true",
      }),
      429: overloaded("nothing was paused"),
    },
  }),

  resume: row({
    path: "/v1/queue.resume",
    repeat: "same",
    role: "admin",
    audits: always,
    tag: "Operations",
    summary: "Resume a queue",
    description:
      "Ends the pause of leases and of produces. Waiting lease requests are served at once, in the order of arrival. Has no effect on a queue that is not paused.",
    request: schemas.QueueResumeRequest,
    response: schemas.Reply,
    example: { queue_name: "orders" },
    replies: {
      ...queueRefusals("nothing was resumed"),
      200: success("Neither leases nor produces are paused."),
      400: noSuchQueue,
      429: overloaded("nothing was resumed"),
    },
  }),

  clear: row({
    path: "/v1/queue.clear",
    repeat: "twice",
    role: "admin",
    audits: unlessDry,
    tag: "Operations",
    summary: "Clear a queue",
    description:
      "Removes items from every partition of a queue; they do not go to the dead queue. `queue` removes items that are ready to be leased, `scheduled` items that a producer scheduled, and `retry` items that a retry scheduled. `destructive` with `queue` removes leased items too; their holders can no longer complete them. The reply is sent when all of them are removed; items produced in the meantime stay.\n\nWith `dry_run` nothing is removed, and `counts` reports what would be removed. With `expect` at most that many items are removed. A queue in one shard is cleared completely or not at all. Over several shards, all items are counted before any is removed; if more arrive in between, a 453 says that a part was cleared.",
    request: schemas.QueueClearRequest,
    response: schemas.GuardedReply,
    example: {
      queue_name: "orders",
      retry: false,
      scheduled: false,
      queue: true,
      destructive: false,
    },
    replies: {
      ...changeRefusals({ effect: "nothing was cleared" }),
      200: success("The requested items are removed from the store."),
      400: refusal(400, {
        meaning:
          "The queue does not exist, a flag is absent, or none of `retry`, `scheduled` and `queue` is true; nothing was cleared.",
        reason: "malformed",
        message: "invalid clear request; one of 'queue', 'scheduled', 'retry' must be true",
      }),
      429: overloaded("nothing was cleared"),
      453: changedCount,
      500: refusal(500, {
        meaning: "The server failed, or the disk is full. Nothing was cleared.",
        reaction: "Clear it again.",
        reason: "store_full",
        message: "there is no space left on the disk; nothing was written",
      }),
    },
  }),

  reload: row({
    path: "/v1/queue.reload",
    repeat: "same",
    role: "admin",
    audits: always,
    tag: "Operations",
    summary: "Recount a queue",
    description:
      "Counts the items of every partition of a queue in its store, and replaces the stored counts with the result. Counts are committed together with each change, so they are correct without a recount; use it to verify them, or after changing the store by other means. It reads every item of the queue in batches while the queue is served. The reply is sent when all partitions are counted.",
    request: schemas.QueueReloadRequest,
    response: schemas.Reply,
    example: { queue_name: "orders" },
    replies: {
      ...changeRefusals({ effect: "no count was changed" }),
      200: success("The counts match the store."),
      400: noSuchQueue,
      429: overloaded("no count was changed"),
    },
  }),

  advance: row({
    path: "/v1/clock.advance",
    repeat: "twice",
    role: "admin",
    reach: "all",
    audits: always,
    tag: "Operations",
    summary: "Advance the test clock",
    description: `Moves the clock of a server that was started with \`--test-clock\`, so that applications can test deadlines and delays. The clock stands still between advances; request timeouts follow the machine's clock. It moves from each instant at which something is due to the next: an item that lapses at +30 s is at the tail of its queue with that \`updated_at\`, and two advances have the same effect as one advance by their sum. The reply is sent once every lapse, expiry and scheduled item due by then is committed, including those in dead queues. With \`handler_timeout\` the clock waits at each instant until workers have finished the available work, so that failing handlers get all their attempts. Concurrent advances are carried out one after the other.`,
    request: schemas.ClockAdvanceRequest,
    response: schemas.ClockAdvanceReply,
    example: { by: "10m" },
    replies: {
      ...changeRefusals({ effect: "the clock was not moved" }),
      200: answer("Everything due by `now` is committed.", { now: "2026-03-01T13:05:00.000Z" }),
      400: refusal(400, {
        meaning: "`by` is not a duration, or out of bounds; the clock was not moved.",
        reason: "malformed",
        message:
          'by is invalid; time: missing unit in duration "5" - expected format: 30s, 10m or 24h',
      }),
      429: overloaded("the clock was not moved"),
      453: refusal(453, {
        meaning: "The server was started without `--test-clock`.",
        reaction:
          "Start another server with `--test-clock`, with its own data folder or in memory.",
        reason: "no_test_clock",
        message: "there is no test clock; start with --test-clock or testClock",
      }),
      500: refusal(500, {
        meaning:
          "The server failed, or after five minutes a shard was still down or work remained. The clock was advanced in part; everything due by its new time is committed.",
        reaction: "Advance the clock again.",
        reason: "in_part",
        message: "the clock was advanced in part; a shard is down or busy, or the server stops",
      }),
    },
  }),

  series: row({
    path: "/v1/server.series",
    tag: "Operations",
    summary: "Get a time series",
    repeat: "reads",
    role: "read",
    description: `Returns the recent activity of a queue, of all queues together, or of a shard, as points: one every ten seconds for the last hour, one every minute for the last day. The points are kept in at most \`--series-bytes\` of memory. They start with the process, or when a node takes ownership of the shard; if not all queues fit, the busiest are kept. Each event is counted in exactly one point, so a client can plot rates without its own counters. A series of all queues needs every shard: it fails if one cannot be reached within one second.`,
    request: schemas.ServerSeriesRequest,
    response: schemas.ServerSeriesReply,
    example: { queue_name: "orders", names: ["produced", "completed", "ready"] },
    replies: {
      ...sharedRefusals({ effect: "nothing was returned" }),
      503: unreachedShard("nothing was returned", "a series of all queues needs every shard"),
      200: {
        meaning: "The points from `from` on.",
        reaction:
          "Continue from the end of the last point: `from` plus as many steps as there are values.",
        example: {
          queue_name: "orders",
          shard: -1,
          since: "2026-03-01T09:30:00.000Z",
          from: "2026-03-01T12:05:00.000Z",
          step: "10s",
          series: [
            { name: "produced", values: [120, 118, 131] },
            { name: "completed", values: [119, 121, 129] },
            { name: "ready", values: [7, 4, 6] },
          ],
        },
      },
      400: refusal(400, {
        meaning:
          "The queue or the shard does not exist, a name is unknown or listed twice, or `from` or `step` is invalid; nothing was returned.",
        reason: "malformed",
        message: "step is invalid; expected 10s or 1m, got 5s",
      }),
      429: overloaded("nothing was returned"),
    },
  }),

  listNodes: row({
    path: "/v1/nodes.list",
    repeat: "reads",
    role: "read",
    reach: "visible",
    tag: "Operations",
    summary: "List the nodes",
    description: `Lists the nodes of a cluster and the owner of each shard. Any node can answer, from what it last read from the database; it reads ten times per ownership lease. A server that was started without \`--node-url\` lists no nodes.`,
    request: schemas.NodesListRequest,
    response: schemas.NodesListReply,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: answer("The nodes, as last read from the database.", {
        items: [
          {
            url: "http://10.0.0.7:9090",
            version: "1.0.0",
            started_at: "2026-03-01T12:00:00.000Z",
            seen_at: "2026-03-01T13:05:00.000Z",
            shards: [0, 1],
            draining: false,
            live: true,
          },
        ],
        shards: [
          {
            ...{ shard: 0, node: "http://10.0.0.7:9090", epoch: 3 },
            taken_at: "2026-03-01T12:31:07.250Z",
          },
          {
            ...{ shard: 1, node: "http://10.0.0.7:9090", epoch: 1 },
            taken_at: "2026-03-01T12:00:00.125Z",
          },
        ],
      }),
      400: unknownKey,
      429: overloaded("nothing was changed"),
    },
  }),

  drainNode: row({
    path: "/v1/nodes.drain",
    repeat: "same",
    role: "admin",
    reach: "all",
    audits: always,
    tag: "Operations",
    summary: "Drain a node",
    description:
      "Asks a node to hand over its shards, one after the other, to the nodes with the fewest shards, and to take no others. The node still answers calls and forwards them. Send the request to any node: it records the request in the database, and the named node reads it within a tenth of the ownership lease. When the node is drained, its list of shards in `nodes.list` is empty. With `draining: false`, or after a restart, the node takes its share again. A draining node keeps or takes shards that no other node can take.",
    request: schemas.NodesDrainRequest,
    response: schemas.NodeInfo,
    example: { url: "http://10.0.0.7:9090" },
    replies: {
      ...changeRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "The request is recorded; the reply is the node as `nodes.list` returns it.",
        reaction: "Read `nodes.list` until the node has no shards.",
        example: {
          url: "http://10.0.0.7:9090",
          version: "1.0.0",
          started_at: "2026-03-01T12:00:00.000Z",
          seen_at: "2026-03-01T13:05:00.000Z",
          shards: [0, 1],
          draining: true,
          live: true,
        },
      },
      400: refusal(400, {
        meaning: "`url` is absent or is not a URL; nothing was changed.",
        reason: "malformed",
        message: "url is invalid; expected one such as 'http://10.0.0.7:9090', got 'queue-1'",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning:
          "No live node has this URL, no other node could take its shards, or the server is not part of a cluster; nothing was changed.",
        reaction:
          "Compare `url` with `nodes.list`; start another node before you drain the last one.",
        reason: "no_such_node",
        message:
          "node does not exist; no live node has 'http://10.0.0.9:9090', expected http://10.0.0.7:9090, http://10.0.0.8:9090",
      }),
    },
  }),

  confirmLoss: row({
    path: "/v1/losses.confirm",
    repeat: "same",
    role: "admin",
    reach: "all",
    audits: always,
    tag: "Server",
    summary: "Confirm lost commits",
    description:
      "Records that an operator has dealt with acknowledged commits that a database lost, for example in a failover to a standby that lagged behind. Until more commits are lost, the `status` of `/health` is no longer `commits_lost`, the alert is resolved, and `server.overview` has no alarm `commits_lost`. Losses are counted by each process: in a cluster, call the node that reports them.",
    request: schemas.ConfirmLossRequest,
    response: schemas.ConfirmLossReply,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was confirmed" }),
      200: answer("All losses known to the process are confirmed.", { lost_commits: 2 }),
      400: unknownKey,
      453: moreLost,
    },
  }),

  whoAmI: row({
    path: "/v1/server.whoami",
    repeat: "reads",
    role: "any",
    reach: "visible",
    tag: "Server",
    summary: "Describe your API key",
    description:
      "Returns the name, roles and queues of the API key of this call, so that a program can check its permissions in advance. On a server without API keys everything is allowed.",
    request: schemas.WhoAmIRequest,
    response: schemas.WhoAmIReply,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was read" }),
      200: answer("The permissions of the key.", {
        name: "checkout",
        roles: ["produce"],
        queues: ["orders*"],
        rights: [{ roles: ["produce"], queues: ["orders*"] }],
        keys_required: true,
      }),
      400: unknownKey,
    },
  }),

  listKeys: row({
    path: "/v1/server.keys",
    repeat: "reads",
    role: "admin",
    reach: "all",
    tag: "Server",
    summary: "List the API keys",
    description:
      "Lists the API keys that the server accepts, in the order of their file: the permissions of each, when it was last used, and how many of its calls were denied. Only the first eight digits of each digest are returned. Calls are counted by the process that answers, since it started. A server without API keys lists none.",
    request: schemas.KeysListRequest,
    response: schemas.KeysListReply,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: answer("The keys in effect.", {
        items: [
          {
            digest: "8f434346",
            name: "checkout",
            roles: ["produce"],
            queues: ["orders*"],
            rights: [{ roles: ["produce"], queues: ["orders*"] }],
            last_used_at: "2026-03-01T12:00:00.000Z",
            denied_calls: 0,
          },
        ],
      }),
      400: unknownKey,
    },
  }),

  listActions: row({
    path: "/v1/actions.list",
    repeat: "reads",
    role: "read",
    reach: "visible",
    tag: "Server",
    summary: "List recent actions",
    description: `Lists the last ${bounds.actionsMax.toLocaleString("en-US")} administrative calls with their API keys, newest first, whether or not they succeeded: calls that created, changed, paused, cleared or deleted a queue, removed, imported or rejected items, advanced the test clock or made a backup. They are kept in memory until the process restarts, and are also in its log. Calls of producers and workers are not included. A redrive is listed under the queue that items leave and under the queues they go to. An API key for some queues gets the actions on those queues. Actions in shards that could not be reached within one second are missing, and \`unreached\` lists these shards; if \`pivot\` is an action in one of them, the call fails.`,
    request: schemas.ActionsListRequest,
    response: schemas.ActionsListReply,
    example: { limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      503: unreachedShard("nothing was listed", "the pivot is one of its actions"),
      200: {
        meaning: "The actions from `pivot` on, newest first; an empty list if none is older.",
        reaction: "For the next page, send the last id as `pivot` and skip it in the reply.",
        example: {
          items: [
            {
              id: 42,
              at: "2026-03-01T12:00:00.000Z",
              key_name: "anna",
              operation: "clear",
              queue_name: "orders",
              to_queues: [],
              items: 0,
              code: 200,
            },
          ],
          since: "2026-02-27T08:00:00.000Z",
          unreached: [],
        },
      },
      400: refusal(400, {
        meaning:
          "`limit` is absent or out of bounds, `pivot` is negative, or `queue_name` is not a name; nothing was listed.",
        reason: "malformed",
        message: "limit is invalid; cannot be greater than 1000",
      }),
    },
  }),

  listItems: row({
    path: "/v1/storage/items.list",
    repeat: "reads",
    role: "read",
    tag: "Storage",
    summary: "List stored items",
    description:
      "Returns the ready and leased items of one partition in the order of their ids, starting at `pivot`, without leasing them. A page has at most `limit` items and ends early at 32 MB of payload; the list ends when a page has no items after the pivot. `storage/scheduled.list` lists scheduled items.",
    request: schemas.StorageListRequest,
    response: schemas.StorageItemsReply,
    example: { queue_name: "orders", partition: 0, pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The items from `pivot` on; an empty list if no item follows it.",
        reaction: "For the next page, send the last id as `pivot` and skip it in the reply.",
        example: { items: [schemas.sampleStorageItem] },
      },
      400: badPage,
      429: overloaded("nothing was listed"),
    },
  }),

  listScheduled: row({
    path: "/v1/storage/scheduled.list",
    repeat: "reads",
    role: "read",
    tag: "Storage",
    summary: "List scheduled items",
    description:
      "Returns the items of one partition that wait for their `enqueue_at` or `retry_at`, in the order of their ids, starting at `pivot`. Each item is due at its `enqueue_at`.",
    request: schemas.StorageListRequest,
    response: schemas.StorageItemsReply,
    example: { queue_name: "orders", partition: 0, pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The scheduled items from `pivot` on; an empty list if no item follows it.",
        reaction: "For the next page, send the last id as `pivot` and skip it in the reply.",
        example: {
          items: [
            {
              ...schemas.sampleStorageItem,
              is_leased: false,
              lease_deadline: null,
              enqueue_at: "2026-03-01T12:15:00.000Z",
            },
          ],
        },
      },
      400: badPage,
      429: overloaded("nothing was listed"),
    },
  }),

  findItems: row({
    path: "/v1/storage/items.find",
    tag: "Storage",
    summary: "Find items",
    repeat: "reads",
    role: "read",
    description:
      "Searches a queue for items that match a filter, in any state, without leasing them. Those of a partition are returned in queue order, and the ones with the highest `priority` first. There is no index: each call scans at most 100,000 items and returns `next_pivot`, from which the next call continues. Other calls are served in the meantime.",
    request: schemas.FindItemsRequest,
    response: schemas.FindItemsReply,
    example: { queue_name: "orders-dead", filter: { reason: "card_declined" }, limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was searched" }),
      200: {
        meaning: "The items found so far.",
        reaction: "Continue with `next_pivot` until it is empty.",
        example: { items: [schemas.sampleFoundItem], scanned: 100_000, next_pivot: "0.0.100001" },
      },
      400: refusal(400, {
        meaning: "The queue or the partition does not exist, or a value is out of bounds.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("nothing was searched"),
    },
  }),

  summarizeItems: row({
    path: "/v1/storage/items.summarize",
    tag: "Storage",
    summary: "Summarize items",
    repeat: "reads",
    role: "read",
    description:
      "Counts the items that match a filter, by the value of a field such as the `reason` of dead items. Each call scans at most 100,000 items. Numbers, instants and ids in a reason are ignored, except codes such as `HTTP 503`. To find or redrive the items of a summary, send its `value` as the `reason` of the filter.",
    request: schemas.SummarizeItemsRequest,
    response: schemas.SummarizeItemsReply,
    example: { queue_name: "orders-dead", by: "reason" },
    replies: {
      ...sharedRefusals({ effect: "nothing was counted" }),
      200: {
        meaning: "The items counted so far, with a summary for each value of the field.",
        reaction: "Continue with `next_pivot` until it is empty, and add up the counts.",
        example: {
          summaries: [
            {
              value: "card_declined",
              count: 312,
              first_at: "2026-03-01T10:42:00.000Z",
              last_at: "2026-03-01T11:58:00.000Z",
              sample_id: sampleId,
            },
          ],
          other_items: 0,
          scanned: 1_284,
          next_pivot: "",
        },
      },
      400: refusal(400, {
        meaning: "The queue or the partition does not exist, or a value is out of bounds.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("nothing was counted"),
    },
  }),

  getItem: row({
    path: "/v1/storage/items.get",
    tag: "Storage",
    summary: "Get an item",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description:
      "Returns an item by its current id, with its whole payload or a range of it. `payload_bytes` is the size of the whole payload.",
    request: schemas.GetItemRequest,
    response: schemas.FoundItem,
    example: { id: sampleId },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "it may have the item"),
      200: answer("The item as it is stored.", {
        ...schemas.sampleFoundItem,
        payload: "eyJvcmRlciI6NDJ9",
      }),
      400: refusal(400, {
        meaning: "The id is malformed, or the range starts beyond the end of the payload.",
        reason: "malformed",
        message: "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning: "No item has this id now.",
        reaction: "Call `storage/items.explain`, which accepts former ids of an item.",
        reason: "no_such_item",
        message: `item does not exist; no item has the id '${sampleId}'`,
      }),
    },
  }),

  explainItem: row({
    path: "/v1/storage/items.explain",
    tag: "Storage",
    summary: "Explain an item",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description:
      "Reports where an item is and why, by any id that it ever had: its state, the items ahead of it, what holds up its queue, why it died, and its history, even if it has been completed. The history is kept in at most `--history-bytes` of memory. It starts when the item's shard opens its store: at the start of the process, after a failure of the store, or when a node takes ownership of the shard. A former id that is not in the history is looked up as the first id of an item, among 100,000 items in the queue that issued it and 100,000 in its dead queue. An item in a third queue, or an id between the first and the current one, is then not found.",
    request: schemas.ExplainItemRequest,
    response: schemas.ItemExplained,
    example: { id: sampleId },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "it may have the item"),
      200: answer("The state and history of the item, as far as they are known.", {
        id: sampleId,
        item: schemas.sampleFoundItem,
        ahead: 41,
        ahead_is_exact: true,
        why: [
          "It is ready, with 41 ahead of it in partition 0.",
          "It died in 'orders': its 3 attempts were used up.",
          "The last reason given was: card_declined",
        ],
        history: [
          {
            at: "2026-03-01T10:42:00.000Z",
            kind: "dead",
            id: sampleId,
            queue_name: "orders-dead",
            partition: 0,
            holder: "",
          },
        ],
        history_since: "2026-03-01T09:00:00.000Z",
      }),
      400: refusal(400, {
        meaning: "The id is malformed.",
        reason: "malformed",
        message: "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
      }),
      429: overloaded("nothing was changed"),
    },
  }),

  listGroups: row({
    path: "/v1/groups.list",
    tag: "Queues",
    summary: "List the groups of a queue",
    repeat: "reads",
    role: "read",
    description:
      "Lists the groups of a queue that is `grouped`: those that have items, or settings of their own. Each is reported with the number of its items, and with the reason why none of them may be leased. With `blocked`, only such groups are listed.",
    request: schemas.GroupsListRequest,
    response: schemas.GroupsListReply,
    example: { queue_name: "orders", blocked: true },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "A page of groups.",
        reaction: "Continue with `next_pivot` until it is empty.",
        example: { items: [schemas.sampleGroup], next_pivot: "" },
      },
      400: refusal(400, {
        meaning: "The queue does not exist or is not grouped, or a value is out of bounds.",
        reason: "malformed",
        message: "queue is invalid; 'orders' is not grouped",
      }),
      429: overloaded("nothing was changed"),
    },
  }),

  setGroup: row({
    path: "/v1/groups.set",
    repeat: "same",
    role: "admin",
    audits: always,
    tag: "Queues",
    summary: "Change a group",
    description: `Gives a group limits, a weight or a pause of its own, or opens it after a dead letter has closed it. The group needs no items. What it has of its own is kept until it is changed back, across restarts; at most 10,000 groups of a queue can have something of their own.`,
    request: schemas.GroupsSetRequest,
    response: schemas.GroupInfo,
    example: { queue_name: "orders", group: "customer-17", weight: 3 },
    replies: {
      ...changeRefusals({ effect: "nothing was changed" }),
      200: answer("The group as it is now.", { ...schemas.sampleGroup, weight: 3 }),
      400: refusal(400, {
        meaning:
          "The queue does not exist or is not grouped, a value is out of bounds, or too many groups have something of their own; nothing was changed.",
        reason: "malformed",
        message: "weight is invalid; expected from 1 to 100, got 0",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning: "The queue was deleted meanwhile, with its groups.",
        reason: "queue_deleted",
        message: "queue is shutting down; it was deleted",
      }),
    },
  }),

  redrive: row({
    path: "/v1/queue.redrive",
    keyed: true,
    tag: "Queues",
    summary: "Redrive dead items",
    repeat: "twice",
    role: "admin",
    audits: unlessDry,
    description:
      "Moves ready items of a queue, usually a dead queue, back to the queues that they came from, or all of them to one queue. Each item gets a new id, no attempts and a new expire deadline. It keeps its first id and its last reason, and `redriven` is incremented. After the 200 a task moves the items, and continues across restarts; each item is in exactly one queue at any time.",
    request: schemas.RedriveRequest,
    response: schemas.TaskBegun,
    example: { queue_name: "orders-dead", filter: { reason: "card_declined" }, per_second: 500 },
    replies: {
      ...changeRefusals({ effect: "nothing was moved" }),
      200: {
        meaning: "A task moves the items; for a dry run, the number of items.",
        reaction: "Call `tasks.info` for its progress.",
        example: {
          task_id: "rmg2k7v1",
          matched: 312,
          destinations: [{ queue_name: "orders", count: 312 }],
        },
      },
      400: refusal(400, {
        meaning: "A queue does not exist, or a value is out of bounds; nothing was moved.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: tooManyTasks("nothing was moved"),
      453: refusal(453, {
        meaning: "More items match than `expect` allows; nothing was moved.",
        reaction: "Check the count. To move that many items, send it as `expect`.",
        reason: "count_changed",
        message: "count has changed; 400 items would be moved, expected at most 312",
      }),
    },
  }),

  repair: row({
    path: "/v1/queue.repair",
    keyed: true,
    tag: "Queues",
    summary: "Repair items",
    repeat: "twice",
    role: "admin",
    audits: unlessDry,
    description:
      "Makes scheduled items ready early, sends items to the dead queue, changes their priority, removes them, or returns leased items to their queue, such as all items of a client that crashed. Like a redrive it runs as a task and continues across restarts. Items that arrive or move after the call are not changed.",
    request: schemas.RepairRequest,
    response: schemas.TaskBegun,
    example: { queue_name: "orders", action: "promote", filter: { kind: "order-placed" } },
    replies: {
      ...changeRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "A task changes the items; for a dry run, the number of items.",
        reaction: "Call `tasks.info` for its progress.",
        example: {
          task_id: "rmg2k7v1",
          matched: 312,
          destinations: [],
        },
      },
      400: refusal(400, {
        meaning: "The queue does not exist, or a value is out of bounds; nothing was changed.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: tooManyTasks("nothing was changed"),
      453: refusal(453, {
        meaning:
          "More items match than `expect` allows, or the queue has no dead queue for a `reject`; nothing was changed.",
        reaction: "Check the count. To change that many items, send it as `expect`.",
        reason: "count_changed",
        message: "count has changed; 400 items would be removed, expected at most 312",
      }),
    },
  }),

  listTasks: row({
    path: "/v1/tasks.list",
    tag: "Queues",
    summary: "List tasks",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description:
      "Returns running and ended tasks, newest first, at most 100; `tasks.info` can return any of the last 1,000. Tasks of shards that could not be reached within one second are missing, and `unreached` lists these shards.",
    request: schemas.TasksListRequest,
    response: schemas.TasksListReply,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: answer("The tasks.", { tasks: [schemas.sampleTask], unreached: [] }),
      400: noSuchQueue,
      429: overloaded("nothing was listed"),
    },
  }),

  taskInfo: row({
    path: "/v1/tasks.info",
    tag: "Queues",
    summary: "Get a task",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description: "Returns the progress of a task.",
    request: schemas.TaskRequest,
    response: schemas.TaskInfo,
    example: { task_id: "rmg2k7v1" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "it may have the task"),
      200: answer("The current state of the task.", schemas.sampleTask),
      400: refusal(400, {
        meaning: "The body does not match the schema.",
        reason: "malformed",
        message: "task_id is required",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning: "No task has this id, or it ended long ago.",
        reaction: "Find the task with `tasks.list`.",
        reason: "no_such_task",
        message: "task does not exist; no such task 'rmg2k7v1'",
      }),
    },
  }),

  cancelTask: row({
    path: "/v1/tasks.cancel",
    tag: "Queues",
    summary: "Cancel a task",
    repeat: "harmless",
    role: "admin",
    reach: "visible",
    audits: always,
    description:
      "Stops a task. Items that it has already moved stay moved; after the 200 no more items move. The API key needs the role `admin` for the queue of the task and for the queue in its `to_queue`.",
    request: schemas.TaskRequest,
    response: schemas.TaskInfo,
    example: { task_id: "rmg2k7v1" },
    replies: {
      ...changeRefusals({ effect: "the task continues" }),
      503: unreachedShard("the task continues", "it may have the task"),
      200: answer(
        "The final state of the task, which this call cancelled or which had ended before.",
        {
          ...schemas.sampleTask,
          state: "cancelled",
          ended_at: "2026-03-01T12:00:04.000Z",
        },
      ),
      400: refusal(400, {
        meaning: "The body does not match the schema.",
        reason: "malformed",
        message: "task_id is required",
      }),
      429: overloaded("the task continues"),
      453: refusal(453, {
        meaning: "No task has this id, or it ended long ago.",
        reaction: "Find the task with `tasks.list`.",
        reason: "no_such_task",
        message: "task does not exist; no such task 'rmg2k7v1'",
      }),
    },
  }),

  importItems: row({
    path: "/v1/storage/items.import",
    repeat: "twice",
    role: "admin",
    audits: always,
    keyed: true,
    tag: "Storage",
    summary: "Import items",
    description: `Stores 1 to ${bounds.importItemsMax} items in one partition as they were listed elsewhere: leases, attempts, deadlines and \`enqueue_at\` are kept; ids are new. Set \`source_id\` to the id of the item in its former queue. An item whose \`source_id\` is already in the partition is not stored again, so an interrupted import can be repeated completely. The reply returns the items as they are stored.`,
    request: schemas.StorageImportRequest,
    response: schemas.StorageImportReply,
    bodyBytesMax: bounds.importBodyBytesMax,
    example: {
      queue_name: "orders",
      partition: 0,
      items: [
        {
          source_id: schemas.sampleStorageItem.source_id,
          is_leased: true,
          lease_deadline: "2026-03-01T13:00:00.000Z",
          expire_deadline: "2026-03-02T12:00:00.000Z",
          attempts: 1,
          reference: "account-4711",
          encoding: "application/json",
          kind: "order-placed",
          payload: "eyJvcmRlciI6NDJ9",
        },
      ],
    },
    replies: {
      ...changeRefusals({
        effect: "no item was stored",
        bodyBytesMax: bounds.importBodyBytesMax,
        split: "Import fewer items per request.",
      }),
      200: answer("The items as they are stored, with their new ids.", {
        items: [schemas.sampleStorageItem],
      }),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, there are no items or too many, or an item is malformed; no item was stored.",
        reason: "malformed",
        message: "items is invalid; cannot be empty",
      }),
      429: overloaded("no item was stored"),
      453: refusal(453, {
        meaning: "The partition is surplus and accepts no new items; no item was stored.",
        reaction: "Import into another partition.",
        reason: "partition_draining",
        message: "partition takes no new items; '0' is draining",
      }),
    },
  }),

  deleteItems: row({
    path: "/v1/storage/items.delete",
    repeat: "harmless",
    role: "admin",
    audits: unlessDry,
    tag: "Storage",
    summary: "Delete stored items",
    description:
      "Removes items in any state from one partition; they do not go to the dead queue, and the holder of a leased item can no longer complete it. Ids that are not in the partition are ignored, so the request can be repeated. With `dry_run` nothing is removed, and `counts` reports what would be removed. With `expect` the call is refused if more of the ids than that are in the partition.",
    request: schemas.StorageDeleteRequest,
    response: schemas.GuardedReply,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId] },
    replies: {
      ...changeRefusals({ effect: "no item was removed" }),
      200: success("None of the ids is in the partition anymore."),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, there are no ids, or one is malformed; no item was removed.",
        reason: "malformed",
        message: "ids is invalid; cannot be empty",
      }),
      429: overloaded("no item was removed"),
      453: changedCount,
    },
  }),

  cancelItems: row({
    path: "/v1/storage/items.cancel",
    repeat: "harmless",
    role: "consume",
    audits: always,
    keyed: true,
    tag: "Storage",
    summary: "Cancel items",
    description: `Removes 1 to ${bounds.completeIdsMax} unfinished items of a queue by their current ids, whatever their state and partition; they do not go to the dead queue. The holder of a leased item learns of it at its next extend, complete or retry, which is refused. \`was\` in the reply is the state in which each item was removed.

Ids that no item of the queue has are reported as \`not_found\`, and the others are removed all the same. So the call can be repeated; with the same \`Idempotency-Key\` it gets the first reply again.`,
    request: schemas.CancelItemsRequest,
    response: schemas.CancelItemsReply,
    example: { queue_name: "orders", ids: [sampleId, otherId] },
    replies: {
      ...changeRefusals({ effect: "no item was removed" }),
      200: answer("The queue has none of the items anymore.", {
        items: [
          { id: sampleId, was: "leased" },
          { id: otherId, was: "not_found" },
        ],
      }),
      400: refusal(400, {
        meaning:
          "The queue does not exist, a timeout is out of bounds, there are no ids or too many, or one is malformed; no item was removed.",
        reason: "malformed",
        message: "ids is invalid; list of ids cannot be empty",
      }),
      429: overloaded("no item was removed"),
      453: refusal(453, {
        meaning: "The queue was deleted meanwhile, with its items.",
        reason: "queue_deleted",
        message: "queue is shutting down; it was deleted",
      }),
      454: refusal(454, {
        meaning: "The call could not be carried out within `request_timeout`; no item was removed.",
        reason: "late",
        message: "request timeout; no item was cancelled, try again",
      }),
    },
  }),
} as const;

export type OperationId = keyof typeof operations;

/** Operations with one of these `repeat` values, in API order. */
export function operationsThat(...repeats: readonly Repeat[]): readonly OperationId[] {
  const rows = Object.entries(operations) as [OperationId, Operation][];
  return rows.filter(([, { repeat }]) => repeats.includes(repeat)).map(([id]) => id);
}
export type RequestOf<Id extends OperationId> = Static<(typeof operations)[Id]["request"]>;
export type ResponseOf<Id extends OperationId> = Static<(typeof operations)[Id]["response"]>;

/** An endpoint that is not an operation: a probe, the metrics or the backup. */
export interface Page {
  /** Absent = no API key is required. */
  readonly needs?: Needs;
  /** Like `Operation.audits`. */
  audits?(): boolean;
  readonly method: "GET" | "POST";
  readonly path: `/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly contentType: string;
  /** The body of a 200; `null` if it is plain text. */
  readonly response: TSchema | null;
  readonly replies: { readonly 200: OperationReply } & {
    readonly [Code in ReplyCode]?: OperationReply;
  };
}

const foreignSite = refusal(403, {
  meaning: "The `Host` or `Origin` header names a site that is not allowed on this server.",
  reason: "origin_not_allowed",
  message: "origin is not allowed; got 'https://example.com'",
});

/** The 403 of a page that requires a key. */
const notAllowed = refusal(403, {
  meaning:
    "The `Host` or `Origin` header names a site that is not allowed on this server, or the API key does not allow this.",
  reason: "not_allowed",
  message:
    "key 'checkout' is not allowed to make this request; it needs the role 'admin' for all queues",
});

const busy = refusal(429, {
  meaning: "The server is already handling its maximum number of requests.",
  reason: "full",
  message: "too many requests are in progress; try again later",
});

const healthy: schemas.Health = {
  status: "ok",
  version: "0.1.0",
  store: "sqlite",
  durability: "full",
  shards: 1,
  shards_up: 1,
  shards_without_owner: [],
};

export const pages = {
  health: {
    method: "GET",
    path: "/health",
    tag: "Server",
    summary: "Health",
    description:
      "Reports whether the server accepts requests, where its items are stored and how durably. It is cheap enough to call every second. It needs no API key.",
    contentType: "application/json",
    response: schemas.Health,
    replies: {
      200: answer(
        "The server accepts requests; `status` is `degraded` while some shards are down, `store_full` while the disk has no room, and `commits_lost` after a database lost acknowledged commits.",
        healthy,
      ),
      403: foreignSite,
      503: refusal(503, {
        meaning:
          "No shard is up, the database of the nodes is unreachable, or the server is shutting down.",
        reaction: "Send requests elsewhere, and check again later.",
        reason: "shutting_down",
        message: "server is shutting down; nothing was changed",
      }),
    },
  },
  livez: {
    method: "GET",
    path: "/livez",
    tag: "Server",
    summary: "Liveness probe",
    description:
      "Returns 200 while the process is running, whatever the state of its stores, under any host name. A supervisor that gets no 200 may restart the process. It needs no API key.",
    contentType: "application/json",
    response: schemas.Reply,
    replies: { 200: success("The process is running.") },
  },
  readyz: {
    method: "GET",
    path: "/readyz",
    tag: "Server",
    summary: "Readiness probe",
    description:
      "Reports whether all partitions of every queue can be served. Without a 200, send requests elsewhere. It needs no API key.",
    contentType: "application/json",
    response: schemas.Reply,
    replies: {
      200: success("Every shard is up, and the server is not shutting down."),
      403: foreignSite,
      429: busy,
      503: refusal(503, {
        meaning:
          "A shard is down, the database of the nodes is unreachable, or the server is shutting down.",
        reaction: "Send requests elsewhere, and check again later.",
        reason: "not_ready",
        message: "not every shard is up; expected 4, got 3",
      }),
    },
  },
  metrics: {
    needs: { role: "read", reach: "all" },
    method: "GET",
    path: "/metrics",
    tag: "Server",
    summary: "Metrics",
    description:
      "Returns counters and gauges of the server, its shards and its queues in the Prometheus text format. If the server has API keys, it needs one with the role `read` for all queues.",
    contentType: "text/plain",
    response: null,
    replies: {
      200: answer(
        "The current metrics.",
        '# HELP holdfast_items Items by queue and state.\n# TYPE holdfast_items gauge\nholdfast_items{queue="orders",state="queued"} 485\n',
      ),
      403: notAllowed,
    },
  },
  backup: {
    needs: { role: "admin", reach: "all" },
    audits: always,
    method: "POST",
    path: "/backup",
    tag: "Server",
    summary: "Make a backup",
    description:
      "Copies the files of all shards, consistent at one point in time, into a new folder under `--backups` while the server runs. The manifest is written last, so a folder with a manifest is complete. If the server has API keys, it needs one with the role `admin` for all queues.",
    contentType: "application/json",
    response: schemas.BackupReply,
    replies: {
      200: {
        meaning: "The backup is complete and on disk.",
        reaction: "Copy the folder elsewhere. `holdfast restore` checks and restores it.",
        example: {
          folder: "/var/backups/holdfast/2026-03-01T12-00-00-000Z",
          format: 1,
          made_at: "2026-03-01T12:00:00.000Z",
          version: "0.1.0",
          shards: [{ file: "shard-0.db", bytes: 4_194_304 }],
        },
      },
      403: notAllowed,
      415: refusal(415, {
        meaning: "The header `Content-Type` is absent or not supported; no backup was made.",
        reason: "unsupported_content",
        message:
          "content type is not supported; send 'Content-Type: application/json', got 'text/plain'",
      }),
      429: busy,
      453: refusal(453, {
        meaning: "The server has no folder for backups; nothing was written.",
        reaction: "Restart the server with `--backups`.",
        reason: "backups_off",
        message: "backups are off; start the server with --backups <folder>",
      }),
      500: refusal(500, {
        meaning:
          "The folder cannot be written, the store is in memory, or a shard is down or busy; the incomplete backup was removed.",
        reason: "backup_failed",
        message: "the backup could not be written; its folder cannot be created",
      }),
      503: refusal(503, {
        meaning: "The server is shutting down; no backup was made.",
        reason: "shutting_down",
        message: "service is shutting down; nothing was changed",
      }),
    },
  },
} as const satisfies Record<string, Page>;

export type PageId = keyof typeof pages;
