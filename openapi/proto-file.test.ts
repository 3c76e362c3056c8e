// The .proto file against the contract, and its numbers against those that clients of the
// protocol have compiled in.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
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

test("holdfast.proto: is what the contract makes of it (`bun run openapi`)", () => {
  expect(onDisk).toBe(protoFileText());
});

test("holdfast.proto: fits in 100 columns, and says of each field what it is", () => {
  const lines = onDisk.split("\n");
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  const declared = lines.flatMap((line, index) => (/ = \d+;$/.test(line) ? [index] : []));
  expect(declared.length).toBeGreaterThan(100);
  for (const index of declared) expect(lines[index - 1]).toStartWith("  //");
  expect(onDisk).not.toMatch(/undefined|base64|`null`/);
});

test.each(messages.map((message) => [message.name, message] as const))(
  "holdfast.proto: %s has each key of its schema, and each number once",
  (name, { schema, fields, reserved }) => {
    const keys = Object.keys(schema["properties"]);
    const jsonOnly = name === "QueueInfoRequest" ? ["name"] : [];
    const protobufOnly = name === "QueueInfo" ? ["namespace"] : [];
    expect([...Object.keys(fields), ...jsonOnly].sort()).toEqual([...keys, ...protobufOnly].sort());
    const numbers = [...Object.values(fields).map(({ number }) => number), ...reserved];
    expect(new Set(numbers).size).toBe(numbers.length);
    // What JSON requires has to be there when a message leaves it out.
    const required: readonly string[] = schema["required"] ?? [];
    const isRequest = name.endsWith("Request") || name === "RetryItem";
    for (const key of isRequest ? required : []) {
      const field = fields[key];
      expect([key, field?.isList ?? field?.unset !== undefined]).toEqual([key, true]);
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
    "ProduceRequest: queue_name 1, request_timeout 2, items 3",
    "ProduceItem: encoding 1, kind 2, reference 3, enqueue_at 4, bytes 5, utf8 6, unique_key 100",
    "ProduceReply: code 1, code_text 2, message 3, duplicates 101",
    "LeaseRequest: queue_name 1, batch_size 2, client_id 3, request_timeout 4, lease_timeout 100",
    "LeaseReply: queue_name 1, partition 2, items 3, max_attempts 100",
    "LeaseItem: encoding 1, kind 2, reference 3, id 4, attempts 5, lease_deadline 6, bytes 7",
    "RetryRequest: queue_name 1, partition 2, items 3, request_timeout 100",
    "RetryItem: id 1, retry_at 2, dead 3",
    "Reply: code 1, code_text 2, message 3, details 4, reason 100",
    "CompleteRequest: queue_name 1, partition 2, request_timeout 3, ids 4",
    "ExtendRequest: queue_name 1, partition 2, ids 3, lease_timeout 4, request_timeout 5",
    "ExtendReply: lease_deadline 1",
    "ReleaseRequest: queue_name 1, partition 2, ids 3, request_timeout 4",
    "TransactRequest: request_timeout 100, complete 101, retry 102, produce 103",
    "TransactComplete: queue_name 100, partition 101, ids 102",
    "TransactRetry: queue_name 100, partition 101, items 102",
    "TransactProduce: queue_name 100, items 101",
    "TransactReply: produced 101",
    "TransactProduced: queue_name 100, partition 101, delivered 102, duplicates 103",
    "QueuesListRequest: pivot 2, limit 3, namespace 4",
    "QueuesListReply: items 1",
    "QueueInfo: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105",
    "QueueCreateRequest: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105",
    "QueueUpdateRequest: queue_name 1, created_at 2, updated_at 3, dead_queue 4, reference 5, lease_timeout 6, expire_timeout 7, max_attempts 8, requested_partitions 9, namespace 11, lease_paused 100, produce_paused 101, pause_reason 102, leased_max 103, lease_rate 104, unique_for 105",
    "QueueInfoRequest: queue_name 1",
    "QueueDeleteRequest: queue_name 1, force 2",
    "QueueStatsRequest: queue_name 1",
    "QueueStatsReply: queue_name 1, logical_queues 2",
    "LogicalQueueStats: produce_waiting 6, lease_waiting 7, complete_waiting 8, in_flight 10, partitions 11, average_leased_age 12",
    "PartitionStats: partition 1, total 2, total_leased 3, failures 4, average_age 5, average_leased_age 6, scheduled 7",
    "InspectRequest: queue_name 1",
    "Inspect: queue_name 1, partitions 2, queued 3, retried 4, scheduled 5, dead_letter 6",
    "QueuePauseRequest: queue_name 1, lease 2, produce 3, reason 4",
    "QueueResumeRequest: queue_name 1",
    "QueueClearRequest: queue_name 1, retry 2, scheduled 3, queue 4, destructive 5",
    "QueueReloadRequest: queue_name 1",
    "ClockAdvanceRequest: by 100",
    "ClockAdvanceReply: now 100",
    "NodesListRequest: ",
    "NodesListReply: items 100, epoch 101",
    "NodeInfo: url 100, version 101, started_at 102, seen_at 103, owner 104, draining 105, live 106",
    "StorageListRequest: queue_name 1, partition 2, pivot 3, limit 4",
    "StorageListReply: items 1",
    "StorageItem: id 1, source_id 2, is_leased 3, lease_deadline 4, expire_deadline 5, dead_deadline 6, created_at 7, updated_at 8, enqueue_at 9, attempts 10, max_attempts 11, reference 12, encoding 13, kind 14, payload 15",
    "StorageImportRequest: queue_name 1, partition 2, items 3",
    "ImportItem: id 1, source_id 2, is_leased 3, lease_deadline 4, expire_deadline 5, dead_deadline 6, created_at 7, updated_at 8, enqueue_at 9, attempts 10, max_attempts 11, reference 12, encoding 13, kind 14, payload 15",
    "StorageImportReply: items 2",
    "StorageDeleteRequest: queue_name 1, partition 2, ids 3",
  ]);
});
