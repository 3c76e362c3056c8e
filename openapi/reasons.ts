// The reasons of refusals, as stable words for programs. The meaning of a word never changes; later
// versions may add words.

import type { ReplyCode } from "./codes.ts";

export interface ReasonMeaning {
  /** Reply codes with this reason; the first is the default. */
  readonly codes: readonly [ReplyCode, ...ReplyCode[]];
  readonly meaning: string;
}

export const reasons = {
  malformed: {
    codes: [400],
    meaning: "The request cannot be parsed, does not match the schema, or is out of bounds.",
  },
  no_such_queue: { codes: [400], meaning: "No queue has this name." },
  no_such_partition: { codes: [400], meaning: "The queue has no partition with this number." },
  queue_exists: { codes: [400], meaning: "A queue with this name exists already." },
  bad_dead_queue: {
    codes: [400],
    meaning: "The dead queue does not exist, or cannot be the dead queue of this one.",
  },
  too_many: {
    codes: [400],
    meaning: "The server has reached its maximum number of queues or partitions.",
  },
  duplicate_client: {
    codes: [400],
    meaning: "Another lease with this `client_id` is waiting on the queue.",
  },
  key_taken: {
    codes: [400],
    meaning: "The `Idempotency-Key` was already used for a different request.",
  },
  unauthorized: { codes: [401], meaning: "The API key is missing or not valid." },
  host_not_allowed: { codes: [403], meaning: "The header `Host` names another site." },
  origin_not_allowed: { codes: [403], meaning: "The header `Origin` names another site." },
  not_allowed: {
    codes: [403],
    meaning: "The API key lacks the role that this call requires, or lacks it for this queue.",
  },
  no_such_path: { codes: [404], meaning: "The path does not exist." },
  wrong_method: { codes: [405], meaning: "The path does not accept this method." },
  too_large: {
    codes: [413, 453],
    meaning:
      "The body is too large (413), or the items are too large for one retry, release or transact (453).",
  },
  unsupported_content: {
    codes: [415],
    meaning: "The server does not support this content type or encoding of the body.",
  },
  full: {
    codes: [429],
    meaning:
      "The server has reached a limit: of requests, waiting leases, bytes of bodies, idempotency keys or tasks.",
  },
  wrong_keys: {
    codes: [429],
    meaning: "Too many invalid API keys were sent from this address.",
  },
  not_leased: {
    codes: [453],
    meaning: "An id is not that of a leased item; `details` lists each such id with its reason.",
  },
  different_stores: {
    codes: [453],
    meaning:
      "A transact names items of queues in different shards; the same `{tag}` in their names keeps queues together.",
  },
  no_dead_queue: {
    codes: [453],
    meaning: "Items cannot be sent to a dead queue, because the queue has none.",
  },
  queue_deleted: { codes: [453], meaning: "The queue was deleted while the call waited." },
  queue_paused: { codes: [453], meaning: "The queue accepts no items until it is resumed." },
  queue_full: {
    codes: [453],
    meaning: "More items would wait in the queue than its `waiting_max` allows.",
  },
  group_full: {
    codes: [453],
    meaning: "More items of a group would wait than the `group_waiting_max` of the queue allows.",
  },
  queue_not_empty: {
    codes: [453],
    meaning: "The queue holds items, or items are on their way to it.",
  },
  queue_in_use: { codes: [453], meaning: "The queue is the dead queue of another." },
  partition_draining: { codes: [453], meaning: "The partition accepts no new items." },
  count_changed: {
    codes: [453],
    meaning: "More would be changed than `expect` allows; `details.count` is the number.",
  },
  backups_off: { codes: [453], meaning: "The server was started without `--backups`." },
  no_test_clock: { codes: [453], meaning: "The server was started without `--test-clock`." },
  no_such_node: { codes: [453], meaning: "No live node of the cluster has this URL." },
  last_node: { codes: [453], meaning: "No other node could take the shards of this one." },
  not_a_node: { codes: [453], meaning: "The server was started without `--node-url`." },
  no_such_task: { codes: [453], meaning: "No task has this id, or it ended long ago." },
  no_such_item: { codes: [453], meaning: "No item has this id." },
  empty: { codes: [454], meaning: "No item arrived within `request_timeout`." },
  late: { codes: [454], meaning: "The call could not be carried out in time, and was not." },
  client_gone: { codes: [454], meaning: "The client disconnected while it waited for items." },
  leases_paused: {
    codes: [454],
    meaning: "The queue was paused until `request_timeout`; nothing was leased.",
  },
  limited: {
    codes: [454],
    meaning:
      "The queue's `leased_max` or `lease_rate` allowed no more items until `request_timeout`.",
  },
  lease_over: {
    codes: [454],
    meaning: "A lease was repeated after its last item had been completed, returned or lapsed.",
  },
  repeated: {
    codes: [454],
    meaning: "The lease was repeated while it waited; the repetition gets the reply.",
  },
  internal: { codes: [500], meaning: "The server has a bug; its log has the cause." },
  store_full: {
    codes: [500],
    meaning: "The disk has no room; calls that only add items are refused.",
  },
  store_failed: { codes: [500], meaning: "The store failed or is unreachable." },
  in_part: {
    codes: [500, 429, 503],
    meaning: "A clear, a recount, a delete or an advance was done in part.",
  },
  backup_failed: {
    codes: [500],
    meaning: "The backup was not made; the stores are unchanged.",
  },
  shutting_down: { codes: [503], meaning: "The server is shutting down." },
  not_ready: { codes: [503], meaning: "Shards that the reply depends on are down." },
  unknown_outcome: {
    codes: [504],
    meaning: "The call may have been carried out, or may be carried out later.",
  },
} as const satisfies Record<string, ReasonMeaning>;

export type Reason = keyof typeof reasons;
