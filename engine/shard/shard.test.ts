import { expect, test } from "bun:test";
import { openMemoryStore } from "../../stores/memory/store.ts";
import { SpoiltItems, type Store } from "../../stores/store.ts";
import { readLeased, renderLeased } from "../codec.ts";
import type { Request } from "../kinds.ts";
import { limits } from "../limits.ts";
import type { Answer, Report } from "../messages.ts";
import { hour, idsOf, minute, produceOf, setup, start } from "../simulation/bundle.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { Shard } from "./shard.ts";

test("requests refused without a commit are not taken for later ones of the same number", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute });
  await bundle.produce("orders", "a");
  await bundle.lease("orders");
  for (let count = 0; count < 3; count += 1) {
    const refused = await bundle.ending(() =>
      bundle.engine.complete({
        queue: "orders",
        partition: 0,
        requestTimeoutMs: minute,
        ids: ["unknown"],
      }),
    );
    expect(refused).toMatchObject({ code: "refused" });
  }
  // The lapse is a commit without a request, and records what was refused before it.
  await bundle.clock.advance(minute);
  await bundle.restart();
  bundle.store().fail({ fault: "failed", applied: true });
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  await bundle.clock.advance(minute);
  expect(produced.ending).toMatchObject({ ok: true });
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
});

/** A shard over a store that is far away: each call takes as long as a network does. */
async function farAway() {
  const clock = new VirtualClock(start);
  const { store, catalog, upkeep } = openMemoryStore({ tag: "0123456789Ab" });
  const calls: string[] = [];
  const over = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    calls.push(name);
    return new Promise((resolve) => {
      clock.at(clock.now() + 1, () => resolve(work()));
    });
  };
  const far: Store = {
    load: (what) => store.load(what),
    read: (wants) => over("read", () => store.read(wants)),
    commit: (changes) => over("commit", () => store.commit(changes)),
    close: () => store.close(),
  };
  const reports: Report[] = [];
  /** What a turn had called when it reported; the next may have begun since. */
  let called: string[] | null = null;
  const { shard } = await Shard.open({
    shard: 0,
    backend: { store: far, catalog, upkeep },
    clock,
    limits,
    renderLeased,
    report: (report) => {
      called ??= [...calls];
      reports.push(report);
    },
    fail: (cause) => {
      throw cause;
    },
  });
  let op = 0;
  /** The calls of the turn that the requests make, and how they ended. */
  const turn = async (requests: readonly Request[]) => {
    calls.length = 0;
    reports.length = 0;
    called = null;
    shard.submit(requests.map((request) => ({ ...request, op: ++op })));
    for (let waits = 0; reports.length === 0; waits += 1) {
      expect(waits).toBeLessThan(10);
      await clock.advance(1);
    }
    return { calls: called as string[] | null, answers: reports.flatMap(({ answers }) => answers) };
  };
  return { clock, turn };
}

test("a turn calls its store twice at most, whatever it is asked", async () => {
  const { clock, turn } = await farAway();
  const settings = {
    leaseTimeoutMs: 10,
    expireTimeoutMs: hour,
    maxAttempts: 3,
    dead: null,
    queue: "q",
    owner: 1,
  };
  const partitions = [0, 1].map((slot) => ({ slot, ...settings }));
  await turn([{ kind: "configure", partitions, forget: [] }]);
  const deadline = clock.now() + hour;
  const empty = { kind: "", encoding: "", reference: "", headers: "", enqueueAt: null, unique: "" };
  const items = Array.from({ length: 50 }, (_, index) => ({ ...empty, payload: `${index}` }));
  const later = { ...empty, payload: "later", enqueueAt: clock.now() + 20 };
  const produce = (slot: number): Request => ({ kind: "produce", slot, deadline, items });
  const first = await turn([produce(0), produce(1)]);
  expect(first.calls).toEqual(["commit"]);
  const lease = (slot: number): Request => ({ kind: "lease", slot, deadline, batchSize: 7 });
  const leased = await turn([lease(0), lease(1), lease(0), lease(1)]);
  expect(leased.calls).toEqual(["read", "commit"]);
  const ids = leased.answers.map(({ outcome }) =>
    outcome.ok && outcome.value.kind === "leased"
      ? readLeased(outcome.value.items).map(({ id }) => id)
      : [],
  );
  const [held = [], , others = []] = ids;
  // Leases lapse and a scheduled item wakes in the turn that is asked everything at once.
  await turn([{ kind: "produce", slot: 0, deadline, items: [later] }]);
  await clock.advance(30);
  const imported = { ...empty, payload: "i", sourceId: "s", past: "", leaseDeadline: null };
  const news = { ...imported, expireDeadline: null, createdAt: null, attempts: 0 };
  const all = await turn([
    { kind: "list", slot: 0, scheduled: false, pivot: "", limit: 5 },
    { kind: "list", slot: 1, scheduled: true, pivot: "", limit: 5 },
    { kind: "complete", slot: 0, deadline, ids: held },
    { kind: "complete", slot: 1, deadline, ids: ["unknown"] },
    {
      kind: "retry",
      slot: 0,
      deadline,
      items: others.map((id) => ({ id, retryAt: null, dead: false })),
    },
    { kind: "import", slot: 0, items: [news] },
    { kind: "delete", slot: 1, ids: held },
    {
      kind: "clear",
      slots: [1],
      what: { ready: true, leased: false, scheduled: true, retried: true },
    },
    { kind: "recount", slots: [0] },
    { kind: "forward", targetShard: 3, arrived: 0 },
    { kind: "receive", sourceShard: 3, items: [] },
    { kind: "stats", slots: [0, 1] },
    produce(0),
    lease(0),
    lease(1),
  ]);
  expect(all.calls).toEqual(["read", "commit"]);
  expect(all.answers.length).toBeGreaterThan(10);
});

/** A shard whose store syncs when it is told to. */
async function slowToSync() {
  const clock = new VirtualClock(start);
  const { store, catalog, upkeep } = openMemoryStore({ tag: "0123456789Ab" });
  const log: string[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  const slow: Store = {
    load: (what) => store.load(what),
    read: (wants) => {
      log.push("read");
      return store.read(wants);
    },
    commit: async (changes) => {
      log.push("commit");
      await store.commit(changes);
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return { synced: sync.promise };
    },
    close: () => store.close(),
  };
  const { shard } = await Shard.open({
    ...{ shard: 0, clock, limits, renderLeased, backend: { store: slow, catalog, upkeep } },
    report: ({ answers }) => {
      for (const { op, outcome } of answers) log.push(`${op} ${outcome.ok ? "ok" : "refused"}`);
    },
    fail: () => log.push("failed"),
  });
  const deadline = start + hour;
  const item = {
    payload: "a",
    kind: "",
    encoding: "",
    reference: "",
    headers: "",
    enqueueAt: null,
    unique: "",
  };
  const settings = {
    leaseTimeoutMs: hour,
    expireTimeoutMs: hour,
    maxAttempts: 3,
    dead: null,
    queue: "q",
    owner: 1,
  };
  shard.submit([{ op: 1, kind: "configure", partitions: [{ slot: 0, ...settings }], forget: [] }]);
  await clock.settle();
  log.length = 0;
  return {
    log,
    shard,
    produce: { kind: "produce", slot: 0, deadline, items: [item] },
    lease: { kind: "lease", slot: 0, deadline, batchSize: 1 },
    complete: { kind: "complete", slot: 0, deadline, ids: ["unknown"] },
    ask: async (op: number, request: Request) => {
      shard.submit([{ ...request, op }]);
      await clock.settle();
    },
    synced: async (cause?: Error) => {
      const sync = syncs.shift();
      if (cause === undefined) sync?.resolve();
      else sync?.reject(cause);
      await clock.settle();
    },
  } as const;
}

test("while a commit is synced the next turn is decided, and committed behind the answers", async () => {
  const { log, shard, produce, lease, complete, ask, synced } = await slowToSync();
  await ask(2, produce);
  await ask(3, lease);
  expect(log).toEqual(["commit", "read"]);
  await synced();
  expect(log).toEqual(["commit", "read", "2 ok", "commit"]);
  // What is refused was refused by what is not synced either.
  await ask(4, complete);
  expect(log).toEqual(["commit", "read", "2 ok", "commit"]);
  const closing = shard.close();
  await synced();
  await closing;
  expect(log).toEqual(["commit", "read", "2 ok", "commit", "3 ok", "4 refused"]);
});

test("what was decided on a commit whose sync fails is neither committed nor told", async () => {
  const { log, produce, lease, ask, synced } = await slowToSync();
  await ask(2, produce);
  await ask(3, lease);
  await synced(new Error("no"));
  expect(log).toEqual(["commit", "read", "failed"]);
});

test("a turn with an errand is through before the next is decided", async () => {
  const { log, produce, lease, ask, synced } = await slowToSync();
  await ask(2, produce);
  await ask(3, { kind: "backup", folder: "/nowhere" });
  await ask(4, lease);
  expect(log).toEqual(["commit"]);
  await synced();
  expect(log).toEqual(["commit", "2 ok", "3 refused", "read", "commit"]);
});

test("damaged items that are found one after the other are set aside together", async () => {
  const clock = new VirtualClock(start);
  const { store, catalog, upkeep } = openMemoryStore({ tag: "0123456789Ab" });
  const quarantined: number[] = [];
  let attempts = 0;
  const spoiling: Store = {
    load: (what) => store.load(what),
    read: (wants) => store.read(wants),
    close: () => store.close(),
    async commit(changes) {
      attempts += 1;
      expect(attempts).toBeLessThan(10);
      const [first] = changes.move;
      if (first !== undefined) throw new SpoiltItems([first]);
      quarantined.push(...changes.quarantine.flatMap(({ seqs }) => seqs));
      return store.commit(changes);
    },
  };
  const answers: Answer[] = [];
  const { shard } = await Shard.open({
    ...{ shard: 0, clock, limits, renderLeased, backend: { store: spoiling, catalog, upkeep } },
    report: (report) => answers.push(...report.answers),
    fail: (cause) => {
      throw cause;
    },
  });
  const settings = {
    leaseTimeoutMs: hour,
    expireTimeoutMs: hour,
    maxAttempts: 0,
    dead: null,
    queue: "q",
    owner: 1,
  };
  const ask = async (op: number, request: Request) => {
    shard.submit([{ ...request, op }]);
    await clock.settle();
    return answers.find((answer) => answer.op === op)?.outcome;
  };
  await ask(1, { kind: "configure", partitions: [{ slot: 0, ...settings }], forget: [] });
  const deadline = clock.now() + hour;
  const item = {
    payload: "x",
    kind: "",
    encoding: "",
    reference: "",
    headers: "",
    enqueueAt: null,
    unique: "",
  };
  await ask(2, { kind: "produce", slot: 0, deadline, items: [item, item, item] });
  const leased = await ask(3, { kind: "lease", slot: 0, deadline, batchSize: 3 });
  const text = leased?.ok === true && leased.value.kind === "leased" ? leased.value.items : "[]";
  const items = readLeased(text).map(({ id }) => ({ id, retryAt: null, dead: false }));
  expect(await ask(4, { kind: "retry", slot: 0, deadline, items })).toMatchObject({ ok: true });
  expect(quarantined).toEqual([0, 1, 2]);
});

test("retry: items too large to be written anew in one commit are refused, and stay leased", async () => {
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

test("retry: of calls that share a turn, those are put off that would make its commit too large", async () => {
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
