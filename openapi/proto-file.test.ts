// Compares the .proto file with the contract, and its numbers with those that clients of the
// protocol have compiled in.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { TSchema } from "@sinclair/typebox";
import { messages as contractMessages } from "./messages.ts";
import { operations } from "./operations.ts";
import { protoFileText } from "./proto-file.ts";
import { type Message, operationMessages } from "./protobuf.ts";

const onDisk = readFileSync(new URL("holdfast.proto", import.meta.url), "utf8");

function withInner(message: Message): Message[] {
  const inner = Object.values(message.fields).flatMap(({ kind }) =>
    typeof kind === "string" ? [] : withInner(kind),
  );
  return [message, ...inner];
}

const messages = [
  ...new Set(
    Object.values(operationMessages).flatMap(({ request, reply }) => [
      ...withInner(request),
      ...withInner(reply),
    ]),
  ),
];

test("holdfast.proto: the file on disk is up to date (`bun run openapi`)", () => {
  expect(onDisk).toBe(protoFileText());
});

test("holdfast.proto: fits in 100 columns, and describes each field", () => {
  const lines = onDisk.split("\n");
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  const declared = lines.flatMap((line, index) => (/ = \d+;$/.test(line) ? [index] : []));
  expect(declared.length).toBeGreaterThan(100);
  for (const index of declared) expect(lines[index - 1]).toStartWith("  //");
  expect(onDisk).not.toMatch(/undefined|`null`/);
});

test.each(messages.map((message) => [message.name, message] as const))(
  "holdfast.proto: %s has each key of its schema, and each number once",
  (name, { fields, reserved }) => {
    const schema = contractMessages.get(name) as TSchema;
    const keys = Object.keys(schema["properties"]);
    const jsonOnly = name === "QueueInfoRequest" ? ["name"] : [];
    const protobufOnly = name === "QueueInfo" ? ["namespace"] : [];
    expect([...Object.keys(fields), ...jsonOnly].sort()).toEqual([...keys, ...protobufOnly].sort());
    const numbers = [...Object.values(fields).map(({ number }) => number), ...reserved];
    expect(new Set(numbers).size).toBe(numbers.length);
    // A field that JSON requires needs a value for messages that omit it.
    const required: readonly string[] = schema["required"] ?? [];
    const isRequest = name.endsWith("Request") || name === "RetryItem";
    for (const key of isRequest ? required : []) {
      const field = fields[key];
      expect([key, field?.isList || field?.unset !== undefined]).toEqual([key, true]);
    }
  },
);

test("holdfast.proto: every operation has its messages", () => {
  expect(Object.keys(operationMessages).sort()).toEqual(Object.keys(operations).sort());
  for (const { path } of Object.values(operations)) expect(onDisk).toContain(`${path} `);
});

test("holdfast.proto: the numbers are those of the protocol", () => {
  const numbers = messages.map(({ name, fields }) => {
    const sorted = Object.entries(fields).sort(([, a], [, b]) => a.number - b.number);
    return `${name}: ${sorted.map(([key, { number }]) => `${key} ${number}`).join(", ")}`;
  });
  expect(numbers).toEqual([
    "ProduceRequest: queue_name 1, request_timeout 2, items 3, return_ids 100",
    "ProduceItem: encoding 1, kind 2, reference 3, enqueue_at 4, bytes 5, utf8 6, unique_key 100, headers 101, priority 102, max_attempts 103, lease_timeout 104, group 105",
    "ProduceReply: code 1, code_text 2, message 3, duplicates 101, ids 102",
    "LeaseRequest: queue_name 1, batch_size 2, client_id 3, request_timeout 4, lease_timeout 100, priority_min 101, group_runs 102",
    "LeaseReply: queue_name 1, partition 2, items 3, max_attempts 100, now 101, retry_backoff 102",
    "LeaseItem: encoding 1, kind 2, reference 3, id 4, attempts 5, lease_deadline 6, bytes 7, headers 100, origin_id 101, reason 102, death 103, origin_queue 104, origin_attempts 105, origin_created_at 106, redriven 107, priority 108, own_max_attempts 109, own_lease_timeout 115, group 116",
    "RetryRequest: queue_name 1, partition 2, items 3, request_timeout 100",
    "RetryItem: id 1, retry_at 2, dead 3, reason 100, retry_after 101",
    "Reply: code 1, code_text 2, message 3, details 4, reason 100",
    "CompleteRequest: queue_name 1, partition 2, request_timeout 3, ids 4",
    "ExtendRequest: queue_name 1, partition 2, ids 3, lease_timeout 4, request_timeout 5",
    "ExtendReply: lease_deadline 1, now 2",
    "ReleaseRequest: queue_name 1, partition 2, ids 3, request_timeout 4",
    "TransactRequest: request_timeout 100, complete 101, retry 102, produce 103",
    "TransactComplete: queue_name 100, partition 101, ids 102",
    "TransactRetry: queue_name 100, partition 101, items 102",
    "TransactProduce: queue_name 100, items 101",
    "TransactReply: produced 101",
    "TransactProduced: queue_name 100, partition 101, delivered 102, duplicates 103",
    "QueuesListRequest: pivot 2, limit 3, namespace 4",
    "QueuesListReply: items 1, unreached 100",
    "QueueInfo: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105, priority_aging 106, waiting_max 107, retry_backoff 108, grouped 112, group_leased_max 113, group_rate 114, group_waiting_max 115, group_order 116, group_on_dead 117",
    "QueueCreateRequest: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105, priority_aging 106, waiting_max 107, retry_backoff 108, grouped 112, group_leased_max 113, group_rate 114, group_waiting_max 115, group_order 116, group_on_dead 117",
    "QueueUpdateRequest: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105, priority_aging 106, waiting_max 107, retry_backoff 108, dry_run 110, expect 111, grouped 112, group_leased_max 113, group_rate 114, group_waiting_max 115, group_order 116, group_on_dead 117",
    "GuardedReply: code 1, code_text 2, message 3, counts 101, waiting_leases 102, dependents 103",
    "ItemCounts: ready 100, leased 101, scheduled 102, retried 103",
    "QueueInfoRequest: queue_name 1",
    "QueueDeleteRequest: queue_name 1, force 2, dry_run 110, expect 111",
    "QueueStatsRequest: queue_name 1, columns 100",
    "QueueStatsReply: queue_name 1, logical_queues 2",
    "LogicalQueueStats: produce_waiting 6, lease_waiting 7, complete_waiting 8, in_flight 10, partitions 11, average_leased_age 12, counters 100, columns 101",
    "PartitionStats: partition 1, total 2, total_leased 3, failures 4, average_age 5, average_leased_age 6, scheduled 7, oldest_ready_at 100, next_due_at 101",
    "QueueCounters: produced 100, leased 101, completed 102, retried 103, released 104, extended 105, lapsed 106, expired 107, dead 108, discarded 109, removed 110, arrived 111, redriven 112",
    "PartitionColumns: partition 100, total 101, total_leased 102, scheduled 103, failures 104, average_age_seconds 105, average_leased_age_seconds 106",
    "InspectRequest: queue_name 1",
    "Inspect: queue_name 1, partitions 2, queued 3, retried 4, scheduled 5, dead_letter 6, leased 100",
    "QueueExplainRequest: queue_name 100",
    "QueueExplainReply: queue_name 100, as_of 101, health 102, findings 103",
    "Finding: kind 100, since 101, count 102, next_at 103, text 104",
    "QueueClientsRequest: queue_name 100, limit 101",
    "QueueClientsReply: queue_name 100, as_of 101, waiting_count 102, waiting 103, holding_count 104, holding 105, partial 106",
    "WaitingClient: client_id 100, since 101, batch_size 102, position 103",
    "HoldingClient: client_id 100, items 101, partitions 102, next_lapse_at 103",
    "ServerOverviewRequest: since 100",
    "ServerOverviewReply: now 100, as_of 101, since 102, whole 103, poll_after_ms 104, totals 105, queues 106, removed 107, shards 108, alarms 109, machine 110, tasks 111, machine_now 112, unreached 113",
    "OverviewTotals: queues 100, ready 101, leased 102, scheduled 103, waiting_leases 104, produced_total 107, leased_total 108, completed_total 109, retried_total 110, released_total 111, extended_total 112, lapsed_total 113, expired_total 114, dead_total 115, discarded_total 116, removed_total 117, arrived_total 118, redriven_total 119",
    "OverviewQueues: health_since_ms 100, ready 101, leased 102, scheduled 103, waiting_leases 104, oldest_ready_at_ms 105, next_due_at_ms 106, produced_total 107, leased_total 108, completed_total 109, retried_total 110, released_total 111, extended_total 112, lapsed_total 113, expired_total 114, dead_total 115, discarded_total 116, removed_total 117, next_at_ms 118, queue_name 119, health 120, health_count 121, arrived_total 122, redriven_total 123, paused_since_ms 124, shard 125",
    "OverviewShard: shard 100, state 101, since 102, commit_p50_us 103, commit_p99_us 104, waiting 105, restarts 106, failures 107, quarantined 108, miscounted 109, log_bytes 110, file_bytes 111, items_per_second 112",
    "OverviewAlarm: kind 100, since 101, count 102, queue_name 103, shard 104, text 105",
    "OverviewMachine: name 100, version 101, started_at 102, disk_bytes 103, disk_free_bytes 104, last_backup_at 105, store 106, memory_bytes 107",
    "TaskInfo: task_id 100, state 101, queue_name 102, to_queue 103, filter 104, per_second 105, matched 106, moved 107, skipped 108, created_at 109, ended_at 110, action 111, key_name 112, holder 113, priority 114",
    "ItemFilter: kind 100, reference 101, origin_id 102, origin_queue 103, death 104, reason 105, attempts_min 106, created_before 107, redriven_max 108, payload_contains 109, any_of 110, group 111",
    "AnyOf: by 100, values 101",
    "QueuePauseRequest: queue_name 1, lease 2, produce 3, reason 4",
    "QueueResumeRequest: queue_name 1",
    "QueueClearRequest: queue_name 1, retry 2, scheduled 3, queue 4, destructive 5, dry_run 110, expect 111",
    "QueueReloadRequest: queue_name 1",
    "ClockAdvanceRequest: by 100, handler_timeout 101",
    "ClockAdvanceReply: now 100",
    "ServerSeriesRequest: queue_name 100, names 101, from 102, step 103, shard 104",
    "ServerSeriesReply: queue_name 100, since 101, from 102, step 103, series 104, shard 105",
    "NamedSeries: name 100, values 101",
    "NodesListRequest: ",
    "NodesListReply: items 100, shards 101",
    "NodeInfo: url 100, version 101, started_at 102, seen_at 103, shards 104, draining 105, live 106",
    "ShardOwner: shard 100, node 101, epoch 102, taken_at 103",
    "NodesDrainRequest: url 100, draining 101",
    "ConfirmLossRequest: expect 100",
    "ConfirmLossReply: lost_commits 100",
    "WhoAmIRequest: ",
    "WhoAmIReply: name 100, roles 101, queues 102, keys_required 103, rights 104",
    "KeyRight: roles 100, queues 101",
    "KeysListRequest: ",
    "KeysListReply: items 100",
    "KeyInfo: name 100, roles 101, queues 102, digest 103, rights 104, last_used_at 105, denied_calls 106",
    "ActionsListRequest: limit 100, pivot 101, queue_name 102",
    "ActionsListReply: items 100, since 101, unreached 102",
    "Action: id 100, at 101, key_name 102, operation 103, queue_name 104, items 105, code 106, to_queues 107",
    "StorageListRequest: queue_name 1, partition 2, pivot 3, limit 4",
    "StorageItemsReply: items 1",
    "StorageItem: id 1, source_id 2, is_leased 3, lease_deadline 4, expire_deadline 5, dead_deadline 6, created_at 7, updated_at 8, enqueue_at 9, attempts 10, max_attempts 11, reference 12, encoding 13, kind 14, payload 15, headers 100, origin_id 101, reason 102, death 103, origin_queue 104, origin_attempts 105, origin_created_at 106, redriven 107, priority 108, own_max_attempts 109, own_lease_timeout 115, group 116",
    "FindItemsRequest: queue_name 100, partition 101, state 102, filter 103, pivot 104, limit 105, payload_head 106, holder 107, order 108",
    "FindItemsReply: items 100, scanned 101, next_pivot 102",
    "FoundItem: id 1, source_id 2, is_leased 3, lease_deadline 4, expire_deadline 5, dead_deadline 6, created_at 7, updated_at 8, enqueue_at 9, attempts 10, max_attempts 11, reference 12, encoding 13, kind 14, payload 15, headers 100, origin_id 101, reason 102, death 103, origin_queue 104, origin_attempts 105, origin_created_at 106, redriven 107, priority 108, own_max_attempts 109, queue_name 110, partition 111, state 112, payload_bytes 113, holder 114, own_lease_timeout 115, group 116",
    "SummarizeItemsRequest: queue_name 100, by 101, partition 102, state 103, filter 104, pivot 105, holder 106, top 107",
    "SummarizeItemsReply: summaries 100, scanned 101, next_pivot 102, other_items 103",
    "ItemSummary: value 100, count 101, first_at 102, last_at 103, sample_id 104",
    "GetItemRequest: id 100, payload_offset 101, payload_limit 102",
    "ExplainItemRequest: id 100",
    "ItemExplained: id 100, item 101, ahead 102, ahead_is_exact 103, why 104, history 105, history_since 106",
    "ItemEvent: at 100, kind 101, id 102, queue_name 103, partition 104, holder 105",
    "GroupsListRequest: queue_name 100, pivot 101, limit 102, blocked 103",
    "GroupsListReply: items 100, next_pivot 101",
    "GroupInfo: group 100, waiting 101, leased 102, scheduled 103, retried 104, oldest_at 105, blocked_by 106, blocked_id 107, next_at 108, leased_max 109, rate 110, weight 111, paused 112",
    "GroupsSetRequest: queue_name 100, group 101, leased_max 102, rate 103, weight 104, paused 105, unblock 106",
    "RedriveRequest: queue_name 100, to_queue 101, ids 102, filter 103, limit 104, per_second 105, dry_run 106, expect 107",
    "TaskBegun: task_id 100, matched 101, destinations 102",
    "Destination: queue_name 100, count 101",
    "RepairRequest: queue_name 100, action 101, ids 102, filter 103, limit 104, per_second 105, dry_run 106, expect 107, state 108, reason 109, holder 110, priority 111",
    "TasksListRequest: queue_name 100",
    "TasksListReply: tasks 100, unreached 101",
    "TaskRequest: task_id 100",
    "StorageImportRequest: queue_name 1, partition 2, items 3",
    "ImportItem: id 1, source_id 2, is_leased 3, lease_deadline 4, expire_deadline 5, dead_deadline 6, created_at 7, updated_at 8, enqueue_at 9, attempts 10, max_attempts 11, reference 12, encoding 13, kind 14, payload 15, headers 100, origin_id 101, reason 102, death 103, origin_queue 104, origin_attempts 105, origin_created_at 106, redriven 107, priority 108, own_max_attempts 109, own_lease_timeout 115, group 116",
    "StorageImportReply: items 2",
    "StorageDeleteRequest: queue_name 1, partition 2, ids 3, dry_run 110, expect 111",
    "CancelItemsRequest: queue_name 100, ids 101, request_timeout 102",
    "CancelItemsReply: items 100",
    "CancelledItem: id 100, was 101",
  ]);
});
