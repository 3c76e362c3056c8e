// The worker of the library, on real shards in this thread, with a store in memory and a clock that
// only the test advances.

import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  createEngine,
  DeadLetter,
  type EmbeddedEngine,
  type Engine,
  type Handler,
  never,
  type WorkNotice,
} from "../embed.ts";
import { TestClock } from "../model/clock.ts";
import { systemRandom } from "../model/random.ts";
import { EngineWorker } from "./work.ts";

const minute = 60_000;
const timeouts = { leaseTimeoutMs: minute, expireTimeoutMs: 24 * 60 * minute };

async function opened(): Promise<EmbeddedEngine & AsyncDisposable> {
  const store = { kind: "memory" } as const;
  const engine = await createEngine({ store, testClock: true });
  await engine.ensureQueue({ ...timeouts, name: "dead" });
  await engine.ensureQueue({ ...timeouts, name: "orders", deadQueue: "dead", maxAttempts: 3 });
  return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
}

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Polls until the condition holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await round();
}

const textOf = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** Long enough for any machine, and shorter than a third of the lease. */
const patienceMs = 60_000;

/** The output of a program with an item in each of two queues; the program ends by itself. */
async function programOf(body: string) {
  const program = `
    import { createEngine } from ${JSON.stringify(join(import.meta.dir, "..", "embed.ts"))};
    const engine = await createEngine({ store: { kind: "memory" } });
    for (const name of ["orders", "hung"]) {
      await engine.createQueue({ name, leaseTimeoutMs: 3_600_000, expireTimeoutMs: 3_600_000 });
      await engine.queue(name).produce(1);
    }
    ${body}`;
  const { exited, stdout, stderr } = Bun.spawn([process.execPath, "-e", program], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    timeout: patienceMs,
  });
  const [exitCode, printed, warned] = await Promise.all([
    exited,
    new Response(stdout).text(),
    new Response(stderr).text(),
  ]);
  return { exitCode, printed: printed.trim(), warned: warned.trim() };
}

interface Job {
  readonly to: string;
}

test("work: with priorityMin, items of a lower priority are left to others", async () => {
  await using engine = await opened();
  const items = ["2", "7", "5"].map((payload) => ({ payload, priority: Number(payload) }));
  await engine.produce({ queue: "orders", requestTimeoutMs: minute, items });
  const seen: number[] = [];
  await using worker = engine.work("orders", ({ priority }) => seen.push(priority), {
    priorityMin: 5,
  });
  await until(() => seen.length === 2);
  await worker.stop();
  expect(seen).toEqual([7, 5]);
  const strict = { ...timeouts, name: "orders", priorityAgingMs: never };
  expect(await engine.ensureQueue({ ...strict, priorityAgingMs: minute })).toEqual({});
  expect(await engine.ensureQueue(strict)).toEqual({
    priorityAgingMs: { requested: never, actual: minute },
  });
  expect((await engine.inspect("orders")).queued).toBe(1);
});

test("createQueue, ensureQueue: optional settings have defaults", async () => {
  await using engine = await opened();
  await engine.createQueue({ ...timeouts, name: "bare" });
  const defaults = { deadQueue: "", reference: "", maxAttempts: 0, requestedPartitions: 1 };
  expect(engine.queueInfo("bare")).toMatchObject(defaults);
  expect(await engine.ensureQueue({ ...timeouts, name: "orders" })).toEqual({});
  expect(await engine.ensureQueue({ ...timeouts, name: "orders", maxAttempts: 5 })).toEqual({
    maxAttempts: { requested: 5, actual: 3 },
  });
  const short = { name: "short" } as unknown as Parameters<typeof engine.createQueue>[0];
  await expect(engine.createQueue(short)).rejects.toThrow("leaseTimeoutMs is required");
});

test("work: each item is handled once, as the value that was produced", async () => {
  await using engine = await opened();
  const mails = engine.queue<Job>("orders");
  const names = Array.from({ length: 50 }, (_, index) => `user-${index}`);
  for (const to of names) await mails.produce({ to }, { kind: "mail" });
  const seen: string[] = [];
  const worker = mails.work(({ to }, { kind, attempts }, { queue, maxAttempts }) => {
    expect([kind, attempts, queue, maxAttempts]).toEqual(["mail", 1, "orders", 3]);
    seen.push(to);
  });
  await until(() => seen.length === names.length);
  await worker.stop();
  expect(seen.toSorted()).toEqual(names.toSorted());
  expect((await engine.inspect("orders")).queued).toBe(0);
});

test("work: no more handlers run at once than concurrency allows", async () => {
  await using engine = await opened();
  for (let index = 0; index < 5; index += 1) await engine.queue<number>("orders").produce(index);
  let running = 0;
  let most = 0;
  let done = 0;
  const worker = engine.work(
    "orders",
    async () => {
      running += 1;
      most = Math.max(most, running);
      await round();
      running -= 1;
      done += 1;
    },
    { concurrency: 2 },
  );
  await until(() => done === 5);
  await worker.stop();
  expect(most).toBe(2);
});

test("work: an item whose handler throws waits for its backoff, with the reason", async () => {
  await using engine = await opened();
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const seen: (string | undefined)[] = [];
  const notices: WorkNotice[] = [];
  const worker = engine.work(
    "orders",
    (item) => {
      seen.push(item.past?.reason);
      if (item.attempts === 1) throw new Error("no paper");
    },
    { backoff: () => 10 * minute, notice: (notice) => void notices.push(notice) },
  );
  await until(() => notices.length === 1);
  expect(notices).toMatchObject([{ kind: "retried", delayMs: 10 * minute }]);
  await engine.advance(9 * minute);
  expect(await engine.inspect("orders")).toMatchObject({ retried: 1 });
  await engine.advance(minute);
  await until(() => seen.length === 2);
  await worker.stop();
  expect(seen).toEqual([undefined, "no paper"]);
  expect(await engine.inspect("orders")).toMatchObject({ queued: 0, retried: 0 });
});

test("work: without a backoff of its own, the queue's retryBackoff sets failed items aside", async () => {
  await using engine = await opened();
  await engine.updateQueue({ name: "orders", retryBackoff: "1h..2h" });
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const notices: WorkNotice[] = [];
  const worker = engine.work(
    "orders",
    ({ attempts }) => {
      if (attempts === 1) throw new Error("no paper");
    },
    { notice: (notice) => void notices.push(notice) },
  );
  await until(() => notices.length === 1);
  expect(notices).toMatchObject([{ kind: "retried" }]);
  expect(notices[0]).not.toHaveProperty("delayMs");
  await engine.advance(54 * minute);
  expect(await engine.inspect("orders")).toMatchObject({ retried: 1 });
  await engine.advance(6 * minute);
  await worker.stop();
  expect(await engine.inspect("orders")).toMatchObject({ retried: 0 });
});

test("work: a handler's maxAttempts is the item's own limit, or the queue's", async () => {
  await using engine = await opened();
  const items = [{ payload: "a", maxAttempts: 7 }, { payload: "b" }];
  await engine.produce({ queue: "orders", requestTimeoutMs: minute, items });
  const seen: number[] = [];
  const worker = engine.work("orders", (_, { maxAttempts }) => void seen.push(maxAttempts));
  await until(() => seen.length === 2);
  await worker.stop();
  expect(seen).toEqual([7, engine.queueInfo("orders").maxAttempts]);
});

test("work: a DeadLetter sends its item to the dead queue, as does a payload that is not JSON", async () => {
  await using engine = await opened();
  const orders = engine.queue<Job>("orders");
  await orders.produce({ to: "ada" });
  await engine.produce({ queue: "orders", requestTimeoutMs: minute, items: [{ payload: "{" }] });
  const notices: WorkNotice[] = [];
  const worker = orders.work(
    () => {
      throw new DeadLetter("no such user");
    },
    { backoff: () => 0, notice: (notice) => void notices.push(notice) },
  );
  await until(async () => (await engine.inspect("dead")).queued === 2);
  await worker.stop();
  const kinds: string[] = notices.map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["dead", "retried", "retried", "retried"]);
});

test("work: an item whose handler takes longer than its lease is handled once", async () => {
  await using engine = await opened();
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const attempts: number[] = [];
  let wasAborted = true;
  const worker = engine.work("orders", async (item, { signal }) => {
    attempts.push(item.attempts);
    await ended;
    wasAborted = signal.aborted;
  });
  await until(() => attempts.length === 1);
  const deadline = async (): Promise<number> => {
    const page = { queue: "orders", partition: 0, pivot: "", limit: 1 };
    const [item] = await engine.listItems(page);
    return item?.leaseDeadline ?? 0;
  };
  for (let count = 0; count < 6; count += 1) {
    const before = await deadline();
    await engine.advance(21_000);
    await until(async () => (await deadline()) > before);
  }
  end();
  await worker.stop();
  expect(attempts).toEqual([1]);
  expect(wasAborted).toBe(false);
  expect(await engine.inspect("orders")).toMatchObject({ queued: 0 });
});

test("work: a handler whose item is lost gets the signal, and its end is not reported", async () => {
  await using engine = await opened();
  const { ids = [] } = await engine.produce({
    ...{ queue: "orders", requestTimeoutMs: minute, returnIds: true },
    items: [{ payload: "1" }],
  });
  const { promise: aborted, resolve: abort } = Promise.withResolvers<unknown>();
  let hasBegun = false;
  const notices: WorkNotice[] = [];
  const worker = engine.work(
    "orders",
    async (_, { signal }) => {
      hasBegun = true;
      signal.addEventListener("abort", () => abort(signal.reason));
      await aborted;
    },
    { notice: (notice) => void notices.push(notice) },
  );
  await until(() => hasBegun);
  await engine.deleteItems({ queue: "orders", partition: 0, ids });
  await engine.advance(21_000);
  expect(await aborted).toBeInstanceOf(Error);
  await worker.stop();
  expect(notices.map(({ kind }) => kind)).toEqual(["lost"]);
});

const failing = (): never => {
  throw new Error("no");
};

test.each([
  ["no length", { backoff: (): number => Number.NaN }],
  ["a throw", { backoff: failing }],
  ["a notice that throws", { notice: failing, backoff: (): number => minute }],
])(
  "work: %s from the program neither ends the worker nor keeps the item leased",
  async (_, options) => {
    await using engine = await opened();
    await engine.queue<Job>("orders").produce({ to: "ada" });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const worker = engine.work(
      "orders",
      () => {
        throw proxy;
      },
      { notice: () => undefined, ...(options as object) },
    );
    await until(async () => (await engine.inspect("orders")).retried === 1);
    await worker.stop();
  },
);

test("work: a process ends with its engine; no lease timer is left, whether handled or abandoned", async () => {
  const ended = await programOf(`
    let begun = 0;
    const both = Promise.withResolvers();
    const handlerOf = (ending) => () => {
      begun += 1;
      if (begun === 2) both.resolve();
      return ending;
    };
    engine.work("orders", handlerOf(Promise.resolve()));
    engine.work("hung", handlerOf(new Promise(() => undefined)), { drainMs: 0 });
    await both.promise;
    await engine.close();
    console.log("closed");
  `);
  expect(ended).toEqual({ exitCode: 0, printed: "closed", warned: "" });
}, 120_000);

test.each([
  ["a backoff that rejects", "{ notice, backoff: rejecting }", "fault,retried"],
  [
    "a backoff whose result has a then that throws",
    "{ notice, backoff: () => ({ get then() { throw new Error('no'); } }) }",
    "fault,retried",
  ],
  [
    "a notice that rejects",
    "{ notice: (of) => { notice(of); return rejecting(); }, backoff: () => 0 }",
    "retried",
  ],
])(
  "work: %s leaves no unhandled rejection",
  async (_, options, kinds) => {
    const ended = await programOf(`
    const retried = Promise.withResolvers();
    const kinds = [];
    const notice = ({ kind }) => {
      kinds.push(kind);
      if (kind === "retried") retried.resolve();
    };
    const rejecting = () => Promise.reject(new Error("no length"));
    const leaving = new AbortController();
    engine.work(
      "orders",
      () => {
        leaving.abort();
        throw new Error("no paper");
      },
      { ...${options}, signal: leaving.signal },
    );
    await retried.promise;
    await engine.close();
    console.log(kinds.join());
  `);
    expect(ended).toEqual({ exitCode: 0, printed: kinds, warned: "" });
  },
  120_000,
);

test("work: a backoff that returns a promise is an error, and the worker's own is used", async () => {
  await using engine = await opened();
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const notices: WorkNotice[] = [];
  const backoff = (): Promise<number> => Promise.resolve(minute);
  const options = { backoff, notice: (notice: WorkNotice) => void notices.push(notice) };
  const worker = engine.work("orders", failing, options as object);
  await until(() => notices.length === 2);
  await worker.stop();
  const error = new TypeError("backoff is invalid; expected milliseconds, got a promise");
  expect(notices).toMatchObject([{ kind: "fault", error }, { kind: "retried" }]);
});

test("work: without a notice a worker prints the thrown error, and the reason why it ends by itself", async () => {
  const { exitCode, printed, warned } = await programOf(`
    const leaving = new AbortController();
    await engine.work(
      "orders",
      function printing() {
        leaving.abort();
        throw new Error("no paper");
      },
      { signal: leaving.signal, backoff: () => 60_000 },
    ).stopped;
    await engine.deleteQueue({ name: "hung", force: true });
    await engine.work("hung", () => undefined).stopped.catch(() => undefined);
    await engine.close();
  `);
  const [first, ...lines] = warned.split("\n");
  expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "" });
  expect(first).toMatch(/^holdfast: retried \w{27} of orders again in 60000 ms; no paper$/);
  expect(lines[0]).toMatch(/^\s+at printing /);
  expect(lines.at(-1)).toBe(
    "holdfast: ended of hung; queue does not exist; no such queue named 'hung'",
  );
}, 120_000);

test("work: a worker whose queue is deleted ends with a notice", async () => {
  await using engine = await opened();
  const notices: WorkNotice[] = [];
  const options = { notice: (notice: WorkNotice) => void notices.push(notice) };
  const worker = engine.work("orders", () => undefined, options);
  await engine.deleteQueue({ name: "orders", force: true });
  const error = await worker.stopped.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining("queue") });
  expect(notices).toEqual([{ kind: "ended", error }]);
});

test("work: a close stops workers first, and lets handlers end", async () => {
  const engine = await opened();
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let hasBegun = false;
  const worker = engine.work("orders", async () => {
    hasBegun = true;
    await ended;
  });
  await until(() => hasBegun);
  const closed = engine.close();
  end();
  await closed;
  await worker.stopped;
});

test("work: a stop waits no longer than its drain timeout, and releases the items of hanging handlers", async () => {
  await using engine = await opened();
  await engine.queue<Job>("orders").produce({ to: "ada" });
  const reasons: unknown[] = [];
  let hasBegun = false;
  const worker = engine.work(
    "orders",
    async (_, { signal }) => {
      hasBegun = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      reasons.push(signal.reason);
      throw signal.reason;
    },
    { drainMs: 0 },
  );
  await until(() => hasBegun);
  await worker.stop();
  expect(reasons).toEqual([new Error("the worker has to stop now")]);
  expect(await engine.inspect("orders")).toMatchObject({ queued: 1, retried: 0 });
});

test("work: a worker without its queue ends with the reason, and invalid options are refused", async () => {
  await using engine = await opened();
  const options = { notice: () => undefined };
  const { stopped } = engine.work("boats", () => undefined, options);
  await expect(stopped).rejects.toThrow("queue does not exist");
  const work = (options: object) => () => engine.work("orders", () => undefined, options);
  expect(work({ concurency: 1 })).toThrow("concurency");
  expect(work({ drainMs: Number.NaN })).toThrow("options.drainMs is invalid");
  expect(() => engine.work("orders", undefined as never)).toThrow("handler is required");
});

/** A worker of `orders` and two items, with delayable calls. Only `pass` advances its clock. */
async function delayed(
  engine: EmbeddedEngine,
  handler: Handler,
  calls: Partial<Pick<Engine, "complete" | "extend">>,
) {
  const { ids = [] } = await engine.produce({
    ...{ queue: "orders", requestTimeoutMs: minute, returnIds: true },
    items: [{ payload: "first" }, { payload: "second" }],
  });
  const [first = "", second = ""] = ids;
  const clock = new TestClock();
  const notices: WorkNotice[] = [];
  const extended: (readonly string[])[] = [];
  const { extend = engine.extend } = calls;
  const worker = new EngineWorker({
    engine: {
      ...{ ...engine, ...calls },
      extend(request) {
        extended.push(request.ids);
        return extend(request);
      },
    },
    ...{ clock, handler, random: systemRandom, queue: "orders" },
    options: { notice: (notice) => void notices.push(notice) },
  });
  const pass = async (ms: number): Promise<void> => {
    await engine.advance(ms);
    clock.advanceTo(clock.now() + ms);
  };
  const deadlineOf = async (id: string): Promise<number> =>
    (await engine.getItem(id)).leaseDeadline ?? 0;
  return { worker, notices, extended, pass, deadlineOf, first, second };
}

test("work: an item that is being completed is not extended, and the others are", async () => {
  await using engine = await opened();
  const replies = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  let isCommitted = false;
  const at = await delayed(
    engine,
    async ({ payload }, { signal }) => {
      signals.push(signal);
      if (textOf(payload) === "second") await ended.promise;
    },
    {
      async complete(request) {
        const outcome = await engine.complete(request);
        isCommitted = true;
        await replies.promise;
        return outcome;
      },
    },
  );
  await until(() => isCommitted && signals.length === 2);
  await at.pass(21_000);
  await until(() => at.extended.length > 0);
  expect(at.extended).toEqual([[at.second]]);
  replies.resolve();
  ended.resolve();
  await at.worker.stop();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  expect(at.notices).toEqual([]);
});

test("work: an item that is completed during its extension is not lost", async () => {
  await using engine = await opened();
  const replies = Promise.withResolvers<void>();
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const committed = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  let outcomes = 0;
  const at = await delayed(
    engine,
    async ({ payload }, { signal }) => {
      signals.push(signal);
      await ends[textOf(payload) === "first" ? 0 : 1]?.promise;
    },
    {
      async complete(request) {
        const outcome = await engine.complete(request);
        committed.resolve();
        await replies.promise;
        return outcome;
      },
      async extend(request) {
        await committed.promise;
        return engine.extend(request).finally(() => {
          outcomes += 1;
        });
      },
    },
  );
  await until(() => signals.length === 2);
  await at.pass(21_000);
  await until(() => at.extended.length > 0);
  ends[0]?.resolve();
  await until(() => outcomes > 0);
  await until(() => outcomes === at.extended.length);
  expect(at.extended).toEqual([[at.first, at.second], [at.second]]);
  replies.resolve();
  ends[1]?.resolve();
  await at.worker.stop();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  expect(at.notices).toEqual([]);
});

test("work: only items that an extension refuses are lost; the rest is extended at once", async () => {
  await using engine = await opened();
  const ended = Promise.withResolvers<void>();
  let begun = 0;
  const handler: Handler = async () => {
    begun += 1;
    await ended.promise;
  };
  const at = await delayed(engine, handler, {});
  await until(() => begun === 2);
  await engine.deleteItems({ queue: "orders", partition: 0, ids: [at.first] });
  const before = await at.deadlineOf(at.second);
  await at.pass(21_000);
  await until(() => at.notices.length > 0);
  expect(at.extended).toEqual([[at.first, at.second], [at.second]]);
  await until(async () => (await at.deadlineOf(at.second)) > before);
  ended.resolve();
  await at.worker.stop();
  expect(at.notices).toMatchObject([{ kind: "lost", item: { id: at.first } }]);
});
