import { expect, test } from "bun:test";
import { nothing } from "../../stores/conformance/values.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { type Changes, DamagedItems, type Store, StoreError } from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import { failure } from "../model/errors.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { PartitionSettings, Result } from "../model/messages.ts";
import type { Request } from "../operations.ts";
import {
  copyOf,
  hour,
  idsOf,
  minute,
  second,
  setup,
  start,
  textsOf,
} from "../simulation/bundle.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { payloadBytes } from "../state/payload.ts";
import type { LeaseGrant, LogicalQueue } from "../state/queue.ts";
import { isGrant, sampleLease, sampleQueue, sampleQueueId } from "../testing/sample-queue.ts";
import type { Timing } from "./inbox.ts";
import type { Report } from "./report.ts";
import { Shard, type ShardEvents } from "./shard.ts";

const late = failure("late", "late");
const unknown = failure("unknown_outcome", "nobody knows");
const done: Result = { ok: true, value: { kind: "done" } };

/** Runs before each call of the store, or instead of it. */
type Before = Partial<{
  readonly read: () => Promise<void> | void;
  readonly commit: (changes: Changes) => Promise<void> | void;
  /** Replaces the sync of a commit; `lose` undoes the commit. */
  readonly sync: (lose: () => void) => Promise<void>;
  readonly close: () => Promise<void> | void;
  readonly tidy: () => Promise<boolean>;
}>;

interface Setup {
  readonly before?: Before;
  readonly bounds?: Partial<TurnLimits>;
  readonly events?: Partial<ShardEvents>;
  readonly settings?: Partial<PartitionSettings>;
  /** Runs at each opening, which fails if it throws. */
  readonly opening?: (image: MemoryImage) => Promise<void>;
}

const settingsOfQueue = {
  ...{ leaseTimeoutMs: hour, expireTimeoutMs: hour, maxAttempts: 3 },
  ...{ dead: null, queue: "q", owner: 1 },
};

/** A waiting lease of the queue whose only partition has the slot. */
interface Leasing {
  readonly kind: "lease";
  readonly slot: number;
  readonly batchSize: number;
}

type GrantOutcome = Result | LeaseGrant;

/** The deadlines of all timers. */
function timersOf(clock: VirtualClock): Set<{ readonly deadline: number }> {
  const timers = new Set<{ readonly deadline: number }>();
  const at = clock.at.bind(clock);
  clock.at = (deadline, run) => {
    const one = { deadline };
    timers.add(one);
    const timer = at(deadline, () => {
      timers.delete(one);
      run();
    });
    return {
      cancel() {
        timers.delete(one);
        timer.cancel();
      },
    };
  };
  return timers;
}

/** A shard with one queue of two partitions, in memory. */
async function setupShard({
  before = {},
  bounds,
  events,
  settings,
  opening = async () => undefined,
}: Setup = {}) {
  const clock = new VirtualClock(start);
  const timers = timersOf(clock);
  let image = new MemoryImage("0/1 0123456789Ab:0");
  const calls: string[] = [];
  let openings = 0;
  const openStore = async () => {
    openings += 1;
    await opening(image);
    const { store, maintenance } = openMemoryStore({ tag: "", image });
    const slow: Store = {
      load: (what) => store.load(what),
      async read(plan) {
        calls.push("read");
        await before.read?.();
        return store.read(plan);
      },
      async commit(changes) {
        calls.push("commit");
        await before.commit?.(changes);
        const undone = before.sync && copyOf(image);
        await store.commit(changes);
        const lose = () => {
          image = undone ?? image;
        };
        return { synced: before.sync?.(lose) ?? null };
      },
      async close() {
        await before.close?.();
        await store.close();
      },
    };
    return {
      store: slow,
      maintenance: { ...maintenance, ...(before.tidy && { tidy: before.tidy }) },
    };
  };
  const partitions = [0, 1].map((slot) => ({ slot, ...settingsOfQueue, ...settings }));
  const queues = partitions.map((one) => sampleQueue(one, clock));
  const turnLimits = { ...limits, ...bounds };
  const renderLeased = (items: readonly LeasedItem[]) => items;
  const shard = new Shard(
    0,
    { shardCount: 1, clock, openStore, renderLeased, turnLimits },
    {
      ...{ report: () => undefined, down: () => undefined },
      granted: ({ lease, outcome }) => lease.settle(outcome),
      opened: () => ({ kind: "refresh", slots: [0, 1] }),
      rules: {
        settingsAt: (slot) => partitions[slot] ?? null,
        ownerAt: (slot) => queues[slot] && { queue: queues[slot], partition: 0 },
        homeOf: () => null,
        isLost: () => false,
        targetOf: () => null,
        originsAt: () => [],
        isOpen: () => true,
        pauseOf: () => undefined,
        queueOf: (queueId) => queues.find((queue) => queue.queueId === queueId),
      },
      ...events,
    },
  );
  const answers: Record<string, GrantOutcome> = {};
  let arrival = 0;
  const send = (
    request: Request | Leasing,
    settle: (told: GrantOutcome) => void,
    timing?: Timing,
  ): void => {
    if (request.kind !== "lease") {
      shard.put(request, settle, timing);
      return;
    }
    const { slot, batchSize } = request;
    arrival += 1;
    const queue = queues[slot] as LogicalQueue;
    const lease = sampleLease(queue, { arrival, batchSize, deadline, settle });
    shard.lines.join(lease, true);
    shard.look();
  };
  /** Its answer will be under the name in `answers`. */
  const put = async (
    name: string,
    request: Request | Leasing,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<void> => {
    const settle = (told: GrantOutcome): void => {
      answers[name] = told;
      calls.push(name);
    };
    send(request, settle, { deadline, late: { beforeSend: late, afterSend: unknown } });
    await clock.settle();
  };
  const ask = (request: Request | Leasing) =>
    new Promise<GrantOutcome>((resolve) => send(request, resolve));
  await clock.settle();
  calls.length = 0;
  return { clock, timers, shard, image, calls, answers, put, ask, openings: () => openings };
}

const deadline = start + hour;
const item = {
  ...{ payload: "a", kind: "", encoding: "", reference: "", headers: "", past: "" },
  ...{ enqueueAt: null, priority: 0, unique: "" },
};

function produce(...payloads: string[]): Request {
  return { kind: "produce", queueId: sampleQueueId(0), deadline, items: payloads };
}

const clear: Request = {
  ...{ kind: "clear", slots: [0] },
  what: { ready: true, leased: false, scheduled: false, retried: false },
};

/** Large enough to be decided during a sync. */
function large(payload: string): Request {
  return produce(...Array<string>(limits.secondTurnWeightMin).fill(payload));
}

function lease(slot = 0, batchSize = 1): Leasing {
  return { kind: "lease", slot, batchSize };
}

function leasedIn(told: GrantOutcome | undefined): readonly LeasedItem[] {
  return told !== undefined && isGrant(told) ? (told.items as readonly LeasedItem[]) : [];
}

/** Payloads in queue order. */
function storedIn(image: MemoryImage, slot = 0): string[] {
  const items = image.slots.get(slot)?.items.values() ?? [];
  return [...items].map((stored) => new TextDecoder().decode(payloadBytes(stored)));
}

/** A promise for each call, to be resolved by hand. */
function held() {
  const waiting: PromiseWithResolvers<void>[] = [];
  return {
    wait: (): Promise<void> => {
      const one = Promise.withResolvers<void>();
      waiting.push(one);
      return one.promise;
    },
    release: (cause?: Error): void => {
      const one = waiting.shift();
      if (cause === undefined) one?.resolve();
      else one?.reject(cause);
    },
  };
}

test("turn: calls its store at most twice, whatever the requests", async () => {
  const { clock, ask, calls } = await setupShard({ settings: { leaseTimeoutMs: 10 } });
  const turn = async (requests: readonly (Request | Leasing)[]) => {
    calls.length = 0;
    const asked = requests.map(ask);
    const answers = await Promise.all([...asked, clock.settle()]);
    return { calls: [...calls], answers: answers.slice(0, -1) as GrantOutcome[] };
  };
  const items = Array.from({ length: 50 }, (_, index) => ({ ...item, payload: `${index}` }));
  const later = { ...item, payload: "later", enqueueAt: clock.now() + 20 };
  const many = (slot: number): Request => ({
    kind: "produce",
    queueId: sampleQueueId(slot),
    deadline,
    items,
  });
  const first = await turn([many(0), many(1)]);
  expect(first.calls).toEqual(["commit"]);
  const leased = await turn([lease(0, 7), lease(1, 7), lease(0, 7), lease(1, 7)]);
  expect(leased.calls).toEqual(["read", "commit"]);
  const [mine = [], , others = []] = leased.answers.map((answer) => idsOf(leasedIn(answer)));
  // In the turn of all requests below, leases lapse and a scheduled item becomes ready.
  await turn([{ kind: "produce", queueId: sampleQueueId(0), deadline, items: [later] }]);
  await clock.advance(30);
  const imported = { ...item, payload: "i", sourceId: "s", past: "", leaseDeadline: null };
  const news = { ...imported, expireDeadline: null, createdAt: null, attempts: 0 };
  const asked: (Request | Leasing)[] = [
    { kind: "list", slot: 0, scheduled: false, pivot: "", limit: 5 },
    { kind: "complete", slot: 0, deadline, ids: mine },
    { kind: "complete", slot: 1, deadline, ids: ["unknown"] },
    {
      kind: "retry",
      slot: 0,
      deadline,
      items: others.map((id) => ({ id, retryAt: null, dead: false })),
    },
    { kind: "import", slot: 0, items: [news] },
    { kind: "delete", slot: 1, ids: mine },
    { kind: "recount", slots: [0] },
    { kind: "forward", targetShard: 3, arrived: 0 },
    { kind: "receive", sourceShard: 3, items: [] },
    { kind: "stats", slots: [0, 1] },
    many(0),
    lease(0, 7),
    lease(1, 7),
  ];
  const all = await turn(asked);
  // The recount takes a turn for each piece.
  expect(all.calls.slice(0, 2)).toEqual(["read", "commit"]);
  expect(all.answers).toHaveLength(asked.length);
});

test("turn: requests that arrive during a turn are gathered into the next", async () => {
  const commits = held();
  const { clock, calls, put, image } = await setupShard({ before: { commit: commits.wait } });
  await put("a", produce("a"));
  for (const name of ["b", "c", "d"]) await put(name, large(name));
  expect(calls).toEqual(["commit"]);
  commits.release();
  await clock.settle();
  expect(calls).toEqual(["commit", "a", "commit"]);
  commits.release();
  await clock.settle();
  expect(calls).toEqual(["commit", "a", "commit", "b", "c", "d"]);
  expect(storedIn(image)).toHaveLength(1 + 3 * limits.secondTurnWeightMin);
});

test("turn: bounded by requests and by items", async () => {
  const commits: number[] = [];
  const before = { commit: ({ insert }: Changes) => void commits.push(insert.length) };
  const { clock, shard } = await setupShard({ before });
  for (let index = 0; index < limits.turnRequestsMax + 1; index += 1) {
    shard.put(produce("x"), () => undefined);
  }
  await clock.settle();
  const texts = Array<string>(1_000).fill("x");
  const fitting = limits.turnWeightMax / texts.length;
  for (let index = 0; index < fitting + 1; index += 1) {
    shard.put(produce(...texts), () => undefined);
  }
  await clock.settle();
  expect(commits).toEqual([limits.turnRequestsMax, 1, limits.turnWeightMax, texts.length]);
});

test("sync: during a sync the next turn is decided, and committed after the answers", async () => {
  const syncs = held();
  const { clock, shard, calls, put } = await setupShard({
    before: { sync: syncs.wait },
    bounds: { secondTurnWeightMin: 1 },
  });
  await put("produce", produce("a"));
  await put("lease", lease());
  expect(calls).toEqual(["commit", "read"]);
  syncs.release();
  await clock.settle();
  expect(calls).toEqual(["commit", "read", "produce", "commit"]);
  // A refusal waits for the sync too, because it may depend on the unsynced turn.
  await put("complete", { kind: "complete", slot: 0, deadline, ids: ["unknown"] });
  expect(calls).toEqual(["commit", "read", "produce", "commit"]);
  const closing = shard.close();
  syncs.release();
  await clock.settle();
  await closing;
  expect(calls).toEqual(["commit", "read", "produce", "commit", "lease", "complete"]);
});

test("sync: a small turn waits for the end of the sync, so that more requests share it", async () => {
  const syncs = held();
  const { clock, calls, put } = await setupShard({ before: { sync: syncs.wait } });
  await put("a", produce("a"));
  await put("lease", lease());
  expect(calls).toEqual(["commit"]);
  await put("large", large("b"));
  // Decided during the sync, with one read, and committed after the answers.
  expect(calls).toEqual(["commit", "read"]);
  syncs.release();
  await clock.settle();
  expect(calls).toEqual(["commit", "read", "a", "commit"]);
});

test("turn: a turn with an errand ends before the next is decided", async () => {
  const syncs = held();
  const { clock, calls, put } = await setupShard({
    before: { sync: syncs.wait },
    bounds: { secondTurnWeightMin: 1 },
  });
  await put("produce", produce("a"));
  await put("backup", { kind: "backup", folder: "/nowhere" });
  await put("lease", lease());
  expect(calls).toEqual(["commit"]);
  syncs.release();
  await clock.settle();
  expect(calls).toEqual(["commit", "produce", "backup", "read", "commit"]);
});

test.each([
  ["before", false],
  ["after", true],
] as const)(
  "store: if it fails %s the commit, each request is answered correctly and done once",
  async (_, applied) => {
    let failures = 0;
    const fail = () => {
      failures += 1;
      if (failures === 1) throw new StoreError("failed", "made to fail");
    };
    const before: Before = applied ? { sync: async () => fail() } : { commit: fail };
    const { clock, image, answers, put, openings } = await setupShard({ before });
    await put("produce", produce("a", "b"));
    await put("refused", { kind: "complete", slot: 0, deadline, ids: ["unknown"] });
    await put("lease", lease());
    expect(answers).toEqual({});
    await clock.advance(limits.restartMsMin);
    expect(openings()).toBe(2);
    expect(answers).toMatchObject({ produce: done, refused: { code: "refused" } });
    expect(textsOf(leasedIn(answers["lease"]))).toEqual(["a"]);
    expect(storedIn(image)).toEqual(["a", "b"]);
  },
);

test("clear: a clear whose store fails in the middle is answered when nothing is left", async () => {
  let commits = 0;
  const commit = () => {
    commits += 1;
    if (commits === 4) throw new StoreError("failed", "made to fail");
  };
  const { clock, image, answers, put, openings } = await setupShard({
    before: { commit },
    bounds: { sweepItemsMax: 10 },
  });
  await put("produce", produce(...Array.from({ length: 200 }, (_, index) => `${index}`)));
  await put("clear", clear);
  expect([answers["clear"], openings()]).toEqual([undefined, 1]);
  await clock.advance(limits.restartMsMin);
  await clock.advance(minute);
  expect(openings()).toBe(2);
  expect(answers["clear"]).toMatchObject({ ok: true, value: { ready: 200 } });
  expect(storedIn(image)).toEqual([]);
});

test("clear: a clear whose last turn is lost is answered with everything that it removed", async () => {
  const sync = async (lose: () => void) => {
    syncs += 1;
    if (syncs !== 4) return;
    lose();
    throw new StoreError("failed", "made to fail");
  };
  let syncs = 0;
  const { clock, put, answers, openings } = await setupShard({
    before: { sync },
    bounds: { sweepItemsMax: 10 },
  });
  await put("produce", produce(...Array.from({ length: 60 }, (_, index) => `${index}`)));
  await put("clear", clear);
  expect(answers["clear"]).toBe(undefined);
  await clock.advance(second);
  expect(openings()).toBe(2);
  expect(answers["clear"]).toMatchObject({ ok: true, value: { ready: 60 } });
});

test("recount: a partition counted in a lost turn is counted again before the answer", async () => {
  const counted: number[][] = [];
  let isAsked = false;
  let losses = 0;
  const { clock, put, answers } = await setupShard({
    before: {
      commit: ({ tally }) => void (isAsked && counted.push(tally.map(({ slot }) => slot))),
      sync: async (lose) => {
        if (!isAsked || losses > 0) return;
        losses += 1;
        lose();
        throw new StoreError("failed", "made to fail");
      },
    },
  });
  await put("first", produce("a"));
  await put("second", { kind: "produce", queueId: sampleQueueId(1), deadline, items: ["b"] });
  isAsked = true;
  await put("recount", { kind: "recount", slots: [0, 1] });
  expect(counted).toEqual([[0]]);
  await clock.advance(second);
  expect(answers["recount"]).toEqual(done);
  expect(counted.slice(1)).toEqual([[0], [1]]);
});

test("sync: decisions made during a sync that fails are neither committed nor answered", async () => {
  const syncs = held();
  const { clock, calls, put, answers } = await setupShard({
    before: { sync: syncs.wait },
    bounds: { secondTurnWeightMin: 1 },
  });
  await put("produce", produce("a"));
  await put("lease", lease());
  syncs.release(new StoreError("failed", "no"));
  await clock.settle();
  expect(calls).toEqual(["commit", "read"]);
  expect(answers).toEqual({});
});

test("store: before it is open, late requests are answered, whatever waits ahead of them", async () => {
  const opening = held();
  const { clock, put, answers } = await setupShard({ opening: opening.wait });
  await put("long", produce("long"), start + 5_000);
  await put("short", produce("short"), start + 2_000);
  await put("never", produce("never"));
  await clock.advance(1_999);
  expect(answers).toEqual({});
  await clock.advance(1);
  expect(answers).toEqual({ short: late });
  await clock.advance(3_000);
  expect(answers).toEqual({ short: late, long: late });
  opening.release();
  await clock.settle();
  expect(answers).toEqual({ short: late, long: late, never: done });
});

test("store: if it stalls, requests of the turn are answered in time, once, and waiting ones have no effect", async () => {
  const commits = held();
  const { clock, shard, put, answers, image } = await setupShard({
    before: { commit: commits.wait },
  });
  await put("taken", produce("taken"), start + 100);
  await put("waits", produce("waits"), start + 100);
  await put("patient", produce("patient"));
  const timing = { deadline: start + 100, late: { beforeSend: late, afterSend: null } };
  await clock.advance(99);
  expect(answers).toEqual({});
  await clock.advance(1);
  expect(answers).toEqual({ taken: unknown, waits: late });
  commits.release();
  await clock.settle();
  commits.release();
  await clock.settle();
  expect(answers).toEqual({ taken: unknown, waits: late, patient: done });
  expect(storedIn(image)).toEqual(["taken", "patient"]);
  // The caller enforces the deadline of a request that a turn has taken.
  const kept = shard.ask(produce("kept"), { ...timing, deadline: clock.now() + 100 });
  await clock.advance(hour);
  commits.release();
  await clock.settle();
  expect(await kept).toEqual(done);
});

test("store: pauses between openings grow, and are short again after a commit", async () => {
  let isFailing = true;
  const openedAt: number[] = [];
  const commit = () => {
    if (isFailing) throw new StoreError("failed", "made to fail");
  };
  const { clock, put } = await setupShard({
    before: { commit },
    opening: async () => void openedAt.push(clockNow()),
  });
  function clockNow(): number {
    return openedAt.length === 0 ? start : clock.now();
  }
  await put("a", produce("a"));
  await clock.advance(50 + 100 + 200 + 400);
  expect(openedAt.map((at) => at - start)).toEqual([0, 50, 150, 350, 750]);
  isFailing = false;
  await clock.advance(800);
  await put("b", produce("b"));
  isFailing = true;
  const failedAt = clock.now();
  await put("c", produce("c"));
  await clock.advance(50);
  expect(openedAt.at(-1)).toBe(failedAt + 50);
});

test("store: an unusable store is not tried again at the start", async () => {
  const causes: unknown[] = [];
  const { clock, openings } = await setupShard({
    opening: () => Promise.reject(new StoreError("locked", "in use")),
    events: { down: (cause) => void causes.push(cause) },
  });
  await clock.advance(minute);
  expect([openings(), causes]).toEqual([1, [new StoreError("locked", "in use")]]);
});

test("close: the current turn is answered, and nothing else is done", async () => {
  const commits = held();
  const { clock, shard, put, answers, image } = await setupShard({
    before: { commit: commits.wait },
  });
  await put("taken", produce("taken"));
  await put("waits", produce("waits"));
  const closing = shard.close();
  await put("late", produce("late"));
  commits.release();
  await clock.settle();
  await closing;
  expect(answers).toMatchObject({
    taken: done,
    waits: { code: "closing" },
    late: { code: "closing" },
  });
  expect(storedIn(image)).toEqual(["taken"]);
});

test.each(["commit", "opening"] as const)(
  "close: requests of a turn whose store fails, at its %s, may be done",
  async (when) => {
    const commits = held();
    const { clock, shard, put, answers } = await setupShard({ before: { commit: commits.wait } });
    await put("taken", produce("taken"));
    if (when === "opening") commits.release(new StoreError("failed", "no"));
    await clock.settle();
    const closing = shard.close();
    commits.release(new StoreError("failed", "no"));
    await clock.settle();
    await closing;
    expect(answers).toEqual({ taken: unknown });
  },
);

test.each([
  ["before", "shutting_down"],
  ["after", undefined],
] as const)(
  "close: while a store that failed %s the commit reopens, requests are answered correctly",
  async (when, reason) => {
    const opening = held();
    const fail = () => {
      throw new StoreError("failed", "no");
    };
    const { clock, shard, put, answers } = await setupShard({
      before: when === "before" ? { commit: fail } : { sync: async () => fail() },
      opening: opening.wait,
    });
    opening.release();
    await clock.settle();
    await put("taken", produce("taken"));
    await clock.advance(limits.restartMsMin);
    const closing = shard.close();
    opening.release();
    await clock.settle();
    await closing;
    expect(answers["taken"]).toMatchObject(reason === undefined ? done : { reason });
  },
);

test("close: a store that fails to close leaves no request without an answer", async () => {
  const close = () => {
    throw new StoreError("failed", "no");
  };
  const { clock, shard, put, answers } = await setupShard({
    before: { close },
    bounds: { sweepItemsMax: 1 },
  });
  await put("produce", produce(...Array.from({ length: 200 }, (_, index) => `${index}`)));
  shard.put(clear, (result) => {
    answers["clear"] = result;
  });
  await clock.rounds(2);
  expect(answers["clear"]).toBe(undefined);
  const closing = shard.close().catch((cause: unknown) => cause);
  await clock.settle();
  expect(await closing).toBeInstanceOf(StoreError);
  // The clear continues at the next start.
  expect(answers["clear"]).toMatchObject({ reason: "unknown_outcome" });
});

test("close: ends when the failed store is closed", async () => {
  const commits = held();
  const closes = held();
  let closeCount = 0;
  const close = () => {
    closeCount += 1;
    // A second close returns at once, before the first is done.
    return closeCount === 1 ? closes.wait() : undefined;
  };
  const { clock, shard, put } = await setupShard({ before: { commit: commits.wait, close } });
  await put("taken", produce("taken"));
  let isClosed = false;
  void shard.close().then(() => {
    isClosed = true;
  });
  commits.release(new StoreError("failed", "no"));
  await clock.settle();
  expect(isClosed).toBe(false);
  closes.release();
  await clock.settle();
  expect(isClosed).toBe(true);
});

test("close: no timer is left, even if the store failed while idle", async () => {
  const tidy = () => Promise.reject(new StoreError("failed", "no"));
  const { clock, timers, shard, put, openings } = await setupShard({ before: { tidy } });
  await put("produce", produce("a"));
  await put("lease", lease());
  await clock.advance(second + limits.restartMsMin);
  expect(openings()).toBe(2);
  await clock.advance(second);
  await shard.close();
  expect([...timers]).toEqual([]);
});

test("maintenance: work that becomes due during maintenance is done right after it", async () => {
  const tidying = held();
  const lapsed: (number | undefined)[] = [];
  const { clock, put } = await setupShard({
    before: { tidy: () => tidying.wait().then(() => false) },
    settings: { leaseTimeoutMs: 1_500 },
    events: { report: ({ events }) => lapsed.push(...events.map(({ counts }) => counts.lapsed)) },
  });
  await put("produced", produce("a"));
  await put("leased", lease());
  await clock.advance(1_000);
  await clock.advance(1_000);
  tidying.release();
  await clock.settle();
  expect(lapsed).toContain(1);
});

test("report: a report that throws causes no repetition of its committed turn", async () => {
  let isBroken = false;
  const report = () => {
    if (!isBroken) return;
    isBroken = false;
    throw new Error("made to fail");
  };
  const { clock, image, put, answers, openings } = await setupShard({ events: { report } });
  isBroken = true;
  await put("produce", produce("a"));
  await clock.advance(limits.restartMsMin);
  expect([openings(), answers, storedIn(image)]).toEqual([2, { produce: done }, ["a"]]);
});

test("store: if it fails after its commit and again when reopened, the final answers are correct", async () => {
  let openings = 0;
  let isBroken = true;
  const sync = async () => {
    if (isBroken) throw new StoreError("failed", "no");
  };
  const opening = async () => {
    openings += 1;
    if (openings === 2 || openings === 3) throw new StoreError("locked", "no");
    isBroken = openings === 1;
  };
  const { clock, image, put, answers } = await setupShard({ before: { sync }, opening });
  await put("produce", produce("a"));
  await clock.advance(second);
  expect([openings, answers, storedIn(image)]).toEqual([4, { produce: done }, ["a"]]);
});

test.each([1, 70])(
  "store: with %i later turns of another server it counts as lost, and nothing is answered",
  async (count) => {
    let isBroken = true;
    const sync = async (lose: () => void) => {
      if (!isBroken) return;
      if (count === 1) lose();
      throw new StoreError("failed", "no");
    };
    let openings = 0;
    const opening = async (image: MemoryImage) => {
      openings += 1;
      if (openings !== 2) return;
      isBroken = false;
      const { store } = openMemoryStore({ tag: "", image });
      const { turn: last = 0 } = image.turns.at(-1) ?? {};
      for (let turn = last + 1; turn <= last + count; turn += 1) {
        await store.commit({ ...nothing, turn: { turn, at: start, tag: "other" } });
      }
    };
    const causes: unknown[] = [];
    const events = { down: (cause: unknown) => causes.push(cause) };
    const { clock, put, answers, shard } = await setupShard({ before: { sync }, opening, events });
    await put("produce", produce("a"));
    await clock.advance(second);
    await shard.abandon(unknown);
    expect(causes.at(-1)).toMatchObject({ fault: "lost" });
    expect(answers).toEqual({ produce: unknown });
  },
);

test("sync: a turn that is synced after its store failed is answered once", async () => {
  const syncs = held();
  const reports: Report[] = [];
  let isBroken = false;
  const read = () => {
    if (isBroken) throw new StoreError("failed", "no");
  };
  const { clock, put, answers } = await setupShard({
    before: { sync: syncs.wait, read },
    bounds: { secondTurnWeightMin: 1 },
    events: { report: (report) => void reports.push(report) },
  });
  await put("produce", produce("a"));
  reports.length = 0;
  isBroken = true;
  await put("lease", lease());
  isBroken = false;
  syncs.release();
  await clock.settle();
  expect([answers, reports]).toEqual([{}, []]);
  await clock.advance(limits.restartMsMin);
  expect(answers["produce"]).toEqual(done);
});

test("abandon: a loss found by the current opening is reported", async () => {
  const opening = held();
  const causes: unknown[] = [];
  const { clock, shard } = await setupShard({
    opening: opening.wait,
    events: { down: (cause) => void causes.push(cause) },
  });
  const gone = shard.abandon(failure("shutting_down", "another has it"));
  const loss = new StoreError("lost", "a commit is gone");
  opening.release(loss);
  await clock.settle();
  await gone;
  expect(causes).toEqual([loss]);
});

test("abandon: no timer is left, even during a turn", async () => {
  const syncs = held();
  const { clock, timers, shard, put } = await setupShard({ before: { sync: syncs.wait } });
  await put("produce", produce("a"));
  await shard.abandon(failure("shutting_down", "another has it"));
  syncs.release();
  await clock.settle();
  expect([...timers]).toEqual([]);
});

test("abandon: requests of the turn may be done, others change nothing", async () => {
  const commits = held();
  const { clock, shard, put, answers } = await setupShard({ before: { commit: commits.wait } });
  await put("taken", produce("taken"));
  await put("waits", produce("waits"));
  const why = failure("shutting_down", "another has it");
  await shard.abandon(why);
  expect(answers).toEqual({ taken: unknown, waits: why });
  // The end of the commit changes no answer.
  commits.release();
  await clock.settle();
  expect(answers).toEqual({ taken: unknown, waits: why });
});

test("counters: commits are sorted into their buckets", async () => {
  const reports: Report[] = [];
  const { shard, put } = await setupShard({ events: { report: (one) => void reports.push(one) } });
  for (const count of [1, 2, 3]) await put(`${count}`, produce(...Array<string>(count).fill("a")));
  const { commits, itemsCommitted, itemsPerCommit } = shard.counters;
  expect({ commits, itemsCommitted, reported: reports.length }).toEqual({
    ...{ commits: 3, itemsCommitted: 6 },
    reported: 4,
  });
  expect(itemsPerCommit.counts.slice(0, 4)).toEqual([1, 1, 1, 0]);
});

test("damaged: items found damaged one after the other are set aside together", async () => {
  const quarantined: number[] = [];
  let attempts = 0;
  const commit = ({ move, quarantine }: Changes) => {
    attempts += 1;
    expect(attempts).toBeLessThan(10);
    const [first] = move;
    if (first !== undefined) throw new DamagedItems([first]);
    quarantined.push(...quarantine.flatMap(({ seqs }) => seqs));
  };
  const settings = { maxAttempts: 0 };
  const { put, answers } = await setupShard({ before: { commit }, settings });
  await put("produce", {
    kind: "produce",
    queueId: sampleQueueId(0),
    deadline,
    items: [item, item, item],
  });
  await put("lease", lease(0, 3));
  const items = idsOf(leasedIn(answers["lease"])).map((id) => ({ id, retryAt: null, dead: false }));
  await put("retry", { kind: "retry", slot: 0, deadline, items });
  expect(answers["retry"]).toEqual(done);
  expect(quarantined).toEqual([0, 1, 2]);
});

test("retry: items too large to be rewritten in one commit are refused, and stay leased", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const large = "x".repeat(5_000_000);
  const ids: string[] = [];
  for (let count = 0; count < 14; count += 1) {
    await bundle.produce("orders", large);
    ids.push(...(await bundle.lease("orders")).items.map(({ id }) => id));
  }
  const retry = (some: readonly string[]) =>
    bundle.ending(() =>
      bundle.engine.retry({
        queue: "orders",
        partition: 0,
        items: some.map((id) => ({ id, retryAt: null, dead: false })),
      }),
    );
  expect(await retry(ids)).toMatchObject({
    code: "refused",
    message:
      "item(s) cannot be retried together; they hold 70000000 bytes, expected at most 67108864; send fewer at a time",
  });
  expect(await retry(ids.slice(0, 13))).toMatchObject({ ok: true });
  expect(bundle.engine.status().queues[0]).toMatchObject({ leased: 1, queued: 13 });
});

test("retry: calls that would make the commit of their turn too large are postponed", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const large = "x".repeat(5_000_000);
  for (let count = 0; count < 14; count += 1) await bundle.produce("orders", large);
  const ids: string[] = [];
  for (let count = 0; count < 14; count += 1)
    ids.push(...idsOf((await bundle.lease("orders")).items));
  const retry = (id: string) => {
    const items = [{ id, retryAt: null, dead: false }];
    return bundle.outcome(() => bundle.engine.retry({ queue: "orders", partition: 0, items }));
  };
  const endings = await bundle.run(() => Promise.all(ids.map(retry)));
  expect(endings.filter(({ ok }) => ok)).toHaveLength(13);
  const message = "too many requests wait for the store; try again later";
  expect(endings.at(-1)).toMatchObject({ ok: false, code: "full", message });
  expect(await bundle.run(() => retry(ids.at(-1) ?? ""))).toMatchObject({ ok: true });
});

test("shard: decides nothing before its first request, even if the rate of a line allows more", async () => {
  const { clock, shard, calls, put } = await setupShard({
    settings: { leaseTimeoutMs: second },
    events: { opened: () => null },
  });
  const queue = sampleQueue({ slot: 0, ...settingsOfQueue }, clock);
  queue.leaseLimiter.define({ ...queue.definition, leaseRate: "1/1m" });
  queue.leaseLimiter.spend(1, clock.now());
  const nothing = () => undefined;
  shard.lines.join(sampleLease(queue, { arrival: 1, batchSize: 1, settle: nothing }), false);
  shard.look();
  await clock.advance(2 * minute);
  expect(calls).toEqual([]);
  await put("produce", produce("a"));
  expect(calls).toContain("commit");
});
