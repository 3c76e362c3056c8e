import { expect, test } from "bun:test";
import { StoreError } from "../stores/store.ts";
import { closingFailure, failure, restartedFailure } from "./errors.ts";
import type { NumberedRequest, Request } from "./kinds.ts";
import { limits } from "./limits.ts";
import type { Link, LinkEvents } from "./link.ts";
import type { Answer, Opened, Report } from "./messages.ts";
import { ShardPort } from "./port.ts";
import type { Result } from "./shard/kind.ts";
import { VirtualClock } from "./simulation/virtual-clock.ts";

const late = failure("late", "late");
const unknown = failure("unknown_outcome", "nobody knows");
const nothingNew: Report = {
  answers: [],
  counts: [],
  events: [],
  outbox: [],
  receipts: 0,
  commit: null,
  full: false,
  refusing: false,
};
const fresh: Opened = {
  tags: "0123456789Ab:0",
  catalog: { version: 0, entries: [] },
  counts: [],
  outbox: [],
  passed: { sent: 0, taken: [], arrived: [] },
  lostCommits: 0,
  holdings: [],
  at: 0,
  opLast: 0,
  refused: [],
  leaseKeys: [],
  receipts: 0,
  tasks: [],
  quarantined: 0,
  miscounted: 0,
  full: false,
};

/** A shard that does nothing by itself: what it was sent is looked at, what it says is said by the test. */
class Puppet implements Link {
  readonly messages: (readonly NumberedRequest[])[] = [];
  readonly events: LinkEvents;

  constructor(events: LinkEvents) {
    this.events = events;
  }

  send(requests: readonly Request[], opFirst: number): void {
    this.messages.push(requests.map((request, index) => ({ ...request, op: opFirst + index })));
  }

  isWhole = true;

  async close(): Promise<boolean> {
    return this.isWhole;
  }

  async abandon(): Promise<void> {}

  /** Answers everything of one message. */
  answer(message: number): void {
    const answers = (this.messages[message] ?? []).map(
      ({ op }): Answer => ({ op, outcome: { ok: true, value: { kind: "done" } } }),
    );
    this.events.report({ ...nothingNew, answers });
  }

  sent(): string[][] {
    return this.messages.map((requests) => requests.map(textOf));
  }
}

function produce(text: string): Request {
  return { kind: "produce", slot: 0, deadline: 0, items: [text] };
}

/** Enough to be sent behind another message. */
function large(text: string): Request {
  const request = produce(text);
  if (request.kind !== "produce") return request;
  const { items } = request;
  return { ...request, items: Array(limits.secondMessageWeightMin).fill(items[0]) };
}

function textOf(request: Request): string {
  return request.kind === "produce" ? String(request.items[0]) : request.kind;
}

function setupPort() {
  const clock = new VirtualClock(1_000);
  const links: Puppet[] = [];
  const first: Request[] = [];
  const answers: Record<string, Result> = {};
  const port = new ShardPort(0, {
    clock,
    limits,
    links: (_, events) => {
      const link = new Puppet(events);
      links.push(link);
      return link;
    },
    events: {
      report: () => undefined,
      settled: () => undefined,
      opened: () => first,
      down: () => undefined,
    },
  });
  const put = (request: Request, deadline = Number.POSITIVE_INFINITY): void => {
    port.put(
      request,
      (result) => {
        answers[textOf(request)] = result;
      },
      { deadline, late: { untaken: late, taken: unknown } },
    );
  };
  const link = (index = links.length - 1): Puppet => {
    const found = links[index];
    if (found === undefined) throw new Error("no link was made");
    return found;
  };
  return { clock, port, put, links, link, answers, first };
}

const done: Result = { ok: true, value: { kind: "done" } };

test("put: what comes while a message is unanswered is gathered into the next", async () => {
  const { clock, put, link } = setupPort();
  link().events.opened(fresh);
  for (const texts of [["a", "b"], ["c"], ["d", "e"]]) {
    for (const text of texts) put(produce(text));
    await clock.settle();
  }
  expect(link().sent()).toEqual([["a", "b"]]);
  link().answer(0);
  expect(link().sent()).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
});

test("put: what is worth a turn of its own does not wait for an answer, but for the second", async () => {
  const { clock, put, link } = setupPort();
  link().events.opened(fresh);
  for (const request of [produce("a"), produce("b"), large("c"), large("d")]) {
    put(request);
    await clock.settle();
  }
  expect(link().sent()).toEqual([["a"], ["b", "c"]]);
  link().answer(0);
  expect(link().sent()).toEqual([["a"], ["b", "c"], ["d"]]);
});

test("put: what goes on in pieces keeps nobody waiting", async () => {
  const { clock, put, link } = setupPort();
  link().events.opened(fresh);
  const what = { ready: true, leased: false, scheduled: false, retried: false };
  for (const slot of [1, 2, 3]) {
    put({ kind: "clear", slots: [slot], what });
    put({ kind: "recount", slots: [slot] });
    await clock.settle();
  }
  put(produce("a"));
  await clock.settle();
  expect(link().sent().at(-1)).toEqual(["a"]);
});

test("report: the next message is sent before the answers are given", async () => {
  const { clock, port, put, link } = setupPort();
  link().events.opened(fresh);
  let sentBefore = 0;
  port.put(produce("a"), () => {
    sentBefore = link().messages.length;
  });
  await clock.settle();
  put(produce("b"));
  await clock.settle();
  link().answer(0);
  expect(sentBefore).toBe(2);
});

test("put: nothing is sent before the shard is there", async () => {
  const { clock, put, link } = setupPort();
  put(produce("a"));
  await clock.settle();
  expect(link().messages).toEqual([]);
  link().events.opened({ ...fresh, opLast: 41 });
  expect(link().messages).toMatchObject([[{ op: 42 }]]);
});

test("put: a message has an end, by requests and by items", async () => {
  const { clock, put, link } = setupPort();
  link().events.opened(fresh);
  for (let index = 0; index < limits.turnRequestsMax + 1; index += 1) put(produce(String(index)));
  await clock.settle();
  link().answer(0);
  expect(link().messages.map(({ length }) => length)).toEqual([limits.turnRequestsMax, 1]);
  const { clock: other, put: putMany, link: otherLink } = setupPort();
  otherLink().events.opened(fresh);
  const ids = Array.from({ length: 1_000 }, () => "x");
  const fitting = limits.turnWeightMax / ids.length;
  for (let index = 0; index < fitting + 1; index += 1) {
    putMany({ kind: "complete", slot: 0, deadline: 0, ids });
  }
  await other.settle();
  expect(otherLink().messages.map(({ length }) => length)).toEqual([fitting, 1]);
});

test("put: what was not sent by its deadline is withdrawn, whatever waits longer before it", async () => {
  const { clock, put, link, answers } = setupPort();
  put(produce("long"), 5_000);
  await clock.settle();
  put(produce("short"), 2_000);
  put(produce("never"));
  await clock.advance(999);
  expect(answers).toEqual({});
  await clock.advance(1);
  expect(answers).toEqual({ short: late });
  await clock.advance(3_000);
  expect(answers).toEqual({ short: late, long: late });
  link().events.opened(fresh);
  expect(link().sent()).toEqual([["never"]]);
});

test("put: what was sent waits for its answer, where its caller keeps the time", async () => {
  const { clock, port, link, answers } = setupPort();
  link().events.opened(fresh);
  const timing = { deadline: 1_500, late: { untaken: late, taken: null } };
  void port.ask(produce("a"), timing).then((result) => {
    answers["a"] = result;
  });
  await clock.advance(10_000);
  expect(answers).toEqual({});
  link().answer(0);
  await clock.settle();
  expect(answers).toEqual({ a: done });
});

test("down: what was lost and took effect is answered, what was refused and the rest goes again first", async () => {
  const { clock, put, link, links, answers, first } = setupPort();
  link().events.opened(fresh);
  for (const text of ["committed", "refused", "lost"]) put(produce(text));
  put({ kind: "list", slot: 0, scheduled: false, pivot: "", limit: 1 });
  put({ kind: "lease", slot: 0, deadline: 0, batchSize: 1 });
  await clock.settle();
  put(produce("unsent"));
  link().events.down(new Error("gone"));
  await clock.advance(limits.restartMsMin);
  expect(links).toHaveLength(2);
  first.push({ kind: "configure", partitions: [], forget: [] });
  link().events.opened({ ...fresh, opLast: 2, refused: [2] });
  expect(answers).toEqual({ committed: done });
  expect(link().sent()).toEqual([["configure", "refused", "lost", "list", "lease", "unsent"]]);
  expect(link().messages[0]?.map(({ op }) => op)).toEqual([3, 4, 5, 6, 7, 8]);
});

test.each([
  { kind: "lease", slot: 0, deadline: 0, batchSize: 1 },
  { kind: "list", slot: 0, scheduled: false, pivot: "", limit: 1 },
  { kind: "stats", slots: [] },
  { kind: "configure", partitions: [], forget: [] },
  {
    kind: "clear",
    slots: [4],
    what: { ready: true, leased: false, scheduled: false, retried: false },
  },
  { kind: "import", slot: 0, items: [] },
] satisfies Request[])("down: a committed $kind whose answer was lost", async (request) => {
  const { clock, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(request);
  await clock.settle();
  link().events.down(new Error("gone"));
  await clock.advance(limits.restartMsMin);
  link().events.opened({ ...fresh, opLast: 1 });
  await clock.settle();
  const settled = {
    lease: { ok: true, value: { kind: "nothing", more: true, mayHold: true } },
    import: { ok: false, code: "store" },
  };
  const expected = settled[request.kind as "lease"];
  if (expected !== undefined) expect(answers[request.kind]).toMatchObject(expected);
  // A clear is not made anew: only its end is waited for.
  else expect(link().sent()).toEqual([[request.kind === "clear" ? "settle" : request.kind]]);
});

test("down: pauses between starts grow, and are short again after a commit", async () => {
  const { clock, link, links } = setupPort();
  const startedAt: number[] = [];
  for (let failures = 0; failures < 4; failures += 1) {
    link().events.opened(fresh);
    const from = clock.now();
    link().events.down(new Error("gone"));
    const made = links.length;
    while (links.length === made) await clock.advance(10);
    startedAt.push(clock.now() - from);
  }
  expect(startedAt).toEqual([50, 100, 200, 400]);
  link().events.opened(fresh);
  const commit = { items: 1, seconds: 0.001, quarantined: 0, size: null };
  link().events.report({ ...nothingNew, commit });
  link().events.down(new Error("gone"));
  await clock.advance(50);
  expect(links).toHaveLength(6);
});

test("down: a store that can never be opened is not tried again at the start", async () => {
  const { clock, link, links } = setupPort();
  link().events.down(new StoreError("locked", "in use"));
  await clock.advance(60_000);
  expect(links).toHaveLength(1);
});

test("close: what was not sent, and what was not answered, is answered", async () => {
  const { clock, port, put, link, answers } = setupPort();
  link().events.opened(fresh);
  for (const text of ["a", "b", "c"]) {
    put(produce(text));
    await clock.settle();
  }
  await port.close();
  put(produce("d"));
  for (const text of ["a", "b", "c", "d"]) expect(answers[text]).toMatchObject({ code: "closing" });
});

test("counters: commits are sorted into their buckets", () => {
  const { port, link } = setupPort();
  link().events.opened({ ...fresh, quarantined: 3 });
  for (const items of [1, 2, 3, 20_000]) {
    const commit = {
      items,
      seconds: 0.0001,
      quarantined: 1,
      size: { logBytes: items, fileBytes: 9 },
    };
    link().events.report({ ...nothingNew, commit });
  }
  const { commits, itemsCommitted, itemsPerCommit, quarantined, walBytes } = port.counters;
  expect({ commits, itemsCommitted, quarantined, walBytes }).toEqual({
    commits: 4,
    itemsCommitted: 20_006,
    quarantined: 7,
    walBytes: 20_000,
  });
  expect(itemsPerCommit.counts).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("deadline: what a shard has taken and does not answer is answered in time, once", async () => {
  const { clock, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(produce("taken"), clock.now() + 100);
  put(produce("patient"));
  await clock.advance(99);
  put(large("behind"), clock.now() + 100);
  put({ kind: "complete", slot: 0, deadline: 0, ids: [] }, clock.now() + 50);
  await clock.settle();
  expect(answers).toEqual({});
  await clock.advance(1);
  expect(answers).toEqual({ taken: unknown });
  link().answer(0);
  expect(answers).toEqual({ taken: unknown, patient: done });
  // The message it came in is over, and others are sent.
  await clock.advance(49);
  expect(answers["complete"]).toEqual(unknown);
  put(large("next"));
  await clock.settle();
  expect(link().sent()).toEqual([["taken", "patient"], ["behind", "complete"], ["next"]]);
});

test("deadline: what was answered in time is not sent to the shard that comes after", async () => {
  const { clock, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(produce("taken"), clock.now() + 10);
  await clock.advance(10);
  link().events.down(new Error("gone"));
  await clock.advance(limits.restartMsMin);
  link().events.opened(fresh);
  await clock.settle();
  expect(answers).toEqual({ taken: unknown });
  expect(link().sent()).toEqual([]);
});

test("deadline: of a call with a key that was done, not that it was not", async () => {
  const { clock, port, link } = setupPort();
  link().events.opened(fresh);
  const key = { operation: "import", text: "k", digest: "0".repeat(32), fingerprint: "" } as const;
  const deadline = clock.now() + 10;
  const asked = port.ask(
    { kind: "import", slot: 0, items: [], key },
    { deadline, late: { untaken: late, taken: null } },
  );
  await clock.settle();
  link().events.down(new Error("gone"));
  await clock.advance(limits.restartMsMin);
  link().events.opened({ ...fresh, opLast: 1 });
  expect(await asked).toEqual(restartedFailure);
  expect(link().sent()).toEqual([]);
});

test("abandon: what was sent is told that it may be done, what was not that nothing was changed", async () => {
  const { clock, port, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(produce("sent"));
  await clock.settle();
  put(produce("unsent"));
  void port.abandon(closingFailure);
  expect(answers).toEqual({ sent: unknown, unsent: closingFailure });
});

test("close: what a shard was sent that went down then is told that it may be done", async () => {
  const { clock, port, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(produce("sent"));
  await clock.settle();
  link().events.down(new Error("gone"));
  await port.close();
  expect(answers).toEqual({ sent: unknown });
});

test("close: what was sent to a shard whose last turn fails then is told that it may be done", async () => {
  const { clock, port, put, link, answers } = setupPort();
  link().events.opened(fresh);
  put(produce("sent"));
  await clock.settle();
  link().isWhole = false;
  await port.close();
  expect(answers).toEqual({ sent: unknown });
});
