// The schemas of the wire: messages, and the request and reply of each operation, in API order.
// They are also the API reference, so every key has a description and an example. Requests are
// validated on the hot path, so the schemas check types and bounds only: the patterns of
// durations, date-times, names and ids are for the document, and the server parses these texts.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import {
  at,
  bytes,
  duration,
  encoded,
  flag,
  instant,
  isRequired,
  list,
  long,
  message,
  nullable,
  ofKind,
  optional,
  orNull,
  text,
  whole,
} from "./fields.ts";
import { forms } from "./forms.ts";
import { reasons } from "./reasons.ts";
import { roleNames } from "./roles.ts";

// Published as `default`, but not stored under that name: a validator that knows the keyword
// would copy each request to fill defaults in, and hide that a required key is absent.
export const defaultKeyword = "x-default";

/**
 * Keywords for the document only, such as patterns and lengths. The server checks these itself,
 * with its own order and messages; a test compares the two.
 */
export const publishedKeyword = "x-published";

/**
 * Values of a reply field to which later versions may add. With `enum`, generated clients would
 * refuse such a reply.
 */
const openWordsKeyword = "x-extensible-enum";

/** Marks an object whose optional keys cannot be `null`. In other objects `null` means absent. */
export const withoutNullKeyword = "x-without-null";

/**
 * Marks a text that names a queue to which the caller needs access: `true` for the role of the
 * operation, otherwise the required role.
 */
export const queueKeyword = "x-queue";

/** Whether `null` means the same as absence for this key of the object. */
export function takesNull(schema: TSchema, key: string): boolean {
  return schema[withoutNullKeyword] !== true && !isRequired(schema, key);
}

/** The pattern of a text, for the document only. */
const formed = (pattern: string, maxLength?: number) => ({
  [publishedKeyword]: { pattern, ...(maxLength !== undefined && { maxLength }) },
});

const sampleId = "1h0LdFaStQ2vX000000000000Kd";
const sampleSourceId = "1h0LdFaStQ2vX00010000000042";

const queueNameOptions = {
  description: `Name of the queue, 1 to ${bounds.queueNameBytesMax} bytes of UTF-8 without whitespace, control characters or \`~\`. Names are case-sensitive.`,
  examples: ["orders"],
  ...formed(forms.queueName, bounds.queueNameBytesMax),
  [queueKeyword]: true,
};
const queueName = Type.String(queueNameOptions);
/** Finishing items requires the role `consume`, also in a `transact`, whose role is `produce`. */
const consumedQueueName = Type.String({ ...queueNameOptions, [queueKeyword]: "consume" });

const itemId = Type.String(formed(forms.itemId));

const requestPartition = Type.Integer({
  minimum: 0,
  description: "Number of the partition within the queue, 0 and up.",
  examples: [0],
});

const leasePartition = Type.Integer({
  minimum: 0,
  description: "Partition of the lease, from the lease reply.",
  examples: [0],
});

const requestTimeout = (number: number, recommended: string, effect: string) =>
  duration(number, {
    description: `How long the request may take, as a duration from \`10ms\` to \`15m\`. ${effect} Do not give up on the request before then. Required; \`${recommended}\` is recommended, and clients send it by default.`,
    examples: [recommended, "30s", "15m"],
    ...formed(forms.duration),
    [defaultKeyword]: recommended,
  });

/** By default the server uses the timeout that is recommended for produce. */
const optionalRequestTimeout = Type.Optional(
  orNull({
    ...ofKind("duration"),
    description:
      'How long the request may take, as a duration from `10ms` to `15m`. The reply is sent by then; if it is neither 200 nor 504, nothing was done. Absent, `null` or `""`: 5 minutes.',
    examples: ["30s"],
    ...formed(forms.durationOrNone),
    [defaultKeyword]: bounds.produceRequestTimeoutDefault,
  }),
);

const encoding = Type.String({
  description: "The encoding of the payload, as free text. The server does not interpret it.",
  examples: ["application/json"],
});

const kind = Type.String({
  description: "The kind of item, as free text. The server does not interpret it.",
  examples: ["order-placed"],
});

const reference = Type.String({
  description: "Free text to find the item by, such as a trace or account id.",
  examples: ["account-4711"],
});

const priority = {
  minimum: 0,
  maximum: bounds.priorityMax,
  description: `The priority of the item, 0 to ${bounds.priorityMax}. Items of a higher one are leased first; while an item waits, it gains one for each \`priority_aging\` of its queue.`,
  examples: [0, 9],
};

export const Reply = message(
  "Reply",
  "The reply of every operation that returns no data, and of every refusal.",
  {
    code: whole(1, { description: "The HTTP status, repeated.", examples: [200] }),
    code_text: text(2, {
      description:
        "The code in words. Rely on this text, not on the HTTP status text, which HTTP does not define for 453 and 454.",
      examples: ["OK"],
    }),
    message: text(3, {
      description:
        'The error: a constant part, then after `;` the details of this request. `""` on success.',
      examples: ["queue does not exist; no such queue named 'orders'"],
    }),
    reason: optional.text(100, {
      [openWordsKeyword]: Object.keys(reasons),
      description:
        "Why it was refused, as one stable word; later versions may add words. Present with every code except 200.",
      examples: ["no_such_queue"],
    }),
    details: Type.Optional(
      at(
        4,
        Type.Unsafe<Record<string, string>>(
          Type.Object(
            {},
            {
              additionalProperties: Type.String(),
              description:
                "Reasons by item id, if single ids were refused; for `count_changed`, the actual `count`.",
              examples: [
                {
                  [sampleId]: `item(s) cannot be completed; '${sampleId}' is not marked as leased`,
                },
              ],
            },
          ),
        ),
      ),
    ),
  },
  { [withoutNullKeyword]: true },
);
export type Reply = Static<typeof Reply>;

const headers = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.String(),
      description: `Headers for the consumer that leases the item, as texts by name, such as \`traceparent\`: at most ${bounds.headersBytesMax} bytes as JSON. Absent = none.`,
      examples: [{ traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }],
    },
  ),
);

const group = {
  description: `The group of the item, at most ${bounds.groupBytesMax} bytes of UTF-8, for a queue that is \`grouped\`. Groups take turns. Absent or \`""\`: the group without a name.`,
  examples: ["customer-17"],
  [publishedKeyword]: { maxLength: bounds.groupBytesMax },
};

const ownMaxAttempts = {
  minimum: bounds.maxAttemptsMin,
  maximum: bounds.maxAttemptsMax,
};

/** Fields that stay with an item for its whole life. */
const carried = {
  headers: Type.Optional(at(100, headers)),
  origin_id: optional.text(101, {
    description:
      "The id under which the item was produced, if its current id is another. It never changes.",
    examples: [sampleSourceId],
  }),
  reason: optional.text(102, {
    description: "The `reason` of its last `queue.retry`.",
    examples: ["card_declined"],
  }),
  death: optional.text(103, {
    description:
      "Why the item is in a dead queue: its attempts were used up (`failed`), it waited too long (`expired`), or it was sent there explicitly (`rejected`).",
    examples: ["failed"],
    [openWordsKeyword]: ["failed", "expired", "rejected"],
  }),
  origin_queue: optional.text(104, {
    description: "The queue in which it died.",
    examples: ["orders"],
  }),
  origin_attempts: optional.whole(105, {
    maximum: bounds.carriedCountMax,
    description: "Leases granted for it in that queue.",
    examples: [3],
  }),
  origin_created_at: Type.Optional(
    instant(106, {
      description: "Date-time at which it was produced.",
      examples: ["2026-03-01T11:00:00.000Z"],
    }),
  ),
  redriven: optional.whole(107, {
    maximum: bounds.carriedCountMax,
    description: "Number of times that it was redriven from a dead queue.",
    examples: [1],
  }),
  own_max_attempts: optional.whole(109, {
    ...ownMaxAttempts,
    description:
      "Its own `max_attempts`, which applies instead of that of its queue, except in a dead queue. Absent or 0: the queue's.",
    examples: [1],
  }),
  own_lease_timeout: Type.Optional(
    duration(115, {
      description:
        'Its own `lease_timeout`, which applies instead of that of its queue, except in a dead queue. Absent or `""`: the queue\'s.',
      examples: ["10m"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
  ),
  group: optional.text(116, group),
};

export const ProduceReply = message(
  "ProduceReply",
  "Confirms that every item is stored, or is a duplicate of an item that was written before.",
  {
    code: Reply.properties.code,
    code_text: Reply.properties.code_text,
    message: Reply.properties.message,
    duplicates: optional.list(101, Type.Integer({ minimum: 0 }), {
      description:
        "Positions in `items`, from 0, of items not written because an item with their `unique_key` was written before. Absent if there are none.",
      examples: [[1]],
    }),
    ids: optional.list(102, Type.String(), {
      description:
        'Ids of the items in their order, `""` for a duplicate. Present only with `return_ids`.',
      examples: [[sampleId]],
    }),
  },
  { [withoutNullKeyword]: true },
);
export type ProduceReply = Static<typeof ProduceReply>;

export const ProduceItem = message(
  "ProduceItem",
  "An item to add to a queue. Every field is optional, including the payload.",
  {
    encoding: Type.Optional(at(1, encoding)),
    kind: Type.Optional(at(2, kind)),
    reference: Type.Optional(at(3, reference)),
    enqueue_at: optional.instantOrNull(4, {
      description:
        'Date-time before which the item is not offered. Absent, `null`, `""` or past: it is offered at once.',
      examples: ["2026-03-01T12:00:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    bytes: optional.bytes(5, {
      description:
        "The payload, as arbitrary bytes; in JSON as base64 of either alphabet, with or without padding, blanks and line breaks. If `utf8` is present too, it is ignored.",
      examples: ["eyJvcmRlciI6NDJ9"],
    }),
    utf8: optional.text(6, {
      description: "The payload as plain text, kept as its UTF-8 bytes.",
      examples: ['{"order":42}'],
    }),
    unique_key: optional.text(100, {
      description: `A unique key of at most ${bounds.uniqueKeyBytesMax} bytes, for a queue with \`unique_for\`: for that long after an item is written, no other item with the same unique key is written, even if the first is already completed or removed; with \`unique_for\` \`pending\`, none is written while the first is unfinished. \`""\` = none.`,
      examples: ["order-42"],
      [publishedKeyword]: { maxLength: bounds.uniqueKeyBytesMax },
    }),
    headers: Type.Optional(at(101, headers)),
    priority: optional.whole(102, { ...priority, [defaultKeyword]: 0 }),
    max_attempts: optional.whole(103, {
      ...ownMaxAttempts,
      description:
        "Number of leases after which a retry or a lapse of this item sends it to the dead queue; 0 = the `max_attempts` of the queue.",
      examples: [1],
      [defaultKeyword]: 0,
    }),
    lease_timeout: optional.durationOrNull(104, {
      description:
        'How long consumers hold this item, as a duration, unless a lease or an extend names another. Absent, `null` or `""`: the `lease_timeout` of the queue.',
      examples: ["10m"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
    group: optional.text(105, { ...group, [defaultKeyword]: "" }),
  },
);
export type ProduceItem = Static<typeof ProduceItem>;

export const ProduceRequest = message("ProduceRequest", "Items to add to a queue.", {
  queue_name: at(1, queueName),
  request_timeout: requestTimeout(
    2,
    bounds.produceRequestTimeoutDefault,
    "The reply is sent by then, and if it is neither 200 nor 504, nothing was written.",
  ),
  items: list(3, ProduceItem, {
    minItems: bounds.produceItemsMin,
    maxItems: bounds.produceItemsMax,
    description:
      "The items, in the order in which they are to be offered. All of them go to one partition, or none is written. Of several items with the same `unique_key`, the first is written.",
    examples: [[{ kind: "order-placed", utf8: '{"order":42}' }]],
  }),
  return_ids: optional.flag(100, {
    description: "Whether to return the ids of the items.",
    examples: [false],
    [defaultKeyword]: false,
  }),
});
export type ProduceRequest = Static<typeof ProduceRequest>;

export const LeaseRequest = message(
  "LeaseRequest",
  "A request for items, which waits for one if none is ready.",
  {
    queue_name: at(1, queueName),
    client_id: text(3, {
      description:
        "Identifies the consumer. It must be unique among the lease requests waiting on this queue; duplicates are refused. It can be reused as soon as its lease request is answered.",
      examples: ["worker-7"],
      ...formed(forms.clientId),
    }),
    request_timeout: requestTimeout(
      4,
      bounds.leaseRequestTimeoutDefault,
      "If the queue stays empty until then, the reply is 454. Items that are being leased at that moment are returned slightly later.",
    ),
    batch_size: optional.whole(2, {
      minimum: bounds.leaseBatchMin,
      maximum: bounds.leaseBatchMax,
      description:
        "The maximum number of items to lease. The reply is sent as soon as one item is available; it does not wait for the batch to fill.",
      examples: [10],
      [defaultKeyword]: 1,
    }),
    lease_timeout: optional.durationOrNull(100, {
      description:
        'How long to hold these items, as a duration. Absent, `null` or `""`: the `lease_timeout` of each item, or else of the queue.',
      examples: ["30s"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
    priority_min: optional.whole(101, {
      minimum: 0,
      maximum: bounds.priorityMax,
      description:
        "Lease only items with this `priority` or a higher one, so that some workers are reserved for what is urgent. What an item has gained by waiting does not count.",
      examples: [0, 5],
      [defaultKeyword]: 0,
    }),
    group_runs: optional.flag(102, {
      description:
        "Of a group with a limit of one leased item, take several that follow each other, if no other group is open. Handle them one after the other, in the order of the reply; the group opens once all are finished. By default a lease takes one.",
      examples: [true],
      [defaultKeyword]: false,
    }),
  },
);
export type LeaseRequest = Static<typeof LeaseRequest>;

export const LeaseItem = message("LeaseItem", "An item held by one consumer.", {
  id: text(4, {
    description: `Identifies the item during this lease: ${bounds.idLength} characters, to be treated as opaque. An item gets a new id each time it returns to a queue, so the id of a lapsed lease can no longer complete it.`,
    examples: [sampleId],
  }),
  encoding: at(1, encoding),
  kind: at(2, kind),
  reference: at(3, reference),
  attempts: whole(5, {
    maximum: bounds.carriedCountMax,
    description: "Leases granted for this item, including this one: 1 the first time.",
    examples: [1],
  }),
  lease_deadline: instant(6, {
    description:
      "Date-time until which only you hold the item. If it is neither completed nor retried by then, the lease lapses and the item is offered again.",
    examples: ["2026-03-01T13:00:00.000Z"],
  }),
  bytes: bytes(7, {
    description: "The payload, whether it was produced as `bytes` or as `utf8`; in JSON as base64.",
    examples: ["eyJvcmRlciI6NDJ9"],
  }),
  priority: whole(108, priority),
  ...carried,
});
export type LeaseItem = Static<typeof LeaseItem>;

export const LeaseReply = message(
  "LeaseReply",
  "Leased items, and the queue and partition with which to complete or retry them.",
  {
    items: list(3, LeaseItem, {
      description:
        "1 to `batch_size` items in queue order, all from one partition and with the same `priority`.",
      examples: [
        [
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
      ],
    }),
    queue_name: text(1, { description: "The requested queue.", examples: ["orders"] }),
    partition: whole(2, {
      minimum: 0,
      description: "Partition of the items; send it when you complete or retry them.",
      examples: [0],
    }),
    max_attempts: whole(100, {
      description:
        "The limit of the queue; 0 = none. An item whose `attempts` equal it, or its `own_max_attempts`, is on its last attempt.",
      examples: [10],
    }),
    now: instant(101, {
      description:
        "The server's time when it sent this reply. Subtract it from a `lease_deadline` to get the remaining time of the lease without relying on the consumer's clock.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    retry_backoff: text(102, {
      description:
        'The delay of the queue for a retry with neither `retry_at` nor `retry_after`; `""` = none.',
      examples: ["", "1s..5m"],
    }),
  },
);
export type LeaseReply = Static<typeof LeaseReply>;

export const RetryItem = message("RetryItem", "A leased item to return to its queue.", {
  id: text(1, {
    description: "Id of a leased item, from the lease reply.",
    examples: [sampleId],
    ...formed(forms.itemId),
  }),
  retry_at: optional.instantOrNull(2, {
    description:
      'Date-time before which the item is not offered again, by the server\'s clock. Past: it joins the tail of its partition at once. Absent, `null` or `""`: `retry_after` applies, or else the `retry_backoff` of the queue, if it has one; otherwise the item joins the tail at once. A retry does not change the `expire_deadline`: with a `retry_at` at or after it, the item expires without another attempt.',
    examples: ["2026-03-01T12:15:00.000Z"],
    ...formed(forms.dateTimeOrNone),
  }),
  retry_after: optional.durationOrNull(101, {
    description:
      'How long the item is not offered again, as a duration, which does not depend on the consumer\'s clock. Absent, `null` or `""`: `retry_at` applies. Setting both is refused.',
    examples: ["15m"],
    ...formed(forms.durationOrNone, bounds.durationTextMax),
  }),
  dead: optional.flag(3, {
    description:
      "Send the item to the dead queue, regardless of its remaining attempts and of `retry_at`. Refused if the queue has no dead queue.",
    examples: [false],
    [defaultKeyword]: false,
  }),
  reason: optional.text(100, {
    description: `The reason of the retry, such as an error message: at most ${bounds.retryReasonBytesMax} bytes. It stays with the item until another retry replaces it.`,
    examples: ["card_declined"],
    [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
  }),
});
export type RetryItem = Static<typeof RetryItem>;

export const RetryRequest = message(
  "RetryRequest",
  "Leased items that their consumer could not finish.",
  {
    queue_name: at(1, queueName),
    partition: at(2, leasePartition),
    request_timeout: at(100, optionalRequestTimeout),
    items: list(3, RetryItem, {
      minItems: bounds.retryItemsMin,
      maxItems: bounds.retryItemsMax,
      description: "The items to return, each id once. Either all are returned, or none is.",
      examples: [[{ id: sampleId, retry_at: "2026-03-01T12:15:00.000Z", dead: false }]],
    }),
  },
);
export type RetryRequest = Static<typeof RetryRequest>;

export const CompleteRequest = message("CompleteRequest", "Leased items whose work is done.", {
  queue_name: at(1, queueName),
  partition: at(2, leasePartition),
  request_timeout: requestTimeout(
    3,
    "5m",
    "The reply is sent by then, and if it is neither 200 nor 504, nothing was completed.",
  ),
  ids: list(4, itemId, {
    minItems: bounds.completeIdsMin,
    maxItems: bounds.completeIdsMax,
    description: "Ids from the lease reply, each once. Either all are completed, or none is.",
    examples: [[sampleId]],
  }),
});
export type CompleteRequest = Static<typeof CompleteRequest>;

export const TransactComplete = message(
  "TransactComplete",
  "Leased items of one partition whose work is done.",
  {
    queue_name: at(100, consumedQueueName),
    partition: at(101, leasePartition),
    ids: list(102, itemId, {
      minItems: bounds.completeIdsMin,
      maxItems: bounds.completeIdsMax,
      description: "Ids from the lease reply, each once.",
      examples: [[sampleId]],
    }),
  },
);
export type TransactComplete = Static<typeof TransactComplete>;

export const TransactRetry = message(
  "TransactRetry",
  "Leased items of one partition to return to their queue.",
  {
    queue_name: at(100, consumedQueueName),
    partition: at(101, leasePartition),
    items: list(102, RetryItem, {
      minItems: bounds.retryItemsMin,
      maxItems: bounds.retryItemsMax,
      description: "The items to return, each id once.",
      examples: [[{ id: sampleId, retry_at: "2026-03-01T12:15:00.000Z", dead: false }]],
    }),
  },
);
export type TransactRetry = Static<typeof TransactRetry>;

export const TransactProduce = message("TransactProduce", "Items to add to one queue.", {
  queue_name: at(100, queueName),
  items: list(101, ProduceItem, {
    minItems: bounds.produceItemsMin,
    maxItems: bounds.produceItemsMax,
    description:
      "The items, in the order in which they are to be offered. All of them go to one partition.",
    examples: [[{ kind: "invoice", utf8: '{"order":42}' }]],
  }),
});
export type TransactProduce = Static<typeof TransactProduce>;

const transactPart = <T extends TSchema>(
  number: number,
  part: T,
  { description, example }: { readonly description: string; readonly example: unknown },
) =>
  optional.list(number, part, {
    maxItems: bounds.transactEntriesMax,
    description,
    examples: [[example]],
  });

export const TransactRequest = message(
  "TransactRequest",
  `Items to finish and to produce in one commit: 1 to ${bounds.transactEntriesMax} ids and items in total.`,
  {
    request_timeout: requestTimeout(
      100,
      bounds.produceRequestTimeoutDefault,
      "The reply is sent by then, and if it is neither 200 nor 504, nothing was changed.",
    ),
    complete: transactPart(101, TransactComplete, {
      description: "Items to complete, by partition.",
      example: {
        queue_name: "orders",
        partition: 0,
        ids: [sampleId],
      },
    }),
    retry: transactPart(102, TransactRetry, {
      description: "Items to return to their queue, by partition.",
      example: {
        queue_name: "orders",
        partition: 0,
        items: [{ id: sampleId }],
      },
    }),
    produce: transactPart(103, TransactProduce, {
      description: "Items to add, by queue.",
      example: {
        queue_name: "invoices",
        items: [{ utf8: '{"order":42}' }],
      },
    }),
  },
);
export type TransactRequest = Static<typeof TransactRequest>;

export const TransactProduced = message(
  "TransactProduced",
  "The outcome for the items of one queue.",
  {
    queue_name: text(100, {
      description: "The requested queue.",
      examples: ["invoices"],
    }),
    partition: optional.whole(101, {
      minimum: 0,
      description: "The partition of the items. Absent until they are delivered.",
      examples: [0],
    }),
    delivered: flag(102, {
      description:
        "Whether the items are in their queue already. If not, they are in the store of the inputs and will be moved to their queue, once each.",
      examples: [true],
    }),
    duplicates: optional.list(103, Type.Integer({ minimum: 0 }), {
      description:
        "Positions in `items`, from 0, of items not written because an item with their `unique_key` was written before. Absent if there are none.",
      examples: [[1]],
    }),
  },
);
export type TransactProduced = Static<typeof TransactProduced>;

export const TransactReply = message("TransactReply", "The outcome of a transact.", {
  produced: list(101, TransactProduced, {
    description: "One entry for each entry of `produce`, in the same order.",
    examples: [[{ queue_name: "invoices", partition: 0, delivered: true }]],
  }),
});
export type TransactReply = Static<typeof TransactReply>;

const heldIds = Type.Array(itemId, {
  minItems: bounds.completeIdsMin,
  maxItems: bounds.completeIdsMax,
  description: "Ids from the lease reply, each once. The call applies to all of them, or to none.",
  examples: [[sampleId]],
});

export const ExtendRequest = message("ExtendRequest", "Leases to extend.", {
  queue_name: at(1, queueName),
  partition: at(2, leasePartition),
  request_timeout: at(5, optionalRequestTimeout),
  ids: at(3, heldIds),
  lease_timeout: optional.durationOrNull(4, {
    description:
      'How long to hold the items from now, as a duration. Absent, `null` or `""`: the `lease_timeout` of each item, or else of the queue.',
    examples: ["5m"],
    ...formed(forms.durationOrNone, bounds.durationTextMax),
  }),
});
export type ExtendRequest = Static<typeof ExtendRequest>;

export const ExtendReply = message("ExtendReply", "The new deadline of the leases.", {
  lease_deadline: instant(1, {
    description:
      "Date-time until which you hold all of the items. An extension never shortens a lease.",
    examples: ["2026-03-01T13:05:00.000Z"],
  }),
  now: instant(2, {
    description:
      "The server's time when it sent this reply. Subtract it from a `lease_deadline` to get the remaining time of the lease without relying on the consumer's clock.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
});
export type ExtendReply = Static<typeof ExtendReply>;

export const ReleaseRequest = message(
  "ReleaseRequest",
  "Leased items to return to their queue without counting the attempt.",
  {
    queue_name: at(1, queueName),
    partition: at(2, leasePartition),
    request_timeout: at(4, optionalRequestTimeout),
    ids: at(3, heldIds),
  },
);
export type ReleaseRequest = Static<typeof ReleaseRequest>;

const leaseTimeout = Type.String({
  ...ofKind("duration"),
  description: `How long a consumer holds an item, as a duration of at most ${bounds.durationTextMax} characters. It cannot be longer than \`expire_timeout\`. A change applies to leases granted afterwards.`,
  examples: ["60m"],
  ...formed(forms.duration, bounds.durationTextMax),
});

const expireTimeout = Type.String({
  ...ofKind("duration"),
  description: `How long an item may wait before it moves to the dead queue, as a duration of at most ${bounds.durationTextMax} characters, or \`never\`. It counts from when the item is produced, or from its \`enqueue_at\` if that is later. A change applies to items produced afterwards.`,
  examples: ["24h", "7d", "never"],
  ...formed(forms.durationOrNever, bounds.durationTextMax),
});

const maxAttempts = Type.Integer({
  minimum: bounds.maxAttemptsMin,
  maximum: bounds.maxAttemptsMax,
  description:
    "Number of leases after which a retry or a lapse sends an item to the dead queue; 0 = no limit. Lapsed leases count as attempts.",
  examples: [10],
});

const leasedMax = Type.Integer({
  minimum: bounds.leasedMaxMin,
  maximum: bounds.leasedMaxMax,
  description:
    "The maximum number of items of the queue that may be leased at one time, over all partitions; 0 = no limit. A lease gets at most the remaining number, and waits while it is 0. Items imported as leased count, but are not refused.",
  examples: [0, 50],
});

const leaseRate = Type.String({
  description:
    'The maximum number of items leased in any interval, as items and a duration: `100/1s`; `""` = no limit. It is measured to a thousandth of the interval, and is reset when the server starts.',
  examples: ["100/1s", ""],
});

const waitingMax = Type.Integer({
  minimum: 0,
  maximum: bounds.waitingMaxMax,
  description:
    "The maximum number of items that may wait in the queue, ready or scheduled, over all partitions and priorities; 0 = no limit. A produce that would exceed it is refused with `queue_full`, and nothing of it is written. Leased items do not count.",
  examples: [0, 100_000],
});

const retryBackoff = Type.String({
  description: `How long an item waits whose retry names neither \`retry_at\` nor \`retry_after\`, as its first and its longest delay: \`1s..5m\`; \`""\` = it joins the tail at once. The delay doubles with each attempt, and is up to a tenth shorter, which spreads items that failed together. It does not apply to lapses and releases.`,
  examples: ["1s..5m", ""],
});

const grouped = Type.Boolean({
  description:
    "Whether the items of the queue have a `group`. Groups take turns, so that none waits behind the items of another. Such a queue has exactly one partition. It is fixed when the queue is created.",
  examples: [false],
});

const groupLeasedMax = Type.Integer({
  minimum: bounds.leasedMaxMin,
  maximum: bounds.leasedMaxMax,
  description:
    "The maximum number of items of one group that may be leased at one time; 0 = no limit. With 1, one lease may take several consecutive items of a group, which is closed until all of them are finished.",
  examples: [0, 1],
});

const groupRate = Type.String({
  description:
    'The maximum number of items of one group that are leased in any interval, in the format of `lease_rate`; `""` = no limit.',
  examples: ["10/1s", ""],
});

const groupWaitingMax = Type.Integer({
  minimum: 0,
  maximum: bounds.waitingMaxMax,
  description:
    "The maximum number of items of one group that may wait, ready or scheduled; 0 = no limit. A produce that would exceed it is refused with `group_full`, and nothing of it is written.",
  examples: [0, 1_000],
});

const groupOrders = ["loose", "strict"];
const groupOrder = {
  description:
    "`loose`: an item that is retried or whose lease lapses joins the tail of its group. `strict`: it keeps its place, and no other item of its group is leased until it is finished.",
  examples: groupOrders,
};

const groupDeaths = ["continue", "block"];
const groupOnDead = {
  description:
    "`block`: a group of which an item dies is closed until `groups.set` unblocks it. `continue`: its other items are leased.",
  examples: groupDeaths,
};

const uniqueFor = Type.String({
  ...ofKind("duration"),
  description:
    'How long after an item is written no second item with its `unique_key` is written, as a duration. The setting at the time the item was written applies. `pending` = for as long as the item is unfinished: until it is completed, dead or removed. `""` = the queue does not accept unique keys. It can change from or to `pending` only while the queue holds no items.',
  examples: ["1d", "pending", ""],
  ...formed(forms.durationPendingOrNone, bounds.durationTextMax),
});

const priorityAging = Type.String({
  ...ofKind("duration"),
  description:
    "How long an item waits for each priority that it gains, as a duration, or `never`: then items are leased strictly by their `priority`. An item gains no more once it has the highest. A change applies at once.",
  examples: ["60s", "10m", "never"],
  ...formed(forms.durationOrNever, bounds.durationTextMax),
});

const requestedPartitions = Type.Integer({
  minimum: bounds.partitionsMin,
  maximum: bounds.partitionsMax,
  description:
    "The requested number of partitions. The number in use may be higher for a while: surplus partitions accept no new items and are removed once they are empty.",
  examples: [4, 1025],
});

const deadQueue = Type.String({
  description: `Name of the queue for failed and expired items, at most ${bounds.deadQueueBytesMax} bytes; \`""\` = none, and such items are removed. It must exist, and can neither be the queue itself nor have a dead queue of its own.`,
  examples: ["orders-dead"],
  ...formed(forms.queueNameOrNone, bounds.deadQueueBytesMax),
  [queueKeyword]: true,
});

const queueReference = Type.String({
  description: `Free text for owner or metadata, at most ${bounds.queueReferenceBytesMax} bytes.`,
  examples: ["team-checkout"],
  [publishedKeyword]: { maxLength: bounds.queueReferenceBytesMax },
});

/** Set only by `queue.pause` and `queue.resume`. */
const pauseKeys = {
  lease_paused: flag(100, {
    description: "Whether leases are paused, so that lease requests wait.",
    examples: [false],
  }),
  produce_paused: flag(101, {
    description: "Whether produces are paused, and therefore refused.",
    examples: [false],
  }),
  pause_reason: text(102, {
    description: 'Why it is paused; `""` = no reason was given, or it is not paused.',
    examples: ["", "moving to the new database"],
  }),
};

const ignoredPause = {
  description:
    "Set by `queue.pause`. Accepted, so that a reply can be sent back unchanged, and ignored.",
};
const ignoredPauseKeys = {
  lease_paused: optional.flag(100, { ...ignoredPause, examples: [false] }),
  produce_paused: optional.flag(101, { ...ignoredPause, examples: [false] }),
  pause_reason: optional.text(102, { ...ignoredPause, examples: [""] }),
};

/** Sent by clients of the protocol. There is only one namespace. */
const namespace = Type.Optional(
  Type.String({
    description: "Empty or `_system`: there is no other namespace. It has no effect.",
    examples: ["_system"],
    ...formed(forms.namespace),
    [defaultKeyword]: "_system",
  }),
);

const ignoredInstant = (number: number, what: string) =>
  optional.instantOrNull(number, {
    description: `${what} Accepted, so that a reply can be sent back unchanged, and ignored.`,
    examples: ["2026-03-01T12:00:00.000Z"],
  });

// Options of operations that remove items.

const guard = {
  dry_run: optional.flag(110, {
    description:
      "Change nothing, and report in `counts` what the call would remove. It is refused if the call itself would be.",
    examples: [true],
    [defaultKeyword]: false,
  }),
  expect: optional.whole(111, {
    ...encoded({ hasPresence: true }),
    minimum: 0,
    maximum: bounds.expectMax,
    description:
      "The maximum number of items to remove; if there are more, nothing is removed and the reply is 453. Absent: any number.",
    examples: [1284],
  }),
};

export const ItemCounts = message(
  "ItemCounts",
  "Item counts by state.",
  {
    ready: whole(100, { description: "Items ready to be leased.", examples: [1280] }),
    leased: whole(101, { description: "Leased items.", examples: [4] }),
    scheduled: whole(102, { description: "Items waiting for their `enqueue_at`.", examples: [0] }),
    retried: whole(103, { description: "Items waiting for their `retry_at`.", examples: [0] }),
  },
  { examples: [{ ready: 1280, leased: 4, scheduled: 0, retried: 0 }] },
);
export type ItemCounts = Static<typeof ItemCounts>;

export const GuardedReply = message(
  "GuardedReply",
  "Confirms the call. With `dry_run` or `expect`, `counts` reports the items that were or would be removed.",
  {
    code: whole(1, { description: "The HTTP status code.", examples: [200] }),
    code_text: text(2, { description: "The code in words.", examples: ["OK"] }),
    message: text(3, { description: "Empty.", examples: [""] }),
    counts: Type.Optional(at(101, ItemCounts)),
    waiting_leases: optional.whole(102, {
      description:
        "For the deletion of a queue: the number of lease requests that wait on it, which are answered 453. Present with `counts`.",
      examples: [0],
    }),
    dependents: optional.list(103, Type.String(), {
      description:
        "For the deletion of a queue: the queues that name it as their dead queue and are left without one. Present with `counts`.",
      examples: [["orders"]],
    }),
  },
  { [withoutNullKeyword]: true },
);
export type GuardedReply = Static<typeof GuardedReply>;

export const QueueInfo = message(
  "QueueInfo",
  "The definition of a queue.",
  {
    queue_name: at(1, queueName),
    created_at: instant(2, {
      description: "Date-time at which the queue was created.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    updated_at: instant(3, {
      description: "Date-time at which its definition last changed.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    dead_queue: text(4, {
      description:
        'Name of the queue for failed and expired items; `""` = none, as for a queue that is itself a dead queue.',
      examples: ["orders-dead"],
    }),
    reference: at(5, queueReference),
    lease_timeout: duration(6, {
      description:
        "How long a consumer holds an item: in JSON as the duration was written, in protobuf in canonical form, such as `1h0m0s`.",
      examples: ["60m"],
    }),
    expire_timeout: duration(7, {
      description:
        "How long an item may wait before it moves to the dead queue, in the same format as `lease_timeout`.",
      examples: ["24h"],
    }),
    max_attempts: at(8, maxAttempts),
    requested_partitions: at(9, requestedPartitions),
    leased_max: at(103, leasedMax),
    lease_rate: at(104, leaseRate),
    unique_for: duration(105, {
      description:
        'How long a `unique_key` is reserved, in the same format as `lease_timeout`, or `pending`; `""` = the queue does not accept unique keys.',
      examples: ["1d", ""],
    }),
    priority_aging: duration(106, {
      description:
        "How long an item waits for each priority that it gains, in the same format as `lease_timeout`; `never` = it gains none.",
      examples: ["60s", "never"],
    }),
    waiting_max: at(107, waitingMax),
    retry_backoff: at(108, retryBackoff),
    grouped: at(112, grouped),
    group_leased_max: at(113, groupLeasedMax),
    group_rate: at(114, groupRate),
    group_waiting_max: at(115, groupWaitingMax),
    group_order: text(116, { ...groupOrder, [openWordsKeyword]: groupOrders }),
    group_on_dead: text(117, { ...groupOnDead, [openWordsKeyword]: groupDeaths }),
    ...pauseKeys,
  },
  { reserved: [10], constants: { namespace: { number: 11, value: "_system" } } },
);
export type QueueInfo = Static<typeof QueueInfo>;

/** A field of the reply of a call to every shard. */
const unreached = (number: number, missing: string) =>
  list(number, Type.Integer(), {
    description: `Numbers of the shards whose ${missing} are missing because they could not be reached within one second; usually empty.`,
    examples: [[]],
  });

export const QueuesListRequest = message(
  "QueuesListRequest",
  "A page of the list of queues.",
  {
    pivot: text(2, {
      description:
        'Start with this name, or the next after it; `""` = from the start. For the next page, send the last name of this one and skip it in the reply.',
      examples: ["", "orders"],
      ...formed(forms.queuesPivot),
    }),
    limit: whole(3, {
      ...encoded({ unset: bounds.queuesListMax }),
      minimum: bounds.queuesListMin,
      maximum: bounds.queuesListMax,
      description: "The maximum number of queues to return.",
      examples: [100],
    }),
    namespace: at(4, namespace),
  },
  { reserved: [1] },
);
export type QueuesListRequest = Static<typeof QueuesListRequest>;

export const sampleQueue: QueueInfo = {
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
  priority_aging: "60s",
  waiting_max: 0,
  retry_backoff: "",
  grouped: false,
  group_leased_max: 0,
  group_rate: "",
  group_waiting_max: 0,
  group_order: "loose",
  group_on_dead: "continue",
  lease_paused: false,
  produce_paused: false,
  pause_reason: "",
};

export const QueuesListReply = message("QueuesListReply", "Definitions of queues.", {
  items: list(1, QueueInfo, {
    description: "Queues in the order of their names; fewer than `limit` on the last page.",
    examples: [[sampleQueue]],
  }),
  unreached: unreached(100, "queues"),
});
export type QueuesListReply = Static<typeof QueuesListReply>;

export const QueueCreateRequest = message(
  "QueueCreateRequest",
  "The definition of a queue that does not exist yet.",
  {
    queue_name: at(1, queueName),
    created_at: ignoredInstant(2, "Set by the server."),
    updated_at: ignoredInstant(3, "Set by the server."),
    dead_queue: optional.text(4, { ...deadQueue, [defaultKeyword]: "" }),
    reference: optional.text(5, { ...queueReference, [defaultKeyword]: "" }),
    lease_timeout: at(6, leaseTimeout),
    expire_timeout: at(7, expireTimeout),
    max_attempts: optional.whole(8, { ...maxAttempts, [defaultKeyword]: 0 }),
    requested_partitions: optional.whole(9, { ...requestedPartitions, [defaultKeyword]: 1 }),
    leased_max: optional.whole(103, { ...leasedMax, [defaultKeyword]: 0 }),
    lease_rate: optional.text(104, { ...leaseRate, [defaultKeyword]: "" }),
    unique_for: Type.Optional(duration(105, { ...uniqueFor, [defaultKeyword]: "" })),
    priority_aging: Type.Optional(
      duration(106, { ...priorityAging, [defaultKeyword]: bounds.priorityAgingDefault }),
    ),
    waiting_max: optional.whole(107, { ...waitingMax, [defaultKeyword]: 0 }),
    retry_backoff: optional.text(108, { ...retryBackoff, [defaultKeyword]: "" }),
    grouped: Type.Optional(at(112, grouped, { unset: false })),
    group_leased_max: optional.whole(113, { ...groupLeasedMax, [defaultKeyword]: 0 }),
    group_rate: optional.text(114, { ...groupRate, [defaultKeyword]: "" }),
    group_waiting_max: optional.whole(115, { ...groupWaitingMax, [defaultKeyword]: 0 }),
    group_order: optional.text(116, {
      ...groupOrder,
      [publishedKeyword]: { enum: groupOrders },
      [defaultKeyword]: "loose",
    }),
    group_on_dead: optional.text(117, {
      ...groupOnDead,
      [publishedKeyword]: { enum: groupDeaths },
      [defaultKeyword]: "continue",
    }),
    ...ignoredPauseKeys,
    namespace: at(11, namespace),
  },
  { reserved: [10] },
);
export type QueueCreateRequest = Static<typeof QueueCreateRequest>;

export const QueueUpdateRequest = message(
  "QueueUpdateRequest",
  "Changes to the definition of a queue.",
  {
    queue_name: at(1, queueName),
    created_at: ignoredInstant(2, "Never changes."),
    updated_at: ignoredInstant(3, "Set by the server."),
    dead_queue: Type.Optional(at(4, deadQueue, { unset: "" })),
    reference: Type.Optional(at(5, queueReference, { unset: "" })),
    lease_timeout: Type.Optional(at(6, leaseTimeout, { hasPresence: true })),
    expire_timeout: Type.Optional(at(7, expireTimeout, { hasPresence: true })),
    max_attempts: Type.Optional(at(8, maxAttempts, { unset: 0 })),
    requested_partitions: Type.Optional(at(9, requestedPartitions, { hasPresence: true })),
    leased_max: Type.Optional(at(103, leasedMax, { hasPresence: true })),
    lease_rate: Type.Optional(at(104, leaseRate, { hasPresence: true })),
    unique_for: Type.Optional(at(105, uniqueFor, { hasPresence: true })),
    priority_aging: Type.Optional(at(106, priorityAging, { hasPresence: true })),
    waiting_max: Type.Optional(at(107, waitingMax, { hasPresence: true })),
    retry_backoff: Type.Optional(at(108, retryBackoff, { hasPresence: true })),
    grouped: Type.Optional(at(112, grouped, { hasPresence: true })),
    group_leased_max: Type.Optional(at(113, groupLeasedMax, { hasPresence: true })),
    group_rate: Type.Optional(at(114, groupRate, { hasPresence: true })),
    group_waiting_max: Type.Optional(at(115, groupWaitingMax, { hasPresence: true })),
    group_order: optional.text(116, {
      ...encoded({ hasPresence: true }),
      ...groupOrder,
      [publishedKeyword]: { enum: groupOrders },
    }),
    group_on_dead: optional.text(117, {
      ...encoded({ hasPresence: true }),
      ...groupOnDead,
      [publishedKeyword]: { enum: groupDeaths },
    }),
    ...ignoredPauseKeys,
    namespace: at(11, namespace),
    ...guard,
  },
  {
    reserved: [10],
    // An absent key keeps its value; `null` could also mean "remove it".
    [withoutNullKeyword]: true,
  },
);
export type QueueUpdateRequest = Static<typeof QueueUpdateRequest>;

const describedQueueName = {
  ...queueNameOptions,
  description: "Name of the queue. Send either `name` or `queue_name`.",
};

export const QueueInfoRequest = message(
  "QueueInfoRequest",
  "The queue to describe.",
  {
    name: Type.Optional(Type.String(describedQueueName)),
    queue_name: optional.text(1, { ...describedQueueName, ...encoded({ unset: "" }) }),
  },
  { minProperties: 1, maxProperties: 1 },
);
export type QueueInfoRequest = Static<typeof QueueInfoRequest>;

export const QueueDeleteRequest = message("QueueDeleteRequest", "A queue to delete.", {
  queue_name: at(1, queueName),
  force: flag(2, {
    description:
      "Delete the queue even if it holds items or is the dead queue of another. Its items are lost, and lease requests that wait on it are answered 453.",
    examples: [false],
  }),
  ...guard,
});
export type QueueDeleteRequest = Static<typeof QueueDeleteRequest>;

export const QueueStatsRequest = message("QueueStatsRequest", "The queue to measure.", {
  queue_name: at(1, queueName),
  columns: optional.flag(100, {
    description:
      "Return the partitions as `columns` instead of `partitions`: a tenth of the bytes if there are many.",
    examples: [true],
    [defaultKeyword]: false,
  }),
});
export type QueueStatsRequest = Static<typeof QueueStatsRequest>;

export const PartitionStats = message("PartitionStats", "Counts and ages of one partition.", {
  partition: whole(1, {
    minimum: 0,
    description: "Number of the partition.",
    examples: [0],
  }),
  total: whole(2, {
    description: "Ready and leased items; scheduled items are counted separately.",
    examples: [500],
  }),
  total_leased: whole(3, { description: "Items leased now.", examples: [15] }),
  scheduled: whole(7, {
    description: "Items waiting for their `enqueue_at` or `retry_at`.",
    examples: [3],
  }),
  failures: whole(4, {
    description: "Failures of its store since the server started.",
    examples: [0],
  }),
  average_age: duration(5, {
    description:
      "Mean age of ready and leased items since they were produced, as a duration; `0s` if there are none.",
    examples: ["2m10s"],
  }),
  average_leased_age: duration(6, {
    description: "Mean age of leases, as a duration; `0s` if no items are leased.",
    examples: ["4.2s"],
  }),
  oldest_ready_at: nullable.instant(100, {
    description:
      "Date-time since which its oldest ready item has been ready, possibly slightly too early, because no item is read for it; `null` if none is ready, and briefly after a start.",
    examples: ["2026-03-01T11:58:00.000Z"],
  }),
  next_due_at: nullable.instant(101, {
    description:
      "Date-time at which its first scheduled item is due, possibly slightly too early; `null` if none is scheduled.",
    examples: ["2026-03-01T14:00:00.000Z"],
  }),
});
export type PartitionStats = Static<typeof PartitionStats>;

export const sampleCounters = {
  produced: 91204,
  leased: 90811,
  completed: 90677,
  retried: 96,
  released: 12,
  extended: 40,
  lapsed: 11,
  expired: 0,
  dead: 7,
  discarded: 0,
  removed: 0,
  arrived: 3,
  redriven: 0,
};

export const QueueCounters = message(
  "QueueCounters",
  "Counts of item events since this process started to serve the queue. A count lower than before has been reset.",
  {
    produced: long(100, {
      description: "Items produced or imported, without duplicates of a unique key.",
      examples: [91204],
    }),
    leased: long(101, { description: "Items leased.", examples: [90811] }),
    completed: long(102, { description: "Items completed.", examples: [90677] }),
    retried: long(103, {
      description: "Items returned with `queue.retry`, whatever their destination.",
      examples: [96],
    }),
    released: long(104, {
      description: "Items returned with `queue.release`, or because their client had disconnected.",
      examples: [12],
    }),
    extended: long(105, { description: "Leases extended.", examples: [40] }),
    lapsed: long(106, { description: "Leases lapsed.", examples: [11] }),
    expired: long(107, {
      description: "Items that waited longer than `expire_timeout`.",
      examples: [0],
    }),
    dead: long(108, { description: "Items sent to the dead queue.", examples: [7] }),
    discarded: long(109, {
      description: "Items removed because they failed or expired without a dead queue.",
      examples: [0],
    }),
    removed: long(110, { description: "Items cleared, or deleted by their ids.", examples: [0] }),
    arrived: long(111, {
      description: "Items received from another queue, as dead items or by a redrive.",
      examples: [3],
    }),
    redriven: long(112, {
      description: "Items sent to another queue by a redrive.",
      examples: [0],
    }),
  },
  { examples: [sampleCounters] },
);
export type QueueCounters = Static<typeof QueueCounters>;

export const samplePartitionStats = {
  partition: 0,
  total: 500,
  total_leased: 15,
  scheduled: 3,
  failures: 0,
  average_age: "2m10s",
  average_leased_age: "4.2s",
  oldest_ready_at: "2026-03-01T11:58:00.000Z",
  next_due_at: "2026-03-01T14:00:00.000Z",
};

const longs = Type.Integer(ofKind("long"));

const column = (number: number, description: string, examples: number[]) =>
  list(number, longs, { description, examples: [examples] });

export const PartitionColumns = message(
  "PartitionColumns",
  "The figures of all partitions as one list per figure, in the order of the partitions. A list is empty if all of its figures are 0.",
  {
    partition: column(100, "Numbers of the partitions; empty = 0, 1, 2 and so on.", []),
    total: column(
      101,
      "Ready and leased items; scheduled items are counted separately.",
      [500, 480],
    ),
    total_leased: column(102, "Items leased now.", [15, 0]),
    scheduled: column(103, "Items waiting for their `enqueue_at` or `retry_at`.", []),
    failures: column(104, "Failures of its store since the server started.", []),
    average_age_seconds: column(
      105,
      "Mean age of ready and leased items since they were produced, in seconds.",
      [130, 128],
    ),
    average_leased_age_seconds: column(106, "Mean age of leases, in seconds.", [4, 0]),
  },
  {
    examples: [
      {
        partition: [],
        total: [500, 480],
        total_leased: [15, 0],
        scheduled: [],
        failures: [],
        average_age_seconds: [130, 128],
        average_leased_age_seconds: [4, 0],
      },
    ],
  },
);
export type PartitionColumns = Static<typeof PartitionColumns>;

export const LogicalQueueStats = message(
  "LogicalQueueStats",
  "Requests that wait on a queue, and its partitions.",
  {
    average_leased_age: duration(12, {
      description:
        "Mean age of the leases of all partitions, as a duration; `0s` if no items are leased.",
      examples: ["4.2s"],
    }),
    produce_waiting: whole(6, {
      description: "Produce requests that wait for the store.",
      examples: [0],
    }),
    lease_waiting: whole(7, {
      description: "Lease requests that wait for an item.",
      examples: [8],
    }),
    complete_waiting: whole(8, {
      description: "Complete requests that wait for the store.",
      examples: [0],
    }),
    in_flight: whole(10, { description: "Requests being carried out.", examples: [2] }),
    partitions: list(11, PartitionStats, {
      description:
        "One entry for each partition, in the order of their numbers; empty with `columns`.",
      examples: [[samplePartitionStats]],
    }),
    counters: at(100, QueueCounters),
    columns: Type.Optional(at(101, PartitionColumns)),
  },
  { [withoutNullKeyword]: true },
);
export type LogicalQueueStats = Static<typeof LogicalQueueStats>;

export const QueueStatsReply = message("QueueStatsReply", "Measurements of a queue.", {
  queue_name: text(1, { description: "The requested queue.", examples: ["orders"] }),
  logical_queues: list(2, LogicalQueueStats, {
    description: "The logical queues of the queue; there is always one.",
    examples: [
      [
        {
          average_leased_age: "4.2s",
          produce_waiting: 0,
          lease_waiting: 8,
          complete_waiting: 0,
          in_flight: 2,
          partitions: [samplePartitionStats],
          counters: sampleCounters,
        },
      ],
    ],
  }),
});
export type QueueStatsReply = Static<typeof QueueStatsReply>;

export const InspectRequest = message("InspectRequest", "The queue to count.", {
  queue_name: at(1, queueName),
});
export type InspectRequest = Static<typeof InspectRequest>;

export const Inspect = message("Inspect", "Item counts of a queue.", {
  queue_name: text(1, { description: "The requested queue.", examples: ["orders"] }),
  partitions: whole(2, {
    description: "Existing partitions, including surplus partitions that are being emptied.",
    examples: [4],
  }),
  queued: whole(3, { description: "Items ready to be leased.", examples: [485] }),
  leased: whole(100, { description: "Items that consumers hold.", examples: [12] }),
  retried: whole(4, { description: "Items waiting for their `retry_at`.", examples: [1] }),
  scheduled: whole(5, {
    description: "Items waiting for their `enqueue_at`.",
    examples: [2],
  }),
  dead_letter: whole(6, {
    description:
      "Items in its dead queue; 0 without a dead queue, and for an API key that may not read the dead queue.",
    examples: [7],
  }),
});
export type Inspect = Static<typeof Inspect>;

// Findings and health.

const asOf = Type.String({
  ...ofKind("instant"),
  description: "Date-time of the state that the reply describes.",
  examples: ["2026-03-01T13:05:00.000Z"],
});
const sinceInstant = (number: number, description: string) =>
  nullable.instant(number, { description, examples: ["2026-03-01T12:53:00.000Z", null] });
const healthWord = Type.String({
  description:
    "The first of the findings, or `at_limit` for the two about limits; without findings `flows`, `idle` (no items, but lease requests wait) or `empty` (no items, and no lease request waits).",
  examples: ["no_consumers"],
});

export const QueueExplainRequest = message("QueueExplainRequest", "The queue to explain.", {
  queue_name: at(100, queueName),
});
export type QueueExplainRequest = Static<typeof QueueExplainRequest>;

export const Finding = message("Finding", "A condition that keeps items waiting or loses items.", {
  kind: text(100, {
    description:
      "One of `shard_down`, `store_full`, `no_consumers`, `backlog_growing`, `leases_lapsing`, `dead_items`, `groups_blocked`, `clearing`, `paused`, `at_leased_max`, `at_lease_rate`, `all_leased`, `all_scheduled`, in this order. Later versions may add others.",
    examples: ["no_consumers"],
  }),
  since: instant(101, {
    description:
      "Date-time at which it began, as observed by the server; not before the server started.",
    examples: ["2026-03-01T12:53:00.000Z"],
  }),
  count: whole(102, {
    description:
      "Number of items concerned: ready, leased or to be removed, or recently lapsed or dead; for `store_full`, of partitions.",
    examples: [48_210],
  }),
  next_at: sinceInstant(
    103,
    "Next date-time at which it may change by itself: the next lapse, the next item due, the next lease that the rate allows, the next restart of the shard. `null`: none.",
  ),
  text: text(104, {
    description: "A complete description for people, as a sentence.",
    examples: [
      "48,210 items are ready, the oldest for 41 minutes, and no client requests them; the last lease request was from worker-2, 12 minutes ago.",
    ],
  }),
});
export type Finding = Static<typeof Finding>;

export const QueueExplainReply = message("QueueExplainReply", "The health of a queue.", {
  queue_name: text(100, { description: "The requested queue.", examples: ["orders"] }),
  as_of: at(101, asOf),
  health: at(102, healthWord),
  findings: list(103, Finding, {
    description: "Findings, worst first; empty if there are none.",
    examples: [[]],
  }),
});
export type QueueExplainReply = Static<typeof QueueExplainReply>;

export const QueueClientsRequest = message(
  "QueueClientsRequest",
  "The queue whose clients to list.",
  {
    queue_name: at(100, queueName),
    limit: optional.whole(101, {
      minimum: bounds.clientsMin,
      maximum: bounds.clientsMax,
      description: "The maximum number of clients to return of each kind.",
      examples: [20],
      [defaultKeyword]: bounds.clientsDefault,
    }),
  },
);
export type QueueClientsRequest = Static<typeof QueueClientsRequest>;

export const WaitingClient = message("WaitingClient", "A client whose lease request is waiting.", {
  client_id: text(100, {
    description: "The `client_id` of its lease request.",
    examples: ["worker-2"],
  }),
  since: instant(101, {
    description: "Date-time at which its lease request arrived.",
    examples: ["2026-03-01T13:04:48.000Z"],
  }),
  batch_size: whole(102, {
    description: "The `batch_size` of its lease request.",
    examples: [10],
  }),
  position: whole(103, {
    description: "Its position in the line, from 1; 0 while it is being served.",
    examples: [1],
  }),
});
export type WaitingClient = Static<typeof WaitingClient>;

export const HoldingClient = message("HoldingClient", "A client that holds items.", {
  client_id: text(100, {
    description:
      'The `client_id` of its leases; `""` = unknown, because the items were leased before the server started, or were imported.',
    examples: ["worker-9"],
  }),
  items: whole(101, { description: "Number of items that it holds.", examples: [32] }),
  partitions: list(102, Type.Integer(), {
    description: "Partitions of these items.",
    examples: [[0, 3]],
  }),
  next_lapse_at: instant(103, {
    description: "Date-time at which the first of its leases lapses.",
    examples: ["2026-03-01T13:05:14.000Z"],
  }),
});
export type HoldingClient = Static<typeof HoldingClient>;

export const QueueClientsReply = message(
  "QueueClientsReply",
  "Clients that wait for items of a queue, and clients that hold some.",
  {
    queue_name: text(100, { description: "The requested queue.", examples: ["orders"] }),
    as_of: at(101, asOf),
    waiting_count: whole(102, {
      description: "Number of waiting clients, regardless of the limit.",
      examples: [1],
    }),
    waiting: list(103, WaitingClient, {
      description: "Waiting clients, in the order in which they will be served.",
      examples: [[]],
    }),
    holding_count: whole(104, {
      description: "Number of clients that hold items, regardless of the limit.",
      examples: [1],
    }),
    holding: list(105, HoldingClient, {
      description: "Clients that hold items, those with the most items first.",
      examples: [[]],
    }),
    partial: flag(106, {
      description: "Whether holders may be missing because a shard did not answer in time.",
      examples: [false],
    }),
  },
);
export type QueueClientsReply = Static<typeof QueueClientsReply>;

export const ServerOverviewRequest = message("ServerOverviewRequest", "The changes to return.", {
  since: optional.text(100, {
    description:
      'The `since` of an earlier reply, to get only queues that have changed. Absent, `""` or no longer known: all queues.',
    examples: ["mf3k2a9c.1041"],
  }),
});
export type ServerOverviewRequest = Static<typeof ServerOverviewRequest>;

const counted = {
  produced: "Items produced or imported",
  leased: "Items leased",
  completed: "Items completed",
  retried: "Items retried",
  released: "Items returned without counting the attempt",
  extended: "Items whose lease was extended",
  lapsed: "Items whose lease lapsed",
  expired: "Items that expired",
  dead: "Items sent to the dead queue",
  discarded: "Items that failed or expired without a dead queue",
  removed: "Items that were cleared or deleted",
  arrived: "Items received from another queue, as dead items or by a redrive",
  redriven: "Items sent to another queue by a redrive",
} as const;
const sinceStart =
  "since the server started to serve the queue; a value lower than before means a reset";

const sampleCountersOfAll = {
  produced_total: 50_616,
  leased_total: 2406,
  completed_total: 2406,
  ...{ retried_total: 0, released_total: 0, extended_total: 0, lapsed_total: 0 },
  ...{ expired_total: 0, dead_total: 0, discarded_total: 0, removed_total: 0 },
  ...{ arrived_total: 0, redriven_total: 0 },
};

export const sampleTotals = {
  ...{ queues: 1, ready: 48_210, leased: 0, scheduled: 0, waiting_leases: 0 },
  ...sampleCountersOfAll,
};

export const sampleOverviewQueues = {
  queue_name: ["orders"],
  health: ["no_consumers"],
  health_since_ms: [1_772_369_580_000],
  health_count: [48_210],
  next_at_ms: [0],
  ready: [48_210],
  leased: [0],
  scheduled: [0],
  waiting_leases: [0],
  oldest_ready_at_ms: [1_772_367_840_000],
  next_due_at_ms: [0],
  paused_since_ms: [0],
  shard: [0],
  produced_total: [50_616],
  leased_total: [2406],
  completed_total: [2406],
  ...{ retried_total: [0], released_total: [0], extended_total: [0], lapsed_total: [0] },
  ...{ expired_total: [0], dead_total: [0], discarded_total: [0], removed_total: [0] },
  ...{ arrived_total: [0], redriven_total: [0] },
};

const totalOf = (number: number, name: keyof typeof counted) =>
  long(number, { description: `${counted[name]}, ${sinceStart}.`, examples: [2406] });

export const OverviewTotals = message(
  "OverviewTotals",
  "Totals of all queues.",
  {
    queues: whole(100, { description: "Number of queues.", examples: [2] }),
    ready: long(101, { description: "Items ready to be leased.", examples: [48_210] }),
    leased: long(102, { description: "Items leased now.", examples: [128] }),
    scheduled: long(103, {
      description: "Items waiting for their `enqueue_at` or `retry_at`.",
      examples: [1440],
    }),
    waiting_leases: long(104, {
      description: "Lease requests that wait for an item.",
      examples: [24],
    }),
    produced_total: totalOf(107, "produced"),
    leased_total: totalOf(108, "leased"),
    completed_total: totalOf(109, "completed"),
    retried_total: totalOf(110, "retried"),
    released_total: totalOf(111, "released"),
    extended_total: totalOf(112, "extended"),
    lapsed_total: totalOf(113, "lapsed"),
    expired_total: totalOf(114, "expired"),
    dead_total: totalOf(115, "dead"),
    discarded_total: totalOf(116, "discarded"),
    removed_total: totalOf(117, "removed"),
    arrived_total: totalOf(118, "arrived"),
    redriven_total: totalOf(119, "redriven"),
  },
  { examples: [sampleTotals] },
);
export type OverviewTotals = Static<typeof OverviewTotals>;

const texts = (number: number, description: string, examples: string[]) =>
  list(number, Type.String(), { description, examples: [examples] });
const countedColumn = (number: number, name: keyof typeof counted) =>
  column(number, `${counted[name]}, ${sinceStart}.`, [2406]);
const millis = "in milliseconds since 1970; 0 = none";

export const OverviewQueues = message(
  "OverviewQueues",
  "Queues as columns: the values at one index of all lists belong to one queue. All lists have the same length; the queues are in no particular order.",
  {
    queue_name: texts(119, "Name of the queue.", ["orders"]),
    health: texts(120, "The `health` of `queue.explain`.", ["no_consumers"]),
    health_since_ms: column(100, `Start of the worst finding, ${millis}.`, [1_772_369_580_000]),
    health_count: column(
      121,
      "The `count` of the worst finding, as in `queue.explain`; 0 = none.",
      [48_210],
    ),
    next_at_ms: column(118, `Next time at which it may change by itself, ${millis}.`, [0]),
    ready: column(101, "Items ready to be leased.", [48_210]),
    leased: column(102, "Items leased now.", [0]),
    scheduled: column(103, "Items waiting for their `enqueue_at` or `retry_at`.", [0]),
    waiting_leases: column(104, "Lease requests that wait for an item.", [0]),
    oldest_ready_at_ms: column(
      105,
      `Time since which the oldest ready item has been ready, possibly slightly too early, ${millis}.`,
      [1_772_367_840_000],
    ),
    next_due_at_ms: column(
      106,
      `Time at which the first scheduled item is due, possibly slightly too early, ${millis}.`,
      [0],
    ),
    paused_since_ms: column(
      124,
      `Time since which its leases, its produces or both are paused, regardless of its health, ${millis}.`,
      [0],
    ),
    shard: column(125, "The shard of the queue.", [0]),
    produced_total: countedColumn(107, "produced"),
    leased_total: countedColumn(108, "leased"),
    completed_total: countedColumn(109, "completed"),
    retried_total: countedColumn(110, "retried"),
    released_total: countedColumn(111, "released"),
    extended_total: countedColumn(112, "extended"),
    lapsed_total: countedColumn(113, "lapsed"),
    expired_total: countedColumn(114, "expired"),
    dead_total: countedColumn(115, "dead"),
    discarded_total: countedColumn(116, "discarded"),
    removed_total: countedColumn(117, "removed"),
    arrived_total: countedColumn(122, "arrived"),
    redriven_total: countedColumn(123, "redriven"),
  },
  { examples: [sampleOverviewQueues] },
);
export type OverviewQueues = Static<typeof OverviewQueues>;

export const OverviewShard = message("OverviewShard", "The state of a shard.", {
  shard: whole(100, { description: "Number of the shard.", examples: [0] }),
  state: text(101, {
    description: "`up`, `full` while its store has no room, or `down`.",
    examples: ["up"],
  }),
  since: sinceInstant(102, "Date-time since which it is full or down; `null`: it is up."),
  commit_p50_us: whole(103, {
    description:
      "Median duration of the commits of about the last minute, in microseconds; 0: there were none.",
    examples: [1000],
  }),
  commit_p99_us: whole(104, {
    description:
      "99th percentile of the duration of these commits, in microseconds; 0: there were none.",
    examples: [5000],
  }),
  waiting: whole(105, { description: "Requests that it has not answered yet.", examples: [0] }),
  restarts: whole(106, {
    description: "Attempts to reopen its store after a failure.",
    examples: [0],
  }),
  failures: whole(107, { description: "Commits that failed.", examples: [0] }),
  quarantined: whole(108, {
    description: "Items set aside: damaged items, and items of unknown queues.",
    examples: [0],
  }),
  miscounted: whole(109, {
    description: "Missing or surplus items that were found at a start.",
    examples: [0],
  }),
  log_bytes: long(110, { description: "Size of its log in bytes.", examples: [4_194_304] }),
  file_bytes: long(111, { description: "Size of its file in bytes.", examples: [8_388_608] }),
  items_per_second: whole(112, {
    description:
      "Its load: items written, leased or removed per second, on average over the last minute, rounded up. An item that is produced, leased and completed counts three times.",
    examples: [120],
  }),
});
export type OverviewShard = Static<typeof OverviewShard>;

export const OverviewAlarm = message("OverviewAlarm", "A condition that needs attention.", {
  kind: text(100, {
    description:
      "`commits_lost`, `shard_down`, `store_full`, `disk_low`, `items_damaged`, `items_miscounted`, or for a queue `no_consumers`, `backlog_growing`, `leases_lapsing`, `dead_items`. Later versions may add others.",
    examples: ["no_consumers"],
  }),
  since: sinceInstant(101, "Date-time at which it began; `null`: unknown."),
  count: long(102, {
    description: "Number of items or commits concerned, or 1.",
    examples: [48_210],
  }),
  queue_name: text(103, {
    description: 'The queue; `""` = it does not concern a queue.',
    examples: ["orders"],
  }),
  shard: whole(104, {
    description: "The shard; -1 = it does not concern a shard.",
    examples: [-1],
  }),
  text: text(105, {
    description: "A complete description for people, as a sentence.",
    examples: [
      "48,210 items are ready, the oldest for 41 minutes, and no client requests them; the last lease request was from worker-2, 12 minutes ago.",
    ],
  }),
});
export type OverviewAlarm = Static<typeof OverviewAlarm>;

export const OverviewMachine = message(
  "OverviewMachine",
  "The machine of the server that serves the queues.",
  {
    name: text(100, {
      description: "Name of the server, set with `--name`.",
      examples: ["eu-1"],
    }),
    version: text(101, { description: "Version of Holdfast.", examples: ["1.0.0"] }),
    store: text(106, {
      description: "Where items are stored: `sqlite`, `postgres` or `memory`.",
      examples: ["sqlite"],
    }),
    started_at: instant(102, {
      description: "Date-time at which the server was started.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    memory_bytes: long(107, {
      description: "Memory of the server's process (resident set).",
      examples: [88_080_384],
    }),
    disk_bytes: long(103, {
      description: "Size of the disk of the stores; 0 = there is none.",
      examples: [107_374_182_400],
    }),
    disk_free_bytes: long(104, {
      description: "Free space on that disk that the server may use.",
      examples: [85_899_345_920],
    }),
    last_backup_at: sinceInstant(
      105,
      "Date-time of the newest backup in the folder of `--backups`; `null`: there is none.",
    ),
  },
  {
    examples: [
      {
        name: "eu-1",
        version: "1.0.0",
        store: "sqlite",
        started_at: "2026-03-01T12:00:00.000Z",
        memory_bytes: 88_080_384,
        disk_bytes: 107_374_182_400,
        disk_free_bytes: 85_899_345_920,
        last_backup_at: "2026-03-01T03:00:00.000Z",
      },
    ],
  },
);
export type OverviewMachine = Static<typeof OverviewMachine>;

export const QueuePauseRequest = message(
  "QueuePauseRequest",
  "A queue to pause. At least one of `lease` and `produce` must be true.",
  {
    queue_name: at(1, queueName),
    lease: optional.flag(2, {
      description:
        "Stop leases. Absent: `true`, unless `produce` is `true`; without either, leases are paused.",
      examples: [true],
    }),
    produce: optional.flag(3, {
      description: "Refuse produces.",
      examples: [false],
      [defaultKeyword]: false,
    }),
    reason: optional.text(4, {
      description: `The reason, which is returned to clients whose calls are refused; at most ${bounds.pauseReasonBytesMax} bytes.`,
      examples: ["moving to the new database"],
      [defaultKeyword]: "",
    }),
  },
);
export type QueuePauseRequest = Static<typeof QueuePauseRequest>;

export const QueueResumeRequest = message("QueueResumeRequest", "A queue to resume.", {
  queue_name: at(1, queueName),
});
export type QueueResumeRequest = Static<typeof QueueResumeRequest>;

export const QueueClearRequest = message(
  "QueueClearRequest",
  "Items to remove. At least one of `retry`, `scheduled` and `queue` must be true.",
  {
    queue_name: at(1, queueName),
    retry: flag(2, {
      description: "Remove items that wait for their `retry_at`.",
      examples: [false],
    }),
    scheduled: flag(3, {
      description: "Remove items that wait for their `enqueue_at`.",
      examples: [false],
    }),
    queue: flag(4, {
      description: "Remove items that are ready to be leased.",
      examples: [true],
    }),
    destructive: flag(5, {
      description:
        "With `queue`: remove leased items too. Their holders can no longer complete or retry them.",
      examples: [false],
    }),
    ...guard,
  },
);
export type QueueClearRequest = Static<typeof QueueClearRequest>;

export const QueueReloadRequest = message("QueueReloadRequest", "The queue to recount.", {
  queue_name: at(1, queueName),
});
export type QueueReloadRequest = Static<typeof QueueReloadRequest>;

export const ClockAdvanceRequest = message(
  "ClockAdvanceRequest",
  "How far to advance the test clock.",
  {
    by: duration(100, {
      description: `How far, as a duration from 1ms to 366 days, of at most ${bounds.durationTextMax} characters.`,
      examples: ["10m", "7d"],
      ...formed(forms.duration, bounds.durationTextMax),
    }),
    handler_timeout: optional.durationOrNull(101, {
      description:
        'How long to wait at each instant for workers to finish the items that they hold and to lease those that are ready, by the machine\'s clock, as a duration from 1ms to 1m. The clock moves on as soon as they are done, or after this time. Absent, `null` or `""`: it does not wait for workers, and their leases lapse.',
      examples: ["5s"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
  },
);
export type ClockAdvanceRequest = Static<typeof ClockAdvanceRequest>;

export const ClockAdvanceReply = message("ClockAdvanceReply", "The new time of the test clock.", {
  now: instant(100, {
    description: "Date-time of the test clock, which stands still until the next advance.",
    examples: ["2026-03-01T13:05:00.000Z"],
  }),
});
export type ClockAdvanceReply = Static<typeof ClockAdvanceReply>;

const seriesNames = [
  ...["produced", "leased", "completed", "retried", "released", "extended", "lapsed", "expired"],
  ...["dead", "discarded", "removed", "arrived", "redriven"],
  ...["ready", "held", "scheduled", "waiting"],
  "oldest_ready_seconds",
];
const shardSeriesNames = [
  ...["commits", "items_committed", "commit_p50_us", "commit_p99_us", "file_bytes", "log_bytes"],
];
const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");

export const ServerSeriesRequest = message(
  "ServerSeriesRequest",
  "The points to return, of the last hour or day.",
  {
    queue_name: optional.text(100, {
      description: "The queue. Absent, without `shard`: all queues together.",
      examples: ["orders"],
      ...formed(forms.queueName, bounds.queueNameBytesMax),
      [queueKeyword]: true,
    }),
    shard: optional.whole(104, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      description: "The shard, instead of a queue.",
      examples: [0],
    }),
    names: list(
      101,
      Type.String({ [publishedKeyword]: { enum: [...seriesNames, ...shardSeriesNames] } }),
      {
        description: `The names of the series to return, each once: for queues ${named(seriesNames)}; for a shard ${named(shardSeriesNames)}.`,
        examples: [["produced", "completed", "ready"]],
        [publishedKeyword]: { minItems: 1, maxItems: seriesNames.length },
      },
    ),
    from: optional.instantOrNull(102, {
      description:
        "Date-time of the first point to return. Absent or `null`: from the oldest point on.",
      examples: ["2026-03-01T12:05:00.000Z"],
      ...formed(forms.dateTime),
    }),
    step: optional.durationOrNull(103, {
      description:
        "Time between points: `10s`, kept for an hour, or `1m`, kept for a day. Absent or `null`: `10s`, unless `from` is more than an hour ago.",
      examples: ["10s", "1m"],
      ...formed(forms.duration),
    }),
  },
);
export type ServerSeriesRequest = Static<typeof ServerSeriesRequest>;

export const NamedSeries = message("NamedSeries", "The points of one name.", {
  name: text(100, { description: "One of the requested names.", examples: ["produced"] }),
  values: list(101, longs, {
    description:
      "One value per point: the number of items or of commits; for `ready`, `held`, `scheduled`, `waiting`, `oldest_ready_seconds`, `file_bytes` and `log_bytes` the value at the end of the point. `commit_p50_us` and `commit_p99_us` are the median and the 99th percentile of the duration of commits, in microseconds; for a minute, the highest of its points; 0: there were none.",
    examples: [[120, 118, 131]],
  }),
});
export type NamedSeries = Static<typeof NamedSeries>;

export const ServerSeriesReply = message(
  "ServerSeriesReply",
  "Recent activity of a queue or a shard.",
  {
    queue_name: text(100, {
      description: 'The requested queue; `""` = all queues together, or a shard.',
      examples: ["orders"],
    }),
    shard: whole(105, { description: "The requested shard; -1 = none.", examples: [-1] }),
    since: nullable.instant(101, {
      description:
        "Date-time from which points are kept, at the earliest the start of the process; `null` = no points are kept, because busier queues use the memory.",
      examples: ["2026-03-01T09:30:00.000Z"],
    }),
    from: instant(102, {
      description: "Date-time at which the first point begins.",
      examples: ["2026-03-01T12:05:00.000Z"],
    }),
    step: duration(103, {
      description: "Time between points, as a duration in canonical form.",
      examples: ["10s"],
    }),
    series: list(104, NamedSeries, {
      description:
        "The series in the order of `names`, all of the same length. An unfinished point is omitted.",
      examples: [[{ name: "produced", values: [120, 118, 131] }]],
    }),
  },
);
export type ServerSeriesReply = Static<typeof ServerSeriesReply>;

export const NodesListRequest = message("NodesListRequest", "An empty request.", {});
export type NodesListRequest = Static<typeof NodesListRequest>;

export const NodesDrainRequest = message(
  "NodesDrainRequest",
  "A node to drain, or to stop draining.",
  {
    url: text(100, {
      description: "The URL of the node in `nodes.list`.",
      examples: ["http://10.0.0.7:9090"],
    }),
    draining: optional.flag(101, {
      ...encoded({ hasPresence: true }),
      description:
        "`true`: the node hands over its shards and takes none; `false`: it takes its share.",
      examples: [true],
      [defaultKeyword]: true,
    }),
  },
);
export type NodesDrainRequest = Static<typeof NodesDrainRequest>;

export const NodeInfo = message("NodeInfo", "A node of a cluster.", {
  url: text(100, {
    description: "The URL at which other nodes reach it.",
    examples: ["http://10.0.0.7:9090"],
  }),
  version: text(101, { description: "Version of Holdfast.", examples: ["1.0.0"] }),
  started_at: instant(102, {
    description: "Date-time at which it joined the cluster.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  seen_at: instant(103, {
    description: "Date-time of its last heartbeat.",
    examples: ["2026-03-01T13:05:00.000Z"],
  }),
  shards: list(104, Type.Integer({ minimum: 0 }), {
    description: "Numbers of the shards that it owns; other nodes forward calls for them to it.",
    examples: [[0, 3, 6]],
  }),
  draining: flag(105, {
    description: "Whether it takes no shards, because it is stopping or was asked to drain.",
    examples: [false],
  }),
  live: flag(106, {
    description: "Whether it sent a heartbeat within the ownership lease.",
    examples: [true],
  }),
});
export type NodeInfo = Static<typeof NodeInfo>;

export const ShardOwner = message(
  "ShardOwner",
  "A shard of a cluster, and the node that owns it.",
  {
    shard: whole(100, { description: "Number of the shard.", minimum: 0, examples: [3] }),
    node: text(101, {
      description: "URL of the node that owns it; empty if none does.",
      examples: ["http://10.0.0.7:9090"],
    }),
    epoch: whole(102, {
      description: "Number of times that a node took ownership of the shard.",
      minimum: 0,
      examples: [3],
    }),
    taken_at: sinceInstant(
      103,
      "Date-time of the last takeover, by the clock of the database; `null`: there was none.",
    ),
  },
);
export type ShardOwner = Static<typeof ShardOwner>;

export const NodesListReply = message("NodesListReply", "The nodes, and the owner of each shard.", {
  items: list(100, NodeInfo, {
    description:
      "Nodes seen within the last hour, by URL; empty if the server is not part of a cluster.",
    examples: [[]],
  }),
  shards: list(101, ShardOwner, {
    description: "Shards of the cluster, by number; empty if the server is not part of a cluster.",
    examples: [[]],
  }),
});
export type NodesListReply = Static<typeof NodesListReply>;

export const ConfirmLossRequest = message(
  "ConfirmLossRequest",
  "Confirms all commits that are known to be lost.",
  {
    expect: optional.whole(100, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      maximum: bounds.expectMax,
      description:
        "The maximum number of commits to confirm, such as the `count` of the alarm `commits_lost`; if more have been lost since, none is confirmed and the reply is 453. Absent: any number.",
      examples: [2],
    }),
  },
);
export type ConfirmLossRequest = Static<typeof ConfirmLossRequest>;

export const ConfirmLossReply = message("ConfirmLossReply", "The confirmed losses.", {
  lost_commits: whole(100, {
    description:
      "The minimum number of commits lost since the process started; 0 = there is nothing to confirm.",
    examples: [2],
  }),
});
export type ConfirmLossReply = Static<typeof ConfirmLossReply>;

export const WhoAmIRequest = message(
  "WhoAmIRequest",
  "An empty request; the API key identifies the caller.",
  {},
);
export type WhoAmIRequest = Static<typeof WhoAmIRequest>;

const keyName = Type.String({
  description: "Name of the API key in the file of keys; may be empty.",
  examples: ["checkout"],
});

const keyRoles = (number: number, description: string) =>
  list(number, Type.String({ [openWordsKeyword]: [...roleNames] }), {
    description,
    examples: [["produce", "consume"]],
  });

const keyQueues = (number: number, description: string) =>
  list(number, Type.String(), { description, examples: [["orders*"], ["*"]] });

export const KeyRight = message("KeyRight", "Roles of a key for some queues.", {
  roles: keyRoles(100, "The roles; `admin` includes all others."),
  queues: keyQueues(101, "Names of the queues; `*` matches any text."),
});
export type KeyRight = Static<typeof KeyRight>;

const ofKey = {
  name: at(100, keyName),
  roles: keyRoles(101, "Its roles for at least one queue."),
  queues: keyQueues(102, "Queues for which it has at least one role."),
  rights: list(104, KeyRight, {
    description: "Its permissions, which add up.",
    examples: [[{ roles: ["produce", "consume"], queues: ["orders*"] }]],
  }),
};

export const WhoAmIReply = message("WhoAmIReply", "The permissions of the caller.", {
  ...ofKey,
  keys_required: flag(103, {
    description: "Whether the server requires API keys; if not, everything is allowed.",
    examples: [true],
  }),
});
export type WhoAmIReply = Static<typeof WhoAmIReply>;

export const KeysListRequest = message(
  "KeysListRequest",
  "An empty request; all keys are listed.",
  {},
);
export type KeysListRequest = Static<typeof KeysListRequest>;

export const KeyInfo = message("KeyInfo", "An API key; never the key itself.", {
  digest: text(103, {
    description: "The first eight digits of its digest, to find its line in the file of keys.",
    examples: ["8f434346"],
  }),
  ...ofKey,
  last_used_at: nullable.instant(105, {
    description:
      "Date-time of its last call, to the second; `null` = none since the process started.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  denied_calls: whole(106, {
    description: "Number of its denied calls since the process started.",
    minimum: 0,
    examples: [0],
  }),
});
export type KeyInfo = Static<typeof KeyInfo>;

export const KeysListReply = message("KeysListReply", "The API keys in effect.", {
  items: list(100, KeyInfo, {
    description: "The keys in the order of their file; empty if the server requires no keys.",
    examples: [[]],
  }),
});
export type KeysListReply = Static<typeof KeysListReply>;

export const ActionsListRequest = message("ActionsListRequest", "A page of recent actions.", {
  limit: whole(100, {
    minimum: 1,
    maximum: bounds.actionsMax,
    description: "The maximum number of actions to return.",
    examples: [100],
  }),
  pivot: optional.whole(101, {
    minimum: 0,
    description:
      "Start with this action, or the next older one; absent or 0: the newest. For the next page, send the last id of this one and skip it in the reply.",
    examples: [42],
  }),
  queue_name: optional.text(102, {
    description: 'Only actions on this queue; absent or `""`: on all queues.',
    examples: ["orders"],
    ...formed(forms.queueNameOrNone, bounds.queueNameBytesMax),
    [queueKeyword]: true,
  }),
});
export type ActionsListRequest = Static<typeof ActionsListRequest>;

export const Action = message("Action", "An administrative call.", {
  id: whole(100, {
    description: "Increases with each action; restarts with the process.",
    minimum: 1,
    examples: [42],
  }),
  at: instant(101, {
    description: "Date-time of the reply.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  key_name: text(102, {
    description:
      'Name of the API key, cut at 100 characters; `""` = the key has no name, or none was required.',
    examples: ["anna"],
  }),
  operation: text(103, {
    description: "The operation id in this document.",
    examples: ["clear"],
  }),
  queue_name: text(104, {
    description: 'The queue named by the call, cut at 512 characters; `""` = none.',
    examples: ["orders"],
  }),
  to_queues: list(107, Type.String(), {
    description: "For a redrive or a repair: other queues to which items go, at most ten.",
    examples: [[]],
  }),
  items: whole(105, {
    description: "Number of items or item ids in the call; 0 = none.",
    minimum: 0,
    examples: [0],
  }),
  code: whole(106, { description: "The code of its reply.", examples: [200] }),
});
export type Action = Static<typeof Action>;

export const ActionsListReply = message("ActionsListReply", "Recent actions.", {
  items: list(100, Action, {
    description: "Actions, newest first; fewer than `limit` on the last page.",
    examples: [[]],
  }),
  since: instant(101, {
    description: "Date-time from which actions are kept; older actions are only in the log.",
    examples: ["2026-02-27T08:00:00.000Z"],
  }),
  unreached: unreached(102, "actions"),
});
export type ActionsListReply = Static<typeof ActionsListReply>;

export const StorageItem = message("StorageItem", "An item as it is stored.", {
  id: text(1, {
    description: "Current id of the item. The order of ids as text is the order of the partition.",
    examples: [sampleId],
  }),
  source_id: text(2, {
    description:
      'Its former id, from before it moved to a dead queue or was imported; `""` = none. Any other value is unique within the partition.',
    examples: [sampleSourceId],
  }),
  is_leased: flag(3, { description: "Whether a consumer holds it.", examples: [true] }),
  lease_deadline: nullable.instant(4, {
    ...encoded({ isAlwaysSent: true }),
    description: "Date-time at which its lease lapses; `null` if it is not leased.",
    examples: ["2026-03-01T13:00:00.000Z"],
  }),
  dead_deadline: nullable.instant(6, {
    description:
      "Date-time at which it would move to the dead queue; `null` if its queue has none.",
    examples: ["2026-03-02T12:00:00.000Z"],
  }),
  expire_deadline: instant(5, {
    description:
      "Date-time at which it expires, unless it is leased at that moment; `9999-12-31T23:59:59.999Z` = never.",
    examples: ["2026-03-02T12:00:00.000Z"],
  }),
  created_at: instant(7, {
    description: "Date-time at which it first entered this queue.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  updated_at: instant(8, {
    description:
      "Date-time of its last change: when it was produced, leased or returned to the queue.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  enqueue_at: nullable.instant(9, {
    description: "Date-time at which it is due; `null` unless it is scheduled.",
    examples: [null, "2026-03-01T12:15:00.000Z"],
  }),
  attempts: whole(10, {
    maximum: bounds.carriedCountMax,
    description: "Leases granted so far, including the current one.",
    examples: [1],
  }),
  max_attempts: whole(11, {
    description: "Its own limit where that applies, or that of its queue; 0 = none.",
    examples: [10],
  }),
  reference: at(12, reference),
  encoding: at(13, encoding),
  kind: at(14, kind),
  payload: bytes(15, {
    description: "The payload; in JSON as base64.",
    examples: ["eyJvcmRlciI6NDJ9"],
  }),
  priority: whole(108, priority),
  ...carried,
});
export type StorageItem = Static<typeof StorageItem>;

export const sampleStorageItem: StorageItem = {
  id: sampleId,
  source_id: sampleSourceId,
  is_leased: true,
  lease_deadline: "2026-03-01T13:00:00.000Z",
  dead_deadline: "2026-03-02T12:00:00.000Z",
  expire_deadline: "2026-03-02T12:00:00.000Z",
  created_at: "2026-03-01T12:00:00.000Z",
  updated_at: "2026-03-01T12:00:00.000Z",
  enqueue_at: null,
  priority: 0,
  attempts: 1,
  max_attempts: 10,
  reference: "account-4711",
  encoding: "application/json",
  kind: "order-placed",
  payload: "eyJvcmRlciI6NDJ9",
};

export const StorageListRequest = message(
  "StorageListRequest",
  "A page of the items of one partition.",
  {
    queue_name: at(1, queueName),
    partition: at(2, requestPartition),
    pivot: text(3, {
      description:
        'Start with this id, or the next after it; `""` = from the start. For the next page, send the last id of this one and skip it in the reply.',
      examples: ["", sampleId],
      ...formed(forms.itemIdOrNone),
    }),
    limit: whole(4, {
      ...encoded({ unset: bounds.queuesListMax }),
      minimum: bounds.storageListMin,
      maximum: bounds.storageListMax,
      description: "The maximum number of items to return. A page ends early at 32 MB of payload.",
      examples: [100],
    }),
  },
);
export type StorageListRequest = Static<typeof StorageListRequest>;

export const StorageItemsReply = message("StorageItemsReply", "Items of one partition.", {
  items: list(1, StorageItem, {
    description: "The items as they are stored.",
    examples: [[sampleStorageItem]],
  }),
});
export type StorageItemsReply = Static<typeof StorageItemsReply>;

const itemState = orNull({
  description: '`ready`, `leased` or `scheduled`. Absent, `null` or `""`: any state.',
  examples: ["ready"],
});

const itemOrder = orNull({
  description:
    '`newest`: items that entered the queue last come first. Absent, `null` or `""`: by partition; in each from the highest `priority` to the lowest, and of each the scheduled items after the others, both by id.',
  examples: ["newest"],
});

const itemHolder = Type.String({
  description: 'The `client_id` of the lease. Absent or `""`: any.',
  examples: ["worker-3"],
});

const summaryField = Type.String({
  description:
    "The field: `death`, `kind`, `origin_queue`, `group`, or `reason`, in which numbers, instants and ids are ignored, except codes such as `HTTP 503`.",
  examples: ["reason"],
  [publishedKeyword]: { enum: ["reason", "death", "kind", "origin_queue", "group"] },
});

export const AnyOf = message(
  "AnyOf",
  "Matches items that have any of several values of one field.",
  {
    by: at(100, summaryField),
    values: list(101, Type.String(), {
      description:
        'Values of the field, as `items.summarize` returns them; `""` = the field is not set.',
      examples: [["card_declined", "gateway timeout"]],
      [publishedKeyword]: { minItems: 1, maxItems: bounds.filterValuesMax },
    }),
  },
  { examples: [{ by: "reason", values: ["card_declined", "gateway timeout"] }] },
);
export type AnyOf = Static<typeof AnyOf>;

export const ItemFilter = message(
  "ItemFilter",
  "Conditions on items. An item matches if it meets all of them.",
  {
    kind: optional.text(100, {
      ...encoded({ hasPresence: true }),
      description: "The `kind` of the item.",
      examples: ["charge"],
    }),
    reference: optional.text(101, {
      ...encoded({ hasPresence: true }),
      description: "The `reference` of the item.",
      examples: ["account-4711"],
    }),
    origin_id: optional.text(102, {
      ...encoded({ hasPresence: true }),
      description: "The id under which it was produced.",
      examples: [sampleSourceId],
    }),
    origin_queue: optional.text(103, {
      ...encoded({ hasPresence: true }),
      description: "The queue in which a dead item died.",
      examples: ["orders"],
    }),
    death: optional.text(104, {
      description: "Why a dead item died: `failed`, `expired` or `rejected`.",
      examples: ["failed"],
      [publishedKeyword]: { enum: ["failed", "expired", "rejected"] },
    }),
    reason: optional.text(105, {
      ...encoded({ hasPresence: true }),
      description:
        "The reason of its last retry. Numbers, instants, ids and spacing are ignored: `order 7: no card` also matches `order 8: no card`. Three-digit codes at the start and after `HTTP`, `status` or `code` must match.",
      examples: ["order <n>: no card"],
    }),
    attempts_min: optional.whole(106, {
      minimum: 0,
      description:
        "The minimum number of leases granted for it; for a dead item, in the queue in which it died.",
      examples: [3],
    }),
    created_before: optional.instantOrNull(107, {
      description: 'Date-time before which it was produced. Absent, `null` or `""`: at any time.',
      examples: ["2026-03-01T12:00:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    redriven_max: optional.whole(108, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      description: "The maximum number of times that it was redriven from a dead queue.",
      examples: [0],
    }),
    payload_contains: optional.text(109, {
      description: "A text that its payload contains, as UTF-8.",
      examples: ["4711"],
    }),
    any_of: Type.Optional(at(110, AnyOf)),
    group: optional.text(111, {
      ...encoded({ hasPresence: true }),
      description: 'The `group` of the item; `""` = the group without a name.',
      examples: ["customer-17"],
    }),
  },
  { examples: [{ reason: "card_declined" }] },
);
export type ItemFilter = Static<typeof ItemFilter>;

const findPivot = Type.Optional(
  Type.String({
    description: 'The `next_pivot` of the previous page. Absent or `""`: from the start.',
    examples: ["", "0.0.0.100000"],
  }),
);

const optionalPartition = Type.Optional(
  Type.Integer({
    description: "Only this partition. Absent or `null`: all partitions.",
    examples: [0],
    minimum: 0,
  }),
);

export const FindItemsRequest = message("FindItemsRequest", "A search for items.", {
  queue_name: at(100, queueName),
  partition: at(101, optionalPartition, { hasPresence: true }),
  state: Type.Optional(at(102, itemState)),
  holder: Type.Optional(at(107, itemHolder)),
  filter: Type.Optional(at(103, ItemFilter)),
  order: Type.Optional(at(108, itemOrder)),
  pivot: at(104, findPivot),
  limit: optional.whole(105, {
    ...encoded({ unset: 100 }),
    minimum: bounds.findItemsMin,
    maximum: bounds.findItemsMax,
    description: "The maximum number of items to return.",
    examples: [100],
    [defaultKeyword]: 100,
  }),
  payload_head: optional.whole(106, {
    minimum: 0,
    maximum: bounds.findPayloadHeadMax,
    description: "The maximum number of bytes of each payload to return.",
    examples: [200],
    [defaultKeyword]: 0,
  }),
});
export type FindItemsRequest = Static<typeof FindItemsRequest>;

export const sampleFoundItem = {
  queue_name: "orders-dead",
  partition: 0,
  state: "ready",
  holder: "",
  payload_bytes: 12,
  ...sampleStorageItem,
  is_leased: false,
  lease_deadline: null,
  attempts: 0,
  payload: "",
  origin_id: sampleSourceId,
  reason: "card_declined",
  death: "failed",
  origin_queue: "orders",
  origin_attempts: 3,
  origin_created_at: "2026-03-01T11:00:00.000Z",
};

export const FoundItem = message(
  "FoundItem",
  "An item that was found. `payload` may be only a part of its `payload_bytes`.",
  {
    queue_name: text(110, { description: "Its queue.", examples: ["orders"] }),
    partition: whole(111, { description: "Its partition.", examples: [0] }),
    state: text(112, {
      description: "`ready`, `leased` or `scheduled`.",
      examples: ["ready"],
    }),
    holder: text(114, {
      description: 'The client that holds it; `""` = none, or unknown after a restart.',
      examples: [""],
    }),
    payload_bytes: whole(113, {
      description: "Size of the whole payload, in bytes.",
      examples: [12],
    }),
    ...StorageItem.properties,
  },
  { examples: [sampleFoundItem] },
);
export type FoundItem = Static<typeof FoundItem>;

const scan = {
  scanned: whole(101, { description: "Number of scanned items.", examples: [100_000] }),
  next_pivot: text(102, {
    description:
      'The `pivot` of the next page; `""` = all items were scanned. A page can be empty without being the last.',
    examples: ["0.0.0.100000"],
  }),
};

export const FindItemsReply = message("FindItemsReply", "Matching items.", {
  items: list(100, FoundItem, {
    description: "In the requested order.",
    examples: [[sampleFoundItem]],
  }),
  ...scan,
});
export type FindItemsReply = Static<typeof FindItemsReply>;

export const SummarizeItemsRequest = message(
  "SummarizeItemsRequest",
  "Items to summarize by a field.",
  {
    queue_name: at(100, queueName),
    by: at(101, summaryField),
    partition: at(102, optionalPartition, { hasPresence: true }),
    state: Type.Optional(at(103, itemState)),
    holder: Type.Optional(at(106, itemHolder)),
    filter: Type.Optional(at(104, ItemFilter)),
    pivot: at(105, findPivot),
    top: optional.whole(107, {
      ...encoded({ hasPresence: true }),
      minimum: bounds.summariesMin,
      maximum: bounds.summariesMax,
      description:
        "Return only this many summaries, the largest of the page. Absent or `null`: all summaries.",
      examples: [10],
    }),
  },
);
export type SummarizeItemsRequest = Static<typeof SummarizeItemsRequest>;

export const ItemSummary = message("ItemSummary", "The items that have one value of a field.", {
  value: text(100, {
    description: 'Their common value of the field; `""` = the field is not set.',
    examples: ["card_declined"],
  }),
  count: whole(101, { description: "Number of items.", examples: [312] }),
  first_at: instant(102, {
    description: "Date-time at which the first of them entered this queue.",
    examples: ["2026-03-01T10:42:00.000Z"],
  }),
  last_at: instant(103, {
    description: "Date-time at which the last of them entered this queue.",
    examples: ["2026-03-01T11:58:00.000Z"],
  }),
  sample_id: text(104, { description: "The id of one of them.", examples: [sampleId] }),
});
export type ItemSummary = Static<typeof ItemSummary>;

export const SummarizeItemsReply = message("SummarizeItemsReply", "Items, summarized by a field.", {
  summaries: list(100, ItemSummary, {
    description:
      "One for each value, largest count first. Add up the counts of one value over all pages.",
    examples: [
      [
        {
          value: "card_declined",
          count: 312,
          first_at: "2026-03-01T10:42:00.000Z",
          last_at: "2026-03-01T11:58:00.000Z",
          sample_id: sampleId,
        },
      ],
    ],
  }),
  other_items: whole(103, {
    description: "Items in summaries that `top` left out.",
    examples: [0],
  }),
  ...scan,
});
export type SummarizeItemsReply = Static<typeof SummarizeItemsReply>;

const anyId = Type.String({
  description: "The id of an item.",
  examples: [sampleId],
  ...formed(forms.itemId),
});

export const GetItemRequest = message(
  "GetItemRequest",
  "An item by its current id, and a range of its payload.",
  {
    id: at(100, anyId),
    payload_offset: optional.whole(101, {
      minimum: 0,
      maximum: bounds.payloadRangeMax,
      description: "The first byte of the payload to return, counted from 0.",
      examples: [65_536],
      [defaultKeyword]: 0,
    }),
    payload_limit: optional.whole(102, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      maximum: bounds.payloadRangeMax,
      description: "The maximum number of bytes of the payload to return. Absent: all that follow.",
      examples: [65_536],
    }),
  },
);
export type GetItemRequest = Static<typeof GetItemRequest>;

export const ExplainItemRequest = message(
  "ExplainItemRequest",
  "An item by any id that it ever had.",
  { id: at(100, anyId) },
);
export type ExplainItemRequest = Static<typeof ExplainItemRequest>;

export const ItemEvent = message("ItemEvent", "An event in the history of an item.", {
  at: instant(100, {
    description: "Date-time of the event.",
    examples: ["2026-03-01T10:42:00.000Z"],
  }),
  kind: text(101, {
    description:
      "One of `produced`, `imported`, `due` (its `enqueue_at` or `retry_at` passed), `leased`, `extended`, `completed`, `retried`, `released`, `lapsed`, `expired`, `dead` (it entered a dead queue), `discarded` (its queue has no dead queue), `redriven` (it left a dead queue), `returned` (it arrived from a dead queue), `promoted` (an operator made it ready early), `rejected` (an operator sent it to the dead queue), `prioritized` (an operator changed its priority), `removed`, `damaged`. Later versions may add others.",
    examples: ["leased"],
  }),
  id: text(102, { description: "Its id at that time.", examples: [sampleId] }),
  queue_name: text(103, {
    description: 'Its queue at that time; `""` = a queue that no longer exists.',
    examples: ["orders"],
  }),
  partition: at(
    104,
    Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: "Its partition at that time; `null` = the partition no longer exists.",
      examples: [0],
    }),
    { hasPresence: true },
  ),
  holder: text(105, {
    description: 'The client that held it; `""` = none, or unknown.',
    examples: ["worker-3"],
  }),
});
export type ItemEvent = Static<typeof ItemEvent>;

export const ItemExplained = message("ItemExplained", "Where an item is, and why.", {
  id: text(100, { description: "The requested id.", examples: [sampleId] }),
  item: Type.Optional(at(101, FoundItem)),
  ahead: whole(102, {
    description: "For a ready item, the number of ready items ahead of it in its partition.",
    examples: [41],
  }),
  ahead_is_exact: flag(103, {
    description: "Whether `ahead` is exact; if not, there are at least that many.",
    examples: [true],
  }),
  why: list(104, Type.String(), {
    description: "Sentences that explain why it is there, the most important first.",
    examples: [["It is ready, with 41 ahead of it in partition 0."]],
  }),
  history: list(105, ItemEvent, {
    description:
      "Its events in order, as far as they are in memory: at most the last 1,000 events of each shard.",
    examples: [
      [
        {
          at: "2026-03-01T10:42:00.000Z",
          kind: "produced",
          id: sampleId,
          queue_name: "orders",
          partition: 0,
          holder: "",
        },
      ],
    ],
  }),
  history_since: nullable.instant(106, {
    description:
      "Date-time from which the history is complete; `null` = no shard knows the id, or no history is kept, because `--history-bytes` is 0.",
    examples: ["2026-03-01T09:00:00.000Z"],
  }),
});
export type ItemExplained = Static<typeof ItemExplained>;

/** The items of a task, and its limits. */
const taskFields = {
  ids: optional.list(102, itemId, {
    ...encoded({ hasPresence: true }),
    minItems: 1,
    maxItems: bounds.taskIdsMax,
    description: "Ids of the items. Absent: all items that match `filter`.",
    examples: [[sampleId]],
  }),
  filter: Type.Optional(at(103, ItemFilter)),
  limit: optional.whole(104, {
    minimum: 1,
    description: "The maximum number of items to change.",
    examples: [1_000],
  }),
  per_second: optional.whole(105, {
    minimum: 1,
    maximum: bounds.taskPerSecondMax,
    description: "Number of items to change per second. Absent: no limit.",
    examples: [500],
  }),
  dry_run: optional.flag(106, {
    description: "Only count the items.",
    examples: [false],
    [defaultKeyword]: false,
  }),
  expect: optional.whole(107, {
    ...encoded({ hasPresence: true }),
    minimum: 0,
    maximum: bounds.expectMax,
    description:
      "The maximum number of matching items. If more match, nothing is changed, and the 453 reports the count.",
    examples: [312],
  }),
};

export const RedriveRequest = message("RedriveRequest", "Dead items to redrive.", {
  queue_name: text(100, {
    description: "The queue whose ready items are moved, usually a dead queue.",
    examples: ["orders-dead"],
    [queueKeyword]: true,
  }),
  to_queue: optional.text(101, {
    description:
      'The queue to which all items go. Absent or `""`: each item goes to the queue that it came from.',
    examples: ["orders"],
    [queueKeyword]: true,
  }),
  ...taskFields,
});
export type RedriveRequest = Static<typeof RedriveRequest>;

export const RepairRequest = message(
  "RepairRequest",
  "Items to repair, by `ids` or by `filter`; an empty filter matches all items. With a `holder` both are optional. Only items that are not leased are changed, or for `retry` only leased items.",
  {
    queue_name: text(100, {
      description: "The queue whose items are changed.",
      examples: ["orders"],
      [queueKeyword]: true,
    }),
    action: text(101, {
      description:
        "`promote`: make scheduled items ready at once. `reject`: send items to the dead queue. `retry`: return leased items to their queue; their holder can no longer complete them, and the attempt counts. `prioritize`: change the `priority` of items. `delete`: remove items.",
      examples: ["promote"],
    }),
    state: Type.Optional(
      nullable.text(108, {
        ...encoded({ hasPresence: true }),
        description:
          "Only `ready` or only `scheduled` items. Absent: both. `promote` only changes `scheduled` items, and `retry` only `leased` items.",
        examples: ["scheduled"],
      }),
    ),
    holder: optional.text(110, {
      description:
        'For `retry`: the client that holds the items, as in `queue.clients`. Absent or `""`: any client. After a restart the holders of earlier leases are unknown.',
      examples: ["worker-7"],
    }),
    reason: optional.text(109, {
      ...encoded({ hasPresence: true }),
      description: `For \`reject\` and \`retry\`: the reason, at most ${bounds.retryReasonBytesMax} bytes. It is stored with the items.`,
      examples: ["sent by mistake"],
      [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
    }),
    priority: optional.whole(111, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      maximum: bounds.priorityMax,
      description:
        "For `prioritize`, which requires it: the new priority of the items. Each joins the tail of the items of its partition that have it, or keeps its place in its group; due time, attempts and expiry stay as they are. Items that have the priority are skipped.",
      examples: [9],
    }),
    ...taskFields,
  },
);
export type RepairRequest = Static<typeof RepairRequest>;

export const Destination = message("Destination", "A queue to which items go.", {
  queue_name: text(100, {
    description:
      'The queue to which the items go; `""` = they stay, because their original queue was deleted.',
    examples: ["orders"],
  }),
  count: whole(101, {
    description: "Number of items, regardless of the `limit`.",
    examples: [298],
  }),
});
export type Destination = Static<typeof Destination>;

export const TaskBegun = message("TaskBegun", "A task that was started. It survives restarts.", {
  task_id: text(100, {
    description: 'Id of the task; `""` for a dry run.',
    examples: ["rmg2k7v1"],
  }),
  matched: whole(101, { description: "Items that match now.", examples: [312] }),
  destinations: list(102, Destination, {
    description:
      "For a redrive or `reject`: the number of items that go to each queue, for the ten queues that get the most, and the number of items that stay, with an empty `queue_name`. Queues that the API key may not read are omitted.",
    examples: [
      [
        { queue_name: "orders", count: 298 },
        { queue_name: "", count: 14 },
      ],
    ],
  }),
});
export type TaskBegun = Static<typeof TaskBegun>;

export const TaskInfo = message("TaskInfo", "A task that takes longer than a call.", {
  task_id: text(100, { description: "Id of the task.", examples: ["rmg2k7v1"] }),
  action: text(111, {
    description: "One of `redrive`, `promote`, `reject`, `retry`, `prioritize` and `delete`.",
    examples: ["redrive"],
  }),
  state: text(101, {
    description:
      "`running`, `done`, `cancelled`, or `failed`, if the queue to which all items should go was deleted.",
    examples: ["running"],
  }),
  queue_name: text(102, {
    description: "The queue whose items are changed.",
    examples: ["orders-dead"],
  }),
  to_queue: text(103, {
    description:
      'For a redrive: the queue to which all items go; `""` = each item goes to the queue that it came from, or the API key may not read the queue.',
    examples: [""],
  }),
  holder: text(113, {
    description: 'For a `retry`: the client that holds the items; `""` = any client.',
    examples: [""],
  }),
  priority: whole(114, {
    description: "For `prioritize`: the new priority of the items; otherwise 0.",
    examples: [0],
  }),
  filter: at(104, ItemFilter),
  per_second: whole(105, { description: "Limit of items per second; 0 = none.", examples: [0] }),
  matched: whole(106, { description: "Items that matched when it started.", examples: [312] }),
  moved: whole(107, { description: "Items that it has changed.", examples: [250] }),
  skipped: whole(108, {
    description:
      "Items that it did not change, because the queue to which they would go does not exist.",
    examples: [0],
  }),
  key_name: text(112, {
    description: 'Name of the API key that started it; `""` = none was required.',
    examples: ["ops"],
  }),
  created_at: instant(109, {
    description: "Date-time at which it started.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  ended_at: nullable.instant(110, {
    description: "Date-time at which it ended; `null` while it runs.",
    examples: [null, "2026-03-01T12:00:04.000Z"],
  }),
});
export type TaskInfo = Static<typeof TaskInfo>;

export const TasksListRequest = message("TasksListRequest", "The tasks to list.", {
  queue_name: optional.text(100, {
    description: 'Only tasks of this queue. Absent or `""`: of all queues.',
    examples: ["orders-dead"],
    [queueKeyword]: true,
  }),
});
export type TasksListRequest = Static<typeof TasksListRequest>;

export const sampleTask: TaskInfo = {
  task_id: "rmg2k7v1",
  action: "redrive",
  state: "running",
  queue_name: "orders-dead",
  to_queue: "",
  holder: "",
  priority: 0,
  filter: { reason: "card_declined" },
  per_second: 0,
  matched: 312,
  moved: 250,
  skipped: 0,
  key_name: "ops",
  created_at: "2026-03-01T12:00:00.000Z",
  ended_at: null,
};

export const TasksListReply = message("TasksListReply", "A list of tasks.", {
  tasks: list(100, TaskInfo, {
    description: "The last hundred tasks, newest first.",
    examples: [[sampleTask]],
  }),
  unreached: unreached(101, "tasks"),
});
export type TasksListReply = Static<typeof TasksListReply>;

export const ServerOverviewReply = message("ServerOverviewReply", "The state of all queues.", {
  now: instant(100, {
    description: "Date-time of the reply, by the server's clock, which may be a test clock.",
    examples: ["2026-03-01T13:05:00.310Z"],
  }),
  machine_now: instant(112, {
    description:
      "Date-time of the reply, by the clock of the machine. It differs from `now` with a test clock, and is the clock of `started_at`, `last_backup_at` and the last use of a key.",
    examples: ["2026-03-01T13:05:00.310Z"],
  }),
  as_of: at(101, asOf),
  since: text(102, {
    description: "Send it with the next request.",
    examples: ["mf3k2a9c.1042"],
  }),
  whole: flag(103, {
    description:
      "Whether the reply contains all queues, except those of `unreached` shards; if so, discard all others. A later reply contains the queues of these shards again.",
    examples: [true],
  }),
  poll_after_ms: whole(104, {
    description: "Milliseconds to wait before the next request; a busy server returns more.",
    examples: [1000],
  }),
  totals: at(105, OverviewTotals),
  queues: at(106, OverviewQueues),
  removed: list(107, Type.String(), {
    description: "Queues deleted since the `since` of the request.",
    examples: [["old-orders"]],
  }),
  shards: list(108, OverviewShard, {
    description: "All shards that could be reached.",
    examples: [[]],
  }),
  alarms: list(109, OverviewAlarm, {
    description:
      "Conditions that need attention, at most 50: first those of the server and its shards, then those of queues, sorted by the number of items multiplied by the duration.",
    examples: [[]],
  }),
  tasks: list(111, TaskInfo, {
    description: "Running tasks, newest first; `tasks.list` returns ended tasks too.",
    examples: [[]],
  }),
  machine: at(110, OverviewMachine),
  unreached: unreached(113, "queues, counts, alarms and tasks"),
});
export type ServerOverviewReply = Static<typeof ServerOverviewReply>;

export const TaskRequest = message("TaskRequest", "A task by its id.", {
  task_id: text(100, { description: "Id of the task.", examples: ["rmg2k7v1"] }),
});
export type TaskRequest = Static<typeof TaskRequest>;

export const ImportItem = message(
  "ImportItem",
  "An item to store. It has the fields of a listed item; each is optional.",
  {
    id: optional.text(1, {
      description:
        "Ignored, because every imported item gets a new id. Accepted so that a listed item can be sent unchanged.",
      examples: [sampleId],
    }),
    source_id: optional.text(2, {
      description:
        'An id that you choose for the item, usually its former id; `""` = none. An item whose `source_id` is already in the partition is not stored again, so an import can be repeated safely.',
      examples: [sampleSourceId],
      [defaultKeyword]: "",
    }),
    is_leased: optional.flag(3, {
      description:
        "Store it as leased until `lease_deadline`. Any client that knows its new id may complete it.",
      examples: [false],
      [defaultKeyword]: false,
    }),
    lease_deadline: optional.instantOrNull(4, {
      description: "Date-time at which its lease lapses; required if `is_leased` is true.",
      examples: [null, "2026-03-01T13:00:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    dead_deadline: ignoredInstant(6, "Follows from `expire_deadline`."),
    expire_deadline: optional.instantOrNull(5, {
      description:
        'Date-time at which it expires. Absent, `null` or `""`: as if it were produced now.',
      examples: ["2026-03-02T12:00:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    created_at: optional.instantOrNull(7, {
      description: 'Date-time at which it was first produced. Absent, `null` or `""`: now.',
      examples: ["2026-03-01T12:00:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    updated_at: ignoredInstant(8, "Set by the server."),
    enqueue_at: optional.instantOrNull(9, {
      description:
        'Date-time before which it is not offered. Absent, `null`, `""` or past: it is offered at once.',
      examples: [null, "2026-03-01T12:15:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
    attempts: optional.whole(10, {
      minimum: 0,
      maximum: bounds.carriedCountMax,
      description: "Leases granted so far.",
      examples: [1],
      [defaultKeyword]: 0,
    }),
    max_attempts: optional.whole(11, {
      description:
        "Ignored; a limit of the item itself is its `own_max_attempts`. Accepted so that a listed item can be sent unchanged.",
      examples: [10],
    }),
    reference: Type.Optional(at(12, reference)),
    encoding: Type.Optional(at(13, encoding)),
    kind: Type.Optional(at(14, kind)),
    payload: optional.bytes(15, {
      description:
        "The payload; in JSON as base64 of either alphabet, with or without padding, blanks and line breaks.",
      examples: ["eyJvcmRlciI6NDJ9"],
      [defaultKeyword]: "",
    }),
    priority: optional.whole(108, { ...priority, [defaultKeyword]: 0 }),
    ...carried,
  },
);
export type ImportItem = Static<typeof ImportItem>;

export const StorageImportRequest = message(
  "StorageImportRequest",
  "Items to put into one partition.",
  {
    queue_name: at(1, queueName),
    partition: at(2, requestPartition),
    items: list(3, ImportItem, {
      minItems: bounds.importItemsMin,
      maxItems: bounds.importItemsMax,
      description: "The items, in the order in which they are to be offered.",
      examples: [
        [{ source_id: sampleSourceId, kind: "order-placed", payload: "eyJvcmRlciI6NDJ9" }],
      ],
    }),
  },
);
export type StorageImportRequest = Static<typeof StorageImportRequest>;

export const StorageImportReply = message("StorageImportReply", "The stored items.", {
  items: at(2, StorageItemsReply.properties.items),
});
export type StorageImportReply = Static<typeof StorageImportReply>;

export const StorageDeleteRequest = message(
  "StorageDeleteRequest",
  "Items to remove from one partition.",
  {
    queue_name: at(1, queueName),
    partition: at(2, requestPartition),
    ids: list(3, itemId, {
      minItems: bounds.deleteIdsMin,
      description: "Ids of the items to remove, including leased and scheduled items.",
      examples: [[sampleId]],
    }),
    ...guard,
  },
);
export type StorageDeleteRequest = Static<typeof StorageDeleteRequest>;

export const GroupsListRequest = message("GroupsListRequest", "A page of the groups of a queue.", {
  queue_name: at(100, queueName),
  pivot: optional.text(101, {
    description:
      'Start with this group, or the next after it; `""` = from the start. For the next page, send the `next_pivot` of this one.',
    examples: ["", "customer-17"],
    [publishedKeyword]: { maxLength: bounds.groupBytesMax },
    [defaultKeyword]: "",
  }),
  limit: optional.whole(102, {
    minimum: bounds.groupsListMin,
    maximum: bounds.groupsListMax,
    description: "The maximum number of groups to return.",
    examples: [100],
    [defaultKeyword]: 100,
  }),
  blocked: optional.flag(103, {
    description: "Only groups with waiting items of which none may be leased.",
    examples: [true],
    [defaultKeyword]: false,
  }),
});
export type GroupsListRequest = Static<typeof GroupsListRequest>;

const groupName = Type.String({
  description: 'Name of the group; `""` = the group without a name.',
  examples: ["customer-17"],
  [publishedKeyword]: { maxLength: bounds.groupBytesMax },
});

const ownLeasedMax = Type.Integer({
  minimum: bounds.leasedMaxMin,
  maximum: bounds.leasedMaxMax,
  description:
    "The maximum number of its items that may be leased at one time; 0 = the `group_leased_max` of the queue.",
  examples: [0, 5],
});

const ownRate = Type.String({
  description:
    'The maximum number of its items leased in any interval, in the format of `lease_rate`; `""` = the `group_rate` of the queue.',
  examples: ["", "10/1s"],
});

const groupWeight = Type.Integer({
  minimum: bounds.groupWeightMin,
  maximum: bounds.groupWeightMax,
  description:
    "Number of items that are leased from the group at its turn, before that of the next group.",
  examples: [1, 3],
});

const groupPaused = Type.Boolean({
  description: "Whether none of its items is leased.",
  examples: [false],
});

export const GroupInfo = message("GroupInfo", "A group: its items, and what it has of its own.", {
  group: at(100, groupName),
  waiting: whole(101, { description: "Items that are ready.", examples: [12] }),
  leased: whole(102, { description: "Leased items.", examples: [1] }),
  scheduled: whole(103, { description: "Items waiting for their `enqueue_at`.", examples: [0] }),
  retried: whole(104, { description: "Items waiting for their `retry_at`.", examples: [0] }),
  oldest_at: nullable.instant(105, {
    ...encoded({ isAlwaysSent: true }),
    description:
      "Date-time at which its first ready item was created; `null` if none is ready, or if that is unknown.",
    examples: ["2026-03-01T12:00:00.000Z", null],
  }),
  blocked_by: text(106, {
    description:
      'Why no waiting item of the group may be leased: `paused`; `dead` (a dead letter closed it); `retry` (in the order `strict`, an item that came back is not finished); `leased_max`; `rate`. `""`: one may be leased, or none waits.',
    examples: ["", "leased_max"],
    [openWordsKeyword]: ["", "paused", "dead", "retry", "leased_max", "rate"],
  }),
  blocked_id: text(107, {
    description:
      'The id of the item that blocks it, such as the dead letter; `""` = none, or several.',
    examples: ["", sampleId],
  }),
  next_at: nullable.instant(108, {
    ...encoded({ isAlwaysSent: true }),
    description: "Date-time at which its rate opens it; `null` if it is not blocked by that.",
    examples: [null, "2026-03-01T12:00:01.000Z"],
  }),
  leased_max: at(109, ownLeasedMax),
  rate: at(110, ownRate),
  weight: at(111, groupWeight),
  paused: at(112, groupPaused),
});
export type GroupInfo = Static<typeof GroupInfo>;

export const sampleGroup: GroupInfo = {
  group: "customer-17",
  waiting: 12,
  leased: 1,
  scheduled: 0,
  retried: 0,
  oldest_at: "2026-03-01T12:00:00.000Z",
  blocked_by: "leased_max",
  blocked_id: sampleId,
  next_at: null,
  leased_max: 0,
  rate: "",
  weight: 1,
  paused: false,
};

export const GroupsListReply = message("GroupsListReply", "Groups of a queue.", {
  items: list(100, GroupInfo, {
    description: "Groups in the order of their names.",
    examples: [[sampleGroup]],
  }),
  next_pivot: text(101, {
    description: 'The `pivot` of the next page; `""` = this is the last.',
    examples: ["", "customer-18"],
  }),
});
export type GroupsListReply = Static<typeof GroupsListReply>;

export const GroupsSetRequest = message(
  "GroupsSetRequest",
  "What a group has of its own. An absent field keeps its value.",
  {
    queue_name: at(100, queueName),
    group: at(101, groupName),
    leased_max: Type.Optional(at(102, ownLeasedMax, { hasPresence: true })),
    rate: Type.Optional(at(103, ownRate, { hasPresence: true })),
    weight: Type.Optional(at(104, groupWeight, { hasPresence: true })),
    paused: Type.Optional(at(105, groupPaused, { hasPresence: true })),
    unblock: optional.flag(106, {
      description: "Whether to open the group if a dead letter has closed it.",
      examples: [true],
      [defaultKeyword]: false,
    }),
  },
  {
    // An absent key keeps its value; `null` could also mean "remove it".
    [withoutNullKeyword]: true,
  },
);
export type GroupsSetRequest = Static<typeof GroupsSetRequest>;

export const CancelItemsRequest = message(
  "CancelItemsRequest",
  "Unfinished items to cancel, in any partition of a queue.",
  {
    queue_name: at(100, queueName),
    ids: list(101, itemId, {
      minItems: bounds.completeIdsMin,
      maxItems: bounds.completeIdsMax,
      description: "Current ids of the items.",
      examples: [[sampleId]],
    }),
    request_timeout: at(102, optionalRequestTimeout),
  },
);
export type CancelItemsRequest = Static<typeof CancelItemsRequest>;

export const CancelledItem = message("CancelledItem", "What became of one id.", {
  id: text(100, { description: "The id of the request.", examples: [sampleId] }),
  was: text(101, {
    description:
      "The state of the item before it was removed: `ready`, `leased`, `scheduled`, or `retried` (it waited for its `retry_at`). `not_found`: no item of the queue has this id; it is finished, has another id since it was retried or its lease lapsed, or never existed.",
    examples: ["leased"],
    [openWordsKeyword]: ["ready", "leased", "scheduled", "retried", "not_found"],
  }),
});
export type CancelledItem = Static<typeof CancelledItem>;

export const CancelItemsReply = message("CancelItemsReply", "What became of the items.", {
  items: list(100, CancelledItem, {
    description: "An entry for each id, in the order of the request.",
    examples: [[{ id: sampleId, was: "leased" }]],
  }),
});
export type CancelItemsReply = Static<typeof CancelItemsReply>;

export const Health = message("Health", "The state of the server.", {
  status: Type.String({
    description:
      "`degraded` while some shards are down or have no owner, so that their queues cannot be reached; otherwise `store_full` while the disk has no room, so that calls that only add items are refused; otherwise `commits_lost` after a database lost commits that this server acknowledged, until `losses.confirm` or a restart; otherwise `ok`.",
    examples: ["ok"],
    [openWordsKeyword]: ["ok", "degraded", "store_full", "commits_lost"],
  }),
  version: Type.String({ description: "Version of the server.", examples: ["0.1.0"] }),
  store: Type.String({
    description: "Where items are kept: `sqlite`, `postgres` or `memory`.",
    examples: ["sqlite"],
  }),
  durability: Type.String({
    description:
      "What a stored item survives: with `full` a power cut, with `normal` the death of the process, with `none` (in memory) neither.",
    examples: ["full"],
  }),
  shards: Type.Integer({ description: "Number of shards of the server.", examples: [1] }),
  shards_up: Type.Integer({ description: "Number of shards that are up.", examples: [1] }),
  shards_without_owner: Type.Array(Type.Integer(), {
    description:
      "On a node: numbers of the shards that no node serves, as far as this node knows, such as those in an unreachable database.",
    examples: [[1, 3]],
  }),
});
export type Health = Static<typeof Health>;

export const BackupReply = message("BackupReply", "A completed backup.", {
  folder: Type.String({
    description: "Folder of the backup on the server's machine.",
    examples: ["/var/backups/holdfast/2026-03-01T12-00-00-000Z"],
  }),
  format: Type.Integer({ description: "Format of its manifest.", examples: [1] }),
  made_at: Type.String({
    description: "Date-time of the state that the backup contains.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  version: Type.String({
    description: "Version of the server that made it.",
    examples: ["0.1.0"],
  }),
  shards: Type.Array(
    Type.Object(
      {
        file: Type.String({ description: "Name of the file.", examples: ["shard-0.db"] }),
        bytes: Type.Integer({ description: "Size in bytes.", examples: [4_194_304] }),
      },
      { additionalProperties: false, description: "The file of a shard." },
    ),
    {
      description: "One file for each shard.",
      examples: [[{ file: "shard-0.db", bytes: 4_194_304 }]],
    },
  ),
});
export type BackupReply = Static<typeof BackupReply>;
