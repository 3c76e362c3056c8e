// What crosses the wire: the entities, and the request and reply of each operation,
// in API order. Every key has a description and an example, because these objects are
// also the API reference. Requests are checked against them on the hot path, so to a
// validator they say no more than types and bounds: durations, date-times, names and ids have
// their forms for readers of the document, and base64 is a plain string; the server reads them.

import { type SchemaOptions, type Static, type TSchema, Type } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import { forms } from "./forms.ts";
import { reasons } from "./reasons.ts";
import { roleNames } from "./roles.ts";

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
 * The words of a reply's field, to which later versions may add. `enum` would make generated clients
 * refuse such a reply; this extension is for people and for tools that know it.
 */
const openWordsKeyword = "x-extensible-enum";

/**
 * Of an object whose keys are absent or have a value. In any other one, a key that may be absent
 * may also be `null`, which says the same.
 */
export const withoutNullKeyword = "x-without-null";

/**
 * Of a text that names a queue, for which the caller has to be let in: `true`, or by the role that it
 * takes where that is another than the operation's.
 */
export const queueKeyword = "x-queue";

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

const queueNameOptions = {
  description: `Name of the queue, 1 to ${bounds.queueNameBytesMax} bytes of UTF-8 without whitespace, control characters or \`~\`. Names are case-sensitive.`,
  examples: ["orders"],
  ...formed(forms.queueName, bounds.queueNameBytesMax),
  [queueKeyword]: true,
};
const queueName = Type.String(queueNameOptions);
/** Of a queue whose items are finished, whatever else is asked for. */
const consumedQueueName = Type.String({ ...queueNameOptions, [queueKeyword]: "consume" });

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
    description: `How long the request may take, as a duration from \`10ms\` to \`15m\`. ${effect} Do not give up on the request before then. Required; \`${recommended}\` is recommended, and clients send it by default.`,
    examples: [recommended, "30s", "15m"],
    ...formed(forms.duration),
    [defaultKeyword]: recommended,
  });

/** Of a call that can do without: the server then takes as long as produce is recommended to. */
const optionalRequestTimeout = Type.Optional(
  orNull({
    description:
      'How long the request may take, as a duration from `10ms` to `15m`. The answer comes by then; only after 504 may it have been done. Absent, `null` or `""`: 5 minutes.',
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
        "The code in words. Rely on this, not on the HTTP status text, which has no words for 453 and 454.",
      examples: ["OK"],
    }),
    message: Type.String({
      description:
        'What is wrong: a constant part, then after `;` the details of this request. `""` on success.',
      examples: ["queue does not exist; no such queue named 'orders'"],
    }),
    reason: Type.Optional(
      Type.String({
        [openWordsKeyword]: Object.keys(reasons),
        description:
          "Why it was refused, in one stable word; new ones may come. Present with every code except 200.",
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

const headers = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.String(),
      description: `Texts by name for the consumer that leases the item, such as \`traceparent\`: at most ${bounds.headersBytesMax} bytes as JSON. Absent = none.`,
      examples: [{ traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }],
    },
  ),
);

/** What goes along with an item for its life. Each is absent where there is nothing to say. */
const carried = {
  headers: Type.Optional(headers),
  origin_id: Type.Optional(
    Type.String({
      description:
        "The id under which the item was produced, if it has another by now. It stays the same for the item's life.",
      examples: [sampleSourceId],
    }),
  ),
  reason: Type.Optional(
    Type.String({
      description: "Why it was last given back, as `queue.retry` said.",
      examples: ["card_declined"],
    }),
  ),
  death: Type.Optional(
    Type.String({
      description:
        "Why an item is in a dead queue: its attempts were used up (`failed`), it waited too long (`expired`), or it was given up (`rejected`).",
      examples: ["failed"],
      [openWordsKeyword]: ["failed", "expired", "rejected"],
    }),
  ),
  origin_queue: Type.Optional(
    Type.String({ description: "The queue that it came from.", examples: ["orders"] }),
  ),
  origin_attempts: Type.Optional(
    Type.Integer({
      maximum: bounds.carriedCountMax,
      description: "Leases that it was granted there.",
      examples: [3],
    }),
  ),
  origin_created_at: Type.Optional(
    Type.String({
      description: "Date-time at which it was produced.",
      examples: ["2026-03-01T11:00:00.000Z"],
    }),
  ),
  redriven: Type.Optional(
    Type.Integer({
      maximum: bounds.carriedCountMax,
      description: "How often it was sent back from a dead queue.",
      examples: [1],
    }),
  ),
};

export const ProduceReply = Type.Object(
  {
    code: Reply.properties.code,
    code_text: Reply.properties.code_text,
    message: Reply.properties.message,
    duplicates: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        description:
          "Positions in `items`, from 0, of those not written because an item with their `unique_key` already was. Absent if there are none.",
        examples: [[1]],
      }),
    ),
    ids: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Ids of the items in their order, `""` for a duplicate. Present only if `return_ids` asked for them.',
        examples: [[sampleId]],
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
          "The payload in base64, for any bytes at all: either alphabet, with or without padding, blanks and line breaks. If `utf8` is given too, `bytes` wins and `utf8` is dropped.",
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
        description: `At most ${bounds.uniqueKeyBytesMax} bytes, for a queue with \`unique_for\`: for that long after an item is written, no other item with the same unique key is, whatever became of the first. \`""\` = none.`,
        examples: ["order-42"],
        [publishedKeyword]: { maxLength: bounds.uniqueKeyBytesMax },
      }),
    ),
    headers: Type.Optional(headers),
  },
  {
    ...closed,
    description: "An item to be queued. Every field may be absent; an item may have no payload.",
  },
);
export type ProduceItem = Static<typeof ProduceItem>;

export const ProduceRequest = Type.Object(
  {
    queue_name: queueName,
    request_timeout: requestTimeout(
      bounds.produceRequestTimeoutDefault,
      "The answer comes by then, and if it is neither 200 nor 504, nothing was written.",
    ),
    items: Type.Array(ProduceItem, {
      minItems: bounds.produceItemsMin,
      maxItems: bounds.produceItemsMax,
      description:
        "The items, in the order in which they are to be offered. All go to one partition, or none is written. Of several items with the same `unique_key`, the first is written.",
      examples: [[{ kind: "order-placed", utf8: '{"order":42}' }]],
    }),
    return_ids: Type.Optional(
      Type.Boolean({
        description: "Whether the reply should have the items' ids.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
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
      "If the queue stays empty until then, the reply is 454. Items that are being leased at that moment are returned a little later.",
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
      description: `Identifies the item while this lease runs: ${bounds.idLength} characters, to be treated as opaque. An item gets a new id each time it returns to a queue, so the id of a lapsed lease can no longer complete it.`,
      examples: [sampleId],
    }),
    encoding,
    kind,
    reference,
    attempts: Type.Integer({
      maximum: bounds.carriedCountMax,
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
    ...carried,
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
      description: "Partition that the items came from; send it when you complete or retry them.",
      examples: [0],
    }),
    max_attempts: Type.Integer({
      description:
        "The queue's limit; 0 = none. An item whose `attempts` have reached it is on its last.",
      examples: [10],
    }),
    now: Type.String({
      description:
        "The queue's time at this answer. A `lease_deadline` less this is how long the lease still runs, whatever the consumer's own clock says.",
      examples: ["2026-03-01T12:00:00.000Z"],
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
          'Date-time before which the item is not offered again, by the queue\'s clock. Absent, `null`, `""` or past: it joins the tail of its partition at once. A retry does not move the `expire_deadline`: at or beyond it, the item expires without another attempt.',
        examples: ["2026-03-01T12:15:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    retry_after: Type.Optional(
      orNull({
        description:
          'How long the item is not offered again, as a duration; it needs no clock of the consumer\'s. Absent, `null` or `""`: `retry_at` says when. Both are refused.',
        examples: ["15m"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
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
    reason: Type.Optional(
      Type.String({
        description: `Why, for anyone who looks at the item: at most ${bounds.retryReasonBytesMax} bytes, such as the message of an error. It stays with the item until it is replaced.`,
        examples: ["card_declined"],
        [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
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
      "The answer comes by then, and if it is neither 200 nor 504, nothing was completed.",
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
    queue_name: consumedQueueName,
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
    queue_name: consumedQueueName,
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
      "The answer comes by then, and if it is neither 200 nor 504, nothing was changed.",
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
    description: `What to do together: 1 to ${bounds.transactEntriesMax} ids and items in all.`,
  },
);
export type TransactRequest = Static<typeof TransactRequest>;

export const TransactProduced = Type.Object(
  {
    queue_name: Type.String({
      description: "The queue that was asked for.",
      examples: ["invoices"],
    }),
    partition: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "The partition that the items are in. Absent until they are delivered.",
        examples: [0],
      }),
    ),
    delivered: Type.Boolean({
      description:
        "Whether they are in their queue already. If not, they are in the store of the inputs, and move to their queue on their own, once each.",
      examples: [true],
    }),
    duplicates: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        description:
          "Positions in `items`, from 0, of those not written because an item with their `unique_key` already was. Absent if there are none.",
        examples: [[1]],
      }),
    ),
  },
  { ...closed, description: "What happened to the items of one queue." },
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
  description:
    "Ids as the lease reply gave them, none twice. The call applies to all of them, or to none.",
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
          'How long to hold them from now, as a duration. Absent, `null` or `""`: as long as the queue says.',
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
    now: Type.String({
      description:
        "The queue's time at this answer. A `lease_deadline` less this is how long the lease still runs, whatever the consumer's own clock says.",
      examples: ["2026-03-01T12:00:00.000Z"],
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
  description: `How long a consumer holds an item, as a duration of at most ${bounds.durationTextMax} characters. It cannot be longer than \`expire_timeout\`. A change applies to leases granted from then on.`,
  examples: ["60m"],
  ...formed(forms.duration, bounds.durationTextMax),
});

const expireTimeout = Type.String({
  description: `How long an item may wait before it moves to the dead queue, as a duration of at most ${bounds.durationTextMax} characters, or \`never\`. It counts from when the item is produced, or from its \`enqueue_at\` if that is later. A change applies to items produced from then on.`,
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
    "The most items of the queue that may be leased at one time, over all partitions; 0 = no limit. A lease gets no more than what is left, and waits while nothing is. Items imported as leased count, but are not refused.",
  examples: [0, 50],
});

const leaseRate = Type.String({
  description:
    'The most items leased in any interval, as items and a duration: `100/1s`; `""` = no limit. It is measured to a thousandth of the interval, and starts again with the server.',
  examples: ["100/1s", ""],
});

const uniqueFor = Type.String({
  description:
    'How long after an item is written no second one with its `unique_key` is written, as a duration; `""` = the queue takes no unique keys. What counts is the setting at the time the item was written.',
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
  [queueKeyword]: true,
});

const queueReference = Type.String({
  description: `Free text for owner or metadata, at most ${bounds.queueReferenceBytesMax} bytes.`,
  examples: ["team-checkout"],
  [publishedKeyword]: { maxLength: bounds.queueReferenceBytesMax },
});

/** `queue.pause` and `queue.resume` set them; nobody else does. */
const pauseKeys = {
  lease_paused: Type.Boolean({
    description: "Whether its leases are paused, so that lease requests wait.",
    examples: [false],
  }),
  produce_paused: Type.Boolean({
    description: "Whether its produces are paused, and therefore refused.",
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

// What destroys can be counted first.

const guard = {
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        "Change nothing, and say in `counts` what the call would remove. It is refused when the call itself would be.",
      examples: [true],
      [defaultKeyword]: false,
    }),
  ),
  expect: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: bounds.expectMax,
      description:
        "The most items that may be removed; if it would be more, nothing is removed and the reply is 453. Absent: any number.",
      examples: [1284],
    }),
  ),
};

export const ItemCounts = Type.Object(
  {
    ready: Type.Integer({ description: "Ready to be leased.", examples: [1280] }),
    leased: Type.Integer({ description: "Leased.", examples: [4] }),
    scheduled: Type.Integer({ description: "Waiting for their `enqueue_at`.", examples: [0] }),
    retried: Type.Integer({ description: "Waiting for their `retry_at`.", examples: [0] }),
  },
  {
    ...closed,
    description: "Items by their state.",
    examples: [{ ready: 1280, leased: 4, scheduled: 0, retried: 0 }],
  },
);
export type ItemCounts = Static<typeof ItemCounts>;

export const GuardedReply = Type.Object(
  {
    code: Type.Integer({ description: "The HTTP status code.", examples: [200] }),
    code_text: Type.String({ description: "What the code means.", examples: ["OK"] }),
    message: Type.String({ description: "Empty.", examples: [""] }),
    counts: Type.Optional(ItemCounts),
    waiting_leases: Type.Optional(
      Type.Integer({
        description:
          "When a queue is deleted: lease requests that wait on it, which are answered 453. Present with `counts`.",
        examples: [0],
      }),
    ),
    dependents: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "When a queue is deleted: the queues that name it as their dead queue and then have none. Present with `counts`.",
        examples: [["orders"]],
      }),
    ),
  },
  {
    ...closed,
    [withoutNullKeyword]: true,
    description:
      "Says that it was done. With `dry_run` or `expect`, `counts` says what was removed, or would be.",
  },
);
export type GuardedReply = Static<typeof GuardedReply>;

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
        'How long a `unique_key` is taken, as the duration was written; `""` = the queue takes none.',
      examples: ["1d", ""],
    }),
    ...pauseKeys,
  },
  { ...closed, description: "The definition of a queue." },
);
export type QueueInfo = Static<typeof QueueInfo>;

/** Of a call that asks every shard. */
const unreached = (missing: string) =>
  Type.Array(Type.Integer(), {
    description: `Numbers of the shards whose ${missing} are missing, because they could not be reached within a second; empty as a rule.`,
    examples: [[]],
  });

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
      description: "Queues in the order of their names; fewer than `limit` on the last page.",
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
    unreached: unreached("queues"),
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
    ...guard,
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
        description: "Name of the queue. Required, unless `queue_name` is given instead.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
        [queueKeyword]: true,
      }),
    ),
    queue_name: Type.Optional(
      Type.String({
        description: "The same under the name that the other operations use; give one of the two.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
        [queueKeyword]: true,
      }),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    maxProperties: 1,
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
    ...guard,
  },
  { ...closed, description: "A queue to delete." },
);
export type QueueDeleteRequest = Static<typeof QueueDeleteRequest>;

export const QueueStatsRequest = Type.Object(
  {
    queue_name: queueName,
    columns: Type.Optional(
      Type.Boolean({
        description:
          "Return the partitions as `columns` instead of `partitions`: a tenth of the bytes for many of them.",
        examples: [true],
        [defaultKeyword]: false,
      }),
    ),
  },
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
      description: "Items queued and leased; scheduled ones are counted separately.",
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
    oldest_ready_at: orNull({
      description:
        "Date-time since which its oldest ready item has been ready, or a little before, because no item is read for it; `null` when none is ready, and for a moment after a start.",
      examples: ["2026-03-01T11:58:00.000Z"],
    }),
    next_due_at: orNull({
      description:
        "Date-time at which its first scheduled item is due, or a little before; `null` when none is scheduled.",
      examples: ["2026-03-01T14:00:00.000Z"],
    }),
  },
  { ...closed, description: "Counts and ages of one partition." },
);
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

export const QueueCounters = Type.Object(
  {
    produced: Type.Integer({
      description: "Produced or imported, not counting duplicates of a unique key.",
      examples: [91204],
    }),
    leased: Type.Integer({ description: "Leased.", examples: [90811] }),
    completed: Type.Integer({ description: "Completed.", examples: [90677] }),
    retried: Type.Integer({
      description: "Given back with `queue.retry`, wherever they went.",
      examples: [96],
    }),
    released: Type.Integer({
      description: "Given back with `queue.release`, or because their client had hung up.",
      examples: [12],
    }),
    extended: Type.Integer({ description: "Held for longer.", examples: [40] }),
    lapsed: Type.Integer({ description: "Not completed in time.", examples: [11] }),
    expired: Type.Integer({ description: "Waited longer than `expire_timeout`.", examples: [0] }),
    dead: Type.Integer({ description: "Sent to the dead queue.", examples: [7] }),
    discarded: Type.Integer({
      description: "Failed or expired, where there is no dead queue.",
      examples: [0],
    }),
    removed: Type.Integer({ description: "Cleared, or deleted by their ids.", examples: [0] }),
    arrived: Type.Integer({
      description: "Came from another queue: they died there, or a redrive sent them.",
      examples: [3],
    }),
    redriven: Type.Integer({ description: "Sent to another queue by a redrive.", examples: [0] }),
  },
  {
    ...closed,
    description:
      "What happened to items since this process has had the queue, counted each time. A count that is lower than before started again.",
    examples: [sampleCounters],
  },
);
export type QueueCounters = Static<typeof QueueCounters>;

const samplePartitionStats = {
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

const column = (description: string, examples: number[]) =>
  Type.Array(Type.Integer(), { description, examples: [examples] });

export const PartitionColumns = Type.Object(
  {
    partition: column("Number of the partition; empty = 0, 1, 2 and so on.", []),
    total: column("Items queued and leased; scheduled ones are counted separately.", [500, 480]),
    total_leased: column("Items leased now.", [15, 0]),
    scheduled: column("Items waiting for their `enqueue_at` or `retry_at`.", []),
    failures: column("Times its store failed since the server started.", []),
    average_age_seconds: column(
      "Mean seconds since they were produced, of queued and leased items.",
      [130, 128],
    ),
    average_leased_age_seconds: column(
      "Mean seconds since they were leased, of leased items.",
      [4, 0],
    ),
  },
  {
    ...closed,
    description:
      "The figures of all partitions, a list for each figure, in the order of the partitions. A list is empty where each of its figures is 0.",
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
      description:
        "One for each partition, in the order of their numbers; none where `columns` were asked for.",
      examples: [[samplePartitionStats]],
    }),
    counters: QueueCounters,
    columns: Type.Optional(PartitionColumns),
  },
  {
    ...closed,
    [withoutNullKeyword]: true,
    description: "Requests that wait on a queue, and its partitions.",
  },
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
            counters: sampleCounters,
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
      description: "Partitions that exist, including those being emptied.",
      examples: [4],
    }),
    queued: Type.Integer({ description: "Items ready to be leased.", examples: [485] }),
    leased: Type.Integer({ description: "Items that consumers hold.", examples: [12] }),
    retried: Type.Integer({ description: "Items waiting for their `retry_at`.", examples: [1] }),
    scheduled: Type.Integer({
      description: "Items waiting for their `enqueue_at`.",
      examples: [2],
    }),
    dead_letter: Type.Integer({
      description:
        "Items that its dead queue holds; 0 without a dead queue, and for an API key that may not read the dead queue.",
      examples: [7],
    }),
  },
  { ...closed, description: "Where the items of a queue are." },
);
export type Inspect = Static<typeof Inspect>;

// What is the matter.

const asOf = Type.String({
  description: "Date-time of the moment that all of it describes.",
  examples: ["2026-03-01T13:05:00.000Z"],
});
const sinceInstant = (description: string) =>
  orNull({ description, examples: ["2026-03-01T12:53:00.000Z", null] });
const healthWord = Type.String({
  description:
    "The first of the findings, or `at_limit` for the two about limits; without findings `flows`, `idle` (only consumers wait) or `empty` (nothing waits).",
  examples: ["nobody_asks"],
});

export const QueueExplainRequest = Type.Object(
  { queue_name: queueName },
  { ...closed, description: "Which queue to explain." },
);
export type QueueExplainRequest = Static<typeof QueueExplainRequest>;

export const Finding = Type.Object(
  {
    what: Type.String({
      description:
        "One of `shard_down`, `store_full`, `nobody_asks`, `falls_behind`, `leases_lapse`, `dead_items`, `clearing`, `paused`, `at_leased_max`, `at_lease_rate`, `all_leased`, `all_scheduled`, in this order. More may come.",
      examples: ["nobody_asks"],
    }),
    since: Type.String({
      description:
        "Date-time at which it began, as far as the server has seen: not before it started.",
      examples: ["2026-03-01T12:53:00.000Z"],
    }),
    count: Type.Integer({
      description:
        "Items that it concerns: ready, held or to be removed, or recently lapsed or dead; for `store_full`, partitions.",
      examples: [48_210],
    }),
    next_at: sinceInstant(
      "Date-time at which time alone may change it: the next lapse, the next item due, more room under the rate, the next start of the shard. `null`: none.",
    ),
    text: Type.String({
      description: "All of it in a sentence, for people.",
      examples: [
        "48,210 items are ready, the oldest for 41 minutes, and nobody asks for them; worker-2 was the last, 12 minutes ago.",
      ],
    }),
  },
  { ...closed, description: "Something that keeps items waiting, or loses them." },
);
export type Finding = Static<typeof Finding>;

export const QueueExplainReply = Type.Object(
  {
    queue_name: Type.String({ description: "The queue asked for.", examples: ["orders"] }),
    as_of: asOf,
    health: healthWord,
    findings: Type.Array(Finding, {
      description: "What is wrong, worst first; empty if nothing is.",
      examples: [[]],
    }),
  },
  { ...closed, description: "Why a queue is as it is." },
);
export type QueueExplainReply = Static<typeof QueueExplainReply>;

export const QueueClientsRequest = Type.Object(
  {
    queue_name: queueName,
    limit: Type.Optional(
      Type.Integer({
        minimum: bounds.clientsMin,
        maximum: bounds.clientsMax,
        description: "The most clients to name of each kind.",
        examples: [20],
        [defaultKeyword]: bounds.clientsDefault,
      }),
    ),
  },
  { ...closed, description: "Whose clients to name." },
);
export type QueueClientsRequest = Static<typeof QueueClientsRequest>;

export const AskingClient = Type.Object(
  {
    client_id: Type.String({ description: "As it named itself.", examples: ["worker-2"] }),
    since: Type.String({
      description: "Date-time at which its lease request came.",
      examples: ["2026-03-01T13:04:48.000Z"],
    }),
    batch_size: Type.Integer({ description: "Items it asks for.", examples: [10] }),
    place: Type.Integer({
      description: "In the line, from 1 on; 0 while it is being served.",
      examples: [1],
    }),
  },
  { ...closed, description: "A client whose lease request is not answered yet." },
);
export type AskingClient = Static<typeof AskingClient>;

export const HoldingClient = Type.Object(
  {
    client_id: Type.String({
      description:
        'As it named itself. `""`: not known, because it leased them before the server was started, or they were imported.',
      examples: ["worker-9"],
    }),
    items: Type.Integer({ description: "Items that it holds.", examples: [32] }),
    partitions: Type.Array(Type.Integer(), {
      description: "Where they are.",
      examples: [[0, 3]],
    }),
    next_lapse_at: Type.String({
      description: "Date-time at which the first of its leases lapses.",
      examples: ["2026-03-01T13:05:14.000Z"],
    }),
  },
  { ...closed, description: "A client that holds items." },
);
export type HoldingClient = Static<typeof HoldingClient>;

export const QueueClientsReply = Type.Object(
  {
    queue_name: Type.String({ description: "The queue asked for.", examples: ["orders"] }),
    as_of: asOf,
    asking_count: Type.Integer({
      description: "All that wait, whatever the limit.",
      examples: [1],
    }),
    asking: Type.Array(AskingClient, {
      description: "Those that wait for items, in the order in which they are served.",
      examples: [[]],
    }),
    holding_count: Type.Integer({ description: "All that hold items.", examples: [1] }),
    holding: Type.Array(HoldingClient, {
      description: "Those that hold items, the most first.",
      examples: [[]],
    }),
    partial: Type.Boolean({
      description: "A shard did not answer in time, so holders may be missing.",
      examples: [false],
    }),
  },
  { ...closed, description: "Who asks a queue for items, and who holds some." },
);
export type QueueClientsReply = Static<typeof QueueClientsReply>;

export const ServerOverviewRequest = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        description:
          'The `since` of an earlier reply: then only queues that have changed come. Absent, `""` or no longer known: all.',
        examples: ["mf3k2a9c.1041"],
      }),
    ),
  },
  { ...closed, description: "What was seen before." },
);
export type ServerOverviewRequest = Static<typeof ServerOverviewRequest>;

const counted = {
  produced: "Items produced or imported",
  leased: "Items leased",
  completed: "Items completed",
  retried: "Items retried",
  released: "Items given back as if they had not been leased",
  extended: "Items whose lease was extended",
  lapsed: "Items whose lease lapsed",
  expired: "Items that expired",
  dead: "Items that went to the dead queue",
  discarded: "Items that failed or expired without a dead queue",
  removed: "Items that were cleared or deleted",
  arrived: "Items that came from another queue, dead or by a redrive",
  redriven: "Items that a redrive sent to another queue",
} as const;
const sinceStart =
  "since the server has had the queue; a lower value than before means a new start";

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
  health: ["nobody_asks"],
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

const totalOf = (name: keyof typeof counted) =>
  Type.Integer({ description: `${counted[name]}, ${sinceStart}.`, examples: [2406] });

export const OverviewTotals = Type.Object(
  {
    queues: Type.Integer({ description: "Queues that exist.", examples: [2] }),
    ready: Type.Integer({ description: "Items ready to be leased.", examples: [48_210] }),
    leased: Type.Integer({ description: "Items leased now.", examples: [128] }),
    scheduled: Type.Integer({
      description: "Items waiting for their `enqueue_at` or `retry_at`.",
      examples: [1440],
    }),
    waiting_leases: Type.Integer({
      description: "Lease requests that wait for an item.",
      examples: [24],
    }),
    produced_total: totalOf("produced"),
    leased_total: totalOf("leased"),
    completed_total: totalOf("completed"),
    retried_total: totalOf("retried"),
    released_total: totalOf("released"),
    extended_total: totalOf("extended"),
    lapsed_total: totalOf("lapsed"),
    expired_total: totalOf("expired"),
    dead_total: totalOf("dead"),
    discarded_total: totalOf("discarded"),
    removed_total: totalOf("removed"),
    arrived_total: totalOf("arrived"),
    redriven_total: totalOf("redriven"),
  },
  { ...closed, description: "All queues together.", examples: [sampleTotals] },
);
export type OverviewTotals = Static<typeof OverviewTotals>;

const texts = (description: string, examples: string[]) =>
  Type.Array(Type.String(), { description, examples: [examples] });
const countedColumn = (name: keyof typeof counted) =>
  column(`${counted[name]}, ${sinceStart}.`, [2406]);
const millis = "in milliseconds since 1970; 0 = none";

export const OverviewQueues = Type.Object(
  {
    queue_name: texts("Name of the queue.", ["orders"]),
    health: texts("As `queue.explain` says it.", ["nobody_asks"]),
    health_since_ms: column(`Since when the worst finding holds, ${millis}.`, [1_772_369_580_000]),
    health_count: column(
      "What the worst finding counts, as `queue.explain` says it; 0 = none.",
      [48_210],
    ),
    next_at_ms: column(`When time alone may change it, ${millis}.`, [0]),
    ready: column("Items ready to be leased.", [48_210]),
    leased: column("Items leased now.", [0]),
    scheduled: column("Items waiting for their `enqueue_at` or `retry_at`.", [0]),
    waiting_leases: column("Lease requests that wait for an item.", [0]),
    oldest_ready_at_ms: column(
      `Since when the oldest ready item is ready, or a little before, ${millis}.`,
      [1_772_367_840_000],
    ),
    next_due_at_ms: column(
      `When the first scheduled item is due, or a little before, ${millis}.`,
      [0],
    ),
    paused_since_ms: column(
      `Since when its leases, its produces or both are paused, whatever its health is, ${millis}.`,
      [0],
    ),
    shard: column("The shard that it lives in.", [0]),
    produced_total: countedColumn("produced"),
    leased_total: countedColumn("leased"),
    completed_total: countedColumn("completed"),
    retried_total: countedColumn("retried"),
    released_total: countedColumn("released"),
    extended_total: countedColumn("extended"),
    lapsed_total: countedColumn("lapsed"),
    expired_total: countedColumn("expired"),
    dead_total: countedColumn("dead"),
    discarded_total: countedColumn("discarded"),
    removed_total: countedColumn("removed"),
    arrived_total: countedColumn("arrived"),
    redriven_total: countedColumn("redriven"),
  },
  {
    ...closed,
    description:
      "Queues as columns: the figures at one place of all lists are those of one queue. All lists are of one length, in no particular order.",
    examples: [sampleOverviewQueues],
  },
);
export type OverviewQueues = Static<typeof OverviewQueues>;

export const OverviewShard = Type.Object(
  {
    shard: Type.Integer({ description: "Its number.", examples: [0] }),
    state: Type.String({
      description: "`up`, `full` while its store has no room, or `down`.",
      examples: ["up"],
    }),
    since: sinceInstant("Date-time since when it is full or down; `null`: it is up."),
    commit_p50_us: Type.Integer({
      description:
        "Half of the commits of about the last minute took at most this many microseconds; 0: there were none.",
      examples: [1000],
    }),
    commit_p99_us: Type.Integer({
      description: "99 of 100 took at most this many; 0: there were none.",
      examples: [5000],
    }),
    waiting: Type.Integer({ description: "Requests that it has not answered.", examples: [0] }),
    restarts: Type.Integer({
      description: "Attempts to open its store again after it failed.",
      examples: [0],
    }),
    failures: Type.Integer({ description: "Commits that failed.", examples: [0] }),
    quarantined: Type.Integer({
      description: "Items set aside: damaged ones, and those of queues that are not known.",
      examples: [0],
    }),
    miscounted: Type.Integer({
      description: "Items that a start found missing, or too many.",
      examples: [0],
    }),
    log_bytes: Type.Integer({ description: "Size of its log.", examples: [4_194_304] }),
    file_bytes: Type.Integer({ description: "Size of its file.", examples: [8_388_608] }),
    items_per_second: Type.Integer({
      description:
        "Its load: items that its commits wrote, leased or removed per second, on average over the last minute, rounded up. An item that is produced, leased and completed counts three times.",
      examples: [120],
    }),
  },
  { ...closed, description: "A shard at a glance." },
);
export type OverviewShard = Static<typeof OverviewShard>;

export const OverviewAlarm = Type.Object(
  {
    what: Type.String({
      description:
        "`commits_lost`, `shard_down`, `store_full`, `disk_low`, `items_damaged`, `items_miscounted`, or for a queue `nobody_asks`, `falls_behind`, `leases_lapse`, `dead_items`. More may come.",
      examples: ["nobody_asks"],
    }),
    since: sinceInstant("Date-time at which it began; `null`: not known."),
    count: Type.Integer({
      description: "Items that it concerns, commits, or 1.",
      examples: [48_210],
    }),
    queue_name: Type.String({
      description: 'The queue; `""`: it concerns none.',
      examples: ["orders"],
    }),
    shard: Type.Integer({ description: "The shard; -1: it concerns none.", examples: [-1] }),
    text: Type.String({
      description: "All of it in a sentence, for people.",
      examples: [
        "48,210 items are ready, the oldest for 41 minutes, and nobody asks for them; worker-2 was the last, 12 minutes ago.",
      ],
    }),
  },
  { ...closed, description: "What a person should look at." },
);
export type OverviewAlarm = Static<typeof OverviewAlarm>;

export const OverviewMachine = Type.Object(
  {
    name: Type.String({ description: "Of the server, as `--name` has it.", examples: ["eu-1"] }),
    version: Type.String({ description: "Of Holdfast.", examples: ["1.0.0"] }),
    store: Type.String({
      description: "What keeps the items: `sqlite`, `postgres` or `memory`.",
      examples: ["sqlite"],
    }),
    started_at: Type.String({
      description: "Date-time at which the server was started.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    memory_bytes: Type.Integer({
      description: "Memory of the server's process (resident set).",
      examples: [88_080_384],
    }),
    disk_bytes: Type.Integer({
      description: "Size of the disk that has the stores; 0: there is none.",
      examples: [107_374_182_400],
    }),
    disk_free_bytes: Type.Integer({
      description: "How many of these the server may still fill.",
      examples: [85_899_345_920],
    }),
    last_backup_at: sinceInstant(
      "Date-time of the newest backup in the folder of `--backups`; `null`: there is none.",
    ),
  },
  {
    ...closed,
    description: "The machine of the server that has the queues.",
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

export const QueuePauseRequest = Type.Object(
  {
    queue_name: queueName,
    lease: Type.Optional(
      Type.Boolean({
        description:
          "Stop leases. Absent: `true`, unless `produce` is; so without either, leases are paused.",
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
        description: `Why, for those whom it stops; at most ${bounds.pauseReasonBytesMax} bytes.`,
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
    ...guard,
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
    handler_timeout: Type.Optional(
      orNull({
        description:
          'How long workers have at each instant to finish the items that they hold and to lease those that are ready, by the machine\'s clock, as a duration from 1ms to 1m. Time goes on once they have, or without them after that. Absent, `null` or `""`: it does not wait for workers, and their leases lapse.',
        examples: ["5s"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
      }),
    ),
  },
  { ...closed, description: "How far to advance the test clock." },
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

export const ServerSeriesRequest = Type.Object(
  {
    queue_name: Type.Optional(
      Type.String({
        description: "Which queue; absent, without `shard`: all of them together.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
        [queueKeyword]: true,
      }),
    ),
    shard: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Which shard, instead of a queue.",
        examples: [0],
      }),
    ),
    names: Type.Array(
      Type.String({ [publishedKeyword]: { enum: [...seriesNames, ...shardSeriesNames] } }),
      {
        description: `What to return, each once: for queues ${named(seriesNames)}; for a shard ${named(shardSeriesNames)}.`,
        examples: [["produced", "completed", "ready"]],
        [publishedKeyword]: { minItems: 1, maxItems: seriesNames.length },
      },
    ),
    from: Type.Optional(
      orNull({
        description:
          "Date-time of the first point wanted. Absent or `null`: as far back as there are points.",
        examples: ["2026-03-01T12:05:00.000Z"],
        ...formed(forms.dateTime),
      }),
    ),
    step: Type.Optional(
      orNull({
        description:
          "From one point to the next: `10s`, kept for an hour, or `1m`, kept for a day. Absent or `null`: `10s`, unless `from` is longer ago than that.",
        examples: ["10s", "1m"],
        ...formed(forms.duration),
      }),
    ),
  },
  { ...closed, description: "What to return of the last hour or day." },
);
export type ServerSeriesRequest = Static<typeof ServerSeriesRequest>;

export const NamedSeries = Type.Object(
  {
    name: Type.String({ description: "One of those asked for.", examples: ["produced"] }),
    values: Type.Array(Type.Integer(), {
      description:
        "Point by point: how many items it happened to, or how many commits there were; for `ready`, `held`, `scheduled`, `waiting`, `oldest_ready_seconds`, `file_bytes` and `log_bytes` the value at the end of the point. `commit_p50_us` and `commit_p99_us`: half of the commits, and 99 of 100, took at most this many microseconds, in a minute the highest of its points; 0: there were none.",
      examples: [[120, 118, 131]],
    }),
  },
  { ...closed, description: "The points of one name." },
);
export type NamedSeries = Static<typeof NamedSeries>;

export const ServerSeriesReply = Type.Object(
  {
    queue_name: Type.String({
      description: 'The queue asked for; `""` = all of them together, or a shard.',
      examples: ["orders"],
    }),
    shard: Type.Integer({ description: "The shard asked for; -1 = none.", examples: [-1] }),
    since: orNull({
      description:
        "Date-time from which points are kept, at the earliest the start of the process; `null` = none are kept, because busier queues take the room.",
      examples: ["2026-03-01T09:30:00.000Z"],
    }),
    from: Type.String({
      description: "Date-time at which the first point begins.",
      examples: ["2026-03-01T12:05:00.000Z"],
    }),
    step: Type.String({
      description: "From one point to the next, in canonical form.",
      examples: ["10s"],
    }),
    series: Type.Array(NamedSeries, {
      description:
        "In the order of `names`, all of the same length. An unfinished point is left out.",
      examples: [[{ name: "produced", values: [120, 118, 131] }]],
    }),
  },
  { ...closed, description: "What happened in a queue or a shard recently." },
);
export type ServerSeriesReply = Static<typeof ServerSeriesReply>;

export const NodesListRequest = Type.Object(
  {},
  { ...closed, description: "Nothing has to be said." },
);
export type NodesListRequest = Static<typeof NodesListRequest>;

export const NodesDrainRequest = Type.Object(
  {
    url: Type.String({
      description: "The node, as `nodes.list` names it.",
      examples: ["http://10.0.0.7:9090"],
    }),
    draining: Type.Optional(
      Type.Boolean({
        description:
          "`true`: it hands its shards over and takes none; `false`: it takes its share.",
        examples: [true],
        [defaultKeyword]: true,
      }),
    ),
  },
  { ...closed, description: "Which node is to drain, or to take shards again." },
);
export type NodesDrainRequest = Static<typeof NodesDrainRequest>;

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
    shards: Type.Array(Type.Integer({ minimum: 0 }), {
      description: "Numbers of the shards that it owns; other nodes forward calls for them to it.",
      examples: [[0, 3, 6]],
    }),
    draining: Type.Boolean({
      description: "Whether it takes no shards: it is being stopped, or was asked to drain.",
      examples: [false],
    }),
    live: Type.Boolean({
      description: "Whether it gave a sign of life within the ownership lease.",
      examples: [true],
    }),
  },
  { ...closed, description: "One of the nodes of a cluster." },
);
export type NodeInfo = Static<typeof NodeInfo>;

export const ShardOwner = Type.Object(
  {
    shard: Type.Integer({ description: "Its number.", minimum: 0, examples: [3] }),
    node: Type.String({
      description: "URL of the node that owns it; empty if none does.",
      examples: ["http://10.0.0.7:9090"],
    }),
    epoch: Type.Integer({
      description: "How often the shard has been taken over.",
      minimum: 0,
      examples: [3],
    }),
    taken_at: sinceInstant(
      "Date-time of the last takeover, by the clock of the database; `null`: there was none.",
    ),
  },
  { ...closed, description: "A shard of a cluster, and the node that owns it." },
);
export type ShardOwner = Static<typeof ShardOwner>;

export const NodesListReply = Type.Object(
  {
    items: Type.Array(NodeInfo, {
      description: "Those seen within the last hour, by URL; none if the server is alone.",
      examples: [[]],
    }),
    shards: Type.Array(ShardOwner, {
      description: "The shards of the cluster, by number; none if the server is alone.",
      examples: [[]],
    }),
  },
  { ...closed, description: "The nodes, and which of them owns which shard." },
);
export type NodesListReply = Static<typeof NodesListReply>;

export const ConfirmLossRequest = Type.Object(
  {
    expect: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: bounds.expectMax,
        description:
          "The most commits that may be confirmed, as `count` of the alarm `commits_lost` says; if more have been lost since, none is confirmed and the reply is 453. Absent: any number.",
        examples: [2],
      }),
    ),
  },
  { ...closed, description: "What is to be confirmed: all that is known to be lost." },
);
export type ConfirmLossRequest = Static<typeof ConfirmLossRequest>;

export const ConfirmLossReply = Type.Object(
  {
    lost_commits: Type.Integer({
      description:
        "Commits that are known to be lost, at least, since the process started; 0 = there is nothing to confirm.",
      examples: [2],
    }),
  },
  { ...closed, description: "What was confirmed." },
);
export type ConfirmLossReply = Static<typeof ConfirmLossReply>;

export const WhoAmIRequest = Type.Object(
  {},
  { ...closed, description: "Nothing has to be said; the API key says it." },
);
export type WhoAmIRequest = Static<typeof WhoAmIRequest>;

const keyName = Type.String({
  description: "The name of the API key in its line of the file; may be empty.",
  examples: ["checkout"],
});

const keyRoles = (description: string) =>
  Type.Array(Type.String({ [openWordsKeyword]: [...roleNames] }), {
    description,
    examples: [["produce", "consume"]],
  });

const keyQueues = (description: string) =>
  Type.Array(Type.String(), { description, examples: [["orders*"], ["*"]] });

export const KeyRight = Type.Object(
  {
    roles: keyRoles("What it is for; `admin` is everything."),
    queues: keyQueues("Names of the queues that it is for; `*` stands for any text."),
  },
  { ...closed, description: "Roles of a key, and the queues that it has them for." },
);
export type KeyRight = Static<typeof KeyRight>;

const ofKey = {
  name: keyName,
  roles: keyRoles("All its roles, of whichever queues."),
  queues: keyQueues("All its queues, in whichever roles."),
  rights: Type.Array(KeyRight, {
    description: "What it may do, one by one; they add up.",
    examples: [[{ roles: ["produce", "consume"], queues: ["orders*"] }]],
  }),
};

export const WhoAmIReply = Type.Object(
  {
    ...ofKey,
    keys_required: Type.Boolean({
      description: "Whether the server asks for API keys; if not, everything is allowed.",
      examples: [true],
    }),
  },
  { ...closed, description: "What the caller may do." },
);
export type WhoAmIReply = Static<typeof WhoAmIReply>;

export const KeysListRequest = Type.Object(
  {},
  { ...closed, description: "Nothing has to be said: all keys are listed." },
);
export type KeysListRequest = Static<typeof KeysListRequest>;

export const KeyInfo = Type.Object(
  {
    digest: Type.String({
      description: "The first eight digits of its digest, by which its line is found in the file.",
      examples: ["8f434346"],
    }),
    ...ofKey,
    last_used_at: orNull({
      description:
        "Date-time of its last call, to the second; `null` = none since the process started.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    refusals: Type.Integer({
      description: "Its calls that were not allowed, since the process started.",
      minimum: 0,
      examples: [0],
    }),
  },
  { ...closed, description: "An API key; never the key itself." },
);
export type KeyInfo = Static<typeof KeyInfo>;

export const KeysListReply = Type.Object(
  {
    items: Type.Array(KeyInfo, {
      description: "The keys in the order of their file; none where the server asks for none.",
      examples: [[]],
    }),
  },
  { ...closed, description: "The API keys in force." },
);
export type KeysListReply = Static<typeof KeysListReply>;

export const ActionsListRequest = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: bounds.actionsMax,
      description: "The most actions to return.",
      examples: [100],
    }),
    pivot: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          "The first action wanted, or the nearest older one; absent or 0: the newest. For the next page, give the last id of this one and skip it in the reply.",
        examples: [42],
      }),
    ),
    queue_name: Type.Optional(
      Type.String({
        description: 'Only those of this queue; absent or `""`: of all.',
        examples: ["orders"],
        ...formed(forms.queueNameOrNone, bounds.queueNameBytesMax),
        [queueKeyword]: true,
      }),
    ),
  },
  { ...closed, description: "A page of what was done." },
);
export type ActionsListRequest = Static<typeof ActionsListRequest>;

export const Action = Type.Object(
  {
    id: Type.Integer({
      description: "Rises with each action; starts again with the process.",
      minimum: 1,
      examples: [42],
    }),
    at: Type.String({
      description: "Date-time at which it was answered.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    key_name: Type.String({
      description:
        'Name of the API key, cut at 100 characters; `""` = it has none, or none was asked for.',
      examples: ["anna"],
    }),
    operation: Type.String({
      description: "The operation, by its id in this document.",
      examples: ["clear"],
    }),
    queue_name: Type.String({
      description: 'The queue that it named, cut at 512 characters; `""` = none.',
      examples: ["orders"],
    }),
    to_queues: Type.Array(Type.String(), {
      description: "For a redrive or a repair: other queues that its items go to, at most ten.",
      examples: [[]],
    }),
    items: Type.Integer({
      description: "How many items it named by their ids, or carried; 0 = none.",
      minimum: 0,
      examples: [0],
    }),
    code: Type.Integer({ description: "The code of its reply.", examples: [200] }),
  },
  { ...closed, description: "Something that somebody did by hand." },
);
export type Action = Static<typeof Action>;

export const ActionsListReply = Type.Object(
  {
    items: Type.Array(Action, {
      description: "Actions, newest first; fewer than `limit` on the last page.",
      examples: [[]],
    }),
    since: Type.String({
      description: "Date-time from which actions are known; older ones are only in the log.",
      examples: ["2026-02-27T08:00:00.000Z"],
    }),
    unreached: unreached("actions"),
  },
  { ...closed, description: "What was done." },
);
export type ActionsListReply = Static<typeof ActionsListReply>;

export const StorageItem = Type.Object(
  {
    id: Type.String({
      description: "The item's present id; the text order of ids is the order of the partition.",
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
      maximum: bounds.carriedCountMax,
      description: "Leases granted so far, including one that is running.",
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
    ...carried,
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

const itemState = orNull({
  description: '`ready`, `leased` or `scheduled`. Absent, `null` or `""`: all.',
  examples: ["ready"],
});

const itemOrder = orNull({
  description:
    '`newest`: the last to enter the queue come first. Absent, `null` or `""`: by partition, its scheduled items after the others, each by id.',
  examples: ["newest"],
});

const itemHolder = Type.String({
  description: 'The client that holds it, as its lease named it. Absent or `""`: any.',
  examples: ["worker-3"],
});

const itemGrouping = Type.String({
  description:
    "`reason`, in which numbers, instants and ids do not count, except codes such as `HTTP 503`, `death`, `kind` or `origin_queue`.",
  examples: ["reason"],
  [publishedKeyword]: { enum: ["reason", "death", "kind", "origin_queue"] },
});

export const InGroups = Type.Object(
  {
    by: itemGrouping,
    values: Type.Array(Type.String(), {
      description: 'What they have in common, as `items.groups` says it; `""` = it is not set.',
      examples: [["card_declined", "gateway timeout"]],
      [publishedKeyword]: { minItems: 1, maxItems: bounds.filterGroupsMax },
    }),
  },
  {
    ...closed,
    description: "In one of several groups.",
    examples: [{ by: "reason", values: ["card_declined", "gateway timeout"] }],
  },
);
export type InGroups = Static<typeof InGroups>;

export const ItemFilter = Type.Object(
  {
    kind: Type.Optional(Type.String({ description: "The item's `kind`.", examples: ["charge"] })),
    reference: Type.Optional(
      Type.String({ description: "The item's `reference`.", examples: ["account-4711"] }),
    ),
    origin_id: Type.Optional(
      Type.String({
        description: "The id under which it was produced.",
        examples: [sampleSourceId],
      }),
    ),
    origin_queue: Type.Optional(
      Type.String({
        description: "For a dead item, the queue in which it died.",
        examples: ["orders"],
      }),
    ),
    death: Type.Optional(
      Type.String({
        description: "For a dead item, why it died: `failed`, `expired` or `rejected`.",
        examples: ["failed"],
        [publishedKeyword]: { enum: ["failed", "expired", "rejected"] },
      }),
    ),
    reason: Type.Optional(
      Type.String({
        description:
          "Why it was last given back. Numbers, instants, ids and spacing do not count: `order 7: no card` also matches `order 8: no card`. Three digits count at the start and after `HTTP`, `status` or `code`.",
        examples: ["order <n>: no card"],
      }),
    ),
    attempts_min: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          "The fewest leases that it was granted; for a dead item, in the queue where it died.",
        examples: [3],
      }),
    ),
    created_before: Type.Optional(
      orNull({
        description: 'Date-time before which it was produced. Absent, `null` or `""`: at any time.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    redriven_max: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "The most times that it was sent back from a dead queue.",
        examples: [0],
      }),
    ),
    payload_contains: Type.Optional(
      Type.String({
        description: "A text that its payload contains, as UTF-8.",
        examples: ["4711"],
      }),
    ),
    groups: Type.Optional(InGroups),
  },
  {
    ...closed,
    description: "Which items match: those that meet every condition.",
    examples: [{ reason: "card_declined" }],
  },
);
export type ItemFilter = Static<typeof ItemFilter>;

const findPivot = Type.Optional(
  Type.String({
    description: 'The `next_pivot` of the page before. Absent or `""`: from the start.',
    examples: ["", "0.0.100000"],
  }),
);

const optionalPartition = Type.Optional(
  Type.Integer({
    description: "Only this partition. Absent or `null`: all.",
    examples: [0],
    minimum: 0,
  }),
);

export const FindItemsRequest = Type.Object(
  {
    queue_name: queueName,
    partition: optionalPartition,
    state: Type.Optional(itemState),
    holder: Type.Optional(itemHolder),
    filter: Type.Optional(ItemFilter),
    order: Type.Optional(itemOrder),
    pivot: findPivot,
    limit: Type.Optional(
      Type.Integer({
        minimum: bounds.findItemsMin,
        maximum: bounds.findItemsMax,
        description: "The most items to return.",
        examples: [100],
        [defaultKeyword]: 100,
      }),
    ),
    payload_head: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: bounds.findPayloadHeadMax,
        description: "Bytes of each payload to return.",
        examples: [200],
        [defaultKeyword]: 0,
      }),
    ),
  },
  { ...closed, description: "Items to look for." },
);
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

export const FoundItem = Type.Object(
  {
    queue_name: Type.String({ description: "The queue that it is in.", examples: ["orders"] }),
    partition: Type.Integer({ description: "The partition that it is in.", examples: [0] }),
    state: Type.String({
      description: "`ready`, `leased` or `scheduled`.",
      examples: ["ready"],
    }),
    holder: Type.String({
      description: 'The client that holds it; `""` = nobody, or a client from before a restart.',
      examples: [""],
    }),
    payload_bytes: Type.Integer({
      description: "Bytes of its whole payload.",
      examples: [12],
    }),
    ...StorageItem.properties,
  },
  {
    ...closed,
    description: "An item that was found. `payload` may be only a part of its `payload_bytes`.",
    examples: [sampleFoundItem],
  },
);
export type FoundItem = Static<typeof FoundItem>;

const looked = {
  looked_at: Type.Integer({ description: "Items that were looked at.", examples: [100_000] }),
  next_pivot: Type.String({
    description:
      'Where to go on; `""` = all was looked at. A page may have nothing and still go on.',
    examples: ["0.0.100000"],
  }),
};

export const FindItemsReply = Type.Object(
  {
    items: Type.Array(FoundItem, {
      description: "In the requested order.",
      examples: [[sampleFoundItem]],
    }),
    ...looked,
  },
  { ...closed, description: "Items that were found." },
);
export type FindItemsReply = Static<typeof FindItemsReply>;

export const GroupItemsRequest = Type.Object(
  {
    queue_name: queueName,
    by: itemGrouping,
    partition: optionalPartition,
    state: Type.Optional(itemState),
    holder: Type.Optional(itemHolder),
    filter: Type.Optional(ItemFilter),
    pivot: findPivot,
    top: Type.Optional(
      Type.Integer({
        minimum: bounds.groupsMin,
        maximum: bounds.groupsMax,
        description:
          "The most groups to return, the largest of the page. Absent or `null`: all of them.",
        examples: [10],
      }),
    ),
  },
  { ...closed, description: "Items to count by what they have in common." },
);
export type GroupItemsRequest = Static<typeof GroupItemsRequest>;

export const ItemGroup = Type.Object(
  {
    value: Type.String({
      description: 'What they have in common; `""` = it is not set.',
      examples: ["card_declined"],
    }),
    count: Type.Integer({ description: "How many there are.", examples: [312] }),
    first_at: Type.String({
      description: "Date-time at which the first of them entered this queue.",
      examples: ["2026-03-01T10:42:00.000Z"],
    }),
    last_at: Type.String({
      description: "Date-time at which the last of them did.",
      examples: ["2026-03-01T11:58:00.000Z"],
    }),
    sample_id: Type.String({ description: "The id of one of them.", examples: [sampleId] }),
  },
  { ...closed, description: "Items that have something in common." },
);
export type ItemGroup = Static<typeof ItemGroup>;

export const GroupItemsReply = Type.Object(
  {
    groups: Type.Array(ItemGroup, {
      description: "The largest first. Add up the counts that several pages have for one value.",
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
    other_items: Type.Integer({
      description: "Items in groups that `top` left out.",
      examples: [0],
    }),
    ...looked,
  },
  { ...closed, description: "Items by what they have in common." },
);
export type GroupItemsReply = Static<typeof GroupItemsReply>;

const anyId = Type.String({
  description: "The id of an item.",
  examples: [sampleId],
  ...formed(forms.itemId),
});

export const GetItemRequest = Type.Object(
  {
    id: anyId,
    payload_from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: bounds.payloadRangeMax,
        description: "The first byte of its payload to return, counted from 0.",
        examples: [65_536],
        [defaultKeyword]: 0,
      }),
    ),
    payload_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: bounds.payloadRangeMax,
        description: "The most bytes of its payload to return; without it, all that follow.",
        examples: [65_536],
      }),
    ),
  },
  { ...closed, description: "An item by the id that it has now, with a range of its payload." },
);
export type GetItemRequest = Static<typeof GetItemRequest>;

export const ExplainItemRequest = Type.Object(
  { id: anyId },
  { ...closed, description: "An item by any id that it ever had." },
);
export type ExplainItemRequest = Static<typeof ExplainItemRequest>;

export const ItemEvent = Type.Object(
  {
    at: Type.String({
      description: "Date-time at which it happened.",
      examples: ["2026-03-01T10:42:00.000Z"],
    }),
    what: Type.String({
      description:
        "One of `produced`, `imported`, `due` (its time came), `leased`, `extended`, `completed`, `retried`, `released`, `lapsed`, `expired`, `dead` (it entered a dead queue), `discarded` (there was none for it), `redriven` (it left a dead queue), `returned` (it came back from there), `promoted` (it was made ready before its time), `rejected` (given up by an operator), `removed`, `damaged`. More may come.",
      examples: ["leased"],
    }),
    id: Type.String({ description: "The id that it had then.", examples: [sampleId] }),
    queue_name: Type.String({
      description: 'Where it was; `""` = in a queue that no longer exists.',
      examples: ["orders"],
    }),
    partition: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: "The partition that it was in; `null` = it no longer exists.",
      examples: [0],
    }),
    by: Type.String({
      description: 'The client that held it; `""` = none did, or it is not known.',
      examples: ["worker-3"],
    }),
  },
  { ...closed, description: "Something that happened to an item." },
);
export type ItemEvent = Static<typeof ItemEvent>;

export const ItemExplained = Type.Object(
  {
    id: Type.String({ description: "The id that was asked for.", examples: [sampleId] }),
    item: Type.Optional(FoundItem),
    ahead: Type.Integer({
      description: "For a ready item, how many ready ones are ahead of it in its partition.",
      examples: [41],
    }),
    ahead_is_all: Type.Boolean({
      description: "Whether that is all of them; if not, there are at least that many.",
      examples: [true],
    }),
    why: Type.Array(Type.String(), {
      description: "Sentences that say why it is there, the most important first.",
      examples: [["It is ready, with 41 ahead of it in partition 0."]],
    }),
    history: Type.Array(ItemEvent, {
      description:
        "What happened to it, in order, as far as it is in memory: at most the last 1,000 events of each shard.",
      examples: [
        [
          {
            at: "2026-03-01T10:42:00.000Z",
            what: "produced",
            id: sampleId,
            queue_name: "orders",
            partition: 0,
            by: "",
          },
        ],
      ],
    }),
    history_since: orNull({
      description:
        "Date-time from which nothing is missing in the history; `null` where nothing is kept, as `--history-bytes` is 0.",
      examples: ["2026-03-01T09:00:00.000Z"],
    }),
  },
  { ...closed, description: "Where an item is, and why." },
);
export type ItemExplained = Static<typeof ItemExplained>;

/** Which items a task goes through, and how. */
const taskFields = {
  ids: Type.Optional(
    Type.Array(itemId, {
      minItems: 1,
      maxItems: bounds.taskIdsMax,
      description: "The items. Absent: all that `filter` matches.",
      examples: [[sampleId]],
    }),
  ),
  filter: Type.Optional(ItemFilter),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: "The most items to change.", examples: [1_000] }),
  ),
  per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: bounds.taskPerSecondMax,
      description: "How many to change a second. Absent: as many as it can.",
      examples: [500],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description: "Only count them.",
      examples: [false],
      [defaultKeyword]: false,
    }),
  ),
  expect: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: bounds.expectMax,
      description:
        "With more items than that nothing is changed, and the 453 says how many there are.",
      examples: [312],
    }),
  ),
};

export const RedriveRequest = Type.Object(
  {
    queue_name: Type.String({
      description: "The queue whose ready items are sent back, usually a dead queue.",
      examples: ["orders-dead"],
      [queueKeyword]: true,
    }),
    to: Type.Optional(
      Type.String({
        description:
          'The queue that all of them go to. Absent or `""`: each goes to the one that it came from.',
        examples: ["orders"],
        [queueKeyword]: true,
      }),
    ),
    ...taskFields,
  },
  { ...closed, description: "Dead items to be sent back." },
);
export type RedriveRequest = Static<typeof RedriveRequest>;

export const RepairRequest = Type.Object(
  {
    queue_name: Type.String({
      description: "The queue whose items are changed.",
      examples: ["orders"],
      [queueKeyword]: true,
    }),
    action: Type.String({
      description:
        "`promote`: scheduled items are ready at once. `reject`: they go to the dead queue. `retry`: leased items go back to their queue, and their holder can complete them no more; the attempt counts. `delete`: they are removed.",
      examples: ["promote"],
    }),
    state: Type.Optional(
      orNull({
        description:
          "Only those that are `ready` or `scheduled`. Absent: both; for `promote` the `scheduled` ones, for `retry` the `leased` ones, and no others.",
        examples: ["scheduled"],
      }),
    ),
    holder: Type.Optional(
      Type.String({
        description:
          'Of `retry`: the client that holds them, as `queue.clients` names it. Absent or `""`: anyone. After a restart the holders of earlier leases are not known.',
        examples: ["worker-7"],
      }),
    ),
    reason: Type.Optional(
      Type.String({
        description: `Of \`reject\` and \`retry\`: why, at most ${bounds.retryReasonBytesMax} bytes. The items carry it.`,
        examples: ["sent by mistake"],
        [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
      }),
    ),
    ...taskFields,
  },
  {
    ...closed,
    description:
      "Items that nobody holds, or for `retry` those that are held, by `ids` or by `filter`; an empty filter means all of them. A `holder` needs neither.",
  },
);
export type RepairRequest = Static<typeof RepairRequest>;

export const Destination = Type.Object(
  {
    queue_name: Type.String({
      description:
        'The queue that they go to; `""` = they stay where they are, as the queue that they came from is gone.',
      examples: ["orders"],
    }),
    count: Type.Integer({ description: "How many, whatever the `limit`.", examples: [298] }),
  },
  { ...closed, description: "Where items go." },
);
export type Destination = Static<typeof Destination>;

export const TaskBegun = Type.Object(
  {
    task_id: Type.String({
      description: 'The task that does it; `""` for a dry run.',
      examples: ["rmg2k7v1"],
    }),
    matched: Type.Integer({ description: "Items that match now.", examples: [312] }),
    destinations: Type.Array(Destination, {
      description:
        "Of a redrive or `reject`: how many items go to which queue, the ten queues that get the most; and how many stay, with an empty `queue_name`. Queues that the API key may not read are left out.",
      examples: [
        [
          { queue_name: "orders", count: 298 },
          { queue_name: "", count: 14 },
        ],
      ],
    }),
  },
  { ...closed, description: "A task that runs on its own, across restarts too." },
);
export type TaskBegun = Static<typeof TaskBegun>;

export const TaskInfo = Type.Object(
  {
    task_id: Type.String({ description: "Names the task.", examples: ["rmg2k7v1"] }),
    action: Type.String({
      description: "What it does: `redrive`, `promote`, `reject`, `retry` or `delete`.",
      examples: ["redrive"],
    }),
    state: Type.String({
      description:
        "`running`, `done`, `cancelled`, or `failed`: the queue to which all items should go is gone.",
      examples: ["running"],
    }),
    queue_name: Type.String({ description: "Whose items are changed.", examples: ["orders-dead"] }),
    to: Type.String({
      description:
        'For a redrive: where all go; `""` = each to the queue that it came from, or to one that the API key may not read.',
      examples: [""],
    }),
    holder: Type.String({
      description: 'For a `retry`: from whom they are taken; `""` = anyone.',
      examples: [""],
    }),
    filter: ItemFilter,
    per_second: Type.Integer({ description: "0 = as many as it can.", examples: [0] }),
    matched: Type.Integer({ description: "Items that matched when it began.", examples: [312] }),
    moved: Type.Integer({ description: "Items that it has finished.", examples: [250] }),
    skipped: Type.Integer({
      description:
        "Items that it left where they are, because the queue to which they would go is not there.",
      examples: [0],
    }),
    by: Type.String({
      description: 'The name of the API key that asked for it; `""` = none was needed.',
      examples: ["ops"],
    }),
    created_at: Type.String({
      description: "Date-time at which it began.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
    ended_at: orNull({
      description: "Date-time at which it ended; `null` while it runs.",
      examples: [null, "2026-03-01T12:00:04.000Z"],
    }),
  },
  { ...closed, description: "A task that takes longer than a call." },
);
export type TaskInfo = Static<typeof TaskInfo>;

export const TasksListRequest = Type.Object(
  {
    queue_name: Type.Optional(
      Type.String({
        description: 'Those of one queue. Absent or `""`: all.',
        examples: ["orders-dead"],
        [queueKeyword]: true,
      }),
    ),
  },
  { ...closed, description: "Which tasks to list." },
);
export type TasksListRequest = Static<typeof TasksListRequest>;

export const sampleTask: TaskInfo = {
  task_id: "rmg2k7v1",
  action: "redrive",
  state: "running",
  queue_name: "orders-dead",
  to: "",
  holder: "",
  filter: { reason: "card_declined" },
  per_second: 0,
  matched: 312,
  moved: 250,
  skipped: 0,
  by: "ops",
  created_at: "2026-03-01T12:00:00.000Z",
  ended_at: null,
};

export const TasksListReply = Type.Object(
  {
    tasks: Type.Array(TaskInfo, {
      description: "The newest first; the last hundred are kept.",
      examples: [[sampleTask]],
    }),
    unreached: unreached("tasks"),
  },
  { ...closed, description: "Tasks." },
);
export type TasksListReply = Static<typeof TasksListReply>;

export const ServerOverviewReply = Type.Object(
  {
    now: Type.String({
      description: "Date-time of the reply, by the clock of the queues.",
      examples: ["2026-03-01T13:05:00.310Z"],
    }),
    machine_now: Type.String({
      description:
        "The same by the clock of the machine, which a test clock leaves behind: `started_at`, `last_backup_at` and when a key was used last go by it.",
      examples: ["2026-03-01T13:05:00.310Z"],
    }),
    as_of: asOf,
    since: Type.String({
      description: "Send it with the next request.",
      examples: ["mf3k2a9c.1042"],
    }),
    whole: Type.Boolean({
      description:
        "All queues are in the reply, except those of `unreached` shards; forget any others. A later reply has the queues of these shards again.",
      examples: [true],
    }),
    poll_after_ms: Type.Integer({
      description: "How long to wait before the next request; a busy server says more.",
      examples: [1000],
    }),
    totals: OverviewTotals,
    queues: OverviewQueues,
    removed: Type.Array(Type.String(), {
      description: "Queues that are gone since then.",
      examples: [["old-orders"]],
    }),
    shards: Type.Array(OverviewShard, {
      description: "All shards that could be reached.",
      examples: [[]],
    }),
    alarms: Type.Array(OverviewAlarm, {
      description:
        "What a person should look at, at most 50: of the server and its shards first, then of queues by their items times how long it has been so.",
      examples: [[]],
    }),
    tasks: Type.Array(TaskInfo, {
      description: "Tasks that run, the newest first; those that have ended are in `tasks.list`.",
      examples: [[]],
    }),
    machine: OverviewMachine,
    unreached: unreached("queues, counts, alarms and tasks"),
  },
  { ...closed, description: "All queues at a glance." },
);
export type ServerOverviewReply = Static<typeof ServerOverviewReply>;

export const TaskRequest = Type.Object(
  {
    task_id: Type.String({ description: "The task.", examples: ["rmg2k7v1"] }),
  },
  { ...closed, description: "Names a task." },
);
export type TaskRequest = Static<typeof TaskRequest>;

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
          "Store it as leased until `lease_deadline`. Any client that has its new id may complete it.",
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
        maximum: bounds.carriedCountMax,
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
        description:
          "The payload in base64: either alphabet, with or without padding, blanks and line breaks.",
        examples: ["eyJvcmRlciI6NDJ9"],
        [defaultKeyword]: "",
      }),
    ),
    ...carried,
  },
  {
    ...closed,
    description: "An item to store. It takes the fields of a listed item; each may be absent.",
  },
);
export type ImportItem = Static<typeof ImportItem>;

export const StorageImportRequest = Type.Object(
  {
    queue_name: queueName,
    partition: requestPartition,
    items: Type.Array(ImportItem, {
      minItems: bounds.importItemsMin,
      maxItems: bounds.importItemsMax,
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
    ...guard,
  },
  { ...closed, description: "Items to remove from one partition." },
);
export type StorageDeleteRequest = Static<typeof StorageDeleteRequest>;

export const Health = Type.Object(
  {
    status: Type.String({
      description:
        "`ok`; `degraded` while some shards are down or have no owner and their queues cannot be reached; else `store_full` while the disk has no room, and calls that only add items are refused; else `commits_lost` once a database has lost commits that this server acknowledged, until `losses.confirm` or a restart.",
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
        "What an item survives after its 200: `full` a power cut, `normal` a killed process, `none` (in memory) neither.",
      examples: ["full"],
    }),
    shards: Type.Integer({ description: "Shards that the server runs.", examples: [1] }),
    shards_up: Type.Integer({ description: "Shards that answer now.", examples: [1] }),
    shards_without_owner: Type.Array(Type.Integer(), {
      description:
        "Of a node: numbers of the shards that no node serves, as far as this one knows, such as those in a database that is away.",
      examples: [[1, 3]],
    }),
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
      description: "Date-time of the moment that all of it describes.",
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
  GuardedReply,
  QueueStatsRequest,
  PartitionStats,
  QueueCounters,
  LogicalQueueStats,
  QueueStatsReply,
  InspectRequest,
  Inspect,
  QueueExplainRequest,
  Finding,
  QueueExplainReply,
  QueueClientsRequest,
  AskingClient,
  HoldingClient,
  QueueClientsReply,
  ServerOverviewRequest,
  OverviewTotals,
  OverviewQueues,
  OverviewShard,
  OverviewAlarm,
  OverviewMachine,
  ServerOverviewReply,
  QueuePauseRequest,
  QueueResumeRequest,
  QueueClearRequest,
  QueueReloadRequest,
  ClockAdvanceRequest,
  ClockAdvanceReply,
  ServerSeriesRequest,
  NamedSeries,
  ServerSeriesReply,
  NodesListRequest,
  NodesDrainRequest,
  NodeInfo,
  ShardOwner,
  NodesListReply,
  ConfirmLossRequest,
  ConfirmLossReply,
  WhoAmIRequest,
  WhoAmIReply,
  KeysListRequest,
  KeyInfo,
  KeysListReply,
  ActionsListRequest,
  Action,
  ActionsListReply,
  StorageItem,
  StorageListRequest,
  StorageItemsReply,
  ItemFilter,
  FindItemsRequest,
  FoundItem,
  FindItemsReply,
  GroupItemsRequest,
  ItemGroup,
  GroupItemsReply,
  GetItemRequest,
  ExplainItemRequest,
  ItemEvent,
  ItemExplained,
  RedriveRequest,
  RepairRequest,
  TaskBegun,
  TaskInfo,
  TasksListRequest,
  TasksListReply,
  TaskRequest,
  ImportItem,
  StorageImportRequest,
  StorageDeleteRequest,
  Health,
  BackupReply,
} as const;
