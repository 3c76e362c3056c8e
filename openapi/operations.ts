// The operations of the contract, in API order, as one table: what each is called,
// takes, answers and means. The server's routes, its validation, the OpenAPI document
// and the client all follow from it.

import type { Static, TSchema } from "@sinclair/typebox";
import { bounds, sizeText } from "./bounds.ts";
import { type ReplyCode, replyCodes } from "./codes.ts";
import type { Reason } from "./reasons.ts";
import type { Role } from "./roles.ts";
import * as schemas from "./schemas.ts";

/** What a code says about one operation, and what the client does about it. */
export interface OperationReply {
  readonly meaning: string;
  readonly reaction: string;
  readonly example: unknown;
}

/** What it takes of an API key, where the server has any. */
export interface Needs {
  /** `any`: one of them, whichever. */
  readonly role: Role | "any";
  /**
   * `named` (default): for each queue that the request names. `visible`: for whichever queues, and the
   * reply has no others. `all`: for all queues.
   */
  readonly reach?: "named" | "visible" | "all";
}

/**
 * What a second call without an `Idempotency-Key` does if the first was carried out.
 * - `reads`: the operation changes nothing.
 * - `same`: it changes no more, and has the same reply.
 * - `harmless`: it changes no more, but may be refused for what the first has done.
 * - `twice`: its work again, or something else that was not meant.
 */
export type Repeat = "reads" | "same" | "harmless" | "twice";

export interface Operation<Request extends TSchema = TSchema, Response extends TSchema = TSchema>
  extends Needs {
  readonly path: `/v1/${string}`;
  /** Whether who sent it is logged and listed; absent = never. */
  audits?(request: Static<Request>): boolean;
  /** Takes an `Idempotency-Key`. */
  readonly keyed?: true;
  readonly repeat: Repeat;
  readonly tag: Tag;
  readonly summary: string;
  /** What it does, as far as a client has to know; Markdown. */
  readonly description: string;
  readonly request: Request;
  /** Of a 200; every other code is answered with a `Reply`. */
  readonly response: Response;
  /** The default of a limit that an operator can set. */
  readonly bodyBytesMax: number;
  readonly example: Static<Request>;
  /** What comes back, by code; 401, 404 and 405 are never an operation's own, and 401 is added to each. */
  readonly replies: { readonly 200: OperationReply & { readonly example: Static<Response> } } & {
    readonly [Code in ReplyCode]?: OperationReply;
  };
}

/** The groups of the API reference, in its order. */
export const tags = {
  Items:
    "The life of an item: produce it, lease it, then complete it or retry it. A lease is of one partition, and so is each operation on its items: send the `partition` that the lease reply gave.",
  Queues: "Definitions of queues: list, create, update, describe and delete them.",
  Operations: "Measure, count, pause and clear a queue, and advance a test clock.",
  Storage:
    "Items as they are stored, for repair and for moving them. A consumer needs none of these.",
  Server:
    "The server itself: whether it is up, its metrics, backups, its API keys, and who did what.",
} as const;
export type Tag = keyof typeof tags;

/** Names a call, so that it can be repeated. */
export const keyHeader = "idempotency-key";
/** On a reply that an earlier call with the same key had. */
export const replayedHeader = "idempotency-replayed";

const always = () => true;
const unlessDry = ({ dry_run }: { readonly dry_run?: boolean | null }) => dry_run !== true;

function row<Request extends TSchema, Response extends TSchema>(
  operation: Operation<Request, Response>,
): Operation<Request, Response> {
  return operation;
}

function refusal(
  code: Exclude<ReplyCode, 200>,
  said: {
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
    message: said.message,
    reason: said.reason,
    ...(said.details === undefined ? {} : { details: said.details }),
  };
  return { meaning: said.meaning, reaction: said.reaction ?? replyCodes[code].reaction, example };
}

const done: schemas.Reply = { code: 200, code_text: "OK", message: "" };

/** Of a call that needs every shard. `effect`: what has not happened; `why`: what is missing, as clauses. */
function unreachedShard(effect: string, why: string): OperationReply {
  return refusal(503, {
    meaning: `The server is shutting down, or a shard could not be reached within a second and ${why}; ${effect}.`,
    reason: "shutting_down",
    message: "service is shutting down; nothing was changed",
  });
}

/** A 200 without anything to return. */
function success(meaning: string): OperationReply & { example: schemas.Reply } {
  return { meaning, reaction: replyCodes[200].reaction, example: done };
}

/** Of an operation that changes items. */
const unknownOutcome = refusal(504, {
  meaning: "The store did not answer in time. It may be done or not.",
  reason: "unknown_outcome",
  message: "request timeout; it may be done or not",
});

/** The refusals that every operation shares. `effect`: what has not happened, as a clause. */
function sharedRefusals(options: { effect: string; bodyBytesMax?: number; split?: string }) {
  const {
    effect,
    bodyBytesMax = bounds.bodyBytesMax,
    split = "Make the request smaller.",
  } = options;
  const bodyLimit = sizeText(bodyBytesMax);
  return {
    403: refusal(403, {
      meaning: `The \`Host\` or \`Origin\` header names a site that this server does not answer, or the API key does not allow this operation or queue; ${effect}.`,
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

/** The same, of an operation that changes something. */
function changeRefusals(options: Parameters<typeof sharedRefusals>[0]) {
  return { ...sharedRefusals(options), 504: unknownOutcome };
}

/** The same, of one that changes a queue. */
function queueRefusals(effect: string) {
  return {
    ...changeRefusals({ effect }),
    454: refusal(454, {
      meaning: `The store that keeps the queues did not answer for 5 minutes; ${effect}.`,
      reason: "late",
      message: "request timeout; the queue was not changed, try again",
    }),
  };
}

function overloaded(effect: string): OperationReply {
  return refusal(429, {
    meaning: `More requests wait for the store than the server holds; ${effect}.`,
    reason: "full",
    message: "too many requests wait for the store; try again later",
  });
}

const unknownQueue = "queue does not exist; no such queue named 'orders'";
const badPartition = "partition is invalid; '9' is not a valid partition";
const notInTime = (what: string) => `request timeout; the items were not ${what}, try again`;
const sampleId = schemas.sampleStorageItem.id;
const notLeased = (what: string) =>
  `item(s) cannot be ${what}; '${sampleId}' is not marked as leased`;
const otherId = "1h0LdFaStQ2vX000000000000Ke";

/** The refusals of an operation on leased items that can do without a `request_timeout`. */
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
      meaning: `An id is malformed, unknown, not leased or named twice, or was leased from another queue or partition; ${effect}. \`details\` names every such id and why.`,
      reaction:
        "Take the ids in `details` out and send the rest again. If its lease has lapsed, an item is another consumer's to do.",
      reason: "not_leased",
      message: notLeased(verb),
      details: { [sampleId]: notLeased(verb) },
    }),
    454: refusal(454, {
      meaning: `It could not be done within \`request_timeout\`; ${effect}.`,
      reason: "late",
      message: notInTime(verb),
    }),
    504: unknownOutcome,
  };
}

/** Of an operation that is asked nothing. */
const unknownKey = refusal(400, {
  meaning: "The body has an unknown field.",
  reason: "malformed",
  message: "node is unknown; expected no key",
});

const sampleQueue: schemas.QueueInfo = {
  queue_name: "orders",
  created_at: "2026-03-01T12:00:00.000Z",
  updated_at: "2026-03-01T12:00:00.000Z",
  dead_queue: "",
  reference: "team-checkout",
  lease_timeout: "60m",
  expire_timeout: "24h",
  max_attempts: 10,
  requested_partitions: 4,
  leased_max: 0,
  lease_rate: "",
  unique_for: "",
  lease_paused: false,
  produce_paused: false,
  pause_reason: "",
};

/** Every operation is a POST with a body in JSON or protobuf; the keys are the operation ids. */
const sampleFinding: schemas.Finding = {
  what: "nobody_asks",
  since: "2026-03-01T12:53:00.000Z",
  count: 48_210,
  next_at: null,
  text: "48,210 items are ready, the oldest for 41 minutes, and nobody asks for them; worker-2 was the last, 12 minutes ago.",
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
      what: "nobody_asks",
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
    meaning: `More requests wait for the store than the server holds, or too many tasks run; ${effect}.`,
    reason: "full",
    message: "too many tasks are running; there cannot be more than 100, try again later",
  });

const moreLost = refusal(453, {
  meaning: "More commits have been lost than `expect` allows; none was confirmed.",
  reaction: "Look at what was lost meanwhile, and send the call with the count in `details`.",
  reason: "count_changed",
  message: "count has changed; 3 lost commits would be confirmed, expected at most 2",
  details: { count: "3" },
});

const changedCount = refusal(453, {
  meaning: "More items would be removed than `expect` allows; nothing was changed.",
  reaction: "Look at the count in `details`, and send the call with it if so many may go.",
  reason: "count_changed",
  message: "count has changed; 1300 items would be removed, expected at most 1284",
  details: { count: "1300" },
});

export const operations = {
  produce: row({
    path: "/v1/queue.produce",
    repeat: "twice",
    role: "produce",
    keyed: true,
    tag: "Items",
    summary: "Produce items",
    description: `Adds 1 to ${bounds.produceItemsMax} items to a queue. A 200 says that all are in the store; with any other code except 504 none is.

All go to the partition with the fewest ready items, and are offered in the order given. To keep items in order throughout, use one partition and one consumer.

An item with a future \`enqueue_at\` joins the tail of its partition when it is due, and its \`expire_timeout\` counts from then.

An item with a \`unique_key\` is written once within the queue's \`unique_for\`: a second one with the same unique key counts as done, and the reply has its place in \`duplicates\`. If any item of a call has one, all of them go to the first partition, whatever it holds.

If the connection breaks before the answer, send the same call with the same \`Idempotency-Key\` again: the items are written once. Without it you cannot know whether they were.`,
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
          "The queue does not exist or takes no unique keys, `request_timeout` is out of bounds, there are no items or too many, or an item is malformed; no item was written.",
        reason: "malformed",
        message: "items cannot be empty; at least one item is required",
      }),
      429: overloaded("no item was written"),
      453: refusal(453, {
        meaning: "Produces are paused; no item was written.",
        reaction: "Keep the items, and produce them once the queue is resumed.",
        reason: "queue_paused",
        message: "queue is paused; moving to the new database",
      }),
      454: refusal(454, {
        meaning: "The items could not be written within `request_timeout`; none was.",
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
    description: `Takes up to \`batch_size\` items for one consumer to hold until their \`lease_deadline\`. Within that time the consumer either completes or retries each of them.

The reply comes as soon as there is one item. All its items are from one partition, the one with the most ready items. When no partition has any, the request waits until an item is ready or \`request_timeout\` passes. Requests that wait on a queue are served in the order of arrival, and the available items are shared evenly among them. A client that hangs up leaves the line before it is given anything.

An item whose lease passes its deadline is offered to another consumer, under a new id and one attempt older. Each lease counts as an attempt; after the last one that \`max_attempts\` allows, a lapse sends the item to the dead queue.`,
    request: schemas.LeaseRequest,
    response: schemas.LeaseReply,
    bodyBytesMax: bounds.bodyBytesMax,
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
              attempts: 1,
              lease_deadline: "2026-03-01T13:00:00.000Z",
              bytes: "eyJvcmRlciI6NDJ9",
            },
          ],
          queue_name: "orders",
          partition: 0,
          max_attempts: 10,
          now: "2026-03-01T12:00:00.000Z",
        },
      },
      400: refusal(400, {
        meaning:
          "The queue does not exist, `client_id` is empty, another lease with this `client_id` waits on this queue, or `batch_size` or a timeout is out of bounds; nothing was leased.",
        reaction: "Correct the request. Give each consumer a `client_id` of its own.",
        reason: "duplicate_client",
        message:
          "duplicate client id; a client cannot make multiple leased requests to the same queue",
      }),
      429: refusal(429, {
        meaning: "As many leases as the server holds are waiting already; nothing was leased.",
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
          "Until `request_timeout` the queue was empty, paused, or had as many items leased as its limits allow; `message` says which.",
        reaction: "Send the same request again.",
        reason: "empty",
        message: "request timeout; no items are in the queue, try again",
      }),
      504: refusal(504, {
        meaning:
          "The store had the request at `request_timeout`, and has not answered for two seconds since. What it may have leased goes back to the queue, or lapses.",
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
    description: `Gives leased items back before their deadline, to be offered again \`retry_after\` from now or at \`retry_at\`, or at once if both are empty. They go to the tail of their partition under new ids, with the attempt counted. An item whose attempts have reached \`max_attempts\` goes to the dead queue instead, and so does one with \`dead: true\`, whatever attempts remain. If the queue has no dead queue, the former is removed and the latter refused.

\`queue_name\` and \`partition\` are those of the lease reply, and each id must be leased now. If one is not, nothing is done to any of them.`,
    request: schemas.RetryRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {
      queue_name: "orders",
      partition: 0,
      items: [
        { id: sampleId, retry_after: "15m", dead: false },
        { id: otherId, retry_at: null, dead: false },
      ],
    },
    replies: {
      ...sharedRefusals({ effect: "no item was given back" }),
      200: success("Every item was given back; their ids are no longer valid."),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `request_timeout` is out of bounds, there are no items or too many, a `retry_at` or a `retry_after` is malformed, or an item has both; no item was given back.",
        reason: "no_such_partition",
        message: badPartition,
      }),
      429: overloaded("no item was given back"),
      453: refusal(453, {
        meaning:
          "An id is malformed, unknown, not leased or named twice, was leased from another queue or partition, or is to go to a dead queue that the queue does not have; no item was given back. `details` names every such id and why.",
        reaction:
          "Take the ids in `details` out and send the rest again. If its lease has lapsed, an item is another consumer's to do.",
        reason: "not_leased",
        message: notLeased("retried"),
        details: { [sampleId]: notLeased("retried") },
      }),
      454: refusal(454, {
        meaning: "It could not be done within `request_timeout`; no item was given back.",
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

\`queue_name\` and \`partition\` are those of the lease reply. Once the lease deadline has passed the item is offered again under a new id: its old id is dead, and the reply is 453.`,
    request: schemas.CompleteRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {
      queue_name: "orders",
      partition: 0,
      request_timeout: "5m",
      ids: [sampleId, otherId],
    },
    replies: {
      ...sharedRefusals({ effect: "no item was completed" }),
      200: success("Every item is completed and gone from the store."),
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `request_timeout` is out of bounds, or there are no ids or too many; no item was completed.",
        reason: "malformed",
        message: "ids is invalid; list of ids cannot be empty",
      }),
      429: overloaded("no item was completed"),
      453: refusal(453, {
        meaning:
          "An id cannot be completed: it is malformed, unknown, not leased or named twice, or its lease has lapsed. No item was completed. `details` names every such id and why.",
        reaction:
          "Take the ids in `details` out and send the rest again. If its lease has lapsed, an item is another consumer's to do.",
        reason: "not_leased",
        message: notLeased("completed"),
        details: { [sampleId]: notLeased("completed") },
      }),
      454: refusal(454, {
        meaning: "It could not be done within `request_timeout`; no item was completed.",
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
    description: `Holds leased items for longer: until \`lease_timeout\` from now, or as long as the queue says. Send it while the work goes on, well before the deadline. Either all ids of the request are extended, or none is.

No lease gets shorter, and no item is offered before the latest deadline that anyone was told.`,
    request: schemas.ExtendRequest,
    response: schemas.ExtendReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId], lease_timeout: "5m" },
    replies: {
      ...heldRefusals("extended"),
      200: {
        meaning: "Every item is yours until the deadline.",
        reaction: "Go on with the work.",
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
    description: `Gives leased items back as if they had not been leased: they go to the tail of their partition under new ids, and the attempt does not count. For a worker that stops before it has begun them. Either all ids of the request are released, or none is.`,
    request: schemas.ReleaseRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId] },
    replies: {
      ...heldRefusals("released"),
      200: success("Every item was given back; their ids are no longer valid."),
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
    description: `Completes and retries leased items and adds others, in one commit: after the 200 the inputs are finished and each output exists once; after any other reply except 504 nothing was changed.

The inputs may be of several partitions and queues, but must be in one store; those of one lease always are. Outputs may go to any queues. Where an output's queue is in that store, the items are there with the 200 (\`delivered: true\`); otherwise they are kept in that store with the same commit and come to their queue milliseconds later, once each, in their order (\`delivered: false\`, and no \`partition\` yet); a store that is down or full delays them. If their queue is deleted meanwhile, they go with it.

A transact that only produces writes to several queues together. An output with a \`unique_key\` is accepted only if its key is known to the same store; with one shard (\`--shards 1\`) it always is.`,
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
      200: {
        meaning: "Every input is finished, and every output is in a store.",
        reaction: "None is needed.",
        example: {
          produced: [
            { queue_name: "invoices", partition: 0, delivered: true },
            { queue_name: "mails", delivered: false },
          ],
        },
      },
      400: refusal(400, {
        meaning:
          "A queue or a partition does not exist, `request_timeout` is out of bounds, there is nothing to do or too much, or an output is malformed or has a `unique_key` and goes to a queue in another shard; nothing was changed.",
        reason: "malformed",
        message: "transact is invalid; expected complete, retry or produce to name something",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning:
          "An id cannot be finished (`details` names every such id and why), the inputs are in different shards, or produces to a queue are paused; nothing was changed.",
        reaction:
          "If a lease has lapsed, its item is another consumer's to do, with its outputs. Inputs in different shards are finished by one transact each; queues with one `{tag}` in their names are in one shard.",
        reason: "not_leased",
        message: notLeased("completed"),
        details: { [sampleId]: notLeased("completed") },
      }),
      454: refusal(454, {
        meaning: "It could not be done within `request_timeout`; nothing was changed.",
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
      "Returns definitions of queues in the order of their names, from `pivot` on. `dead_queue` is empty for a queue that is itself a dead queue. The list ends when a page has fewer than `limit`. Queues of shards that could not be reached within a second are missing, and `unreached` names these shards.",
    request: schemas.QueuesListRequest,
    response: schemas.QueuesListReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The queues from `pivot` on; none when no name follows it.",
        reaction: "For the next page, give the last name as `pivot` and skip it in the reply.",
        example: { items: [sampleQueue], unreached: [] },
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
      "Defines a new queue, ready to be used when the reply comes. A dead queue has to be created before the queue that names it. `created_at`, `updated_at` and the pause fields are ignored, so that the reply of `queues.info` can be sent back.",
    request: schemas.QueueCreateRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
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

A new \`max_attempts\` or \`dead_queue\` holds for the items already in the queue too; new timeouts and limits hold for leases granted and items produced from then on. More \`requested_partitions\` are added at once; surplus ones take no new items and are gone when they are empty. With \`dry_run\` nothing changes, and \`counts\` says what the surplus partitions would hold; with \`expect\` it is refused if they hold more.`,
    request: schemas.QueueUpdateRequest,
    response: schemas.GuardedReply,
    bodyBytesMax: bounds.bodyBytesMax,
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
      "Returns the definition of one queue, with the timeouts as they were written. The queue is named by `name`; `queue_name` is accepted in its place.",
    request: schemas.QueueInfoRequest,
    response: schemas.QueueInfo,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was read" }),
      200: {
        meaning: "The definition of the queue.",
        reaction: replyCodes[200].reaction,
        example: sampleQueue,
      },
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
      "Deletes a queue. Without `force`, only one that holds no item and is not the dead queue of another. With `force`, its items go with it, leased and scheduled ones included, lease requests that wait on it are answered 453, and queues that named it as their dead queue no longer have one; the API key needs the role `admin` for those queues too. Nothing comes back when the name is used again.\n\nWith `dry_run` it stays, and the reply says what would go. With `expect` it is deleted only if it holds no more items than that; dead items on their way to it from other queues are not counted.",
    request: schemas.QueueDeleteRequest,
    response: schemas.GuardedReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", force: false },
    replies: {
      ...queueRefusals("the queue was not deleted"),
      200: success("The queue and its items are gone from the store."),
      400: refusal(400, {
        meaning: "The queue does not exist, or `force` is absent; no queue was deleted.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("the queue was not deleted"),
      453: refusal(453, {
        meaning:
          "Without `force`: the queue holds items, or another queue names it as its dead queue. With `expect`: it holds more items than that, including those of produces on their way. It was not deleted.",
        reaction:
          "Empty it or change the queue that names it, or send `force: true` if its items may be lost.",
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
    summary: "Measure a queue",
    description:
      "Returns counts and ages for each partition of a queue, and how many requests wait on it. The figures are of one moment and cost the server little; they are meant for people and dashboards. With `columns` the partitions come as lists of figures, in a tenth of the bytes.",
    request: schemas.QueueStatsRequest,
    response: schemas.QueueStatsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was measured" }),
      200: {
        meaning: "The figures of this moment.",
        reaction: replyCodes[200].reaction,
        example: {
          queue_name: "orders",
          logical_queues: [
            {
              average_leased_age: "4.2s",
              produce_waiting: 0,
              lease_waiting: 8,
              complete_waiting: 0,
              in_flight: 2,
              partitions: [
                {
                  partition: 0,
                  total: 500,
                  total_leased: 15,
                  scheduled: 3,
                  failures: 0,
                  average_age: "2m10s",
                  average_leased_age: "4.2s",
                  oldest_ready_at: "2026-03-01T11:58:00.000Z",
                  next_due_at: "2026-03-01T14:00:00.000Z",
                },
              ],
              counters: schemas.sampleCounters,
            },
          ],
        },
      },
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
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
      "Returns how many items of a queue are ready, how many are leased, how many wait for a retry, how many are scheduled, and how many its dead queue holds.",
    request: schemas.InspectRequest,
    response: schemas.Inspect,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was counted" }),
      200: {
        meaning: "The counts of this moment.",
        reaction: replyCodes[200].reaction,
        example: {
          queue_name: "orders",
          partitions: 4,
          queued: 485,
          leased: 12,
          retried: 1,
          scheduled: 2,
          dead_letter: 0,
        },
      },
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("nothing was counted"),
    },
  }),

  explain: row({
    path: "/v1/queue.explain",
    tag: "Operations",
    summary: "Explain a queue",
    repeat: "reads",
    role: "read",
    description: `Says what is wrong with a queue: why its items wait, or are lost. Findings come worst first, each with when it began, how many items it concerns, and when time alone may change it. The answer comes from memory and waits for no shard, so it comes even while one stalls or is down; counts may be a moment old.

| finding | it holds while |
|---|---|
| \`shard_down\` | partitions of the queue cannot be reached |
| \`store_full\` | a shard of the queue has no room: produces are refused |
| \`nobody_asks\` | items are ready, and for 10 seconds no lease request came or waits; while items are leased, for as long as \`lease_timeout\` |
| \`falls_behind\` | for five minutes, in nearly each of them, more came than went, and leases are not paused |
| \`leases_lapse\` | leases lapsed within five minutes |
| \`dead_items\` | items went to the dead queue within an hour, or were removed because there is none |
| \`clearing\` | a clear has items left to remove |
| \`paused\` | leases or produces are paused |
| \`at_leased_max\`, \`at_lease_rate\` | items are ready and the limit allows no more leases |
| \`all_leased\` | nothing is ready, items are leased, and for five seconds none changed hands |
| \`all_scheduled\` | all items wait for their \`enqueue_at\` or \`retry_at\` |

Each is as of the reports that the shards have made.`,
    request: schemas.QueueExplainRequest,
    response: schemas.QueueExplainReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "What is wrong at this moment.",
        reaction: replyCodes[200].reaction,
        example: {
          queue_name: "orders",
          as_of: "2026-03-01T13:05:00.000Z",
          health: "nobody_asks",
          findings: [sampleFinding],
        },
      },
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
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
      "Names the clients whose lease requests wait on a queue, in the order of the line, and those that hold items, the most first, with the moment at which the first of their leases lapses. Holders are kept in memory only: those of items leased before the server started are not known.",
    request: schemas.QueueClientsRequest,
    response: schemas.QueueClientsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", limit: 20 },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "The clients of this moment.",
        reaction: replyCodes[200].reaction,
        example: {
          queue_name: "orders",
          as_of: "2026-03-01T13:05:00.000Z",
          asking_count: 1,
          asking: [
            {
              client_id: "worker-2",
              since: "2026-03-01T13:04:48.000Z",
              batch_size: 10,
              place: 1,
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
        },
      },
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
    summary: "Look at all queues",
    repeat: "reads",
    role: "read",
    reach: "visible",
    description:
      "Everything that a console shows, for all queues in one cheap call that is meant to be made once a second: counts, health, counters, shards, alarms, running tasks and the machine. It is made from memory, at most once a second, however many ask; changes that time alone causes are noticed within five. With `since`, only queues that have changed come. Shards that could not be reached within a second are missing and named in `unreached`; the next reply continues where theirs ended. An API key for some queues sees only those, and their sums. Compute rates from two replies: a counter that is lower than before started again.",
    request: schemas.ServerOverviewRequest,
    response: schemas.ServerOverviewReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { since: "mf3k2a9c.1041" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "The queues as they were within the last second.",
        reaction: "Ask again after `poll_after_ms`.",
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
    description: `Stops leases, produces, or both, until \`queue.resume\`. After its 200 nothing is leased, not even by calls that were under way, and a restart does not end the pause. Lease requests keep their places in the line and wait; those whose time runs out are answered 454.

Time goes on: items fall due, lapse and expire. What is leased can be completed, retried, extended and released, and items can be imported. A pause takes the place of the one before.`,
    request: schemas.QueuePauseRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
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
      "Ends the pause of leases and of produces. Waiting lease requests are served at once, in the order of arrival. A queue that is not paused stays as it is.",
    request: schemas.QueueResumeRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders" },
    replies: {
      ...queueRefusals("nothing was resumed"),
      200: success("Neither leases nor produces are paused."),
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
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
      "Removes items from every partition of a queue; they do not go to the dead queue. `queue` takes those ready to be leased, `scheduled` those that a producer scheduled, `retry` those that a retry scheduled. `destructive` with `queue` takes leased items too, whose holders can then not complete them. The reply comes when all are gone; items produced meanwhile stay.\n\nWith `dry_run` nothing is removed and `counts` says what would be. With `expect` no more items are removed than that. A queue in one shard is cleared whole or not at all; over several shards everything is counted before anything goes, and if more arrives in between, a 453 says that a part was cleared.",
    request: schemas.QueueClearRequest,
    response: schemas.GuardedReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {
      queue_name: "orders",
      retry: false,
      scheduled: false,
      queue: true,
      destructive: false,
    },
    replies: {
      ...changeRefusals({ effect: "nothing was cleared" }),
      200: success("What was asked for is gone from the store."),
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
      "Counts the items of every partition of a queue from its store, and puts the result in place of the counts that are kept. Counts are written together with what changes them, so they are right without it; it is for an operator who wants proof, or who changed the store by other means. It reads every item of the queue in pieces, and the queue is served meanwhile. The reply comes when all partitions are counted.",
    request: schemas.QueueReloadRequest,
    response: schemas.Reply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders" },
    replies: {
      ...changeRefusals({ effect: "no count was changed" }),
      200: success("The counts are those of the store."),
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
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
    description: `Moves the clock of a server that was started with \`--test-clock\`, for the tests of its users. Its time stands still between two advances; request timeouts follow the machine's clock. Time moves from each instant at which something is due to the next, so an item that lapses at +30 s is at the tail of its queue with that \`updated_at\`, and two advances have the same effect as one by their sum. The reply comes once every lapse, expiry and wake due by then is committed, in dead queues as well. With \`handler_timeout\` time waits at each instant until workers have done what there is to do, so that handlers which fail have all their attempts. Several advances at once are done one after the other.`,
    request: schemas.ClockAdvanceRequest,
    response: schemas.ClockAdvanceReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { by: "10m" },
    replies: {
      ...changeRefusals({ effect: "the clock stands where it was" }),
      200: {
        meaning: "All that was due by `now` is committed.",
        reaction: replyCodes[200].reaction,
        example: { now: "2026-03-01T13:05:00.000Z" },
      },
      400: refusal(400, {
        meaning: "`by` is not a duration, or out of bounds; the clock stands where it was.",
        reason: "malformed",
        message:
          'by is invalid; time: missing unit in duration "5" - expected format: 30s, 10m or 24h',
      }),
      429: overloaded("the clock stands where it was"),
      453: refusal(453, {
        meaning: "The server was started without `--test-clock`.",
        reaction: "Start another one with `--test-clock`, on a folder of its own or in memory.",
        reason: "no_test_clock",
        message: "there is no test clock; start with --test-clock or testClock",
      }),
      500: refusal(500, {
        meaning:
          "The server failed, or after five minutes a shard was still down or there was more to do. The clock was advanced in part; what was due by then is committed.",
        reaction: "Advance it again.",
        reason: "in_part",
        message: "the clock was advanced in part; a shard is down or busy, or the server stops",
      }),
    },
  }),

  series: row({
    path: "/v1/server.series",
    tag: "Operations",
    summary: "Tell the last hour or day",
    repeat: "reads",
    role: "read",
    description: `Returns what happened to the items of a queue or of all queues together, or what a shard did, point by point: every ten seconds for an hour, every minute for a day. The points are in memory, in as many bytes as \`--series-bytes\` says: they begin with the process, or with the node that took the shards over, and if not all queues fit, the busiest are kept. A client that draws rates from them needs no counters of its own; nothing is counted in two points. A series of all queues needs every shard: it fails if one cannot be reached within a second.`,
    request: schemas.ServerSeriesRequest,
    response: schemas.ServerSeriesReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", names: ["produced", "completed", "ready"] },
    replies: {
      ...sharedRefusals({ effect: "nothing was told" }),
      503: unreachedShard("nothing was told", "a series of all queues needs every shard"),
      200: {
        meaning: "What is kept from `from` on.",
        reaction:
          "Ask again from the end of the last point: `from` plus as many steps as there are values.",
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
          "The queue or the shard does not exist, a name is unknown or given twice, or `from` or `step` is invalid; nothing was returned.",
        reason: "malformed",
        message: "step is invalid; expected 10s or 1m, got 5s",
      }),
      429: overloaded("nothing was told"),
    },
  }),

  listNodes: row({
    path: "/v1/nodes.list",
    repeat: "reads",
    role: "read",
    reach: "visible",
    tag: "Operations",
    summary: "List the nodes",
    description: `Lists the nodes of a cluster, and the owner of each shard. Any node answers, from what it last read in the database, ten times per ownership lease. A server that was started without \`--node-url\` is alone, and lists none.`,
    request: schemas.NodesListRequest,
    response: schemas.NodesListReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "The nodes as this one saw them last.",
        reaction: replyCodes[200].reaction,
        example: {
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
        },
      },
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
      "Asks a node to hand its shards over, one after the other, to the nodes with the fewest, and to take no others. It still answers calls and forwards them. Any node takes the request, for any node, and records it in the database; the node reads it within a tenth of the ownership lease. Its list of shards in `nodes.list` is empty when it is done. With `draining: false` the node takes its share again; so does a process that is started again. A node keeps or takes shards all the same while no other node could.",
    request: schemas.NodesDrainRequest,
    response: schemas.NodeInfo,
    bodyBytesMax: bounds.bodyBytesMax,
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
          "No live node has this URL, no other node could take its shards, or the server is alone; nothing was changed.",
        reaction: "Compare `url` with `nodes.list`; start another node before you drain the last.",
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
      "Says that an operator has dealt with the commits that a database lost although they had been acknowledged, as a standby that was behind does when it takes over. From then on `status` of `/health` is no longer `commits_lost`, and the alert ends, until more are lost. `server.overview` has the alarm `commits_lost` as long. Losses are counted by the process that answers: of several nodes, call the one that tells of them.",
    request: schemas.ConfirmLossRequest,
    response: schemas.ConfirmLossReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was confirmed" }),
      200: {
        meaning: "All losses that the process knows of are confirmed.",
        reaction: replyCodes[200].reaction,
        example: { lost_commits: 2 },
      },
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
    summary: "Say who is asking",
    description:
      "Returns what the API key of this call is for, so that a program knows what it may do before it tries. A server without API keys says that everything is allowed.",
    request: schemas.WhoAmIRequest,
    response: schemas.WhoAmIReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was read" }),
      200: {
        meaning: "What the key is for.",
        reaction: replyCodes[200].reaction,
        example: {
          name: "checkout",
          roles: ["produce"],
          queues: ["orders*"],
          rights: [{ roles: ["produce"], queues: ["orders*"] }],
          keys_required: true,
        },
      },
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
      "Lists the API keys that the server accepts, in the order of their file: what each is for, when it was last used, and how many of its calls were refused. Of each digest the first eight digits are shown. Uses are counted by the process that answers, since it started; a server without API keys lists none.",
    request: schemas.KeysListRequest,
    response: schemas.KeysListReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The keys that are in force.",
        reaction: replyCodes[200].reaction,
        example: {
          items: [
            {
              digest: "8f434346",
              name: "checkout",
              roles: ["produce"],
              queues: ["orders*"],
              rights: [{ roles: ["produce"], queues: ["orders*"] }],
              last_used_at: "2026-03-01T12:00:00.000Z",
              refusals: 0,
            },
          ],
        },
      },
      400: unknownKey,
    },
  }),

  listActions: row({
    path: "/v1/actions.list",
    repeat: "reads",
    role: "read",
    reach: "visible",
    tag: "Server",
    summary: "List what was done",
    description: `Says who did what: the last ${bounds.actionsMax.toLocaleString("en-US")} calls that created, changed, paused, cleared or deleted a queue, removed, imported or gave up items by hand, advanced the test clock or made a backup, newest first, whether or not they succeeded. They are in memory and start again with the process; its log has them too. What producers and workers do is not included. A redrive is listed under the queue that items leave and under those they go to. An API key for some queues is shown the actions on those. Actions in shards that could not be reached within a second are missing, and \`unreached\` names these shards; if \`pivot\` is an action in one of them, the call fails.`,
    request: schemas.ActionsListRequest,
    response: schemas.ActionsListReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      503: unreachedShard("nothing was listed", "the action of the pivot is there"),
      200: {
        meaning: "The actions from `pivot` on, newest first; none when none is older.",
        reaction: "For the next page, give the last id as `pivot` and skip it in the reply.",
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
      "Returns the ready and leased items of one partition in queue order, from `pivot` on, without leasing them. A page holds at most `limit` items and ends early at 32 MB of payload; the list ends when a page has nothing after the pivot. Scheduled items are listed by `storage/scheduled.list`.",
    request: schemas.StorageListRequest,
    response: schemas.StorageItemsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", partition: 0, pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The items from `pivot` on; none when no item follows it.",
        reaction: "For the next page, give the last id as `pivot` and skip it in the reply.",
        example: { items: [schemas.sampleStorageItem] },
      },
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `pivot` is not an id, or `limit` is out of bounds; nothing was listed.",
        reason: "no_such_partition",
        message: badPartition,
      }),
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
      "Returns the items of one partition that wait for their `enqueue_at` or `retry_at`, in the order of their ids, from `pivot` on. `enqueue_at` says when each is due.",
    request: schemas.StorageListRequest,
    response: schemas.StorageItemsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", partition: 0, pivot: "", limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The scheduled items from `pivot` on; none when no item follows it.",
        reaction: "For the next page, give the last id as `pivot` and skip it in the reply.",
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
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, `pivot` is not an id, or `limit` is out of bounds; nothing was listed.",
        reason: "no_such_partition",
        message: badPartition,
      }),
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
      "Looks through a queue for items that match a filter, in whatever state, without leasing them and without an index: a call looks at 100,000 items at most and says where to go on. Other calls are served meanwhile.",
    request: schemas.FindItemsRequest,
    response: schemas.FindItemsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders-dead", filter: { reason: "card_declined" }, limit: 100 },
    replies: {
      ...sharedRefusals({ effect: "nothing was looked for" }),
      200: {
        meaning: "What was found so far.",
        reaction: "Go on with `next_pivot` until it is empty.",
        example: { items: [schemas.sampleFoundItem], looked_at: 100_000, next_pivot: "0.0.100001" },
      },
      400: refusal(400, {
        meaning: "The queue or the partition does not exist, or something is out of bounds.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: overloaded("nothing was looked for"),
    },
  }),

  groupItems: row({
    path: "/v1/storage/items.groups",
    tag: "Storage",
    summary: "Group items",
    repeat: "reads",
    role: "read",
    description:
      "Counts the items that match a filter by what they have in common, such as the reason of dead ones, looking at 100,000 at most. Numbers, instants and ids in a reason do not count, except codes such as `HTTP 503`; give a group's `value` as the filter's `reason` to find or redrive its items.",
    request: schemas.GroupItemsRequest,
    response: schemas.GroupItemsReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders-dead", by: "reason" },
    replies: {
      ...sharedRefusals({ effect: "nothing was counted" }),
      200: {
        meaning: "What was counted so far.",
        reaction: "Go on with `next_pivot` until it is empty, and add up the counts.",
        example: {
          groups: [
            {
              value: "card_declined",
              count: 312,
              first_at: "2026-03-01T10:42:00.000Z",
              last_at: "2026-03-01T11:58:00.000Z",
              sample_id: sampleId,
            },
          ],
          other_items: 0,
          looked_at: 1_284,
          next_pivot: "",
        },
      },
      400: refusal(400, {
        meaning: "The queue or the partition does not exist, or something is out of bounds.",
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
      "Returns an item by the id that it has now, with all of its payload or, for a large one, a range of it; `payload_bytes` says how large it is.",
    request: schemas.GetItemRequest,
    response: schemas.FoundItem,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { id: sampleId },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "the item may be there"),
      200: {
        meaning: "The item as it is stored.",
        reaction: replyCodes[200].reaction,
        example: { ...schemas.sampleFoundItem, payload: "eyJvcmRlciI6NDJ9" },
      },
      400: refusal(400, {
        meaning: "The id is malformed, or the range begins behind the end of the payload.",
        reason: "malformed",
        message: "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning: "No item has this id now.",
        reaction: "Ask `storage/items.explain`, which knows ids that an item had before.",
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
      "Says where an item is and why, by any id that it ever had: its state, what is ahead of it and what holds its queue up, why it died, and what happened to it, even if it has been completed. The history is in memory, in as many bytes as `--history-bytes` says, and begins when the item's shard opened its store: with the process, after a failure of the store, or with the node that took the shards over. A former id that the history does not know is looked for as the first id of an item, in the queue that issued it and in its dead queue, among 100,000 items each: by an id between the first and the last, or in a third queue, an item is not found then.",
    request: schemas.ExplainItemRequest,
    response: schemas.ItemExplained,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { id: sampleId },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "the item may be there"),
      200: {
        meaning: "What is known of it.",
        reaction: replyCodes[200].reaction,
        example: {
          id: sampleId,
          item: schemas.sampleFoundItem,
          ahead: 41,
          ahead_is_all: true,
          why: [
            "It is ready, with 41 ahead of it in partition 0.",
            "It died in 'orders': its 3 attempts were used up.",
            "The last reason given was: card_declined",
          ],
          history: [
            {
              at: "2026-03-01T10:42:00.000Z",
              what: "dead",
              id: sampleId,
              queue_name: "orders-dead",
              partition: 0,
              by: "",
            },
          ],
          history_since: "2026-03-01T09:00:00.000Z",
        },
      },
      400: refusal(400, {
        meaning: "The id is malformed.",
        reason: "malformed",
        message: "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
      }),
      429: overloaded("nothing was changed"),
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
      "Sends ready items of a queue, usually a dead queue, back to the queues that they came from, or all to one: with a new id, no attempts and a fresh deadline. Their first id and the last reason stay, and `redriven` is raised. The 200 says that a task does it, across restarts too; each item is in one place at any moment.",
    request: schemas.RedriveRequest,
    response: schemas.TaskBegun,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders-dead", filter: { reason: "card_declined" }, per_second: 500 },
    replies: {
      ...changeRefusals({ effect: "nothing was moved" }),
      200: {
        meaning: "A task moves them; of a dry run, how many there are.",
        reaction: "Ask `tasks.info` how far it has come.",
        example: {
          task_id: "rmg2k7v1",
          matched: 312,
          destinations: [{ queue_name: "orders", count: 312 }],
        },
      },
      400: refusal(400, {
        meaning: "A queue does not exist, or something is out of bounds; nothing was moved.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: tooManyTasks("nothing was moved"),
      453: refusal(453, {
        meaning: "More items match than `expect` says; nothing was moved.",
        reaction: "Look at the count, and send it as `expect` if so many may go.",
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
      "Makes scheduled items ready before their time, gives items up, or removes them; or takes leased items back, such as all that a client holds which is gone. Like a redrive it is a task, which goes on across restarts. Items that arrive or move after the call are left alone.",
    request: schemas.RepairRequest,
    response: schemas.TaskBegun,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", action: "promote", filter: { kind: "order-placed" } },
    replies: {
      ...changeRefusals({ effect: "nothing was changed" }),
      200: {
        meaning: "A task does it; of a dry run, how many there are.",
        reaction: "Ask `tasks.info` how far it has come.",
        example: {
          task_id: "rmg2k7v1",
          matched: 312,
          destinations: [],
        },
      },
      400: refusal(400, {
        meaning: "The queue does not exist, or something is out of bounds; nothing was changed.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
      429: tooManyTasks("nothing was changed"),
      453: refusal(453, {
        meaning:
          "More items match than `expect` says, or the queue has no dead queue to send them to; nothing was changed.",
        reaction: "Look at the count, and send it as `expect` if so many may go.",
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
      "Returns the tasks that run or have ended, the newest first, 100 at most; `tasks.info` knows the last 1,000. Tasks of shards that could not be reached within a second are missing, and `unreached` names these shards.",
    request: schemas.TasksListRequest,
    response: schemas.TasksListReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: {},
    replies: {
      ...sharedRefusals({ effect: "nothing was listed" }),
      200: {
        meaning: "The tasks.",
        reaction: replyCodes[200].reaction,
        example: { tasks: [schemas.sampleTask], unreached: [] },
      },
      400: refusal(400, {
        meaning: "The queue does not exist.",
        reason: "no_such_queue",
        message: unknownQueue,
      }),
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
    bodyBytesMax: bounds.bodyBytesMax,
    example: { task_id: "rmg2k7v1" },
    replies: {
      ...sharedRefusals({ effect: "nothing was changed" }),
      503: unreachedShard("nothing was changed", "the task may be there"),
      200: {
        meaning: "The task as it is now.",
        reaction: replyCodes[200].reaction,
        example: schemas.sampleTask,
      },
      400: refusal(400, {
        meaning: "The body breaks the form of the contract.",
        reason: "malformed",
        message: "task_id is required",
      }),
      429: overloaded("nothing was changed"),
      453: refusal(453, {
        meaning: "No task has this id, or it ended long ago.",
        reaction: "Look at `tasks.list`.",
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
      "Stops a task. What it has already moved stays moved, and after the 200 nothing more moves. It needs a key that administers the queue of the task, and the one that the task names as `to`.",
    request: schemas.TaskRequest,
    response: schemas.TaskInfo,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { task_id: "rmg2k7v1" },
    replies: {
      ...changeRefusals({ effect: "the task goes on" }),
      503: unreachedShard("the task goes on", "the task may be there"),
      200: {
        meaning: "The task as it ended, through this call or before it.",
        reaction: replyCodes[200].reaction,
        example: {
          ...schemas.sampleTask,
          state: "cancelled",
          ended_at: "2026-03-01T12:00:04.000Z",
        },
      },
      400: refusal(400, {
        meaning: "The body breaks the form of the contract.",
        reason: "malformed",
        message: "task_id is required",
      }),
      429: overloaded("the task goes on"),
      453: refusal(453, {
        meaning: "No task has this id, or it ended long ago.",
        reaction: "Look at `tasks.list`.",
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
    description: `Puts 1 to ${bounds.importItemsMax} items into one partition as they were listed elsewhere: leases, attempts, deadlines and \`enqueue_at\` are kept, ids are new. An item whose \`source_id\` the partition holds already is not stored again, so an import that was interrupted can be repeated whole. Set \`source_id\` to the id an item had where it came from. The reply has the items as they were stored.`,
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
      200: {
        meaning: "The items as they are stored, with their new ids.",
        reaction: replyCodes[200].reaction,
        example: { items: [schemas.sampleStorageItem] },
      },
      400: refusal(400, {
        meaning:
          "The queue or the partition does not exist, there are no items or too many, or an item is malformed; no item was stored.",
        reason: "malformed",
        message: "items is invalid; cannot be empty",
      }),
      429: overloaded("no item was stored"),
      453: refusal(453, {
        meaning:
          "The queue no longer asks for this partition, which takes no new items; no item was stored.",
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
      "Removes items from one partition, whatever their state; they do not go to the dead queue, and the holder of a leased one can no longer complete it. Ids that the partition does not hold are ignored, so the request can be repeated. With `dry_run` nothing is removed, and `counts` says what would be; with `expect` the whole call is refused if more of the ids are there.",
    request: schemas.StorageDeleteRequest,
    response: schemas.GuardedReply,
    bodyBytesMax: bounds.bodyBytesMax,
    example: { queue_name: "orders", partition: 0, ids: [sampleId, otherId] },
    replies: {
      ...changeRefusals({ effect: "no item was removed" }),
      200: success("None of the ids is in the partition any more."),
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
} as const;

export type OperationId = keyof typeof operations;

/** The operations of which a second call does one of these, in API order. */
export function operationsThat(...repeats: readonly Repeat[]): readonly OperationId[] {
  const rows = Object.entries(operations) as [OperationId, Operation][];
  return rows.filter(([, { repeat }]) => repeats.includes(repeat)).map(([id]) => id);
}
export type RequestOf<Id extends OperationId> = Static<(typeof operations)[Id]["request"]>;
export type ResponseOf<Id extends OperationId> = Static<(typeof operations)[Id]["response"]>;

/** Beside the operations: for probes, dashboards and those who run the server. */
export interface Page {
  /** Absent = no API key is asked for. */
  readonly needs?: Needs;
  /** As of an operation. */
  audits?(): boolean;
  readonly method: "GET" | "POST";
  readonly path: `/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly contentType: string;
  /** Of a 200; `null` where it is text of a format of its own. */
  readonly response: TSchema | null;
  readonly replies: { readonly 200: OperationReply } & {
    readonly [Code in ReplyCode]?: OperationReply;
  };
}

const foreignSite = refusal(403, {
  meaning: "The `Host` or `Origin` header names a site that this server does not answer.",
  reason: "origin_not_allowed",
  message: "origin is not allowed; got 'https://example.com'",
});

/** Of a page that takes a key. */
const notAllowed = refusal(403, {
  meaning:
    "The `Host` or `Origin` header names a site that this server does not answer, or the API key does not allow this.",
  reason: "not_allowed",
  message: "key 'checkout' is not allowed to do this; it needs the role 'admin' for all queues",
});

const busy = refusal(429, {
  meaning: "The server is working on as many requests as it takes at once.",
  reason: "full",
  message: "too many requests are being worked on; try again later",
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
      "Says whether the server takes requests, where its items are kept and how durably. Cheap enough to be asked every second. It needs no API key.",
    contentType: "application/json",
    response: schemas.Health,
    replies: {
      200: {
        meaning:
          "The server takes requests; `status` is `degraded` while some shards are down, `store_full` while the disk has no room, and `commits_lost` after a database lost what was acknowledged.",
        reaction: replyCodes[200].reaction,
        example: healthy,
      },
      403: foreignSite,
      503: refusal(503, {
        meaning:
          "No shard is up, the database of the nodes does not answer, or the server is shutting down.",
        reaction: "Send requests elsewhere, and ask again later.",
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
      "Answers as long as the process does, whatever the state of its stores and under any host name. A supervisor that gets no 200 may restart it. It needs no API key.",
    contentType: "application/json",
    response: schemas.Reply,
    replies: { 200: success("The process answers.") },
  },
  readyz: {
    method: "GET",
    path: "/readyz",
    tag: "Server",
    summary: "Readiness probe",
    description:
      "Says whether every queue can be served in all of its partitions; without a 200, send requests elsewhere. It needs no API key.",
    contentType: "application/json",
    response: schemas.Reply,
    replies: {
      200: success("Every shard is up, and the server is not told to stop."),
      403: foreignSite,
      429: busy,
      503: refusal(503, {
        meaning:
          "Some shard is down, the database of the nodes does not answer, or the server is shutting down.",
        reaction: "Send requests elsewhere, and ask again later.",
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
      "Counters and gauges of the server, its shards and its queues in the text format of Prometheus. Where the server has API keys, it needs one with the role `read` for all queues.",
    contentType: "text/plain",
    response: null,
    replies: {
      200: {
        meaning: "The metrics of this moment.",
        reaction: replyCodes[200].reaction,
        example:
          '# HELP holdfast_items Items by queue and state.\n# TYPE holdfast_items gauge\nholdfast_items{queue="orders",state="queued"} 485\n',
      },
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
      "Copies the files of all shards, as of one moment, into a folder of their own under `--backups`, while the server runs. Once the folder is complete it has a manifest. Where the server has API keys, it needs one with the role `admin` for all queues.",
    contentType: "application/json",
    response: schemas.BackupReply,
    replies: {
      200: {
        meaning: "The backup is complete and on disk.",
        reaction: "Copy the folder elsewhere. `holdfast restore` checks it and puts it to use.",
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
        meaning: "The header `Content-Type` is absent or another; no backup was made.",
        reason: "unsupported_content",
        message:
          "content type is not supported; send 'Content-Type: application/json', got 'text/plain'",
      }),
      429: busy,
      453: refusal(453, {
        meaning: "The server makes no backups; nothing was written.",
        reaction: "Have it started with `--backups`.",
        reason: "backups_off",
        message: "backups are off; start the server with --backups <folder>",
      }),
      500: refusal(500, {
        meaning:
          "The folder cannot be written, the store is in memory, or a shard is down or busy; nothing is left of the backup.",
        reason: "backup_failed",
        message: "the backup could not be written; its folder cannot be made",
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
