// Transacts in a history: they finish and produce together or not at all, and outputs may reach
// other shards after the answer.

import { expect, test } from "bun:test";
import { formatId, idPrefix } from "../../engine/model/ids.ts";
import {
  type Ending,
  type Entry,
  History,
  type LeaseCall,
  type Part,
} from "../histories/history.ts";
import { checkOrder } from "./check-order.ts";
import { checkQueue } from "./check-queue.ts";

const rules = { leaseTimeoutMs: 1_000, maxAttempts: 5 };
const drained: Ending = { dead: [], left: [] };
const answered = { client: "c0", outcome: "ok", status: 200 } as const;
const lost = { client: "c0", outcome: "unknown", status: 0 } as const;
const refused = { client: "c0", outcome: "refused", status: 453 } as const;
type Answer = typeof answered | typeof lost | typeof refused;

const slots = { orders: 0, invoices: 1 };
type Queue = keyof typeof slots;

function idOf(queue: Queue, seq: number): string {
  return formatId(idPrefix("0123456789Ab", slots[queue]), seq);
}

function produced(numbers: number[], call: number): Entry {
  return { verb: "produce", queue: "orders", numbers, call, end: call + 1, ...answered };
}

interface Offered {
  readonly number: number;
  readonly seq: number;
  readonly attempts?: number;
}

function leased(offered: readonly Offered[], call: number, queue: Queue = "orders"): LeaseCall {
  const offers = offered.map(({ number, seq, attempts = 1 }) => {
    const leaseDeadline = call + rules.leaseTimeoutMs;
    return { number, id: idOf(queue, seq), attempts, leaseDeadline, intact: true };
  });
  const place = { queue, partition: 0, batchSize: 9 };
  return { verb: "lease", ...place, offers, call, end: call + 1, ...answered };
}

function completed(ids: string[], call: number, answer: Answer = answered): Entry {
  return { verb: "complete", partition: 0, ids, call, end: call + 1, ...answer };
}

function transacted(parts: Part[], call: number, answer: Answer = answered): Entry {
  return { verb: "transact", parts, call, end: call + 1, ...answer };
}

const [first, second] = [idOf("orders", 0), idOf("orders", 1)];
const complete: Part = { verb: "complete", partition: 0, ids: [first] };
const retry: Part = { verb: "retry", partition: 0, ids: [first], dead: false };
const reject: Part = { ...retry, dead: true };
const output: Part = { verb: "produce", queue: "invoices", numbers: [9] };
const begun = [produced([1], 0), leased([{ number: 1, seq: 0 }], 2)];
/** The output, offered and completed. */
const there = [
  leased([{ number: 9, seq: 0 }], 8, "invoices"),
  completed([idOf("invoices", 0)], 10),
];

/** The input, offered again at `call` and completed. */
function back(call: number, attempts = 2): Entry[] {
  return [leased([{ number: 1, seq: 1, attempts }], call), completed([second], call + 2)];
}

function kinds(entries: readonly Entry[], ending = drained): string[] {
  const history = entries.toSorted((a, b) => a.call - b.call);
  const faults = [checkQueue(history, ending, rules).faults, checkOrder(history).faults];
  return faults.flatMap((one) => one.list("replay")).map((fault) => fault.split(";")[0] ?? "");
}

const half = ["I20: half of a transact"];

test.each([
  ["its input is gone and its output there", [complete, output], there, []],
  ["its input comes back and its output never was", [complete, output], back(2_000), []],
  ["only the output is there", [complete, output], [...there, ...back(2_000)], half],
  ["only the input is gone", [complete, output], [], half],
  ["the input was given back at once, the output is missing", [retry, output], back(8), half],
  [
    "the input was given back at once, the output is there",
    [retry, output],
    [...there, ...back(8)],
    [],
  ],
  ["the input lapsed, which says nothing", [retry, output], [...there, ...back(2_000)], []],
  [
    "a rejected input comes back, the output is there",
    [reject, output],
    [...there, ...back(2_000)],
    half,
  ],
  ["its input was completed by another call", [complete, output], [completed([first], 6)], []],
  [
    "its input was completed by another call without an answer",
    [complete, output],
    [completed([first], 6, lost)],
    [],
  ],
  [
    "its input was completed by another call, the output is there",
    [complete, output],
    [...there, completed([first], 6)],
    half,
  ],
] as [string, Part[], Entry[], string[]][])(
  "I20: of a transact with an unknown outcome, %s",
  (_what, parts, rest, expected) => {
    expect(kinds([...begun, transacted(parts, 4, lost), ...rest])).toEqual(expected);
  },
);

test("I20: after a transact without an answer, the input is dead and the output missing", () => {
  const dead = { dead: [{ number: 1, intact: true }], left: [] };
  const call = transacted([reject, output], 4, lost);
  expect(kinds([...begun, call, ...there], dead)).toEqual([]);
  expect(kinds([...begun, call], dead)).toEqual(half);
});

test("transact: each part is judged as the call that it stands for", () => {
  const call = transacted([complete, output], 4);
  expect(kinds([...begun, call, ...there])).toEqual([]);
  expect(kinds([...begun, call])).toEqual(["I1: an acknowledged item is lost"]);
  const again = [leased([{ number: 1, seq: 1, attempts: 2 }], 2_000)];
  expect(kinds([...begun, call, ...there, ...again])).toEqual([
    "I3: a completed item was offered again",
  ]);
  const twice = leased([{ number: 9, seq: 1 }], 2_000, "invoices");
  expect(kinds([...begun, call, ...there, twice])).toEqual([
    "I5: attempts did not rise",
    "I3: a completed item was offered again",
  ]);
  const refusal = transacted([complete, output], 4, refused);
  expect(kinds([...begun, refusal, completed([first], 6)])).toEqual([]);
  expect(kinds([...begun, refusal])).toEqual(["I1: an acknowledged item is lost"]);
  expect(kinds([...begun, refusal, completed([first], 6), ...there])).toEqual([
    "I8: an item whose produce was refused",
  ]);
});

test("I1: an item is offered only in the queue to which it was produced", () => {
  const elsewhere = leased([{ number: 1, seq: 0 }], 2, "invoices");
  const done = completed([idOf("invoices", 0)], 4);
  expect(kinds([produced([1], 0), elsewhere, done])).toEqual([
    "I1: an item is offered in another queue",
  ]);
});

test("I5: a lease without an answer counts only in its own queue", () => {
  const unseen = (queue: Queue): Entry => {
    return { ...leased([], 0, queue), end: 9_000, outcome: "empty", status: 454 };
  };
  const entries = [produced([1], 0), ...back(2_000)];
  expect(kinds([...entries, unseen("orders")])).toEqual([]);
  expect(kinds([...entries, unseen("invoices")])).toEqual(["I5: attempts rose by more than one"]);
});

test("I4: an output is queued by the end of its transact, unless it comes from another shard", () => {
  const seqs = (numbers: readonly number[]) => numbers.map((number, seq) => ({ number, seq }));
  const faults = (isDelayed: boolean, numbers: number[]) => {
    const outputs: Part = { verb: "produce", queue: "orders", numbers: [7, 8], isDelayed };
    const entries = [transacted([outputs], 0), produced([5], 4), leased(seqs(numbers), 8)];
    return checkOrder(entries)
      .faults.list("replay")
      .map((fault) => fault.split(";")[0]);
  };
  expect(faults(false, [7, 8, 5])).toEqual([]);
  const late = ["I4: queued out of order", "I4: queued out of order"];
  expect(faults(false, [5, 7, 8])).toEqual(late);
  expect(faults(true, [5, 7, 8])).toEqual([]);
  expect(faults(true, [7, 5, 8])).toEqual([]);
  expect(faults(true, [8, 5, 7])).toEqual(["I7: a produce is not in one piece"]);
});

test.each<[how: string, change: Partial<LeaseCall>, excused: number]>([
  ["that was answered too late", { outcome: "empty", status: 454 }, 1],
  ["of another queue that was", { outcome: "empty", status: 454, queue: "invoices" }, 0],
  ["that was sent again", { isRepeated: true }, 1],
  ["that took as long as one that is forwarded again", { end: 2 + 50 }, 1],
  ["that was answered at once", {}, 0],
])("I4: an item too far back is excused by a lease %s", (_, change, excused) => {
  const between = { ...leased([], 2), ...change };
  const offers = [
    { number: 2, seq: 0 },
    { number: 1, seq: 1 },
  ];
  const entries = [produced([1], 0), between, produced([2], 4), leased(offers, 6)];
  const checked = checkOrder(entries, { outcomes: ["empty"], answeredMsMin: 50 });
  expect(checked.excused).toBe(excused);
  expect(checked.faults.total).toBe(1 - excused);
});

test("History: outputs and inputs of a transact count", () => {
  const history = new History();
  const call = history.begin({ verb: "transact", client: "c0", parts: [complete, output] });
  history.end(call, "ok", { status: 200 });
  const { acknowledged, completed: done, backlog } = history;
  expect({ acknowledged, done, backlog }).toEqual({ acknowledged: 1, done: 1, backlog: 0 });
});
