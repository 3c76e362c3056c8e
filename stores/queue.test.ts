import { expect, test } from "bun:test";
import { entry } from "./conformance/values.ts";
import { isCatalogEntry } from "./queue.ts";

const place = { partition: 0, slot: 2, state: "active" } as const;
const whole = entry(1, "a", [place, { ...place, partition: 1, state: "draining" }]);

test("isCatalogEntry: accepts a written and parsed entry", () => {
  expect(isCatalogEntry(JSON.parse(JSON.stringify(whole)))).toBe(true);
  expect(isCatalogEntry(JSON.parse(JSON.stringify(entry(1, ""))))).toBe(true);
  expect(isCatalogEntry(JSON.parse(JSON.stringify(paused({ ...pause }))))).toBe(true);
});

const pause = { lease: true, produce: false, reason: "moving" };

function paused(pause: unknown): unknown {
  return { ...whole, definition: { ...whole.definition, pause } };
}

function without(value: object, name: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([field]) => field !== name));
}

const moved = { ...place, origins: [{ epochs: 0, slot: 5 }] };

test("isCatalogEntry: accepts a moved queue with the origins of its partitions", () => {
  expect(isCatalogEntry({ ...entry(1, "a", [moved]), createdAs: 7 })).toBe(true);
});

const otherForms: readonly unknown[] = [
  { ...whole, createdAs: "7" },
  { ...whole, places: [{ ...place, origins: {} }] },
  { ...whole, places: [{ ...place, origins: [{ epochs: 0 }] }] },
  ...[null, undefined, 7, "entry", [], {}],
  ...Object.keys(whole).map((name) => without(whole, name)),
  ...Object.keys(whole.definition).map((name) => ({
    ...whole,
    definition: without(whole.definition, name),
  })),
  ...Object.keys(place).map((name) => ({ ...whole, places: [place, without(place, name)] })),
  { ...whole, queueId: "1" },
  { ...whole, deleting: 0 },
  { ...whole, definition: null },
  { ...whole, definition: { ...whole.definition, leaseTimeoutMs: "60s" } },
  ...[null, true, {}, { ...pause, produce: 1 }].map(paused),
  ...Object.keys(pause).map((name) => paused(without(pause, name))),
  { ...whole, definition: { ...whole.definition, leasedMax: "5" } },
  { ...whole, definition: { ...whole.definition, leaseRate: 5 } },
  { ...whole, definition: { ...whole.definition, waitingMax: "5" } },
  { ...whole, definition: { ...whole.definition, retryBackoff: 5 } },
  { ...whole, definition: { ...whole.definition, uniqueForMs: "5" } },
  { ...whole, definition: { ...whole.definition, uniqueForText: 5 } },
  { ...whole, places: {} },
  { ...whole, places: [null] },
  { ...whole, places: [{ ...place, state: "gone" }] },
];

test.each(otherForms.map((value) => [value]))(
  "isCatalogEntry: refuses a value of another form; %j",
  (value) => {
    expect(isCatalogEntry(value)).toBe(false);
  },
);
