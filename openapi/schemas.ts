// What crosses the wire: the entities, and the request and reply of each operation,
// in API order. Every key has a description and an example, because these objects are
// also the API reference. Requests are checked against them on the hot path, so to a
// validator they say no more than types and bounds: durations, date-times, names and ids have
// their forms for readers of the document, and base64 is a plain string; the server reads them.

import { type SchemaOptions, type Static, type TSchema, Type } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import { forms } from "./forms.ts";
import { reasons } from "./reasons.ts";

// A key's default is published under `default`, but is not kept under that name here:
// a validator that knows the keyword would fill values in, copy each request to do so,
// and hide that a required key is absent.
export const defaultKeyword = "x-default";

/**
 * Keywords for readers of the document, who then know more than types: patterns, lengths, lists of
 * words. A validator does not: the server checks these by hand, in an order and with texts of its
 * own, and a test holds the two against each other.
 */
export const publishedKeyword = "x-published";

/**
 * Of an object whose keys are absent or have a value. In any other one, a key that may be absent
 * may also be `null`, which says the same.
 */
export const withoutNullKeyword = "x-without-null";

/** Whether `null` says the same of a key of an object as its absence. */
export function takesNull(schema: TSchema, key: string): boolean {
  const required: readonly string[] = schema["required"] ?? [];
  return schema[withoutNullKeyword] !== true && !required.includes(key);
}

/** A text's form, for readers of the document. */
const formed = (pattern: string, maxLength?: number) => ({
  [publishedKeyword]: { pattern, ...(maxLength !== undefined && { maxLength }) },
});

const closed = { additionalProperties: false } as const;

const orNull = (options: SchemaOptions & { description: string; examples: unknown[] }) =>
  Type.Union([Type.String(), Type.Null()], options);

const sampleId = "1h0LdFaStQ2vX000000000000Kd";
const sampleSourceId = "1h0LdFaStQ2vX00010000000042";

const queueName = Type.String({
  description: `Name of the queue, 1 to ${bounds.queueNameBytesMax} bytes of UTF-8 without whitespace, control characters or \`~\`. Names are case-sensitive.`,
  examples: ["orders"],
  ...formed(forms.queueName, bounds.queueNameBytesMax),
});

const itemId = Type.String(formed(forms.itemId));

const requestPartition = Type.Integer({
  minimum: 0,
  description: "Number of the partition within the queue, 0 and up.",
  examples: [0],
});

const leasePartition = Type.Integer({
  minimum: 0,
  description: "Partition that the lease came from, as the lease reply gave it.",
  examples: [0],
});

const requestTimeout = (recommended: string, effect: string) =>
  Type.String({
    description: `How long the request may take, as a duration from \`10ms\` to \`15m\`. ${effect} Do not give up on the request before this time. Required; \`${recommended}\` is recommended and is what clients send when told nothing else.`,
    examples: [recommended, "30s", "15m"],
    ...formed(forms.duration),
    [defaultKeyword]: recommended,
  });

/** Of a call that can do without: the server then takes as long as produce is recommended to. */
const optionalRequestTimeout = Type.Optional(
  orNull({
    description:
      'How long the request may take, as a duration from `10ms` to `15m`. An answer comes by then; after 504 alone it may have been done. Absent, `null` or `""`: 5 minutes.',
    examples: ["30s"],
    ...formed(forms.durationOrNone),
    [defaultKeyword]: bounds.produceRequestTimeoutDefault,
  }),
);

const encoding = Type.String({
  description: "How the payload is encoded, in words of your own. The queue never reads it.",
  examples: ["application/json"],
});

const kind = Type.String({
  description: "What sort of item it is, in words of your own. The queue never reads it.",
  examples: ["order-placed"],
});

const reference = Type.String({
  description: "Free text to find the item by, such as a trace or account id.",
  examples: ["account-4711"],
});

export const Reply = Type.Object(
  {
    code: Type.Integer({ description: "The HTTP status, repeated.", examples: [200] }),
    code_text: Type.String({
      description:
        "The code in words. Rely on this and not on the status text of HTTP, which has no words for 453 and 454.",
      examples: ["OK"],
    }),
    message: Type.String({
      description:
        'What is wrong: a constant part, then after `;` the particulars of this request. `""` on success.',
      examples: ["queue does not exist; no such queue named 'orders'"],
    }),
    reason: Type.Optional(
      Type.String({
        enum: Object.keys(reasons),
        description:
          "Why it was refused, in one stable word; new ones may come. Present with every code but 200.",
        examples: ["no_such_queue"],
      }),
    ),
    details: Type.Optional(
      // `Type.Record` would say the same by a regular expression on every key.
      Type.Unsafe<Record<string, string>>(
        Type.Object(
          {},
          {
            additionalProperties: Type.String(),
            description: "Reasons by item id, present where something can be said per id.",
            examples: [
              { [sampleId]: `item(s) cannot be completed; '${sampleId}' is not marked as leased` },
            ],
          },
        ),
      ),
    ),
  },
  {
    ...closed,
    [withoutNullKeyword]: true,
    description: "The answer of every operation that returns nothing else, and of every refusal.",
  },
);
export type Reply = Static<typeof Reply>;

export const ProduceReply = Type.Object(
  {
    code: Reply.properties.code,
    code_text: Reply.properties.code_text,
    message: Reply.properties.message,
    duplicates: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        description:
          "Places in `items`, from 0 and rising, of those that were not written, because an item with their `unique_key` was. Absent where there are none.",
        examples: [[1]],
      }),
    ),
  },
  {
    ...closed,
    [withoutNullKeyword]: true,
    description: "Every item is in the store, or was before.",
  },
);
export type ProduceReply = Static<typeof ProduceReply>;

export const ProduceItem = Type.Object(
  {
    encoding: Type.Optional(encoding),
    kind: Type.Optional(kind),
    reference: Type.Optional(reference),
    enqueue_at: Type.Optional(
      orNull({
        description:
          'Date-time before which the item is not offered. Absent, `null`, `""` or past: it is offered at once.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    bytes: Type.Optional(
      Type.String({
        contentEncoding: "base64",
        description:
          "The payload in base64, for any bytes at all. If `utf8` is given too, `bytes` wins and `utf8` is dropped.",
        examples: ["eyJvcmRlciI6NDJ9"],
      }),
    ),
    utf8: Type.Optional(
      Type.String({
        description: "The payload as plain text, kept as its UTF-8 bytes.",
        examples: ['{"order":42}'],
      }),
    ),
    unique_key: Type.Optional(
      Type.String({
        description: `At most ${bounds.uniqueKeyBytesMax} bytes, for a queue with \`unique_for\`: for that long after an item with a key was written, no other item with the same key is, whatever became of the first. \`""\` = none.`,
        examples: ["order-42"],
        [publishedKeyword]: { maxLength: bounds.uniqueKeyBytesMax },
      }),
    ),
  },
  {
    ...closed,
    description: "An item to be queued. Every key may be absent; an item may have no payload.",
  },
);
export type ProduceItem = Static<typeof ProduceItem>;

export const ProduceRequest = Type.Object(
  {
    queue_name: queueName,
    request_timeout: requestTimeout(
      bounds.produceRequestTimeoutDefault,
      "An answer comes by then, and if it is not 200, nothing was written.",
    ),
    items: Type.Array(ProduceItem, {
      minItems: bounds.produceItemsMin,
      maxItems: bounds.produceItemsMax,
      description:
        "The items, in the order in which they are to be offered. All go to one partition, or none is written. Of items with one `unique_key` the first is written.",
      examples: [[{ kind: "order-placed", utf8: '{"order":42}' }]],
    }),
  },
  { ...closed, description: "Items to add to a queue." },
);
export type ProduceRequest = Static<typeof ProduceRequest>;

export const LeaseRequest = Type.Object(
  {
    queue_name: queueName,
    client_id: Type.String({
      description:
        "Identifies the consumer. It must be unique among the leases waiting on this queue: duplicates are refused. It may be used again as soon as its lease request is answered.",
      examples: ["worker-7"],
      ...formed(forms.clientId),
    }),
    request_timeout: requestTimeout(
      bounds.leaseRequestTimeoutDefault,
      "If the queue stays empty so long, the reply is 454.",
    ),
    batch_size: Type.Optional(
      Type.Integer({
        minimum: bounds.leaseBatchMin,
        maximum: bounds.leaseBatchMax,
        description:
          "The most items to lease. The reply comes as soon as there is one; it does not wait for the batch to fill.",
        examples: [10],
        [defaultKeyword]: 1,
      }),
    ),
    lease_timeout: Type.Optional(
      orNull({
        description:
          'How long to hold these items, as a duration. Absent, `null` or `""`: as long as the queue says.',
        examples: ["30s"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
      }),
    ),
  },
  { ...closed, description: "Asks for items, and waits for them if there are none." },
);
export type LeaseRequest = Static<typeof LeaseRequest>;

export const LeaseItem = Type.Object(
  {
    id: Type.String({
      description: `Identifies the item while this lease runs: ${bounds.idLength} characters, to be taken as they are. An item gets a new id each time it returns to a queue, so the id of a lapsed lease can no longer complete it.`,
      examples: [sampleId],
    }),
    encoding,
    kind,
    reference,
    attempts: Type.Integer({
      description: "Leases granted for this item, this one included: 1 the first time.",
      examples: [1],
    }),
    lease_deadline: Type.String({
      description:
        "Date-time until which the item is yours alone. If it is neither completed nor retried by then, the lease lapses and the item is offered to another consumer.",
      examples: ["2026-03-01T13:00:00.000Z"],
    }),
    bytes: Type.String({
      contentEncoding: "base64",
      description: "The payload in base64, however it was produced.",
      examples: ["eyJvcmRlciI6NDJ9"],
    }),
  },
  { ...closed, description: "An item held by one consumer." },
);
export type LeaseItem = Static<typeof LeaseItem>;

export const LeaseReply = Type.Object(
  {
    items: Type.Array(LeaseItem, {
      description: "1 to `batch_size` items, in queue order, all from one partition.",
      examples: [
        [
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
      ],
    }),
    queue_name: Type.String({ description: "The queue asked for.", examples: ["orders"] }),
    partition: Type.Integer({
      minimum: 0,
      description: "Partition that the items came from; give it when you complete or retry them.",
      examples: [0],
    }),
    max_attempts: Type.Integer({
      description:
        "Of the queue; 0 = no limit. An item whose `attempts` have reached it has its last.",
      examples: [10],
    }),
  },
  { ...closed, description: "Leased items, and what is needed to complete or retry them." },
);
export type LeaseReply = Static<typeof LeaseReply>;

export const RetryItem = Type.Object(
  {
    id: Type.String({
      description: "Id of an item that is leased now, as the lease reply gave it.",
      examples: [sampleId],
      ...formed(forms.itemId),
    }),
    retry_at: Type.Optional(
      orNull({
        description:
          'Date-time before which the item is not offered again. Absent, `null`, `""` or past: it joins the tail of its partition at once.',
        examples: ["2026-03-01T12:15:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    dead: Type.Optional(
      Type.Boolean({
        description:
          "Send the item to the dead queue, whatever attempts remain and whatever `retry_at` says. Refused if the queue has no dead queue.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
  },
  { ...closed, description: "A leased item to be given back." },
);
export type RetryItem = Static<typeof RetryItem>;

export const RetryRequest = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    request_timeout: optionalRequestTimeout,
    items: Type.Array(RetryItem, {
      minItems: bounds.retryItemsMin,
      maxItems: bounds.retryItemsMax,
      description: "The items to give back, no id twice. All are, or none is.",
      examples: [[{ id: sampleId, retry_at: "2026-03-01T12:15:00.000Z", dead: false }]],
    }),
  },
  { ...closed, description: "Leased items that their consumer could not finish." },
);
export type RetryRequest = Static<typeof RetryRequest>;

export const CompleteRequest = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    request_timeout: requestTimeout(
      "5m",
      "An answer comes by then, and if it is not 200, nothing was completed.",
    ),
    ids: Type.Array(itemId, {
      minItems: bounds.completeIdsMin,
      maxItems: bounds.completeIdsMax,
      description: "Ids as the lease reply gave them, none twice. All are completed, or none is.",
      examples: [[sampleId]],
    }),
  },
  { ...closed, description: "Leased items whose work is done." },
);
export type CompleteRequest = Static<typeof CompleteRequest>;

export const TransactComplete = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    ids: Type.Array(itemId, {
      minItems: bounds.completeIdsMin,
      maxItems: bounds.completeIdsMax,
      description: "Ids as the lease reply gave them, none twice.",
      examples: [[sampleId]],
    }),
  },
  { ...closed, description: "Leased items of one partition whose work is done." },
);
export type TransactComplete = Static<typeof TransactComplete>;

export const TransactRetry = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    items: Type.Array(RetryItem, {
      minItems: bounds.retryItemsMin,
      maxItems: bounds.retryItemsMax,
      description: "The items to give back, no id twice.",
      examples: [[{ id: sampleId, retry_at: "2026-03-01T12:15:00.000Z", dead: false }]],
    }),
  },
  { ...closed, description: "Leased items of one partition to be given back." },
);
export type TransactRetry = Static<typeof TransactRetry>;

export const TransactProduce = Type.Object(
  {
    queue_name: queueName,
    items: Type.Array(ProduceItem, {
      minItems: bounds.produceItemsMin,
      maxItems: bounds.produceItemsMax,
      description:
        "The items, in the order in which they are to be offered. All go to one partition.",
      examples: [[{ kind: "invoice", utf8: '{"order":42}' }]],
    }),
  },
  { ...closed, description: "Items to add to one queue." },
);
export type TransactProduce = Static<typeof TransactProduce>;

const transactPart = <T extends TSchema>(of: T, description: string, example: unknown) =>
  Type.Optional(
    Type.Array(of, { maxItems: bounds.transactEntriesMax, description, examples: [[example]] }),
  );

export const TransactRequest = Type.Object(
  {
    request_timeout: requestTimeout(
      bounds.produceRequestTimeoutDefault,
      "An answer comes by then, and if it is not 200, nothing was changed.",
    ),
    complete: transactPart(TransactComplete, "Items to complete, by their partition.", {
      queue_name: "orders",
      partition: 0,
      ids: [sampleId],
    }),
    retry: transactPart(TransactRetry, "Items to give back, by their partition.", {
      queue_name: "orders",
      partition: 0,
      items: [{ id: sampleId }],
    }),
    produce: transactPart(TransactProduce, "Items to add, by their queue.", {
      queue_name: "invoices",
      items: [{ utf8: '{"order":42}' }],
    }),
  },
  {
    ...closed,
    description: `What is to be done together: 1 to ${bounds.transactEntriesMax} ids and items in all.`,
  },
);
export type TransactRequest = Static<typeof TransactRequest>;

export const TransactProduced = Type.Object(
  {
    queue_name: Type.String({
      description: "The queue, as it was asked for.",
      examples: ["invoices"],
    }),
    partition: Type.Integer({
      minimum: 0,
      description: "Where the items are, or are on their way to.",
      examples: [0],
    }),
    delivered: Type.Boolean({
      description:
        "Whether they are there already. If not, they are in the store of what was finished, and come to their partition by themselves, once each.",
      examples: [true],
    }),
    duplicates: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        description:
          "Places in `items`, from 0 and rising, of those that were not written, because an item with their `unique_key` was. Absent where there are none.",
        examples: [[1]],
      }),
    ),
  },
  { ...closed, description: "What became of the items of one queue." },
);
export type TransactProduced = Static<typeof TransactProduced>;

export const TransactReply = Type.Object(
  {
    produced: Type.Array(TransactProduced, {
      description: "One for each of `produce`, in its order.",
      examples: [[{ queue_name: "invoices", partition: 0, delivered: true }]],
    }),
  },
  { ...closed, description: "All of it is done." },
);
export type TransactReply = Static<typeof TransactReply>;

const heldIds = Type.Array(itemId, {
  minItems: bounds.completeIdsMin,
  maxItems: bounds.completeIdsMax,
  description: "Ids as the lease reply gave them, none twice. It is done to all, or to none.",
  examples: [[sampleId]],
});

export const ExtendRequest = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    request_timeout: optionalRequestTimeout,
    ids: heldIds,
    lease_timeout: Type.Optional(
      orNull({
        description:
          'How long to hold them from now on, as a duration. Absent, `null` or `""`: as long as the queue says.',
        examples: ["5m"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
      }),
    ),
  },
  { ...closed, description: "Leased items to be held for longer." },
);
export type ExtendRequest = Static<typeof ExtendRequest>;

export const ExtendReply = Type.Object(
  {
    lease_deadline: Type.String({
      description:
        "Date-time until which all of them are yours. No lease is made shorter than it was.",
      examples: ["2026-03-01T13:05:00.000Z"],
    }),
  },
  { ...closed, description: "How long the items are held now." },
);
export type ExtendReply = Static<typeof ExtendReply>;

export const ReleaseRequest = Type.Object(
  {
    queue_name: queueName,
    partition: leasePartition,
    request_timeout: optionalRequestTimeout,
    ids: heldIds,
  },
  { ...closed, description: "Leased items to be given back as if they had not been leased." },
);
export type ReleaseRequest = Static<typeof ReleaseRequest>;

const leaseTimeout = Type.String({
  description: `How long a consumer holds an item, as a duration of at most ${bounds.durationTextMax} characters. It cannot be longer than \`expire_timeout\`. A change is for leases granted from then on.`,
  examples: ["60m"],
  ...formed(forms.duration, bounds.durationTextMax),
});

const expireTimeout = Type.String({
  description: `How long an item may wait before it moves to the dead queue, as a duration of at most ${bounds.durationTextMax} characters, or \`never\`. It counts from when the item is produced, or from its \`enqueue_at\` if that is later. A change is for items produced from then on.`,
  examples: ["24h", "7d", "never"],
  ...formed(forms.durationOrNever, bounds.durationTextMax),
});

const maxAttempts = Type.Integer({
  minimum: bounds.maxAttemptsMin,
  maximum: bounds.maxAttemptsMax,
  description:
    "Leases granted for an item before a retry or a lapse sends it to the dead queue; 0 = no limit. Lapsed leases count as attempts.",
  examples: [10],
});

const leasedMax = Type.Integer({
  minimum: bounds.leasedMaxMin,
  maximum: bounds.leasedMaxMax,
  description:
    "The most items of the queue that are leased at one time, over all partitions; 0 = no limit. A lease is cut to what is left, and waits while nothing is. What is imported as leased counts, but is not refused.",
  examples: [0, 50],
});

const leaseRate = Type.String({
  description:
    'The most items leased in any interval, as items and a duration: `100/1s`; `""` = no limit. It is kept to a thousandth of the interval, and starts again with the server.',
  examples: ["100/1s", ""],
});

const uniqueFor = Type.String({
  description:
    'For how long from when an item was written no second one with its `unique_key` is, as a duration; `""` = the queue takes no unique keys. A key is held to what was set when its item was written.',
  examples: ["1d", ""],
  ...formed(forms.durationOrNone, bounds.durationTextMax),
});

const requestedPartitions = Type.Integer({
  minimum: bounds.partitionsMin,
  maximum: bounds.partitionsMax,
  description:
    "Partitions asked for. The number in use may differ for a while: surplus partitions take no new items and are gone when empty.",
  examples: [4, 1025],
});

const deadQueue = Type.String({
  description: `Name of the queue that takes failed and expired items, at most ${bounds.deadQueueBytesMax} bytes; \`""\` = none, and such items are removed. It must exist, and can neither be the queue itself nor have a dead queue of its own.`,
  examples: ["orders-dead"],
  ...formed(forms.queueNameOrNone, bounds.deadQueueBytesMax),
});

const queueReference = Type.String({
  description: `Free text for owner or metadata, at most ${bounds.queueReferenceBytesMax} bytes.`,
  examples: ["team-checkout"],
  [publishedKeyword]: { maxLength: bounds.queueReferenceBytesMax },
});

/** `queue.pause` and `queue.resume` set them; nobody else does. */
const pauseKeys = {
  lease_paused: Type.Boolean({
    description: "Whether its leases are paused, so that those who ask wait.",
    examples: [false],
  }),
  produce_paused: Type.Boolean({
    description: "Whether produces are paused, and so refused.",
    examples: [false],
  }),
  pause_reason: Type.String({
    description: 'Why it is paused; `""` = no reason was given, or it is not.',
    examples: ["", "moving to the new database"],
  }),
};

const ignoredPause = {
  description:
    "Set by `queue.pause`. Accepted, so that a reply can be sent back unchanged, and ignored.",
};
const ignoredPauseKeys = {
  lease_paused: Type.Optional(Type.Boolean({ ...ignoredPause, examples: [false] })),
  produce_paused: Type.Optional(Type.Boolean({ ...ignoredPause, examples: [false] })),
  pause_reason: Type.Optional(Type.String({ ...ignoredPause, examples: [""] })),
};

/** Clients of the protocol send it; there is one namespace, so it says nothing. */
const namespace = Type.Optional(
  Type.String({
    description: "Empty or `_system`: there is no other namespace. It changes nothing.",
    examples: ["_system"],
    ...formed(forms.namespace),
    [defaultKeyword]: "_system",
  }),
);

const ignoredInstant = (what: string) =>
  Type.Optional(
    orNull({
      description: `${what} Accepted, so that a reply can be sent back unchanged, and ignored.`,
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
  );

export const QueueInfo = Type.Object(
  {
    queue_name: queueName,
    created_at: Type.String({
      description: "Date-time at which the queue was created.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    updated_at: Type.String({
      description: "Date-time at which its definition last changed.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    dead_queue: Type.String({
      description:
        'Name of the queue that takes failed and expired items; `""` = none, as for a queue that is itself a dead queue.',
      examples: ["orders-dead"],
    }),
    reference: queueReference,
    lease_timeout: Type.String({
      description: "How long a consumer holds an item, as the duration was written.",
      examples: ["60m"],
    }),
    expire_timeout: Type.String({
      description:
        "How long an item may wait before it moves to the dead queue, as the duration was written.",
      examples: ["24h"],
    }),
    max_attempts: maxAttempts,
    requested_partitions: requestedPartitions,
    leased_max: leasedMax,
    lease_rate: leaseRate,
    unique_for: Type.String({
      description:
        'For how long a `unique_key` is taken, as the duration was written; `""` = the queue takes none.',
      examples: ["1d", ""],
    }),
    ...pauseKeys,
  },
  { ...closed, description: "The definition of a queue." },
);
export type QueueInfo = Static<typeof QueueInfo>;

export const QueuesListRequest = Type.Object(
  {
    pivot: Type.String({
      description:
        'The first name wanted, or the nearest after it; `""` = from the start. For the next page, give the last name of this one and skip it in the reply.',
      examples: ["", "orders"],
      ...formed(forms.queuesPivot),
    }),
    limit: Type.Integer({
      minimum: bounds.queuesListMin,
      maximum: bounds.queuesListMax,
      description: "The most queues to return.",
      examples: [100],
    }),
    namespace,
  },
  { ...closed, description: "A page of the list of queues." },
);
export type QueuesListRequest = Static<typeof QueuesListRequest>;

export const QueuesListReply = Type.Object(
  {
    items: Type.Array(QueueInfo, {
      description:
        "Queues in the order of their names; fewer than `limit` when the list ends there.",
      examples: [
        [
          {
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
          },
        ],
      ],
    }),
  },
  { ...closed, description: "Definitions of queues." },
);
export type QueuesListReply = Static<typeof QueuesListReply>;

export const QueueCreateRequest = Type.Object(
  {
    queue_name: queueName,
    created_at: ignoredInstant("Set by the server."),
    updated_at: ignoredInstant("Set by the server."),
    dead_queue: Type.Optional(Type.String({ ...deadQueue, [defaultKeyword]: "" })),
    reference: Type.Optional(Type.String({ ...queueReference, [defaultKeyword]: "" })),
    lease_timeout: leaseTimeout,
    expire_timeout: expireTimeout,
    max_attempts: Type.Optional(Type.Integer({ ...maxAttempts, [defaultKeyword]: 0 })),
    requested_partitions: Type.Optional(
      Type.Integer({ ...requestedPartitions, [defaultKeyword]: 1 }),
    ),
    leased_max: Type.Optional(Type.Integer({ ...leasedMax, [defaultKeyword]: 0 })),
    lease_rate: Type.Optional(Type.String({ ...leaseRate, [defaultKeyword]: "" })),
    unique_for: Type.Optional(Type.String({ ...uniqueFor, [defaultKeyword]: "" })),
    ...ignoredPauseKeys,
    namespace,
  },
  { ...closed, description: "The definition of a queue that does not exist yet." },
);
export type QueueCreateRequest = Static<typeof QueueCreateRequest>;

export const QueueUpdateRequest = Type.Object(
  {
    queue_name: queueName,
    created_at: ignoredInstant("Never changes."),
    updated_at: ignoredInstant("Set by the server."),
    dead_queue: Type.Optional(deadQueue),
    reference: Type.Optional(queueReference),
    lease_timeout: Type.Optional(leaseTimeout),
    expire_timeout: Type.Optional(expireTimeout),
    max_attempts: Type.Optional(maxAttempts),
    requested_partitions: Type.Optional(requestedPartitions),
    leased_max: Type.Optional(leasedMax),
    lease_rate: Type.Optional(leaseRate),
    unique_for: Type.Optional(uniqueFor),
    ...ignoredPauseKeys,
    namespace,
  },
  {
    ...closed,
    // An absent key keeps its value; who sends `null` may as well want it gone.
    [withoutNullKeyword]: true,
    description: "What to change of a queue.",
  },
);
export type QueueUpdateRequest = Static<typeof QueueUpdateRequest>;

export const QueueInfoRequest = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description: "Name of the queue. Required, unless `queue_name` stands in its place.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
      }),
    ),
    queue_name: Type.Optional(
      Type.String({
        description: "The same under the name that the other operations use; give one of the two.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
      }),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    maxProperties: 1,
    // For readers of the document; a validator has checked as much by the counts.
    anyOf: [{ required: ["name"] }, { required: ["queue_name"] }],
    description: "Which queue to describe.",
  },
);
export type QueueInfoRequest = Static<typeof QueueInfoRequest>;

export const QueueDeleteRequest = Type.Object(
  {
    queue_name: queueName,
    force: Type.Boolean({
      description:
        "Delete the queue even if it holds items or is the dead queue of another. Its items are lost, and lease requests that wait on it are answered 453.",
      examples: [false],
    }),
  },
  { ...closed, description: "A queue to delete." },
);
export type QueueDeleteRequest = Static<typeof QueueDeleteRequest>;

export const QueueStatsRequest = Type.Object(
  { queue_name: queueName },
  { ...closed, description: "Which queue to measure." },
);
export type QueueStatsRequest = Static<typeof QueueStatsRequest>;

export const PartitionStats = Type.Object(
  {
    partition: Type.Integer({
      minimum: 0,
      description: "Number of the partition.",
      examples: [0],
    }),
    total: Type.Integer({
      description: "Items queued and leased; scheduled ones are counted apart.",
      examples: [500],
    }),
    total_leased: Type.Integer({ description: "Items leased now.", examples: [15] }),
    scheduled: Type.Integer({
      description: "Items waiting for their `enqueue_at` or `retry_at`.",
      examples: [3],
    }),
    failures: Type.Integer({
      description: "Times its store failed since the server started.",
      examples: [0],
    }),
    average_age: Type.String({
      description:
        "Mean time since they were produced, of queued and leased items, as a duration; `0s` when there are none.",
      examples: ["2m10s"],
    }),
    average_leased_age: Type.String({
      description:
        "Mean time since they were leased, of leased items, as a duration; `0s` when there are none.",
      examples: ["4.2s"],
    }),
  },
  { ...closed, description: "Counts and ages of one partition." },
);
export type PartitionStats = Static<typeof PartitionStats>;

const samplePartitionStats = {
  partition: 0,
  total: 500,
  total_leased: 15,
  scheduled: 3,
  failures: 0,
  average_age: "2m10s",
  average_leased_age: "4.2s",
};

export const LogicalQueueStats = Type.Object(
  {
    average_leased_age: Type.String({
      description:
        "Mean time since they were leased, of all leased items, as a duration; `0s` when there are none.",
      examples: ["4.2s"],
    }),
    produce_waiting: Type.Integer({
      description: "Produce requests that wait to be worked on.",
      examples: [0],
    }),
    lease_waiting: Type.Integer({
      description: "Lease requests that wait for an item.",
      examples: [8],
    }),
    complete_waiting: Type.Integer({
      description: "Complete requests that wait to be worked on.",
      examples: [0],
    }),
    in_flight: Type.Integer({ description: "Requests being worked on.", examples: [2] }),
    partitions: Type.Array(PartitionStats, {
      description: "One for each partition, in the order of their numbers.",
      examples: [[samplePartitionStats]],
    }),
  },
  { ...closed, description: "Requests that wait on a queue, and its partitions." },
);
export type LogicalQueueStats = Static<typeof LogicalQueueStats>;

export const QueueStatsReply = Type.Object(
  {
    queue_name: Type.String({ description: "The queue asked for.", examples: ["orders"] }),
    logical_queues: Type.Array(LogicalQueueStats, {
      description: "The lines that make up the queue; there is one.",
      examples: [
        [
          {
            average_leased_age: "4.2s",
            produce_waiting: 0,
            lease_waiting: 8,
            complete_waiting: 0,
            in_flight: 2,
            partitions: [samplePartitionStats],
          },
        ],
      ],
    }),
  },
  { ...closed, description: "Measurements of a queue." },
);
export type QueueStatsReply = Static<typeof QueueStatsReply>;

export const InspectRequest = Type.Object(
  { queue_name: queueName },
  { ...closed, description: "Which queue to count." },
);
export type InspectRequest = Static<typeof InspectRequest>;

export const Inspect = Type.Object(
  {
    queue_name: Type.String({ description: "The queue asked for.", examples: ["orders"] }),
    partitions: Type.Integer({
      description: "Partitions that exist, those that are being emptied included.",
      examples: [4],
    }),
    queued: Type.Integer({ description: "Items ready to be leased.", examples: [485] }),
    retried: Type.Integer({ description: "Items waiting for their `retry_at`.", examples: [1] }),
    scheduled: Type.Integer({
      description: "Items waiting for their `enqueue_at`.",
      examples: [2],
    }),
    dead_letter: Type.Integer({
      description: "Items that its dead queue holds; 0 without a dead queue.",
      examples: [7],
    }),
  },
  { ...closed, description: "Where the items of a queue are." },
);
export type Inspect = Static<typeof Inspect>;

export const QueuePauseRequest = Type.Object(
  {
    queue_name: queueName,
    lease: Type.Optional(
      Type.Boolean({
        description:
          "Lease nothing. Absent: `true`, unless `produce` is; so without either, leases are paused.",
        examples: [true],
      }),
    ),
    produce: Type.Optional(
      Type.Boolean({
        description: "Refuse produces.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
    reason: Type.Optional(
      Type.String({
        description: `Told to those whom it stops, at most ${bounds.pauseReasonBytesMax} bytes.`,
        examples: ["moving to the new database"],
        [defaultKeyword]: "",
      }),
    ),
  },
  { ...closed, description: "What to pause. At least one of `lease` and `produce` must be true." },
);
export type QueuePauseRequest = Static<typeof QueuePauseRequest>;

export const QueueResumeRequest = Type.Object(
  { queue_name: queueName },
  { ...closed, description: "Which queue goes on." },
);
export type QueueResumeRequest = Static<typeof QueueResumeRequest>;

export const QueueClearRequest = Type.Object(
  {
    queue_name: queueName,
    retry: Type.Boolean({
      description: "Remove items that wait for their `retry_at`.",
      examples: [false],
    }),
    scheduled: Type.Boolean({
      description: "Remove items that wait for their `enqueue_at`.",
      examples: [false],
    }),
    queue: Type.Boolean({
      description: "Remove items that are ready to be leased.",
      examples: [true],
    }),
    destructive: Type.Boolean({
      description:
        "With `queue`: remove leased items too. Their holders can then neither complete nor retry them.",
      examples: [false],
    }),
  },
  {
    ...closed,
    description: "What to remove. At least one of `retry`, `scheduled` and `queue` must be true.",
  },
);
export type QueueClearRequest = Static<typeof QueueClearRequest>;

export const QueueReloadRequest = Type.Object(
  { queue_name: queueName },
  { ...closed, description: "Which queue to recount." },
);
export type QueueReloadRequest = Static<typeof QueueReloadRequest>;

export const ClockAdvanceRequest = Type.Object(
  {
    by: Type.String({
      description: `How far, as a duration from 1ms to 366 days, of at most ${bounds.durationTextMax} characters.`,
      examples: ["10m", "7d"],
      ...formed(forms.duration, bounds.durationTextMax),
    }),
  },
  { ...closed, description: "How far the test clock goes on." },
);
export type ClockAdvanceRequest = Static<typeof ClockAdvanceRequest>;

export const ClockAdvanceReply = Type.Object(
  {
    now: Type.String({
      description: "Date-time of the test clock, which then stands still.",
      examples: ["2026-03-01T13:05:00.000Z"],
    }),
  },
  { ...closed, description: "What time it is now." },
);
export type ClockAdvanceReply = Static<typeof ClockAdvanceReply>;

export const NodesListRequest = Type.Object(
  {},
  { ...closed, description: "Nothing has to be said." },
);
export type NodesListRequest = Static<typeof NodesListRequest>;

export const NodeInfo = Type.Object(
  {
    url: Type.String({
      description: "Where the other nodes reach it.",
      examples: ["http://10.0.0.7:9090"],
    }),
    version: Type.String({ description: "Of Holdfast.", examples: ["1.0.0"] }),
    started_at: Type.String({
      description: "Date-time at which it joined.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    seen_at: Type.String({
      description: "Date-time of its last sign of life.",
      examples: ["2026-03-01T13:05:00.000Z"],
    }),
    owner: Type.Boolean({
      description: "Whether it has the shards; the others forward calls to it.",
      examples: [true],
    }),
    draining: Type.Boolean({
      description: "Whether it was told to stop, and takes nothing over.",
      examples: [false],
    }),
    live: Type.Boolean({
      description: "Whether it gave a sign of life within the time that an owner has for one.",
      examples: [true],
    }),
  },
  { ...closed, description: "One of several nodes on one database." },
);
export type NodeInfo = Static<typeof NodeInfo>;

export const NodesListReply = Type.Object(
  {
    items: Type.Array(NodeInfo, {
      description:
        "Those that were there within the last hour, by URL; none of a server that is alone.",
      examples: [[]],
    }),
    epoch: Type.Integer({
      description: "How often the shards have been taken over; 0 of a server that is alone.",
      minimum: 0,
      examples: [3],
    }),
  },
  { ...closed, description: "The nodes." },
);
export type NodesListReply = Static<typeof NodesListReply>;

export const StorageItem = Type.Object(
  {
    id: Type.String({
      description: "The item's present id, in the text order of which a partition is queued.",
      examples: [sampleId],
    }),
    source_id: Type.String({
      description:
        'The id it had elsewhere, before it was dead-lettered or imported; `""` = none. Any other value is unique within the partition.',
      examples: [sampleSourceId],
    }),
    is_leased: Type.Boolean({ description: "Whether a consumer holds it.", examples: [true] }),
    lease_deadline: orNull({
      description: "Date-time at which its lease lapses; `null` when it is not leased.",
      examples: ["2026-03-01T13:00:00.000Z"],
    }),
    dead_deadline: orNull({
      description:
        "Date-time at which it would move to the dead queue; `null` when its queue has none.",
      examples: ["2026-03-02T12:00:00.000Z"],
    }),
    expire_deadline: Type.String({
      description:
        "Date-time at which it expires, unless it is leased at that moment; `9999-12-31T23:59:59.999Z` = never.",
      examples: ["2026-03-02T12:00:00.000Z"],
    }),
    created_at: Type.String({
      description: "Date-time at which it first entered this queue.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    updated_at: Type.String({
      description: "Date-time at which it last changed: produced, leased or returned to the queue.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    enqueue_at: orNull({
      description: "Date-time at which it is due; `null` unless it is scheduled.",
      examples: [null, "2026-03-01T12:15:00.000Z"],
    }),
    attempts: Type.Integer({
      description: "Leases granted so far, one that runs included.",
      examples: [1],
    }),
    max_attempts: Type.Integer({
      description: "The limit of its queue; 0 = none.",
      examples: [10],
    }),
    reference,
    encoding,
    kind,
    payload: Type.String({
      contentEncoding: "base64",
      description: "The payload in base64.",
      examples: ["eyJvcmRlciI6NDJ9"],
    }),
  },
  { ...closed, description: "An item as it is stored." },
);
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
  attempts: 1,
  max_attempts: 10,
  reference: "account-4711",
  encoding: "application/json",
  kind: "order-placed",
  payload: "eyJvcmRlciI6NDJ9",
};

export const StorageListRequest = Type.Object(
  {
    queue_name: queueName,
    partition: requestPartition,
    pivot: Type.String({
      description:
        'The first id wanted, or the nearest after it; `""` = from the start. For the next page, give the last id of this one and skip it in the reply.',
      examples: ["", sampleId],
      ...formed(forms.itemIdOrNone),
    }),
    limit: Type.Integer({
      minimum: bounds.storageListMin,
      maximum: bounds.storageListMax,
      description: "The most items to return. A page ends early at 32 MB of payload.",
      examples: [100],
    }),
  },
  { ...closed, description: "A page of the items of one partition." },
);
export type StorageListRequest = Static<typeof StorageListRequest>;

export const StorageItemsReply = Type.Object(
  {
    items: Type.Array(StorageItem, {
      description: "The items as they are stored.",
      examples: [[sampleStorageItem]],
    }),
  },
  { ...closed, description: "Items of one partition." },
);
export type StorageItemsReply = Static<typeof StorageItemsReply>;

export const ImportItem = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        description:
          "Accepted, so that a listed item can be sent unchanged, and ignored: every imported item gets a new id.",
        examples: [sampleId],
      }),
    ),
    source_id: Type.Optional(
      Type.String({
        description:
          'An id of your own for the item, usually the one it had where it came from; `""` = none. An item whose `source_id` the partition holds already is not stored again, which makes an import safe to repeat.',
        examples: [sampleSourceId],
        [defaultKeyword]: "",
      }),
    ),
    is_leased: Type.Optional(
      Type.Boolean({
        description:
          "Store it as leased until `lease_deadline`. Whoever has its new id may complete it.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
    lease_deadline: Type.Optional(
      orNull({
        description: "Date-time at which its lease lapses; required when `is_leased` is true.",
        examples: [null, "2026-03-01T13:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    dead_deadline: ignoredInstant("Follows from `expire_deadline`."),
    expire_deadline: Type.Optional(
      orNull({
        description:
          'Date-time at which it expires. Absent, `null` or `""`: as if it were produced now.',
        examples: ["2026-03-02T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    created_at: Type.Optional(
      orNull({
        description: 'Date-time at which it was first produced. Absent, `null` or `""`: now.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    updated_at: ignoredInstant("Set by the server."),
    enqueue_at: Type.Optional(
      orNull({
        description:
          'Date-time before which it is not offered. Absent, `null`, `""` or past: it is offered at once.',
        examples: [null, "2026-03-01T12:15:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Leases granted so far.",
        examples: [1],
        [defaultKeyword]: 0,
      }),
    ),
    max_attempts: Type.Optional(
      Type.Integer({
        description:
          "Accepted, so that a listed item can be sent unchanged, and ignored: the limit is the queue's.",
        examples: [10],
      }),
    ),
    reference: Type.Optional(reference),
    encoding: Type.Optional(encoding),
    kind: Type.Optional(kind),
    payload: Type.Optional(
      Type.String({
        contentEncoding: "base64",
        description: "The payload in base64.",
        examples: ["eyJvcmRlciI6NDJ9"],
        [defaultKeyword]: "",
      }),
    ),
  },
  {
    ...closed,
    description: "An item to store. It takes the keys of a listed item; each may be absent.",
  },
);
export type ImportItem = Static<typeof ImportItem>;

export const StorageImportRequest = Type.Object(
  {
    queue_name: queueName,
    partition: requestPartition,
    items: Type.Array(ImportItem, {
      minItems: bounds.importItemsMin,
      description: "The items, in the order in which they are to be offered.",
      examples: [
        [{ source_id: sampleSourceId, kind: "order-placed", payload: "eyJvcmRlciI6NDJ9" }],
      ],
    }),
  },
  { ...closed, description: "Items to put into one partition." },
);
export type StorageImportRequest = Static<typeof StorageImportRequest>;

export const StorageDeleteRequest = Type.Object(
  {
    queue_name: queueName,
    partition: requestPartition,
    ids: Type.Array(itemId, {
      minItems: bounds.deleteIdsMin,
      description: "Ids of the items to remove, leased and scheduled ones included.",
      examples: [[sampleId]],
    }),
  },
  { ...closed, description: "Items to remove from one partition." },
);
export type StorageDeleteRequest = Static<typeof StorageDeleteRequest>;

export const Health = Type.Object(
  {
    status: Type.String({
      description:
        "`ok`; `degraded` while some shards are down and their partitions cannot be reached; else `store_full` while the disk has no room, and what only adds is refused.",
      examples: ["ok"],
      [publishedKeyword]: { enum: ["ok", "degraded", "store_full"] },
    }),
    version: Type.String({ description: "Version of the server.", examples: ["0.1.0"] }),
    store: Type.String({
      description: "Where items are kept: `sqlite` or `memory`.",
      examples: ["sqlite"],
    }),
    durability: Type.String({
      description:
        "What a 200 outlives: `full` a power cut, `normal` a killed process, `none` (in memory) neither.",
      examples: ["full"],
    }),
    shards: Type.Integer({ description: "Shards that the server runs.", examples: [1] }),
    shards_up: Type.Integer({ description: "Shards that answer now.", examples: [1] }),
  },
  { ...closed, description: "The state of the server." },
);
export type Health = Static<typeof Health>;

export const BackupReply = Type.Object(
  {
    folder: Type.String({
      description: "Where the backup is, on the server's machine.",
      examples: ["/var/backups/holdfast/2026-03-01T12-00-00-000Z"],
    }),
    format: Type.Integer({ description: "Of the manifest in it.", examples: [1] }),
    made_at: Type.String({
      description: "Date-time of the moment of which all of it is.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    version: Type.String({ description: "Of the server that made it.", examples: ["0.1.0"] }),
    shards: Type.Array(
      Type.Object(
        {
          file: Type.String({ description: "Name in the folder.", examples: ["shard-0.db"] }),
          bytes: Type.Integer({ description: "Its size.", examples: [4_194_304] }),
        },
        { ...closed, description: "The file of a shard." },
      ),
      {
        description: "A file for each shard.",
        examples: [[{ file: "shard-0.db", bytes: 4_194_304 }]],
      },
    ),
  },
  { ...closed, description: "A backup that was made." },
);
export type BackupReply = Static<typeof BackupReply>;

/** The schemas that the document names, in API order. */
export const entities = {
  Reply,
  ProduceItem,
  ProduceRequest,
  LeaseRequest,
  LeaseItem,
  LeaseReply,
  RetryItem,
  RetryRequest,
  CompleteRequest,
  TransactComplete,
  TransactRetry,
  TransactProduce,
  TransactRequest,
  TransactProduced,
  TransactReply,
  ExtendRequest,
  ExtendReply,
  ReleaseRequest,
  QueueInfo,
  QueuesListRequest,
  QueuesListReply,
  QueueCreateRequest,
  QueueUpdateRequest,
  QueueInfoRequest,
  QueueDeleteRequest,
  QueueStatsRequest,
  PartitionStats,
  LogicalQueueStats,
  QueueStatsReply,
  InspectRequest,
  Inspect,
  QueuePauseRequest,
  QueueResumeRequest,
  QueueClearRequest,
  QueueReloadRequest,
  ClockAdvanceRequest,
  ClockAdvanceReply,
  NodesListRequest,
  NodeInfo,
  NodesListReply,
  StorageItem,
  StorageListRequest,
  StorageItemsReply,
  ImportItem,
  StorageImportRequest,
  StorageDeleteRequest,
  Health,
  BackupReply,
} as const;
