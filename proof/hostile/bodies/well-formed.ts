// Request bodies that match a schema, with values that often have a meaning: names of existing
// queues and ids of existing items.

import type { TSchema } from "@sinclair/typebox";
import fc from "fast-check";
import { bounds } from "../../../openapi/bounds.ts";
import { base64, durations, instants, queueNames, texts, timeouts } from "./words.ts";

/** Queues of each world. */
export const worldQueues = ["orders", "dead", "wide", "grouped"] as const;

/** A mark, replaced by the id of an existing item when the body is sent. */
export function idMark(index: number): string {
  return `@id${index}@`;
}

const items = 4;
const marks = Array.from({ length: 8 }, (_, index) => idMark(index));
const anyText = fc.oneof(
  fc.constantFrom(...texts.good),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const queueName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<string>(...worldQueues) },
  { weight: 1, arbitrary: fc.constantFrom<string>(...queueNames.odd) },
);
const instant = fc.constantFrom<string>(...instants.good);
const payload = fc.oneof(
  fc.constantFrom<string>(...base64.good),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64")),
);

/** Meaningful texts, by key. */
const meanings: Readonly<Record<string, fc.Arbitrary<string>>> = {
  queue_name: queueName,
  name: queueName,
  dead_queue: fc.constantFrom("", "", "dead", "orders", "none"),
  request_timeout: fc.constantFrom<string>(...durations.good),
  // For `clock.advance` and for summaries.
  by: fc.constantFrom("1s", "30s", "10m", "reason", "death", "kind", "origin_queue", "group"),
  group: fc.constantFrom("", "", "a", "b"),
  rate: fc.constantFrom("", "100/1s", "3/1h"),
  group_rate: fc.constantFrom("", "", "100/1s", "3/1h"),
  group_order: fc.constantFrom("loose", "loose", "strict"),
  group_on_dead: fc.constantFrom("continue", "continue", "block"),
  state: fc.constantFrom("", "ready", "leased", "scheduled"),
  death: fc.constantFrom("", "failed", "expired", "rejected"),
  reason: fc.constantFrom("", "no card", "order 7: no card", "card <n>"),
  to_queue: fc.constantFrom("", "", "dead", "orders", "none"),
  origin_queue: queueName,
  origin_id: fc.constantFrom(...marks),
  origin_created_at: instant,
  created_before: instant,
  lease_rate: fc.constantFrom("", "100/1s", "3/1h"),
  retry_backoff: fc.constantFrom("", "10ms..1s", "1s..5m"),
  unique_for: fc.constantFrom("", "10ms", "24h"),
  priority_aging: fc.constantFrom("60s", "10ms", "never"),
  unique_key: fc.constantFrom("", "", "a", "b"),
  lease_timeout: fc.constantFrom<string>(...timeouts.good),
  own_lease_timeout: fc.constantFrom<string>(...durations.good),
  expire_timeout: fc.constantFrom("24h", "8784h", "60m"),
  enqueue_at: instant,
  retry_at: instant,
  lease_deadline: instant,
  expire_deadline: instant,
  dead_deadline: instant,
  created_at: instant,
  updated_at: instant,
  bytes: payload,
  payload,
  id: fc.constantFrom(...marks),
  ids: fc.constantFrom(...marks),
  pivot: fc.constantFrom("", ...marks),
};

const numbers: Readonly<Record<string, fc.Arbitrary<number>>> = {
  partition: fc.constantFrom(0, 0, 0, 1, 2),
  priority: fc.constantFrom(0, 0, 5, bounds.priorityMax),
  priority_min: fc.constantFrom(0, 0, 0, 5),
  waiting_max: fc.constantFrom(0, 0, 0, 100),
  group_leased_max: fc.constantFrom(0, 0, 1, 5),
  group_waiting_max: fc.constantFrom(0, 0, 0, 100),
  weight: fc.constantFrom(1, 1, 3, bounds.groupWeightMax),
  requested_partitions: fc.integer({ min: 1, max: 5 }),
  batch_size: fc.integer({ min: 1, max: 20 }),
  payload_head: fc.constantFrom(0, 3, 65_536),
  payload_offset: fc.constantFrom(0, 0, 3, 65_536),
  payload_limit: fc.constantFrom(0, 3, 65_536),
  attempts: fc.constantFrom(0, 1, 3, bounds.carriedCountMax),
  origin_attempts: fc.constantFrom(0, 3, bounds.carriedCountMax),
  redriven: fc.constantFrom(0, 1, 3, bounds.carriedCountMax),
  redriven_max: fc.constantFrom(0, 1, 3),
  attempts_min: fc.constantFrom(0, 1, 3),
};

/** A value that matches the schema. `key`: the key of the value, `""` for a whole body. */
export function wellFormed(schema: TSchema, key = ""): fc.Arbitrary<unknown> {
  const choices: readonly TSchema[] | undefined = schema["type"] === undefined && schema["anyOf"];
  if (choices) return fc.oneof(...choices.map((choice) => wellFormed(choice, key)));
  switch (schema["type"]) {
    case "string":
      return meanings[key] ?? anyText;
    case "integer":
      return (
        numbers[key] ??
        fc.integer({ min: schema["minimum"] ?? 0, max: schema["maximum"] ?? 1_000_000 })
      );
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(wellFormed(schema["items"], key), {
        minLength: schema["minItems"] ?? 0,
        maxLength: items,
      });
    case "object":
      return objectOf(schema);
    default:
      throw new Error(`a schema of this kind is not known; got ${JSON.stringify(schema["type"])}`);
  }
}

function objectOf(schema: TSchema): fc.Arbitrary<Record<string, unknown>> {
  const properties = Object.entries<TSchema>(schema["properties"]).map(
    ([key, property]) => [key, wellFormed(property, key)] as const,
  );
  if (schema["maxProperties"] === 1) {
    return fc.oneof(...properties.map(([key, value]) => value.map((one) => ({ [key]: one }))));
  }
  return fc.record(Object.fromEntries(properties), { requiredKeys: schema["required"] ?? [] });
}
