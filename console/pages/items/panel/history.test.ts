import { expect, test } from "bun:test";
import type { ItemEvent } from "../../../../openapi/schemas.ts";
import { runsOf } from "./history.tsx";

function events(...kinds: readonly string[]): readonly ItemEvent[] {
  return kinds.map((kind, at) => ({
    at: new Date(at * 1_000).toISOString(),
    kind,
    id: "1h0LdFaStQ2vX000000000000Kd",
    queue_name: "orders",
    partition: 0,
    holder: kind === "leased" ? `worker-${at}` : "",
  }));
}

const shortOf = (history: readonly ItemEvent[]) =>
  runsOf(history).map((run) =>
    run.what === "single"
      ? run.event.kind
      : `[${run.end}: ${run.events.map(({ kind }) => kind).join(" ")}]`,
  );

test("history: the events of one lease are grouped, the newest first", () => {
  const history = events("produced", "leased", "extended", "retried", "due", "leased");
  expect(shortOf(history)).toEqual([
    "[open: leased]",
    "due",
    "[retried: retried extended leased]",
    "produced",
  ]);
});

test.each([
  [
    ["leased", "lapsed", "leased", "completed"],
    ["[done: completed leased]", "[lapsed: lapsed leased]"],
  ],
  [
    ["leased", "leased"],
    ["[open: leased]", "[open: leased]"],
  ],
  [["leased", "dead"], ["[retried: dead leased]"]],
  [
    ["anew", "leased", "unheard_of", "due"],
    ["due", "[done: unheard_of leased]", "anew"],
  ],
  [[], []],
])("%p", (kinds, told) => {
  expect(shortOf(events(...kinds))).toEqual([...told]);
});
