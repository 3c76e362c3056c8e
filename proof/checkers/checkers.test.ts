// Tests what the checkers accept and reject. A checker that cannot fail is worthless, so most tests
// use incorrect histories.

import { expect, test } from "bun:test";
import { formatId, idPrefix } from "../../engine/model/ids.ts";
import { slotFor } from "../../engine/model/priority.ts";
import { isRepetition } from "../clients/clients.ts";
import { corruptAll } from "../corrupted/corrupt.ts";
import { sampleHistory, sampleRules } from "../corrupted/sample-history.ts";
import {
  type Entry,
  History,
  type LeaseCall,
  type Pause,
  type QueueRules,
} from "../histories/history.ts";
import { judge } from "../histories/short-histories.ts";
import { checkLinear } from "./check-linear.ts";
import { checkOrder } from "./check-order.ts";
import { checkQueue } from "./check-queue.ts";
import type { ListCall } from "./queue-model.ts";

function faultsOf(sample: ReturnType<typeof sampleHistory>): string[] {
  const queue = checkQueue(sample.entries, sample.ending, sampleRules).faults;
  return [...queue.list("replay"), ...checkOrder(sample.entries).faults.list("replay")];
}

test.each([1, 2])("valid history of seed %p: no fault, and all calls are counted", (seed) => {
  const sample = sampleHistory({ calls: 300, seed });
  expect(faultsOf(sample)).toEqual([]);
  const { figures } = checkQueue(sample.entries, sample.ending, sampleRules);
  expect(figures).toMatchObject({ lost: 0, unexpected: 0, dead: sample.ending.dead.length });
  expect(figures["acknowledged"]).toBeGreaterThan(300);
  expect(figures["recovered"]).toBeGreaterThan(0);
  expect(figures["duplicated"]).toBeGreaterThan(0);
});

test("corrupted histories: there are some of each kind, and each is rejected", () => {
  const sample = sampleHistory({ calls: 400, seed: 7 });
  const { rejected, accepted, unused } = corruptAll({ ...sample, rules: sampleRules, seed: 1 });
  expect({ accepted, unused }).toEqual({ accepted: [], unused: [] });
  expect(rejected).toBeGreaterThanOrEqual(100);
});

test("corrupted histories: each is rejected even if the queueing order excuses all it may", () => {
  const accepted = [1, 2, 3].flatMap((seed) => {
    const { entries, ending } = sampleHistory({ calls: 300, seed });
    const excuse: LeaseCall = {
      verb: "lease",
      queue: "orders",
      batchSize: 1,
      partition: 0,
      offers: [],
      client: "client",
      call: 0,
      end: (entries.at(-1)?.end ?? 0) + 100_000,
      outcome: "empty",
      status: 454,
    };
    return corruptAll({ entries: [excuse, ...entries], ending, rules: sampleRules, seed }).accepted;
  });
  expect(accepted).toEqual([]);
});

test("I6: a rejected item is never offered again; one that is offered again is not dead by its rejection", () => {
  const [produce, first, second, complete] = lapsed() as [Entry, LeaseCall, Entry, Entry];
  const ids = first.offers.map(({ id }) => id);
  const retry = { verb: "retry", partition: 0, ids, dead: true, client: "client" } as const;
  const answered: Entry = { ...retry, call: 4, end: 5, outcome: "ok", status: 200 };
  const lost: Entry = { ...retry, call: 4, end: 5, outcome: "unknown", status: 0 };
  const drained = { dead: [], left: [] };
  const dead = { dead: [{ number: 0, intact: true }], left: [] };
  const offered = "I6: a rejected item was offered again; item 0; replay";
  const reasonless = "I6: an item is dead without a reason; item 0; replay";
  const history = (...entries: Entry[]) => entries.toSorted((a, b) => a.call - b.call);
  const all = [produce, first, second, complete];
  expect(faultsOf({ entries: history(...all, lost), ending: drained })).toEqual([]);
  expect(faultsOf({ entries: history(...all, answered), ending: drained })).toContain(offered);
  expect(faultsOf({ entries: history(produce, first, lost), ending: dead })).toEqual([]);
  const forgotten = history(produce, first, lost, second);
  expect(faultsOf({ entries: forgotten, ending: dead })).toEqual([reasonless]);
});

test("I5: an attempt without an answered lease is a fault, unless shards fail while the server continues", () => {
  const [produce, , second, complete] = lapsed() as Entry[];
  const entries = [produce, second, complete] as Entry[];
  const ending = { dead: [], left: [] };
  const faults = (rules: QueueRules) => checkQueue(entries, ending, rules).faults.list("replay");
  expect(faults(sampleRules)).toEqual([
    "I5: attempts rose by more than one; item 0, 0 to 2; replay",
  ]);
  expect(faults({ ...sampleRules, shardsFail: true })).toEqual([]);
});

test.each([
  ["the same", '{"lease_deadline":"b","now":"c"}', true],
  ["later", '{"lease_deadline":"b","now":"d"}', true],
  ["another one", '{"lease_deadline":"e","now":"c"}', false],
])("I16: a repeated extend answered with %s is judged by its deadline", (_, body, is) => {
  const first = { status: 200, body: '{"lease_deadline":"b","now":"c"}' };
  expect(isRepetition(first, { status: 200, body })).toBe(is);
});

test("I16: a repeated call that is answered otherwise is a fault", () => {
  const entries = lapsed() as Entry[];
  const repeats = {
    count: 2,
    contradictions: [{ answers: "/v1/queue.produce: a and then b", call: 0, end: 0 }],
  };
  const { faults, figures } = checkQueue(entries, { dead: [], left: [], repeats }, sampleRules);
  expect(figures).toMatchObject({ repeatedCalls: 2 });
  expect(faults.list("replay")).toEqual([
    "I16: a repeated call got another answer; /v1/queue.produce: a and then b; replay",
  ]);
});

test.each<[what: string, pause: Pause, count: number]>([
  ["sent and answered during it", { queue: "orders", call: 2, from: 2, to: 10 }, 1],
  ["sent before it", { queue: "orders", call: 2, from: 3.5, to: 10 }, 0],
  ["answered after it", { queue: "orders", call: 2, from: 2, to: 3.5 }, 0],
  ["of another queue", { queue: "invoices", call: 2, from: 2, to: 10 }, 0],
])("I15: a pause and a lease %s", (_, pause, count) => {
  const sample = sampleHistory({ calls: 50, seed: 1 });
  const lease = sample.entries.find(
    (entry): entry is LeaseCall => entry.verb === "lease" && entry.offers.length > 0,
  );
  if (lease === undefined) throw new Error("the sample has no lease");
  Object.assign(lease, { queue: "orders", call: 3, end: 4 });
  const paused = (changed: Partial<LeaseCall>) => {
    const entries = [{ ...lease, ...changed }];
    const ending = { dead: [], left: [], pauses: [pause] };
    const { faults } = checkQueue(entries, ending, sampleRules);
    return faults.list("").filter((fault) => fault.startsWith("I15")).length;
  };
  expect(paused({})).toBe(count);
  // It was granted before, and the answer is repeated.
  expect(paused({ isRepeated: true })).toBe(0);
});

test("I1: an acknowledged item that is never seen again is lost", () => {
  const sample = sampleHistory({ calls: 50, seed: 1 });
  const number = 1_000_000;
  const produce: Entry = {
    verb: "produce",
    queue: "orders",
    numbers: [number],
    client: "client",
    call: 1,
    end: 2,
    outcome: "ok",
    status: 200,
  };
  sample.entries.push(produce);
  expect(faultsOf(sample)).toEqual(["I1: an acknowledged item is lost; item 1000000; replay"]);
  produce.outcome = "unknown";
  expect(faultsOf(sample)).toEqual([]);
});

test("I3: an item that is offered after its complete was answered", () => {
  const sample = sampleHistory({ calls: 50, seed: 1 });
  const lease = sample.entries.find(
    (entry): entry is LeaseCall => entry.verb === "lease" && isCompleted(sample.entries, entry),
  );
  const [offer] = lease?.offers ?? [];
  if (lease === undefined || offer === undefined) throw new Error("the sample has no such lease");
  const again = {
    ...offer,
    id: `${offer.id.slice(0, -2)}zz`,
    attempts: offer.attempts + 1,
    leaseDeadline: offer.leaseDeadline + 1_000_000,
  };
  sample.entries.push({ ...lease, call: 1_000_000, end: 1_000_001, offers: [again] });
  expect(faultsOf(sample)).toEqual([
    `I3: a completed item was offered again; item ${offer.number}; replay`,
  ]);
});

function isCompleted(entries: readonly Entry[], { offers }: LeaseCall): boolean {
  return entries.some(
    (entry) =>
      entry.verb === "complete" &&
      entry.outcome === "ok" &&
      entry.ids.includes(offers[0]?.id ?? ""),
  );
}

test("I2: the second lease of an item begins before the first has passed its deadline", () => {
  const [base] = lapsed();
  expect(faultsOf({ entries: lapsed(), ending: { dead: [], left: [] } })).toEqual([]);
  const early = lapsed().map((entry) => {
    if (entry.verb !== "lease" || entry.offers[0]?.attempts !== 2) return entry;
    const offers = entry.offers.map((offer) => ({
      ...offer,
      leaseDeadline: offer.leaseDeadline - 1,
    }));
    return { ...entry, offers };
  });
  expect(base?.verb).toBe("produce");
  expect(faultsOf({ entries: early, ending: { dead: [], left: [] } })).toEqual([
    "I2: two leases overlap; item 0, by 1 ms; replay",
  ]);
});

test("I2: an extended lease lasts until the latest acknowledged deadline", () => {
  const ending = { dead: [], left: [] };
  const [produce, first, second, complete] = lapsed() as [Entry, LeaseCall, LeaseCall, Entry];
  const ids = first.offers.map(({ id }) => id);
  const extended = (leaseDeadline: number, outcome: "ok" | "unknown" = "ok"): Entry => {
    const answer = { outcome, status: outcome === "ok" ? 200 : 0, client: "client" } as const;
    return { verb: "extend", partition: 0, ids, leaseDeadline, call: 4, end: 5, ...answer };
  };
  const faults = (extend: Entry) =>
    faultsOf({ entries: [produce, first, extend, second, complete], ending });
  // The second lease was granted when the first deadline passed.
  expect(faults(extended(1_002))).toEqual([]);
  expect(faults(extended(1_003))).toEqual(["I2: two leases overlap; item 0, by 1 ms; replay"]);
  expect(faults(extended(0, "unknown"))).toEqual([]);
  expect(faults(extended(1_001))).toEqual([
    "I2: an extend made a lease shorter; item 0, by 1 ms; replay",
  ]);
  const late: Entry = { ...extended(9_000), call: 2_000, end: 2_001 } as Entry;
  const finished = { ...late, ids: second.offers.map(({ id }) => id) } as Entry;
  expect(faultsOf({ entries: [produce, first, second, complete, finished], ending })).toEqual([
    "I3: a finished item was extended; item 0; replay",
  ]);
});

test("I5: a released lease counts no attempt, unless an unseen lease lapsed", () => {
  const ending = { dead: [], left: [] };
  const [produce, first, second, complete] = lapsed() as [Entry, LeaseCall, LeaseCall, Entry];
  const ids = first.offers.map(({ id }) => id);
  const released = (outcome: "ok" | "unknown" | "refused"): Entry => {
    const answer = { outcome, status: 0, client: "client" } as const;
    return { verb: "release", partition: 0, ids, call: 4, end: 5, ...answer };
  };
  /** The second lease is at `call`, with that attempt. */
  const faults = (release: Entry, attempts: number, call: number, ...others: Entry[]) => {
    const offers = second.offers.map((offer) => ({
      ...offer,
      attempts,
      leaseDeadline: call + sampleRules.leaseTimeoutMs,
    }));
    const next = { ...second, offers, call, end: call + 1 };
    const end = { ...complete, call: call + 2, end: call + 3 };
    return faultsOf({ entries: [produce, first, release, next, end, ...others], ending });
  };
  const rose = "I5: attempts rose by more than one; item 0, 1 to 2; replay";
  const unseen: Entry = {
    ...first,
    offers: [],
    call: 0,
    end: 9_000,
    outcome: "empty",
    status: 454,
  };
  expect(faults(released("ok"), 1, 6)).toEqual([]);
  expect(faults(released("ok"), 2, 6)).toEqual([rose.replace("1 to 2", "0 to 2")]);
  expect(faults(released("ok"), 2, 6, unseen)).toEqual([rose.replace("1 to 2", "0 to 2")]);
  expect(faults(released("ok"), 2, 2_000, unseen)).toEqual([]);
  // It may have taken effect, or have been too late.
  expect(faults(released("unknown"), 1, 6)).toEqual([]);
  expect(faults(released("unknown"), 2, 1_002)).toEqual([]);
  expect(faults(released("refused"), 1, 1_002)).toEqual([
    "I5: attempts did not rise; item 0 was offered twice as 1; replay",
  ]);
});

/** One item, leased, forgotten, leased again the moment its lease has lapsed, and completed. */
function lapsed(): Entry[] {
  const answered = { client: "client", outcome: "ok", status: 200 } as const;
  const id = (seq: number) => formatId(idPrefix("0123456789Ab", 0), seq);
  const offer = (seq: number, attempts: number, leaseDeadline: number) => ({
    number: 0,
    id: id(seq),
    attempts,
    leaseDeadline,
    intact: true,
  });
  return [
    { verb: "produce", queue: "orders", numbers: [0], call: 0, end: 1, ...answered },
    {
      verb: "lease",
      queue: "orders",
      batchSize: 1,
      partition: 0,
      offers: [offer(1, 1, 1_002)],
      call: 2,
      end: 3,
      ...answered,
    },
    {
      verb: "lease",
      queue: "orders",
      batchSize: 1,
      partition: 0,
      offers: [offer(2, 2, 2_002)],
      call: 1_002,
      end: 1_003,
      ...answered,
    },
    { verb: "complete", partition: 0, ids: [id(2)], call: 1_004, end: 1_005, ...answered },
  ];
}

test("I7: a complete with an unknown outcome removed half of its items", () => {
  const answered = { client: "client", outcome: "ok", status: 200 } as const;
  const lost = { client: "client", outcome: "unknown", status: 0 } as const;
  const id = (seq: number) => formatId(idPrefix("0123456789Ab", 0), seq);
  const offers = [0, 1].map((number) => ({
    number,
    id: id(number),
    attempts: 1,
    leaseDeadline: 1_002,
    intact: true,
  }));
  const again = {
    ...offers[1],
    number: 1,
    id: id(2),
    attempts: 2,
    leaseDeadline: 3_000,
    intact: true,
  };
  const place = { partition: 0 };
  const entries: Entry[] = [
    { verb: "produce", queue: "orders", numbers: [0, 1], call: 0, end: 1, ...answered },
    {
      verb: "lease",
      queue: "orders",
      batchSize: 2,
      ...place,
      offers,
      call: 2,
      end: 3,
      ...answered,
    },
    { verb: "complete", ...place, ids: [id(0), id(1)], call: 4, end: 5, ...lost },
    {
      verb: "lease",
      queue: "orders",
      batchSize: 2,
      ...place,
      offers: [again],
      call: 2_000,
      end: 2_001,
      ...answered,
    },
    { verb: "complete", ...place, ids: [id(2)], call: 2_002, end: 2_003, ...answered },
  ];
  const ending = { dead: [], left: [] };
  const [fault] = faultsOf({ entries, ending });
  expect(fault).toStartWith("I7: half of a complete");
  // The client may have completed the other part alone, which is then a separate call.
  const alone: Entry = { verb: "complete", ...place, ids: [id(0)], call: 6, end: 7, ...answered };
  expect(faultsOf({ entries: [...entries, alone], ending })).toEqual([]);
});

interface Register {
  readonly value: number;
}

function write(value: number, call: number, end: number) {
  return { call, end, label: `write ${value}`, apply: (): Register[] => [{ value }] };
}

function read(value: number, call: number, end: number) {
  const apply = (state: Register): Register[] => (state.value === value ? [state] : []);
  return { call, end, label: `read ${value}`, apply };
}

const register = {
  initial: { value: 0 },
  keyOf: ({ value }: Register) => String(value),
  stepsMax: 10_000,
};

test.each([
  ["in turn", [write(1, 0, 1), read(1, 2, 3)], "linearizable"],
  ["a read that overlaps a write sees either", [write(1, 0, 9), read(0, 1, 2)], "linearizable"],
  ["a read behind a write sees the old value", [write(1, 0, 1), read(0, 2, 3)], "not linearizable"],
  [
    "two reads that see a write and then do not",
    [write(1, 0, 9), read(1, 1, 2), read(0, 3, 4)],
    "not linearizable",
  ],
  ["a value that was never written", [write(1, 0, 1), read(2, 0, 9)], "not linearizable"],
  [
    "an unknown write that happened late",
    [write(1, 0, Number.POSITIVE_INFINITY), read(0, 1, 2), read(1, 3, 4)],
    "linearizable",
  ],
  [
    "an unknown write that never happened",
    [write(1, 0, Number.POSITIVE_INFINITY), read(0, 1, 2)],
    "linearizable",
  ],
] as const)("checkLinear: %s", (_name, operations, kind) => {
  expect(checkLinear<Register>(operations, register).kind).toBe(kind);
});

test.each([
  ["before it was offered", 20, 30, 1, 0],
  ["long before", -9_000, -8_000, 0, 1],
  ["after it was offered", 60, 70, 0, 1],
] as const)(
  "I4: an item that was retried and lies too far back is excused by a lease that ended empty %s",
  (_when, call, end, excused, faults) => {
    const prefix = idPrefix("0123456789Ab", 0);
    const offer = (number: number, seq: number, attempts: number) => ({
      ...offered(number, attempts),
      id: formatId(prefix, seq),
    });
    const first = leased([offer(1, 0, 1)], 2, 3);
    const entries = [
      produced([1], 0, 1),
      first,
      { ...completed([formatId(prefix, 0)], 4, 5), verb: "retry", dead: false } as Entry,
      { ...leased([], call, end), outcome: "empty" } as Entry,
      produced([2], 40, 41),
      leased([offer(2, 1, 1), offer(1, 2, 2)], 50, 51),
    ];
    const checked = checkOrder(entries);
    expect([checked.excused, checked.faults.list("replay").length]).toEqual([excused, faults]);
  },
);

test("priorities: each has an order of its own, a lease has one, and an item keeps the one it has", () => {
  const offer = (number: number, seq: number, priority: number) => ({
    ...offered(number, 1),
    id: formatId(idPrefix("0123456789Ab", slotFor(3, priority)), seq),
  });
  const urgent: Entry = { ...produced([1, 2], 0, 1), priority: 7 } as Entry;
  const faults = (...leasedItems: ReturnType<typeof offer>[][]) =>
    checkOrder([
      urgent,
      produced([3, 4], 2, 3),
      ...leasedItems.map((offers, at) => leased(offers, 4 + 2 * at, 5 + 2 * at)),
    ]).faults.list("replay");
  const [one, two, three] = [offer(1, 0, 7), offer(2, 1, 7), offer(3, 0, 0)] as const;
  expect(faults([one, two], [three, offer(4, 1, 0)])).toEqual([]);
  expect(faults([one], [three], [two])).toEqual([]);
  expect(faults([three, one])).toEqual([
    `a lease has items of several priorities; id ${one.id}; replay`,
  ]);
  const other = offer(3, 2, 7);
  expect(faults([other])).toEqual([
    `an item has another priority than it was produced with; id ${other.id}; replay`,
  ]);
});

test("History: items that a call may have removed are not backlog", () => {
  const history = new History();
  const [unknown, refused, done] = [["a"], ["b"], ["c", "d"]].map((ids) =>
    history.begin({ verb: "complete", client: "c0", partition: 0, ids }),
  );
  const produce = history.begin({
    verb: "produce",
    queue: "orders",
    client: "c0",
    numbers: [1, 2, 3, 4, 5],
  });
  history.end(produce, "ok", { status: 200 });
  for (const [entry, outcome] of [
    [unknown, "unknown"],
    [refused, "refused"],
    [done, "ok"],
  ] as const) {
    if (entry !== undefined) history.end(entry, outcome, null);
  }
  expect(history.backlog).toBe(2);
});

test("checkLinear: exceeding the step limit is not a pass", () => {
  const writes = Array.from({ length: 12 }, (_, index) => write(index, 0, 100));
  const verdict = checkLinear<Register>([...writes, read(99, 0, 100)], {
    ...register,
    stepsMax: 50,
  });
  expect(verdict.kind).toBe("gave up");
});

const client = { client: "c0", outcome: "ok", status: 200 } as const;

function offered(number: number, attempts: number, id = `id-${number}-${attempts}`) {
  return { number, id, attempts, leaseDeadline: 0, intact: true };
}

function produced(numbers: number[], call: number, end: number): Entry {
  return { verb: "produce", queue: "orders", numbers, call, end, ...client };
}

function leased(offers: ReturnType<typeof offered>[], call: number, end: number): Entry {
  return {
    verb: "lease",
    queue: "orders",
    batchSize: 3,
    partition: 0,
    offers,
    call,
    end,
    ...client,
  };
}

function completed(
  ids: string[],
  call: number,
  end: number,
  outcome: "ok" | "refused" = "ok",
): Entry {
  const status = outcome === "ok" ? 200 : 453;
  return { verb: "complete", partition: 0, ids, call, end, client: "c0", outcome, status };
}

/** The same for a call of `verb`. */
function said(
  verb: "extend" | "release",
  ids: string[],
  call: number,
  outcome: "ok" | "refused" = "ok",
): Entry {
  return { ...completed(ids, call, call + 1, outcome), leaseDeadline: 0, verb } as Entry;
}

function transacted(
  ids: string[],
  numbers: number[],
  call: number,
  outcome: "ok" | "refused" | "unknown" = "ok",
): Entry {
  const status = { ok: 200, refused: 453, unknown: 0 }[outcome];
  const parts = [
    { verb: "complete", partition: 0, ids },
    { verb: "produce", queue: "orders", numbers },
  ] as const;
  return { verb: "transact", parts, call, end: call + 1, client: "c0", outcome, status };
}

function listed(numbers: number[], held: number[], call: number): ListCall {
  const items = [
    ...held.map((number) => ({ number, isLeased: true })),
    ...numbers.map((number) => ({ number, isLeased: false })),
  ];
  return { verb: "list", client: "c0", call, end: call + 1, items };
}

const right: [string, (Entry | ListCall)[]][] = [
  [
    "produce, lease, complete",
    [
      produced([1, 2], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      listed([2], [], 6),
    ],
  ],
  [
    "a lease that overlaps the produce it sees",
    [produced([1], 0, 9), leased([offered(1, 1)], 1, 2), listed([], [1], 10)],
  ],
  [
    "a produce without an answer, seen late",
    [
      { ...produced([1], 0, 1), outcome: "unknown" } as Entry,
      leased([offered(1, 1)], 5, 6),
      listed([], [1], 7),
    ],
  ],
  [
    "a second complete that is refused",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      completed(["id-1-1"], 6, 7, "refused"),
      listed([], [], 8),
    ],
  ],
];

const again = (attempts: number) => offered(1, attempts, "id-1-again");

right.push(
  [
    "an item is extended, released, leased as the same attempt and completed",
    [
      produced([1, 2], 0, 1),
      leased([offered(1, 1)], 2, 3),
      said("extend", ["id-1-1"], 4),
      said("release", ["id-1-1"], 6),
      leased([offered(2, 1)], 8, 9),
      leased([again(1)], 10, 11),
      completed(["id-1-1"], 12, 13, "refused"),
      said("extend", ["id-1-1"], 14, "refused"),
      completed(["id-1-again"], 16, 17),
      listed([], [2], 18),
    ],
  ],
  [
    "a release without an answer, with its items seen late",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      { ...said("release", ["id-1-1"], 4), outcome: "unknown" } as Entry,
      leased([again(1)], 10, 11),
      listed([], [1], 12),
    ],
  ],
);

right.push(
  [
    "a transact finishes an item and adds others",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      transacted(["id-1-1"], [2, 3], 4),
      leased([offered(2, 1)], 6, 7),
      listed([3], [2], 8),
    ],
  ],
  [
    "a transact of an item that is not held is refused",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      transacted(["id-1-1"], [2], 6, "refused"),
      listed([], [], 8),
    ],
  ],
  ...([[[], [1]] as const, [[2], []] as const] as const).map(
    ([ready, held]): [string, (Entry | ListCall)[]] => [
      `a transact without an answer, with ${ready.length} of its outputs`,
      [
        produced([1], 0, 1),
        leased([offered(1, 1)], 2, 3),
        transacted(["id-1-1"], [2], 4, "unknown"),
        listed([...ready], [...held], 6),
      ],
    ],
  ),
);

test.each(right)("short history: %s is linearizable", (_name, entries) => {
  expect(judge(entries).kind).toBe("linearizable");
});

const wrong: [string, (Entry | ListCall)[]][] = [
  ["an item is lost", [produced([1, 2], 0, 1), listed([1], [], 2)]],
  [
    "an item is leased before the one ahead of it",
    [produced([1, 2], 0, 1), leased([offered(2, 1)], 2, 3)],
  ],
  [
    "two clients hold one item",
    [produced([1], 0, 1), leased([offered(1, 1)], 2, 3), leased([offered(1, 1)], 4, 5)],
  ],
  [
    "a completed item is back",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      listed([1], [], 6),
    ],
  ],
  [
    "a complete is accepted twice",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      completed(["id-1-1"], 6, 7),
    ],
  ],
  [
    "a held item cannot be completed",
    [produced([1], 0, 1), leased([offered(1, 1)], 2, 3), completed(["id-1-1"], 4, 5, "refused")],
  ],
  ["attempts are counted twice", [produced([1], 0, 1), leased([offered(1, 2)], 2, 3)]],
  [
    "half of a batch is there",
    [{ ...produced([1, 2], 0, 1), outcome: "unknown" } as Entry, listed([1], [], 2)],
  ],
  ["a lease sees what is produced after it", [leased([offered(1, 1)], 0, 1), produced([1], 2, 3)]],
  [
    "an item is listed as free that is held",
    [produced([1], 0, 1), leased([offered(1, 1)], 2, 3), listed([1], [], 4)],
  ],
];

wrong.push(
  [
    "a released attempt is counted",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      said("release", ["id-1-1"], 4),
      leased([again(2)], 6, 7),
    ],
  ],
  [
    "a released item is still held",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      said("release", ["id-1-1"], 4),
      listed([], [1], 6),
    ],
  ],
  [
    "a released item is ahead of what waited",
    [
      produced([1, 2], 0, 1),
      leased([offered(1, 1)], 2, 3),
      said("release", ["id-1-1"], 4),
      leased([again(1)], 6, 7),
    ],
  ],
  [
    "an id that was released is completed",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      said("release", ["id-1-1"], 4),
      leased([again(1)], 6, 7),
      completed(["id-1-1"], 8, 9),
    ],
  ],
  [
    "a completed item is extended",
    [
      produced([1], 0, 1),
      leased([offered(1, 1)], 2, 3),
      completed(["id-1-1"], 4, 5),
      said("extend", ["id-1-1"], 6),
    ],
  ],
  [
    "a held item cannot be extended",
    [produced([1], 0, 1), leased([offered(1, 1)], 2, 3), said("extend", ["id-1-1"], 4, "refused")],
  ],
);

const held = [produced([1], 0, 1), leased([offered(1, 1)], 2, 3)];

wrong.push(
  ["an output is lost", [...held, transacted(["id-1-1"], [2, 3], 4), listed([2], [], 6)]],
  ["an output is there twice", [...held, transacted(["id-1-1"], [2], 4), listed([2, 2], [], 6)]],
  [
    "outputs are out of their order",
    [...held, transacted(["id-1-1"], [2, 3], 4), listed([3, 2], [], 6)],
  ],
  [
    "the input of a transact is back",
    [...held, transacted(["id-1-1"], [2], 4), listed([1, 2], [], 6)],
  ],
  [
    "a transact that was refused has added its output",
    [
      ...held,
      completed(["id-1-1"], 4, 5),
      transacted(["id-1-1"], [2], 6, "refused"),
      listed([2], [], 8),
    ],
  ],
  [
    "a transact of an item that is not held is accepted",
    [...held, completed(["id-1-1"], 4, 5), transacted(["id-1-1"], [2], 6), listed([2], [], 8)],
  ],
  [
    "a transact that could be done is refused",
    [...held, transacted(["id-1-1"], [2], 4, "refused"), listed([], [1], 6)],
  ],
  [
    "a transact without an answer leaves its output and its input",
    [...held, transacted(["id-1-1"], [2], 4, "unknown"), listed([2], [1], 6)],
  ],
  [
    "a transact without an answer removes its input, but leaves no output",
    [...held, transacted(["id-1-1"], [2], 4, "unknown"), listed([], [], 6)],
  ],
);

test.each(wrong)("short history: %s is not linearizable", (_name, entries) => {
  expect(judge(entries).kind).toBe("not linearizable");
});
