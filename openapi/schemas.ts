// What crosses the wire: the entities, and the request and reply of each operation,
// in API order. Every key has a description and an example, because these objects are
// also the API reference. Requests are checked against them on the hot path, so to a
// validator they say no more than types and bounds: durations, date-times, names and ids have
// their forms for readers of the document, and base64 is a plain string; the server reads them.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import {
  at,
  bytes,
  duration,
  encoded,
  flag,
  instant,
  list,
  long,
  message,
  nullable,
  ofKind,
  orNull,
  text,
  whole,
} from "./fields.ts";
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

const requestTimeout = (number: number, recommended: string, effect: string) =>
  duration(number, {
    description: `How long the request may take, as a duration from \`10ms\` to \`15m\`. ${effect} Do not give up on the request before then. Required; \`${recommended}\` is recommended, and clients send it by default.`,
    examples: [recommended, "30s", "15m"],
    ...formed(forms.duration),
    [defaultKeyword]: recommended,
  });

/** Of a call that can do without: the server then takes as long as produce is recommended to. */
const optionalRequestTimeout = Type.Optional(
  orNull({
    ...ofKind("duration"),
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

export const Reply = message(
  "Reply",
  "The answer of every operation that returns nothing else, and of every refusal.",
  {
    code: whole(1, { description: "The HTTP status, repeated.", examples: [200] }),
    code_text: text(2, {
      description:
        "The code in words. Rely on this, not on the HTTP status text, which has no words for 453 and 454.",
      examples: ["OK"],
    }),
    message: text(3, {
      description:
        'What is wrong: a constant part, then after `;` the details of this request. `""` on success.',
      examples: ["queue does not exist; no such queue named 'orders'"],
    }),
    reason: Type.Optional(
      text(100, {
        [openWordsKeyword]: Object.keys(reasons),
        description:
          "Why it was refused, in one stable word; new ones may come. Present with every code except 200.",
        examples: ["no_such_queue"],
      }),
    ),
    details: Type.Optional(
      at(
        4,
        Type.Unsafe<Record<string, string>>(
          Type.Object(
            {},
            {
              additionalProperties: Type.String(),
              description: "Reasons by item id, present where something can be said per id.",
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
      description: `Texts by name for the consumer that leases the item, such as \`traceparent\`: at most ${bounds.headersBytesMax} bytes as JSON. Absent = none.`,
      examples: [{ traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }],
    },
  ),
);

/** What goes along with an item for its life. Each is absent where there is nothing to say. */
const carried = {
  headers: Type.Optional(at(100, headers)),
  origin_id: Type.Optional(
    text(101, {
      description:
        "The id under which the item was produced, if it has another by now. It stays the same for the item's life.",
      examples: [sampleSourceId],
    }),
  ),
  reason: Type.Optional(
    text(102, {
      description: "Why it was last given back, as `queue.retry` said.",
      examples: ["card_declined"],
    }),
  ),
  death: Type.Optional(
    text(103, {
      description:
        "Why an item is in a dead queue: its attempts were used up (`failed`), it waited too long (`expired`), or it was given up (`rejected`).",
      examples: ["failed"],
      [openWordsKeyword]: ["failed", "expired", "rejected"],
    }),
  ),
  origin_queue: Type.Optional(
    text(104, { description: "The queue that it came from.", examples: ["orders"] }),
  ),
  origin_attempts: Type.Optional(
    whole(105, {
      maximum: bounds.carriedCountMax,
      description: "Leases that it was granted there.",
      examples: [3],
    }),
  ),
  origin_created_at: Type.Optional(
    instant(106, {
      description: "Date-time at which it was produced.",
      examples: ["2026-03-01T11:00:00.000Z"],
    }),
  ),
  redriven: Type.Optional(
    whole(107, {
      maximum: bounds.carriedCountMax,
      description: "How often it was sent back from a dead queue.",
      examples: [1],
    }),
  ),
};

export const ProduceReply = message(
  "ProduceReply",
  "Every item is in the store, or was before.",
  {
    code: Reply.properties.code,
    code_text: Reply.properties.code_text,
    message: Reply.properties.message,
    duplicates: Type.Optional(
      list(101, Type.Integer({ minimum: 0 }), {
        description:
          "Positions in `items`, from 0, of those not written because an item with their `unique_key` already was. Absent if there are none.",
        examples: [[1]],
      }),
    ),
    ids: Type.Optional(
      list(102, Type.String(), {
        description:
          'Ids of the items in their order, `""` for a duplicate. Present only if `return_ids` asked for them.',
        examples: [[sampleId]],
      }),
    ),
  },
  { [withoutNullKeyword]: true },
);
export type ProduceReply = Static<typeof ProduceReply>;

export const ProduceItem = message(
  "ProduceItem",
  "An item to be queued. Every field may be absent; an item may have no payload.",
  {
    encoding: Type.Optional(at(1, encoding)),
    kind: Type.Optional(at(2, kind)),
    reference: Type.Optional(at(3, reference)),
    enqueue_at: Type.Optional(
      nullable.instant(4, {
        description:
          'Date-time before which the item is not offered. Absent, `null`, `""` or past: it is offered at once.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    bytes: Type.Optional(
      bytes(5, {
        description:
          "The payload, any bytes at all; in JSON as base64 of either alphabet, with or without padding, blanks and line breaks. If `utf8` is given too, `bytes` wins and `utf8` is dropped.",
        examples: ["eyJvcmRlciI6NDJ9"],
      }),
    ),
    utf8: Type.Optional(
      text(6, {
        description: "The payload as plain text, kept as its UTF-8 bytes.",
        examples: ['{"order":42}'],
      }),
    ),
    unique_key: Type.Optional(
      text(100, {
        description: `At most ${bounds.uniqueKeyBytesMax} bytes, for a queue with \`unique_for\`: for that long after an item is written, no other item with the same unique key is, whatever became of the first. \`""\` = none.`,
        examples: ["order-42"],
        [publishedKeyword]: { maxLength: bounds.uniqueKeyBytesMax },
      }),
    ),
    headers: Type.Optional(at(101, headers)),
  },
);
export type ProduceItem = Static<typeof ProduceItem>;

export const ProduceRequest = message("ProduceRequest", "Items to add to a queue.", {
  queue_name: at(1, queueName),
  request_timeout: requestTimeout(
    2,
    bounds.produceRequestTimeoutDefault,
    "The answer comes by then, and if it is neither 200 nor 504, nothing was written.",
  ),
  items: list(3, ProduceItem, {
    minItems: bounds.produceItemsMin,
    maxItems: bounds.produceItemsMax,
    description:
      "The items, in the order in which they are to be offered. All go to one partition, or none is written. Of several items with the same `unique_key`, the first is written.",
    examples: [[{ kind: "order-placed", utf8: '{"order":42}' }]],
  }),
  return_ids: Type.Optional(
    flag(100, {
      description: "Whether the reply should have the items' ids.",
      examples: [false],
      [defaultKeyword]: false,
    }),
  ),
});
export type ProduceRequest = Static<typeof ProduceRequest>;

export const LeaseRequest = message(
  "LeaseRequest",
  "Asks for items, and waits for them if there are none.",
  {
    queue_name: at(1, queueName),
    client_id: text(3, {
      description:
        "Identifies the consumer. It must be unique among the leases waiting on this queue: duplicates are refused. It may be used again as soon as its lease request is answered.",
      examples: ["worker-7"],
      ...formed(forms.clientId),
    }),
    request_timeout: requestTimeout(
      4,
      bounds.leaseRequestTimeoutDefault,
      "If the queue stays empty until then, the reply is 454. Items that are being leased at that moment are returned a little later.",
    ),
    batch_size: Type.Optional(
      whole(2, {
        minimum: bounds.leaseBatchMin,
        maximum: bounds.leaseBatchMax,
        description:
          "The most items to lease. The reply comes as soon as there is one; it does not wait for the batch to fill.",
        examples: [10],
        [defaultKeyword]: 1,
      }),
    ),
    lease_timeout: Type.Optional(
      nullable.duration(100, {
        description:
          'How long to hold these items, as a duration. Absent, `null` or `""`: as long as the queue says.',
        examples: ["30s"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
      }),
    ),
  },
);
export type LeaseRequest = Static<typeof LeaseRequest>;

export const LeaseItem = message("LeaseItem", "An item held by one consumer.", {
  id: text(4, {
    description: `Identifies the item while this lease runs: ${bounds.idLength} characters, to be treated as opaque. An item gets a new id each time it returns to a queue, so the id of a lapsed lease can no longer complete it.`,
    examples: [sampleId],
  }),
  encoding: at(1, encoding),
  kind: at(2, kind),
  reference: at(3, reference),
  attempts: whole(5, {
    maximum: bounds.carriedCountMax,
    description: "Leases granted for this item, this one included: 1 the first time.",
    examples: [1],
  }),
  lease_deadline: instant(6, {
    description:
      "Date-time until which the item is yours alone. If it is neither completed nor retried by then, the lease lapses and the item is offered to another consumer.",
    examples: ["2026-03-01T13:00:00.000Z"],
  }),
  bytes: bytes(7, {
    description: "The payload, however it was produced; in JSON as base64.",
    examples: ["eyJvcmRlciI6NDJ9"],
  }),
  ...carried,
});
export type LeaseItem = Static<typeof LeaseItem>;

export const LeaseReply = message(
  "LeaseReply",
  "Leased items, and what is needed to complete or retry them.",
  {
    items: list(3, LeaseItem, {
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
    queue_name: text(1, { description: "The queue asked for.", examples: ["orders"] }),
    partition: whole(2, {
      minimum: 0,
      description: "Partition that the items came from; send it when you complete or retry them.",
      examples: [0],
    }),
    max_attempts: whole(100, {
      description:
        "The queue's limit; 0 = none. An item whose `attempts` have reached it is on its last.",
      examples: [10],
    }),
    now: instant(101, {
      description:
        "The queue's time at this answer. A `lease_deadline` less this is how long the lease still runs, whatever the consumer's own clock says.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
  },
);
export type LeaseReply = Static<typeof LeaseReply>;

export const RetryItem = message("RetryItem", "A leased item to be given back.", {
  id: text(1, {
    description: "Id of an item that is leased now, as the lease reply gave it.",
    examples: [sampleId],
    ...formed(forms.itemId),
  }),
  retry_at: Type.Optional(
    nullable.instant(2, {
      description:
        'Date-time before which the item is not offered again, by the queue\'s clock. Absent, `null`, `""` or past: it joins the tail of its partition at once. A retry does not move the `expire_deadline`: at or beyond it, the item expires without another attempt.',
      examples: ["2026-03-01T12:15:00.000Z"],
      ...formed(forms.dateTimeOrNone),
    }),
  ),
  retry_after: Type.Optional(
    nullable.duration(101, {
      description:
        'How long the item is not offered again, as a duration; it needs no clock of the consumer\'s. Absent, `null` or `""`: `retry_at` says when. Both are refused.',
      examples: ["15m"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
  ),
  dead: Type.Optional(
    flag(3, {
      description:
        "Send the item to the dead queue, whatever attempts remain and whatever `retry_at` says. Refused if the queue has no dead queue.",
      examples: [false],
      [defaultKeyword]: false,
    }),
  ),
  reason: Type.Optional(
    text(100, {
      description: `Why, for anyone who looks at the item: at most ${bounds.retryReasonBytesMax} bytes, such as the message of an error. It stays with the item until it is replaced.`,
      examples: ["card_declined"],
      [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
    }),
  ),
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
      description: "The items to give back, no id twice. All are, or none is.",
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
    "The answer comes by then, and if it is neither 200 nor 504, nothing was completed.",
  ),
  ids: list(4, itemId, {
    minItems: bounds.completeIdsMin,
    maxItems: bounds.completeIdsMax,
    description: "Ids as the lease reply gave them, none twice. All are completed, or none is.",
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
      description: "Ids as the lease reply gave them, none twice.",
      examples: [[sampleId]],
    }),
  },
);
export type TransactComplete = Static<typeof TransactComplete>;

export const TransactRetry = message(
  "TransactRetry",
  "Leased items of one partition to be given back.",
  {
    queue_name: at(100, consumedQueueName),
    partition: at(101, leasePartition),
    items: list(102, RetryItem, {
      minItems: bounds.retryItemsMin,
      maxItems: bounds.retryItemsMax,
      description: "The items to give back, no id twice.",
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
      "The items, in the order in which they are to be offered. All go to one partition.",
    examples: [[{ kind: "invoice", utf8: '{"order":42}' }]],
  }),
});
export type TransactProduce = Static<typeof TransactProduce>;

const transactPart = <T extends TSchema>(
  number: number,
  part: T,
  { description, example }: { readonly description: string; readonly example: unknown },
) =>
  Type.Optional(
    list(number, part, { maxItems: bounds.transactEntriesMax, description, examples: [[example]] }),
  );

export const TransactRequest = message(
  "TransactRequest",
  `What to do together: 1 to ${bounds.transactEntriesMax} ids and items in all.`,
  {
    request_timeout: requestTimeout(
      100,
      bounds.produceRequestTimeoutDefault,
      "The answer comes by then, and if it is neither 200 nor 504, nothing was changed.",
    ),
    complete: transactPart(101, TransactComplete, {
      description: "Items to complete, by their partition.",
      example: {
        queue_name: "orders",
        partition: 0,
        ids: [sampleId],
      },
    }),
    retry: transactPart(102, TransactRetry, {
      description: "Items to give back, by their partition.",
      example: {
        queue_name: "orders",
        partition: 0,
        items: [{ id: sampleId }],
      },
    }),
    produce: transactPart(103, TransactProduce, {
      description: "Items to add, by their queue.",
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
  "What happened to the items of one queue.",
  {
    queue_name: text(100, {
      description: "The queue that was asked for.",
      examples: ["invoices"],
    }),
    partition: Type.Optional(
      whole(101, {
        minimum: 0,
        description: "The partition that the items are in. Absent until they are delivered.",
        examples: [0],
      }),
    ),
    delivered: flag(102, {
      description:
        "Whether they are in their queue already. If not, they are in the store of the inputs, and move to their queue on their own, once each.",
      examples: [true],
    }),
    duplicates: Type.Optional(
      list(103, Type.Integer({ minimum: 0 }), {
        description:
          "Positions in `items`, from 0, of those not written because an item with their `unique_key` already was. Absent if there are none.",
        examples: [[1]],
      }),
    ),
  },
);
export type TransactProduced = Static<typeof TransactProduced>;

export const TransactReply = message("TransactReply", "All of it is done.", {
  produced: list(101, TransactProduced, {
    description: "One for each of `produce`, in its order.",
    examples: [[{ queue_name: "invoices", partition: 0, delivered: true }]],
  }),
});
export type TransactReply = Static<typeof TransactReply>;

const heldIds = Type.Array(itemId, {
  minItems: bounds.completeIdsMin,
  maxItems: bounds.completeIdsMax,
  description:
    "Ids as the lease reply gave them, none twice. The call applies to all of them, or to none.",
  examples: [[sampleId]],
});

export const ExtendRequest = message("ExtendRequest", "Leased items to be held for longer.", {
  queue_name: at(1, queueName),
  partition: at(2, leasePartition),
  request_timeout: at(5, optionalRequestTimeout),
  ids: at(3, heldIds),
  lease_timeout: Type.Optional(
    nullable.duration(4, {
      description:
        'How long to hold them from now, as a duration. Absent, `null` or `""`: as long as the queue says.',
      examples: ["5m"],
      ...formed(forms.durationOrNone, bounds.durationTextMax),
    }),
  ),
});
export type ExtendRequest = Static<typeof ExtendRequest>;

export const ExtendReply = message("ExtendReply", "How long the items are held now.", {
  lease_deadline: instant(1, {
    description:
      "Date-time until which all of them are yours. No lease is made shorter than it was.",
    examples: ["2026-03-01T13:05:00.000Z"],
  }),
  now: instant(2, {
    description:
      "The queue's time at this answer. A `lease_deadline` less this is how long the lease still runs, whatever the consumer's own clock says.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
});
export type ExtendReply = Static<typeof ExtendReply>;

export const ReleaseRequest = message(
  "ReleaseRequest",
  "Leased items to be given back as if they had not been leased.",
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
  description: `How long a consumer holds an item, as a duration of at most ${bounds.durationTextMax} characters. It cannot be longer than \`expire_timeout\`. A change applies to leases granted from then on.`,
  examples: ["60m"],
  ...formed(forms.duration, bounds.durationTextMax),
});

const expireTimeout = Type.String({
  ...ofKind("duration"),
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
  ...ofKind("duration"),
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
  lease_paused: flag(100, {
    description: "Whether its leases are paused, so that lease requests wait.",
    examples: [false],
  }),
  produce_paused: flag(101, {
    description: "Whether its produces are paused, and therefore refused.",
    examples: [false],
  }),
  pause_reason: text(102, {
    description: 'Why it is paused; `""` = no reason was given, or it is not.',
    examples: ["", "moving to the new database"],
  }),
};

const ignoredPause = {
  description:
    "Set by `queue.pause`. Accepted, so that a reply can be sent back unchanged, and ignored.",
};
const ignoredPauseKeys = {
  lease_paused: Type.Optional(flag(100, { ...ignoredPause, examples: [false] })),
  produce_paused: Type.Optional(flag(101, { ...ignoredPause, examples: [false] })),
  pause_reason: Type.Optional(text(102, { ...ignoredPause, examples: [""] })),
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

const ignoredInstant = (number: number, what: string) =>
  Type.Optional(
    nullable.instant(number, {
      description: `${what} Accepted, so that a reply can be sent back unchanged, and ignored.`,
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
  );

// What destroys can be counted first.

const guard = {
  dry_run: Type.Optional(
    flag(110, {
      description:
        "Change nothing, and say in `counts` what the call would remove. It is refused when the call itself would be.",
      examples: [true],
      [defaultKeyword]: false,
    }),
  ),
  expect: Type.Optional(
    whole(111, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      maximum: bounds.expectMax,
      description:
        "The most items that may be removed; if it would be more, nothing is removed and the reply is 453. Absent: any number.",
      examples: [1284],
    }),
  ),
};

export const ItemCounts = message(
  "ItemCounts",
  "Items by their state.",
  {
    ready: whole(100, { description: "Ready to be leased.", examples: [1280] }),
    leased: whole(101, { description: "Leased.", examples: [4] }),
    scheduled: whole(102, { description: "Waiting for their `enqueue_at`.", examples: [0] }),
    retried: whole(103, { description: "Waiting for their `retry_at`.", examples: [0] }),
  },
  { examples: [{ ready: 1280, leased: 4, scheduled: 0, retried: 0 }] },
);
export type ItemCounts = Static<typeof ItemCounts>;

export const GuardedReply = message(
  "GuardedReply",
  "Says that it was done. With `dry_run` or `expect`, `counts` says what was removed, or would be.",
  {
    code: whole(1, { description: "The HTTP status code.", examples: [200] }),
    code_text: text(2, { description: "What the code means.", examples: ["OK"] }),
    message: text(3, { description: "Empty.", examples: [""] }),
    counts: Type.Optional(at(101, ItemCounts)),
    waiting_leases: Type.Optional(
      whole(102, {
        description:
          "When a queue is deleted: lease requests that wait on it, which are answered 453. Present with `counts`.",
        examples: [0],
      }),
    ),
    dependents: Type.Optional(
      list(103, Type.String(), {
        description:
          "When a queue is deleted: the queues that name it as their dead queue and then have none. Present with `counts`.",
        examples: [["orders"]],
      }),
    ),
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
        'Name of the queue that takes failed and expired items; `""` = none, as for a queue that is itself a dead queue.',
      examples: ["orders-dead"],
    }),
    reference: at(5, queueReference),
    lease_timeout: duration(6, {
      description:
        "How long a consumer holds an item: in JSON as the duration was written, in protobuf in its canonical form, such as `1h0m0s`.",
      examples: ["60m"],
    }),
    expire_timeout: duration(7, {
      description:
        "How long an item may wait before it moves to the dead queue, written as `lease_timeout` is.",
      examples: ["24h"],
    }),
    max_attempts: at(8, maxAttempts),
    requested_partitions: at(9, requestedPartitions),
    leased_max: at(103, leasedMax),
    lease_rate: at(104, leaseRate),
    unique_for: duration(105, {
      description:
        'How long a `unique_key` is taken, written as `lease_timeout` is; `""` = the queue takes none.',
      examples: ["1d", ""],
    }),
    ...pauseKeys,
  },
  { reserved: [10], constants: { namespace: { number: 11, value: "_system" } } },
);
export type QueueInfo = Static<typeof QueueInfo>;

/** Of a call that asks every shard. */
const unreached = (number: number, missing: string) =>
  list(number, Type.Integer(), {
    description: `Numbers of the shards whose ${missing} are missing, because they could not be reached within a second; empty as a rule.`,
    examples: [[]],
  });

export const QueuesListRequest = message(
  "QueuesListRequest",
  "A page of the list of queues.",
  {
    pivot: text(2, {
      description:
        'The first name wanted, or the nearest after it; `""` = from the start. For the next page, give the last name of this one and skip it in the reply.',
      examples: ["", "orders"],
      ...formed(forms.queuesPivot),
    }),
    limit: whole(3, {
      ...encoded({ unset: bounds.queuesListMax }),
      minimum: bounds.queuesListMin,
      maximum: bounds.queuesListMax,
      description: "The most queues to return.",
      examples: [100],
    }),
    namespace: at(4, namespace),
  },
  { reserved: [1] },
);
export type QueuesListRequest = Static<typeof QueuesListRequest>;

export const QueuesListReply = message("QueuesListReply", "Definitions of queues.", {
  items: list(1, QueueInfo, {
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
    dead_queue: Type.Optional(text(4, { ...deadQueue, [defaultKeyword]: "" })),
    reference: Type.Optional(text(5, { ...queueReference, [defaultKeyword]: "" })),
    lease_timeout: at(6, leaseTimeout),
    expire_timeout: at(7, expireTimeout),
    max_attempts: Type.Optional(whole(8, { ...maxAttempts, [defaultKeyword]: 0 })),
    requested_partitions: Type.Optional(whole(9, { ...requestedPartitions, [defaultKeyword]: 1 })),
    leased_max: Type.Optional(whole(103, { ...leasedMax, [defaultKeyword]: 0 })),
    lease_rate: Type.Optional(text(104, { ...leaseRate, [defaultKeyword]: "" })),
    unique_for: Type.Optional(duration(105, { ...uniqueFor, [defaultKeyword]: "" })),
    ...ignoredPauseKeys,
    namespace: at(11, namespace),
  },
  { reserved: [10] },
);
export type QueueCreateRequest = Static<typeof QueueCreateRequest>;

export const QueueUpdateRequest = message(
  "QueueUpdateRequest",
  "What to change of a queue.",
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
    ...ignoredPauseKeys,
    namespace: at(11, namespace),
    ...guard,
  },
  {
    reserved: [10],
    // An absent key keeps its value; a client that sends `null` may as well want it gone.
    [withoutNullKeyword]: true,
  },
);
export type QueueUpdateRequest = Static<typeof QueueUpdateRequest>;

const describedQueueName = {
  ...queueNameOptions,
  description: "Name of the queue. Give either `name` or `queue_name`.",
};

export const QueueInfoRequest = message(
  "QueueInfoRequest",
  "Which queue to describe.",
  {
    name: Type.Optional(Type.String(describedQueueName)),
    queue_name: Type.Optional(text(1, { ...describedQueueName, ...encoded({ unset: "" }) })),
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

export const QueueStatsRequest = message("QueueStatsRequest", "Which queue to measure.", {
  queue_name: at(1, queueName),
  columns: Type.Optional(
    flag(100, {
      description:
        "Return the partitions as `columns` instead of `partitions`: a tenth of the bytes for many of them.",
      examples: [true],
      [defaultKeyword]: false,
    }),
  ),
});
export type QueueStatsRequest = Static<typeof QueueStatsRequest>;

export const PartitionStats = message("PartitionStats", "Counts and ages of one partition.", {
  partition: whole(1, {
    minimum: 0,
    description: "Number of the partition.",
    examples: [0],
  }),
  total: whole(2, {
    description: "Items queued and leased; scheduled ones are counted separately.",
    examples: [500],
  }),
  total_leased: whole(3, { description: "Items leased now.", examples: [15] }),
  scheduled: whole(7, {
    description: "Items waiting for their `enqueue_at` or `retry_at`.",
    examples: [3],
  }),
  failures: whole(4, {
    description: "Times its store failed since the server started.",
    examples: [0],
  }),
  average_age: duration(5, {
    description:
      "Mean time since they were produced, of queued and leased items, as a duration; `0s` when there are none.",
    examples: ["2m10s"],
  }),
  average_leased_age: duration(6, {
    description:
      "Mean time since they were leased, of leased items, as a duration; `0s` when there are none.",
    examples: ["4.2s"],
  }),
  oldest_ready_at: nullable.instant(100, {
    description:
      "Date-time since which its oldest ready item has been ready, or a little before, because no item is read for it; `null` when none is ready, and for a moment after a start.",
    examples: ["2026-03-01T11:58:00.000Z"],
  }),
  next_due_at: nullable.instant(101, {
    description:
      "Date-time at which its first scheduled item is due, or a little before; `null` when none is scheduled.",
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
  "What happened to items since this process has had the queue, counted each time. A count that is lower than before started again.",
  {
    produced: long(100, {
      description: "Produced or imported, not counting duplicates of a unique key.",
      examples: [91204],
    }),
    leased: long(101, { description: "Leased.", examples: [90811] }),
    completed: long(102, { description: "Completed.", examples: [90677] }),
    retried: long(103, {
      description: "Given back with `queue.retry`, wherever they went.",
      examples: [96],
    }),
    released: long(104, {
      description: "Given back with `queue.release`, or because their client had hung up.",
      examples: [12],
    }),
    extended: long(105, { description: "Held for longer.", examples: [40] }),
    lapsed: long(106, { description: "Not completed in time.", examples: [11] }),
    expired: long(107, { description: "Waited longer than `expire_timeout`.", examples: [0] }),
    dead: long(108, { description: "Sent to the dead queue.", examples: [7] }),
    discarded: long(109, {
      description: "Failed or expired, where there is no dead queue.",
      examples: [0],
    }),
    removed: long(110, { description: "Cleared, or deleted by their ids.", examples: [0] }),
    arrived: long(111, {
      description: "Came from another queue: they died there, or a redrive sent them.",
      examples: [3],
    }),
    redriven: long(112, { description: "Sent to another queue by a redrive.", examples: [0] }),
  },
  { examples: [sampleCounters] },
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

const longs = Type.Integer(ofKind("long"));

const column = (number: number, description: string, examples: number[]) =>
  list(number, longs, { description, examples: [examples] });

export const PartitionColumns = message(
  "PartitionColumns",
  "The figures of all partitions, a list for each figure, in the order of the partitions. A list is empty where each of its figures is 0.",
  {
    partition: column(100, "Number of the partition; empty = 0, 1, 2 and so on.", []),
    total: column(
      101,
      "Items queued and leased; scheduled ones are counted separately.",
      [500, 480],
    ),
    total_leased: column(102, "Items leased now.", [15, 0]),
    scheduled: column(103, "Items waiting for their `enqueue_at` or `retry_at`.", []),
    failures: column(104, "Times its store failed since the server started.", []),
    average_age_seconds: column(
      105,
      "Mean seconds since they were produced, of queued and leased items.",
      [130, 128],
    ),
    average_leased_age_seconds: column(
      106,
      "Mean seconds since they were leased, of leased items.",
      [4, 0],
    ),
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
        "Mean time since they were leased, of all leased items, as a duration; `0s` when there are none.",
      examples: ["4.2s"],
    }),
    produce_waiting: whole(6, {
      description: "Produce requests that wait to be worked on.",
      examples: [0],
    }),
    lease_waiting: whole(7, {
      description: "Lease requests that wait for an item.",
      examples: [8],
    }),
    complete_waiting: whole(8, {
      description: "Complete requests that wait to be worked on.",
      examples: [0],
    }),
    in_flight: whole(10, { description: "Requests being worked on.", examples: [2] }),
    partitions: list(11, PartitionStats, {
      description:
        "One for each partition, in the order of their numbers; none where `columns` were asked for.",
      examples: [[samplePartitionStats]],
    }),
    counters: at(100, QueueCounters),
    columns: Type.Optional(at(101, PartitionColumns)),
  },
  { [withoutNullKeyword]: true },
);
export type LogicalQueueStats = Static<typeof LogicalQueueStats>;

export const QueueStatsReply = message("QueueStatsReply", "Measurements of a queue.", {
  queue_name: text(1, { description: "The queue asked for.", examples: ["orders"] }),
  logical_queues: list(2, LogicalQueueStats, {
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
});
export type QueueStatsReply = Static<typeof QueueStatsReply>;

export const InspectRequest = message("InspectRequest", "Which queue to count.", {
  queue_name: at(1, queueName),
});
export type InspectRequest = Static<typeof InspectRequest>;

export const Inspect = message("Inspect", "Where the items of a queue are.", {
  queue_name: text(1, { description: "The queue asked for.", examples: ["orders"] }),
  partitions: whole(2, {
    description: "Partitions that exist, including those being emptied.",
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
      "Items that its dead queue holds; 0 without a dead queue, and for an API key that may not read the dead queue.",
    examples: [7],
  }),
});
export type Inspect = Static<typeof Inspect>;

// What is the matter.

const asOf = Type.String({
  ...ofKind("instant"),
  description: "Date-time of the moment that all of it describes.",
  examples: ["2026-03-01T13:05:00.000Z"],
});
const sinceInstant = (number: number, description: string) =>
  nullable.instant(number, { description, examples: ["2026-03-01T12:53:00.000Z", null] });
const healthWord = Type.String({
  description:
    "The first of the findings, or `at_limit` for the two about limits; without findings `flows`, `idle` (only consumers wait) or `empty` (nothing waits).",
  examples: ["nobody_asks"],
});

export const QueueExplainRequest = message("QueueExplainRequest", "Which queue to explain.", {
  queue_name: at(100, queueName),
});
export type QueueExplainRequest = Static<typeof QueueExplainRequest>;

export const Finding = message("Finding", "Something that keeps items waiting, or loses them.", {
  what: text(100, {
    description:
      "One of `shard_down`, `store_full`, `nobody_asks`, `falls_behind`, `leases_lapse`, `dead_items`, `clearing`, `paused`, `at_leased_max`, `at_lease_rate`, `all_leased`, `all_scheduled`, in this order. More may come.",
    examples: ["nobody_asks"],
  }),
  since: instant(101, {
    description:
      "Date-time at which it began, as far as the server has seen: not before it started.",
    examples: ["2026-03-01T12:53:00.000Z"],
  }),
  count: whole(102, {
    description:
      "Items that it concerns: ready, held or to be removed, or recently lapsed or dead; for `store_full`, partitions.",
    examples: [48_210],
  }),
  next_at: sinceInstant(
    103,
    "Date-time at which time alone may change it: the next lapse, the next item due, more room under the rate, the next start of the shard. `null`: none.",
  ),
  text: text(104, {
    description: "All of it in a sentence, for people.",
    examples: [
      "48,210 items are ready, the oldest for 41 minutes, and nobody asks for them; worker-2 was the last, 12 minutes ago.",
    ],
  }),
});
export type Finding = Static<typeof Finding>;

export const QueueExplainReply = message("QueueExplainReply", "Why a queue is as it is.", {
  queue_name: text(100, { description: "The queue asked for.", examples: ["orders"] }),
  as_of: at(101, asOf),
  health: at(102, healthWord),
  findings: list(103, Finding, {
    description: "What is wrong, worst first; empty if nothing is.",
    examples: [[]],
  }),
});
export type QueueExplainReply = Static<typeof QueueExplainReply>;

export const QueueClientsRequest = message("QueueClientsRequest", "Whose clients to name.", {
  queue_name: at(100, queueName),
  limit: Type.Optional(
    whole(101, {
      minimum: bounds.clientsMin,
      maximum: bounds.clientsMax,
      description: "The most clients to name of each kind.",
      examples: [20],
      [defaultKeyword]: bounds.clientsDefault,
    }),
  ),
});
export type QueueClientsRequest = Static<typeof QueueClientsRequest>;

export const AskingClient = message(
  "AskingClient",
  "A client whose lease request is not answered yet.",
  {
    client_id: text(100, { description: "As it named itself.", examples: ["worker-2"] }),
    since: instant(101, {
      description: "Date-time at which its lease request came.",
      examples: ["2026-03-01T13:04:48.000Z"],
    }),
    batch_size: whole(102, { description: "Items it asks for.", examples: [10] }),
    place: whole(103, {
      description: "In the line, from 1 on; 0 while it is being served.",
      examples: [1],
    }),
  },
);
export type AskingClient = Static<typeof AskingClient>;

export const HoldingClient = message("HoldingClient", "A client that holds items.", {
  client_id: text(100, {
    description:
      'As it named itself. `""`: not known, because it leased them before the server was started, or they were imported.',
    examples: ["worker-9"],
  }),
  items: whole(101, { description: "Items that it holds.", examples: [32] }),
  partitions: list(102, Type.Integer(), {
    description: "Where they are.",
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
  "Who asks a queue for items, and who holds some.",
  {
    queue_name: text(100, { description: "The queue asked for.", examples: ["orders"] }),
    as_of: at(101, asOf),
    asking_count: whole(102, {
      description: "All that wait, whatever the limit.",
      examples: [1],
    }),
    asking: list(103, AskingClient, {
      description: "Those that wait for items, in the order in which they are served.",
      examples: [[]],
    }),
    holding_count: whole(104, { description: "All that hold items.", examples: [1] }),
    holding: list(105, HoldingClient, {
      description: "Those that hold items, the most first.",
      examples: [[]],
    }),
    partial: flag(106, {
      description: "A shard did not answer in time, so holders may be missing.",
      examples: [false],
    }),
  },
);
export type QueueClientsReply = Static<typeof QueueClientsReply>;

export const ServerOverviewRequest = message("ServerOverviewRequest", "What was seen before.", {
  since: Type.Optional(
    text(100, {
      description:
        'The `since` of an earlier reply: then only queues that have changed come. Absent, `""` or no longer known: all.',
      examples: ["mf3k2a9c.1041"],
    }),
  ),
});
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

const totalOf = (number: number, name: keyof typeof counted) =>
  long(number, { description: `${counted[name]}, ${sinceStart}.`, examples: [2406] });

export const OverviewTotals = message(
  "OverviewTotals",
  "All queues together.",
  {
    queues: whole(100, { description: "Queues that exist.", examples: [2] }),
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
  "Queues as columns: the figures at one place of all lists are those of one queue. All lists are of one length, in no particular order.",
  {
    queue_name: texts(119, "Name of the queue.", ["orders"]),
    health: texts(120, "As `queue.explain` says it.", ["nobody_asks"]),
    health_since_ms: column(
      100,
      `Since when the worst finding holds, ${millis}.`,
      [1_772_369_580_000],
    ),
    health_count: column(
      121,
      "What the worst finding counts, as `queue.explain` says it; 0 = none.",
      [48_210],
    ),
    next_at_ms: column(118, `When time alone may change it, ${millis}.`, [0]),
    ready: column(101, "Items ready to be leased.", [48_210]),
    leased: column(102, "Items leased now.", [0]),
    scheduled: column(103, "Items waiting for their `enqueue_at` or `retry_at`.", [0]),
    waiting_leases: column(104, "Lease requests that wait for an item.", [0]),
    oldest_ready_at_ms: column(
      105,
      `Since when the oldest ready item is ready, or a little before, ${millis}.`,
      [1_772_367_840_000],
    ),
    next_due_at_ms: column(
      106,
      `When the first scheduled item is due, or a little before, ${millis}.`,
      [0],
    ),
    paused_since_ms: column(
      124,
      `Since when its leases, its produces or both are paused, whatever its health is, ${millis}.`,
      [0],
    ),
    shard: column(125, "The shard that it lives in.", [0]),
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

export const OverviewShard = message("OverviewShard", "A shard at a glance.", {
  shard: whole(100, { description: "Its number.", examples: [0] }),
  state: text(101, {
    description: "`up`, `full` while its store has no room, or `down`.",
    examples: ["up"],
  }),
  since: sinceInstant(102, "Date-time since when it is full or down; `null`: it is up."),
  commit_p50_us: whole(103, {
    description:
      "Half of the commits of about the last minute took at most this many microseconds; 0: there were none.",
    examples: [1000],
  }),
  commit_p99_us: whole(104, {
    description: "99 of 100 took at most this many; 0: there were none.",
    examples: [5000],
  }),
  waiting: whole(105, { description: "Requests that it has not answered.", examples: [0] }),
  restarts: whole(106, {
    description: "Attempts to open its store again after it failed.",
    examples: [0],
  }),
  failures: whole(107, { description: "Commits that failed.", examples: [0] }),
  quarantined: whole(108, {
    description: "Items set aside: damaged ones, and those of queues that are not known.",
    examples: [0],
  }),
  miscounted: whole(109, {
    description: "Items that a start found missing, or too many.",
    examples: [0],
  }),
  log_bytes: long(110, { description: "Size of its log.", examples: [4_194_304] }),
  file_bytes: long(111, { description: "Size of its file.", examples: [8_388_608] }),
  items_per_second: whole(112, {
    description:
      "Its load: items that its commits wrote, leased or removed per second, on average over the last minute, rounded up. An item that is produced, leased and completed counts three times.",
    examples: [120],
  }),
});
export type OverviewShard = Static<typeof OverviewShard>;

export const OverviewAlarm = message("OverviewAlarm", "What a person should look at.", {
  what: text(100, {
    description:
      "`commits_lost`, `shard_down`, `store_full`, `disk_low`, `items_damaged`, `items_miscounted`, or for a queue `nobody_asks`, `falls_behind`, `leases_lapse`, `dead_items`. More may come.",
    examples: ["nobody_asks"],
  }),
  since: sinceInstant(101, "Date-time at which it began; `null`: not known."),
  count: long(102, {
    description: "Items that it concerns, commits, or 1.",
    examples: [48_210],
  }),
  queue_name: text(103, {
    description: 'The queue; `""`: it concerns none.',
    examples: ["orders"],
  }),
  shard: whole(104, { description: "The shard; -1: it concerns none.", examples: [-1] }),
  text: text(105, {
    description: "All of it in a sentence, for people.",
    examples: [
      "48,210 items are ready, the oldest for 41 minutes, and nobody asks for them; worker-2 was the last, 12 minutes ago.",
    ],
  }),
});
export type OverviewAlarm = Static<typeof OverviewAlarm>;

export const OverviewMachine = message(
  "OverviewMachine",
  "The machine of the server that has the queues.",
  {
    name: text(100, { description: "Of the server, as `--name` has it.", examples: ["eu-1"] }),
    version: text(101, { description: "Of Holdfast.", examples: ["1.0.0"] }),
    store: text(106, {
      description: "What keeps the items: `sqlite`, `postgres` or `memory`.",
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
      description: "Size of the disk that has the stores; 0: there is none.",
      examples: [107_374_182_400],
    }),
    disk_free_bytes: long(104, {
      description: "How many of these the server may still fill.",
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
  "What to pause. At least one of `lease` and `produce` must be true.",
  {
    queue_name: at(1, queueName),
    lease: Type.Optional(
      flag(2, {
        description:
          "Stop leases. Absent: `true`, unless `produce` is; so without either, leases are paused.",
        examples: [true],
      }),
    ),
    produce: Type.Optional(
      flag(3, {
        description: "Refuse produces.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
    reason: Type.Optional(
      text(4, {
        description: `Why, for those whom it stops; at most ${bounds.pauseReasonBytesMax} bytes.`,
        examples: ["moving to the new database"],
        [defaultKeyword]: "",
      }),
    ),
  },
);
export type QueuePauseRequest = Static<typeof QueuePauseRequest>;

export const QueueResumeRequest = message("QueueResumeRequest", "Which queue goes on.", {
  queue_name: at(1, queueName),
});
export type QueueResumeRequest = Static<typeof QueueResumeRequest>;

export const QueueClearRequest = message(
  "QueueClearRequest",
  "What to remove. At least one of `retry`, `scheduled` and `queue` must be true.",
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
        "With `queue`: remove leased items too. Their holders can then neither complete nor retry them.",
      examples: [false],
    }),
    ...guard,
  },
);
export type QueueClearRequest = Static<typeof QueueClearRequest>;

export const QueueReloadRequest = message("QueueReloadRequest", "Which queue to recount.", {
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
    handler_timeout: Type.Optional(
      nullable.duration(101, {
        description:
          'How long workers have at each instant to finish the items that they hold and to lease those that are ready, by the machine\'s clock, as a duration from 1ms to 1m. Time goes on once they have, or without them after that. Absent, `null` or `""`: it does not wait for workers, and their leases lapse.',
        examples: ["5s"],
        ...formed(forms.durationOrNone, bounds.durationTextMax),
      }),
    ),
  },
);
export type ClockAdvanceRequest = Static<typeof ClockAdvanceRequest>;

export const ClockAdvanceReply = message("ClockAdvanceReply", "What time it is now.", {
  now: instant(100, {
    description: "Date-time of the test clock, which then stands still.",
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
  "What to return of the last hour or day.",
  {
    queue_name: Type.Optional(
      text(100, {
        description: "Which queue; absent, without `shard`: all of them together.",
        examples: ["orders"],
        ...formed(forms.queueName, bounds.queueNameBytesMax),
        [queueKeyword]: true,
      }),
    ),
    shard: Type.Optional(
      whole(104, {
        ...encoded({ hasPresence: true }),
        minimum: 0,
        description: "Which shard, instead of a queue.",
        examples: [0],
      }),
    ),
    names: list(
      101,
      Type.String({ [publishedKeyword]: { enum: [...seriesNames, ...shardSeriesNames] } }),
      {
        description: `What to return, each once: for queues ${named(seriesNames)}; for a shard ${named(shardSeriesNames)}.`,
        examples: [["produced", "completed", "ready"]],
        [publishedKeyword]: { minItems: 1, maxItems: seriesNames.length },
      },
    ),
    from: Type.Optional(
      nullable.instant(102, {
        description:
          "Date-time of the first point wanted. Absent or `null`: as far back as there are points.",
        examples: ["2026-03-01T12:05:00.000Z"],
        ...formed(forms.dateTime),
      }),
    ),
    step: Type.Optional(
      nullable.duration(103, {
        description:
          "From one point to the next: `10s`, kept for an hour, or `1m`, kept for a day. Absent or `null`: `10s`, unless `from` is longer ago than that.",
        examples: ["10s", "1m"],
        ...formed(forms.duration),
      }),
    ),
  },
);
export type ServerSeriesRequest = Static<typeof ServerSeriesRequest>;

export const NamedSeries = message("NamedSeries", "The points of one name.", {
  name: text(100, { description: "One of those asked for.", examples: ["produced"] }),
  values: list(101, longs, {
    description:
      "Point by point: how many items it happened to, or how many commits there were; for `ready`, `held`, `scheduled`, `waiting`, `oldest_ready_seconds`, `file_bytes` and `log_bytes` the value at the end of the point. `commit_p50_us` and `commit_p99_us`: half of the commits, and 99 of 100, took at most this many microseconds, in a minute the highest of its points; 0: there were none.",
    examples: [[120, 118, 131]],
  }),
});
export type NamedSeries = Static<typeof NamedSeries>;

export const ServerSeriesReply = message(
  "ServerSeriesReply",
  "What happened in a queue or a shard recently.",
  {
    queue_name: text(100, {
      description: 'The queue asked for; `""` = all of them together, or a shard.',
      examples: ["orders"],
    }),
    shard: whole(105, { description: "The shard asked for; -1 = none.", examples: [-1] }),
    since: nullable.instant(101, {
      description:
        "Date-time from which points are kept, at the earliest the start of the process; `null` = none are kept, because busier queues take the room.",
      examples: ["2026-03-01T09:30:00.000Z"],
    }),
    from: instant(102, {
      description: "Date-time at which the first point begins.",
      examples: ["2026-03-01T12:05:00.000Z"],
    }),
    step: duration(103, {
      description: "From one point to the next, in canonical form.",
      examples: ["10s"],
    }),
    series: list(104, NamedSeries, {
      description:
        "In the order of `names`, all of the same length. An unfinished point is left out.",
      examples: [[{ name: "produced", values: [120, 118, 131] }]],
    }),
  },
);
export type ServerSeriesReply = Static<typeof ServerSeriesReply>;

export const NodesListRequest = message("NodesListRequest", "Nothing has to be said.", {});
export type NodesListRequest = Static<typeof NodesListRequest>;

export const NodesDrainRequest = message(
  "NodesDrainRequest",
  "Which node is to drain, or to take shards again.",
  {
    url: text(100, {
      description: "The node, as `nodes.list` names it.",
      examples: ["http://10.0.0.7:9090"],
    }),
    draining: Type.Optional(
      flag(101, {
        ...encoded({ hasPresence: true }),
        description:
          "`true`: it hands its shards over and takes none; `false`: it takes its share.",
        examples: [true],
        [defaultKeyword]: true,
      }),
    ),
  },
);
export type NodesDrainRequest = Static<typeof NodesDrainRequest>;

export const NodeInfo = message("NodeInfo", "One of the nodes of a cluster.", {
  url: text(100, {
    description: "Where the other nodes reach it.",
    examples: ["http://10.0.0.7:9090"],
  }),
  version: text(101, { description: "Of Holdfast.", examples: ["1.0.0"] }),
  started_at: instant(102, {
    description: "Date-time at which it joined.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  seen_at: instant(103, {
    description: "Date-time of its last sign of life.",
    examples: ["2026-03-01T13:05:00.000Z"],
  }),
  shards: list(104, Type.Integer({ minimum: 0 }), {
    description: "Numbers of the shards that it owns; other nodes forward calls for them to it.",
    examples: [[0, 3, 6]],
  }),
  draining: flag(105, {
    description: "Whether it takes no shards: it is being stopped, or was asked to drain.",
    examples: [false],
  }),
  live: flag(106, {
    description: "Whether it gave a sign of life within the ownership lease.",
    examples: [true],
  }),
});
export type NodeInfo = Static<typeof NodeInfo>;

export const ShardOwner = message(
  "ShardOwner",
  "A shard of a cluster, and the node that owns it.",
  {
    shard: whole(100, { description: "Its number.", minimum: 0, examples: [3] }),
    node: text(101, {
      description: "URL of the node that owns it; empty if none does.",
      examples: ["http://10.0.0.7:9090"],
    }),
    epoch: whole(102, {
      description: "How often the shard has been taken over.",
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

export const NodesListReply = message(
  "NodesListReply",
  "The nodes, and which of them owns which shard.",
  {
    items: list(100, NodeInfo, {
      description: "Those seen within the last hour, by URL; none if the server is alone.",
      examples: [[]],
    }),
    shards: list(101, ShardOwner, {
      description: "The shards of the cluster, by number; none if the server is alone.",
      examples: [[]],
    }),
  },
);
export type NodesListReply = Static<typeof NodesListReply>;

export const ConfirmLossRequest = message(
  "ConfirmLossRequest",
  "What is to be confirmed: all that is known to be lost.",
  {
    expect: Type.Optional(
      whole(100, {
        ...encoded({ hasPresence: true }),
        minimum: 0,
        maximum: bounds.expectMax,
        description:
          "The most commits that may be confirmed, as `count` of the alarm `commits_lost` says; if more have been lost since, none is confirmed and the reply is 453. Absent: any number.",
        examples: [2],
      }),
    ),
  },
);
export type ConfirmLossRequest = Static<typeof ConfirmLossRequest>;

export const ConfirmLossReply = message("ConfirmLossReply", "What was confirmed.", {
  lost_commits: whole(100, {
    description:
      "Commits that are known to be lost, at least, since the process started; 0 = there is nothing to confirm.",
    examples: [2],
  }),
});
export type ConfirmLossReply = Static<typeof ConfirmLossReply>;

export const WhoAmIRequest = message(
  "WhoAmIRequest",
  "Nothing has to be said; the API key says it.",
  {},
);
export type WhoAmIRequest = Static<typeof WhoAmIRequest>;

const keyName = Type.String({
  description: "The name of the API key in its line of the file; may be empty.",
  examples: ["checkout"],
});

const keyRoles = (number: number, description: string) =>
  list(number, Type.String({ [openWordsKeyword]: [...roleNames] }), {
    description,
    examples: [["produce", "consume"]],
  });

const keyQueues = (number: number, description: string) =>
  list(number, Type.String(), { description, examples: [["orders*"], ["*"]] });

export const KeyRight = message(
  "KeyRight",
  "Roles of a key, and the queues that it has them for.",
  {
    roles: keyRoles(100, "What it is for; `admin` is everything."),
    queues: keyQueues(101, "Names of the queues that it is for; `*` stands for any text."),
  },
);
export type KeyRight = Static<typeof KeyRight>;

const ofKey = {
  name: at(100, keyName),
  roles: keyRoles(101, "All its roles, of whichever queues."),
  queues: keyQueues(102, "All its queues, in whichever roles."),
  rights: list(104, KeyRight, {
    description: "What it may do, one by one; they add up.",
    examples: [[{ roles: ["produce", "consume"], queues: ["orders*"] }]],
  }),
};

export const WhoAmIReply = message("WhoAmIReply", "What the caller may do.", {
  ...ofKey,
  keys_required: flag(103, {
    description: "Whether the server asks for API keys; if not, everything is allowed.",
    examples: [true],
  }),
});
export type WhoAmIReply = Static<typeof WhoAmIReply>;

export const KeysListRequest = message(
  "KeysListRequest",
  "Nothing has to be said: all keys are listed.",
  {},
);
export type KeysListRequest = Static<typeof KeysListRequest>;

export const KeyInfo = message("KeyInfo", "An API key; never the key itself.", {
  digest: text(103, {
    description: "The first eight digits of its digest, by which its line is found in the file.",
    examples: ["8f434346"],
  }),
  ...ofKey,
  last_used_at: nullable.instant(105, {
    description:
      "Date-time of its last call, to the second; `null` = none since the process started.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  refusals: whole(106, {
    description: "Its calls that were not allowed, since the process started.",
    minimum: 0,
    examples: [0],
  }),
});
export type KeyInfo = Static<typeof KeyInfo>;

export const KeysListReply = message("KeysListReply", "The API keys in force.", {
  items: list(100, KeyInfo, {
    description: "The keys in the order of their file; none where the server asks for none.",
    examples: [[]],
  }),
});
export type KeysListReply = Static<typeof KeysListReply>;

export const ActionsListRequest = message("ActionsListRequest", "A page of what was done.", {
  limit: whole(100, {
    minimum: 1,
    maximum: bounds.actionsMax,
    description: "The most actions to return.",
    examples: [100],
  }),
  pivot: Type.Optional(
    whole(101, {
      minimum: 0,
      description:
        "The first action wanted, or the nearest older one; absent or 0: the newest. For the next page, give the last id of this one and skip it in the reply.",
      examples: [42],
    }),
  ),
  queue_name: Type.Optional(
    text(102, {
      description: 'Only those of this queue; absent or `""`: of all.',
      examples: ["orders"],
      ...formed(forms.queueNameOrNone, bounds.queueNameBytesMax),
      [queueKeyword]: true,
    }),
  ),
});
export type ActionsListRequest = Static<typeof ActionsListRequest>;

export const Action = message("Action", "Something that somebody did by hand.", {
  id: whole(100, {
    description: "Rises with each action; starts again with the process.",
    minimum: 1,
    examples: [42],
  }),
  at: instant(101, {
    description: "Date-time at which it was answered.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  key_name: text(102, {
    description:
      'Name of the API key, cut at 100 characters; `""` = it has none, or none was asked for.',
    examples: ["anna"],
  }),
  operation: text(103, {
    description: "The operation, by its id in this document.",
    examples: ["clear"],
  }),
  queue_name: text(104, {
    description: 'The queue that it named, cut at 512 characters; `""` = none.',
    examples: ["orders"],
  }),
  to_queues: list(107, Type.String(), {
    description: "For a redrive or a repair: other queues that its items go to, at most ten.",
    examples: [[]],
  }),
  items: whole(105, {
    description: "How many items it named by their ids, or carried; 0 = none.",
    minimum: 0,
    examples: [0],
  }),
  code: whole(106, { description: "The code of its reply.", examples: [200] }),
});
export type Action = Static<typeof Action>;

export const ActionsListReply = message("ActionsListReply", "What was done.", {
  items: list(100, Action, {
    description: "Actions, newest first; fewer than `limit` on the last page.",
    examples: [[]],
  }),
  since: instant(101, {
    description: "Date-time from which actions are known; older ones are only in the log.",
    examples: ["2026-02-27T08:00:00.000Z"],
  }),
  unreached: unreached(102, "actions"),
});
export type ActionsListReply = Static<typeof ActionsListReply>;

export const StorageItem = message("StorageItem", "An item as it is stored.", {
  id: text(1, {
    description: "The item's present id; the text order of ids is the order of the partition.",
    examples: [sampleId],
  }),
  source_id: text(2, {
    description:
      'The id it had elsewhere, before it was dead-lettered or imported; `""` = none. Any other value is unique within the partition.',
    examples: [sampleSourceId],
  }),
  is_leased: flag(3, { description: "Whether a consumer holds it.", examples: [true] }),
  lease_deadline: nullable.instant(4, {
    ...encoded({ isAlwaysSent: true }),
    description: "Date-time at which its lease lapses; `null` when it is not leased.",
    examples: ["2026-03-01T13:00:00.000Z"],
  }),
  dead_deadline: nullable.instant(6, {
    description:
      "Date-time at which it would move to the dead queue; `null` when its queue has none.",
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
    description: "Date-time at which it last changed: produced, leased or returned to the queue.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  enqueue_at: nullable.instant(9, {
    description: "Date-time at which it is due; `null` unless it is scheduled.",
    examples: [null, "2026-03-01T12:15:00.000Z"],
  }),
  attempts: whole(10, {
    maximum: bounds.carriedCountMax,
    description: "Leases granted so far, including one that is running.",
    examples: [1],
  }),
  max_attempts: whole(11, {
    description: "The limit of its queue; 0 = none.",
    examples: [10],
  }),
  reference: at(12, reference),
  encoding: at(13, encoding),
  kind: at(14, kind),
  payload: bytes(15, {
    description: "The payload; in JSON as base64.",
    examples: ["eyJvcmRlciI6NDJ9"],
  }),
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
        'The first id wanted, or the nearest after it; `""` = from the start. For the next page, give the last id of this one and skip it in the reply.',
      examples: ["", sampleId],
      ...formed(forms.itemIdOrNone),
    }),
    limit: whole(4, {
      ...encoded({ unset: bounds.queuesListMax }),
      minimum: bounds.storageListMin,
      maximum: bounds.storageListMax,
      description: "The most items to return. A page ends early at 32 MB of payload.",
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

export const InGroups = message(
  "InGroups",
  "In one of several groups.",
  {
    by: at(100, itemGrouping),
    values: list(101, Type.String(), {
      description: 'What they have in common, as `items.groups` says it; `""` = it is not set.',
      examples: [["card_declined", "gateway timeout"]],
      [publishedKeyword]: { minItems: 1, maxItems: bounds.filterGroupsMax },
    }),
  },
  { examples: [{ by: "reason", values: ["card_declined", "gateway timeout"] }] },
);
export type InGroups = Static<typeof InGroups>;

export const ItemFilter = message(
  "ItemFilter",
  "Which items match: those that meet every condition.",
  {
    kind: Type.Optional(
      text(100, {
        ...encoded({ hasPresence: true }),
        description: "The item's `kind`.",
        examples: ["charge"],
      }),
    ),
    reference: Type.Optional(
      text(101, {
        ...encoded({ hasPresence: true }),
        description: "The item's `reference`.",
        examples: ["account-4711"],
      }),
    ),
    origin_id: Type.Optional(
      text(102, {
        ...encoded({ hasPresence: true }),
        description: "The id under which it was produced.",
        examples: [sampleSourceId],
      }),
    ),
    origin_queue: Type.Optional(
      text(103, {
        ...encoded({ hasPresence: true }),
        description: "For a dead item, the queue in which it died.",
        examples: ["orders"],
      }),
    ),
    death: Type.Optional(
      text(104, {
        description: "For a dead item, why it died: `failed`, `expired` or `rejected`.",
        examples: ["failed"],
        [publishedKeyword]: { enum: ["failed", "expired", "rejected"] },
      }),
    ),
    reason: Type.Optional(
      text(105, {
        ...encoded({ hasPresence: true }),
        description:
          "Why it was last given back. Numbers, instants, ids and spacing do not count: `order 7: no card` also matches `order 8: no card`. Three digits count at the start and after `HTTP`, `status` or `code`.",
        examples: ["order <n>: no card"],
      }),
    ),
    attempts_min: Type.Optional(
      whole(106, {
        minimum: 0,
        description:
          "The fewest leases that it was granted; for a dead item, in the queue where it died.",
        examples: [3],
      }),
    ),
    created_before: Type.Optional(
      nullable.instant(107, {
        description: 'Date-time before which it was produced. Absent, `null` or `""`: at any time.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    redriven_max: Type.Optional(
      whole(108, {
        ...encoded({ hasPresence: true }),
        minimum: 0,
        description: "The most times that it was sent back from a dead queue.",
        examples: [0],
      }),
    ),
    payload_contains: Type.Optional(
      text(109, {
        description: "A text that its payload contains, as UTF-8.",
        examples: ["4711"],
      }),
    ),
    groups: Type.Optional(at(110, InGroups)),
  },
  { examples: [{ reason: "card_declined" }] },
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

export const FindItemsRequest = message("FindItemsRequest", "Items to look for.", {
  queue_name: at(100, queueName),
  partition: at(101, optionalPartition, { hasPresence: true }),
  state: Type.Optional(at(102, itemState)),
  holder: Type.Optional(at(107, itemHolder)),
  filter: Type.Optional(at(103, ItemFilter)),
  order: Type.Optional(at(108, itemOrder)),
  pivot: at(104, findPivot),
  limit: Type.Optional(
    whole(105, {
      ...encoded({ unset: 100 }),
      minimum: bounds.findItemsMin,
      maximum: bounds.findItemsMax,
      description: "The most items to return.",
      examples: [100],
      [defaultKeyword]: 100,
    }),
  ),
  payload_head: Type.Optional(
    whole(106, {
      minimum: 0,
      maximum: bounds.findPayloadHeadMax,
      description: "Bytes of each payload to return.",
      examples: [200],
      [defaultKeyword]: 0,
    }),
  ),
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
    queue_name: text(110, { description: "The queue that it is in.", examples: ["orders"] }),
    partition: whole(111, { description: "The partition that it is in.", examples: [0] }),
    state: text(112, {
      description: "`ready`, `leased` or `scheduled`.",
      examples: ["ready"],
    }),
    holder: text(114, {
      description: 'The client that holds it; `""` = nobody, or a client from before a restart.',
      examples: [""],
    }),
    payload_bytes: whole(113, {
      description: "Bytes of its whole payload.",
      examples: [12],
    }),
    ...StorageItem.properties,
  },
  { examples: [sampleFoundItem] },
);
export type FoundItem = Static<typeof FoundItem>;

const looked = {
  looked_at: whole(101, { description: "Items that were looked at.", examples: [100_000] }),
  next_pivot: text(102, {
    description:
      'Where to go on; `""` = all was looked at. A page may have nothing and still go on.',
    examples: ["0.0.100000"],
  }),
};

export const FindItemsReply = message("FindItemsReply", "Items that were found.", {
  items: list(100, FoundItem, {
    description: "In the requested order.",
    examples: [[sampleFoundItem]],
  }),
  ...looked,
});
export type FindItemsReply = Static<typeof FindItemsReply>;

export const GroupItemsRequest = message(
  "GroupItemsRequest",
  "Items to count by what they have in common.",
  {
    queue_name: at(100, queueName),
    by: at(101, itemGrouping),
    partition: at(102, optionalPartition, { hasPresence: true }),
    state: Type.Optional(at(103, itemState)),
    holder: Type.Optional(at(106, itemHolder)),
    filter: Type.Optional(at(104, ItemFilter)),
    pivot: at(105, findPivot),
    top: Type.Optional(
      whole(107, {
        ...encoded({ hasPresence: true }),
        minimum: bounds.groupsMin,
        maximum: bounds.groupsMax,
        description:
          "The most groups to return, the largest of the page. Absent or `null`: all of them.",
        examples: [10],
      }),
    ),
  },
);
export type GroupItemsRequest = Static<typeof GroupItemsRequest>;

export const ItemGroup = message("ItemGroup", "Items that have something in common.", {
  value: text(100, {
    description: 'What they have in common; `""` = it is not set.',
    examples: ["card_declined"],
  }),
  count: whole(101, { description: "How many there are.", examples: [312] }),
  first_at: instant(102, {
    description: "Date-time at which the first of them entered this queue.",
    examples: ["2026-03-01T10:42:00.000Z"],
  }),
  last_at: instant(103, {
    description: "Date-time at which the last of them did.",
    examples: ["2026-03-01T11:58:00.000Z"],
  }),
  sample_id: text(104, { description: "The id of one of them.", examples: [sampleId] }),
});
export type ItemGroup = Static<typeof ItemGroup>;

export const GroupItemsReply = message("GroupItemsReply", "Items by what they have in common.", {
  groups: list(100, ItemGroup, {
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
  other_items: whole(103, {
    description: "Items in groups that `top` left out.",
    examples: [0],
  }),
  ...looked,
});
export type GroupItemsReply = Static<typeof GroupItemsReply>;

const anyId = Type.String({
  description: "The id of an item.",
  examples: [sampleId],
  ...formed(forms.itemId),
});

export const GetItemRequest = message(
  "GetItemRequest",
  "An item by the id that it has now, with a range of its payload.",
  {
    id: at(100, anyId),
    payload_from: Type.Optional(
      whole(101, {
        minimum: 0,
        maximum: bounds.payloadRangeMax,
        description: "The first byte of its payload to return, counted from 0.",
        examples: [65_536],
        [defaultKeyword]: 0,
      }),
    ),
    payload_limit: Type.Optional(
      whole(102, {
        ...encoded({ hasPresence: true }),
        minimum: 0,
        maximum: bounds.payloadRangeMax,
        description: "The most bytes of its payload to return; without it, all that follow.",
        examples: [65_536],
      }),
    ),
  },
);
export type GetItemRequest = Static<typeof GetItemRequest>;

export const ExplainItemRequest = message(
  "ExplainItemRequest",
  "An item by any id that it ever had.",
  { id: at(100, anyId) },
);
export type ExplainItemRequest = Static<typeof ExplainItemRequest>;

export const ItemEvent = message("ItemEvent", "Something that happened to an item.", {
  at: instant(100, {
    description: "Date-time at which it happened.",
    examples: ["2026-03-01T10:42:00.000Z"],
  }),
  what: text(101, {
    description:
      "One of `produced`, `imported`, `due` (its time came), `leased`, `extended`, `completed`, `retried`, `released`, `lapsed`, `expired`, `dead` (it entered a dead queue), `discarded` (there was none for it), `redriven` (it left a dead queue), `returned` (it came back from there), `promoted` (it was made ready before its time), `rejected` (given up by an operator), `removed`, `damaged`. More may come.",
    examples: ["leased"],
  }),
  id: text(102, { description: "The id that it had then.", examples: [sampleId] }),
  queue_name: text(103, {
    description: 'Where it was; `""` = in a queue that no longer exists.',
    examples: ["orders"],
  }),
  partition: at(
    104,
    Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: "The partition that it was in; `null` = it no longer exists.",
      examples: [0],
    }),
    { hasPresence: true },
  ),
  by: text(105, {
    description: 'The client that held it; `""` = none did, or it is not known.',
    examples: ["worker-3"],
  }),
});
export type ItemEvent = Static<typeof ItemEvent>;

export const ItemExplained = message("ItemExplained", "Where an item is, and why.", {
  id: text(100, { description: "The id that was asked for.", examples: [sampleId] }),
  item: Type.Optional(at(101, FoundItem)),
  ahead: whole(102, {
    description: "For a ready item, how many ready ones are ahead of it in its partition.",
    examples: [41],
  }),
  ahead_is_all: flag(103, {
    description: "Whether that is all of them; if not, there are at least that many.",
    examples: [true],
  }),
  why: list(104, Type.String(), {
    description: "Sentences that say why it is there, the most important first.",
    examples: [["It is ready, with 41 ahead of it in partition 0."]],
  }),
  history: list(105, ItemEvent, {
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
  history_since: nullable.instant(106, {
    description:
      "Date-time from which nothing is missing in the history; `null` where nothing is kept, as `--history-bytes` is 0.",
    examples: ["2026-03-01T09:00:00.000Z"],
  }),
});
export type ItemExplained = Static<typeof ItemExplained>;

/** Which items a task goes through, and how. */
const taskFields = {
  ids: Type.Optional(
    list(102, itemId, {
      ...encoded({ hasPresence: true }),
      minItems: 1,
      maxItems: bounds.taskIdsMax,
      description: "The items. Absent: all that `filter` matches.",
      examples: [[sampleId]],
    }),
  ),
  filter: Type.Optional(at(103, ItemFilter)),
  limit: Type.Optional(
    whole(104, { minimum: 1, description: "The most items to change.", examples: [1_000] }),
  ),
  per_second: Type.Optional(
    whole(105, {
      minimum: 1,
      maximum: bounds.taskPerSecondMax,
      description: "How many to change a second. Absent: as many as it can.",
      examples: [500],
    }),
  ),
  dry_run: Type.Optional(
    flag(106, {
      description: "Only count them.",
      examples: [false],
      [defaultKeyword]: false,
    }),
  ),
  expect: Type.Optional(
    whole(107, {
      ...encoded({ hasPresence: true }),
      minimum: 0,
      maximum: bounds.expectMax,
      description:
        "With more items than that nothing is changed, and the 453 says how many there are.",
      examples: [312],
    }),
  ),
};

export const RedriveRequest = message("RedriveRequest", "Dead items to be sent back.", {
  queue_name: text(100, {
    description: "The queue whose ready items are sent back, usually a dead queue.",
    examples: ["orders-dead"],
    [queueKeyword]: true,
  }),
  to: Type.Optional(
    text(101, {
      description:
        'The queue that all of them go to. Absent or `""`: each goes to the one that it came from.',
      examples: ["orders"],
      [queueKeyword]: true,
    }),
  ),
  ...taskFields,
});
export type RedriveRequest = Static<typeof RedriveRequest>;

export const RepairRequest = message(
  "RepairRequest",
  "Items that nobody holds, or for `retry` those that are held, by `ids` or by `filter`; an empty filter means all of them. A `holder` needs neither.",
  {
    queue_name: text(100, {
      description: "The queue whose items are changed.",
      examples: ["orders"],
      [queueKeyword]: true,
    }),
    action: text(101, {
      description:
        "`promote`: scheduled items are ready at once. `reject`: they go to the dead queue. `retry`: leased items go back to their queue, and their holder can complete them no more; the attempt counts. `delete`: they are removed.",
      examples: ["promote"],
    }),
    state: Type.Optional(
      nullable.text(108, {
        ...encoded({ hasPresence: true }),
        description:
          "Only those that are `ready` or `scheduled`. Absent: both; for `promote` the `scheduled` ones, for `retry` the `leased` ones, and no others.",
        examples: ["scheduled"],
      }),
    ),
    holder: Type.Optional(
      text(110, {
        description:
          'Of `retry`: the client that holds them, as `queue.clients` names it. Absent or `""`: anyone. After a restart the holders of earlier leases are not known.',
        examples: ["worker-7"],
      }),
    ),
    reason: Type.Optional(
      text(109, {
        ...encoded({ hasPresence: true }),
        description: `Of \`reject\` and \`retry\`: why, at most ${bounds.retryReasonBytesMax} bytes. The items carry it.`,
        examples: ["sent by mistake"],
        [publishedKeyword]: { maxLength: bounds.retryReasonBytesMax },
      }),
    ),
    ...taskFields,
  },
);
export type RepairRequest = Static<typeof RepairRequest>;

export const Destination = message("Destination", "Where items go.", {
  queue_name: text(100, {
    description:
      'The queue that they go to; `""` = they stay where they are, as the queue that they came from is gone.',
    examples: ["orders"],
  }),
  count: whole(101, { description: "How many, whatever the `limit`.", examples: [298] }),
});
export type Destination = Static<typeof Destination>;

export const TaskBegun = message("TaskBegun", "A task that runs on its own, across restarts too.", {
  task_id: text(100, {
    description: 'The task that does it; `""` for a dry run.',
    examples: ["rmg2k7v1"],
  }),
  matched: whole(101, { description: "Items that match now.", examples: [312] }),
  destinations: list(102, Destination, {
    description:
      "Of a redrive or `reject`: how many items go to which queue, the ten queues that get the most; and how many stay, with an empty `queue_name`. Queues that the API key may not read are left out.",
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
  task_id: text(100, { description: "Names the task.", examples: ["rmg2k7v1"] }),
  action: text(111, {
    description: "What it does: `redrive`, `promote`, `reject`, `retry` or `delete`.",
    examples: ["redrive"],
  }),
  state: text(101, {
    description:
      "`running`, `done`, `cancelled`, or `failed`: the queue to which all items should go is gone.",
    examples: ["running"],
  }),
  queue_name: text(102, { description: "Whose items are changed.", examples: ["orders-dead"] }),
  to: text(103, {
    description:
      'For a redrive: where all go; `""` = each to the queue that it came from, or to one that the API key may not read.',
    examples: [""],
  }),
  holder: text(113, {
    description: 'For a `retry`: from whom they are taken; `""` = anyone.',
    examples: [""],
  }),
  filter: at(104, ItemFilter),
  per_second: whole(105, { description: "0 = as many as it can.", examples: [0] }),
  matched: whole(106, { description: "Items that matched when it began.", examples: [312] }),
  moved: whole(107, { description: "Items that it has finished.", examples: [250] }),
  skipped: whole(108, {
    description:
      "Items that it left where they are, because the queue to which they would go is not there.",
    examples: [0],
  }),
  by: text(112, {
    description: 'The name of the API key that asked for it; `""` = none was needed.',
    examples: ["ops"],
  }),
  created_at: instant(109, {
    description: "Date-time at which it began.",
    examples: ["2026-03-01T12:00:00.000Z"],
  }),
  ended_at: nullable.instant(110, {
    description: "Date-time at which it ended; `null` while it runs.",
    examples: [null, "2026-03-01T12:00:04.000Z"],
  }),
});
export type TaskInfo = Static<typeof TaskInfo>;

export const TasksListRequest = message("TasksListRequest", "Which tasks to list.", {
  queue_name: Type.Optional(
    text(100, {
      description: 'Those of one queue. Absent or `""`: all.',
      examples: ["orders-dead"],
      [queueKeyword]: true,
    }),
  ),
});
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

export const TasksListReply = message("TasksListReply", "Tasks.", {
  tasks: list(100, TaskInfo, {
    description: "The newest first; the last hundred are kept.",
    examples: [[sampleTask]],
  }),
  unreached: unreached(101, "tasks"),
});
export type TasksListReply = Static<typeof TasksListReply>;

export const ServerOverviewReply = message("ServerOverviewReply", "All queues at a glance.", {
  now: instant(100, {
    description: "Date-time of the reply, by the clock of the queues.",
    examples: ["2026-03-01T13:05:00.310Z"],
  }),
  machine_now: instant(112, {
    description:
      "The same by the clock of the machine, which a test clock leaves behind: `started_at`, `last_backup_at` and when a key was used last go by it.",
    examples: ["2026-03-01T13:05:00.310Z"],
  }),
  as_of: at(101, asOf),
  since: text(102, {
    description: "Send it with the next request.",
    examples: ["mf3k2a9c.1042"],
  }),
  whole: flag(103, {
    description:
      "All queues are in the reply, except those of `unreached` shards; forget any others. A later reply has the queues of these shards again.",
    examples: [true],
  }),
  poll_after_ms: whole(104, {
    description: "How long to wait before the next request; a busy server says more.",
    examples: [1000],
  }),
  totals: at(105, OverviewTotals),
  queues: at(106, OverviewQueues),
  removed: list(107, Type.String(), {
    description: "Queues that are gone since then.",
    examples: [["old-orders"]],
  }),
  shards: list(108, OverviewShard, {
    description: "All shards that could be reached.",
    examples: [[]],
  }),
  alarms: list(109, OverviewAlarm, {
    description:
      "What a person should look at, at most 50: of the server and its shards first, then of queues by their items times how long it has been so.",
    examples: [[]],
  }),
  tasks: list(111, TaskInfo, {
    description: "Tasks that run, the newest first; those that have ended are in `tasks.list`.",
    examples: [[]],
  }),
  machine: at(110, OverviewMachine),
  unreached: unreached(113, "queues, counts, alarms and tasks"),
});
export type ServerOverviewReply = Static<typeof ServerOverviewReply>;

export const TaskRequest = message("TaskRequest", "Names a task.", {
  task_id: text(100, { description: "The task.", examples: ["rmg2k7v1"] }),
});
export type TaskRequest = Static<typeof TaskRequest>;

export const ImportItem = message(
  "ImportItem",
  "An item to store. It takes the fields of a listed item; each may be absent.",
  {
    id: Type.Optional(
      text(1, {
        description:
          "Accepted, so that a listed item can be sent unchanged, and ignored: every imported item gets a new id.",
        examples: [sampleId],
      }),
    ),
    source_id: Type.Optional(
      text(2, {
        description:
          'An id of your own for the item, usually the one it had where it came from; `""` = none. An item whose `source_id` the partition holds already is not stored again, which makes an import safe to repeat.',
        examples: [sampleSourceId],
        [defaultKeyword]: "",
      }),
    ),
    is_leased: Type.Optional(
      flag(3, {
        description:
          "Store it as leased until `lease_deadline`. Any client that has its new id may complete it.",
        examples: [false],
        [defaultKeyword]: false,
      }),
    ),
    lease_deadline: Type.Optional(
      nullable.instant(4, {
        description: "Date-time at which its lease lapses; required when `is_leased` is true.",
        examples: [null, "2026-03-01T13:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    dead_deadline: ignoredInstant(6, "Follows from `expire_deadline`."),
    expire_deadline: Type.Optional(
      nullable.instant(5, {
        description:
          'Date-time at which it expires. Absent, `null` or `""`: as if it were produced now.',
        examples: ["2026-03-02T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    created_at: Type.Optional(
      nullable.instant(7, {
        description: 'Date-time at which it was first produced. Absent, `null` or `""`: now.',
        examples: ["2026-03-01T12:00:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    updated_at: ignoredInstant(8, "Set by the server."),
    enqueue_at: Type.Optional(
      nullable.instant(9, {
        description:
          'Date-time before which it is not offered. Absent, `null`, `""` or past: it is offered at once.',
        examples: [null, "2026-03-01T12:15:00.000Z"],
        ...formed(forms.dateTimeOrNone),
      }),
    ),
    attempts: Type.Optional(
      whole(10, {
        minimum: 0,
        maximum: bounds.carriedCountMax,
        description: "Leases granted so far.",
        examples: [1],
        [defaultKeyword]: 0,
      }),
    ),
    max_attempts: Type.Optional(
      whole(11, {
        description:
          "Accepted, so that a listed item can be sent unchanged, and ignored: the limit is the queue's.",
        examples: [10],
      }),
    ),
    reference: Type.Optional(at(12, reference)),
    encoding: Type.Optional(at(13, encoding)),
    kind: Type.Optional(at(14, kind)),
    payload: Type.Optional(
      bytes(15, {
        description:
          "The payload; in JSON as base64 of either alphabet, with or without padding, blanks and line breaks.",
        examples: ["eyJvcmRlciI6NDJ9"],
        [defaultKeyword]: "",
      }),
    ),
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

export const StorageImportReply = message("StorageImportReply", "Items that were stored.", {
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
      description: "Ids of the items to remove, leased and scheduled ones included.",
      examples: [[sampleId]],
    }),
    ...guard,
  },
);
export type StorageDeleteRequest = Static<typeof StorageDeleteRequest>;

export const Health = message("Health", "The state of the server.", {
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
});
export type Health = Static<typeof Health>;

export const BackupReply = message("BackupReply", "A backup that was made.", {
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
      { additionalProperties: false, description: "The file of a shard." },
    ),
    {
      description: "A file for each shard.",
      examples: [[{ file: "shard-0.db", bytes: 4_194_304 }]],
    },
  ),
});
export type BackupReply = Static<typeof BackupReply>;
