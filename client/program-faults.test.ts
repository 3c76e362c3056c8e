// A worker reports each item's outcome and continues, whatever a program passes or throws.

import { expect, spyOn, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { DeadLetter } from "./errors.ts";
import type { WorkerNotice } from "./notice.ts";
import { strangeBackoffs, strangeErrors } from "./testing/thrown.ts";
import type { Handler, WorkOptions } from "./worker.ts";

type Backoff = NonNullable<WorkOptions["backoff"]>;

async function setup(options: ClientOptions = {}) {
  const server = await listeningApp();
  const client = createClient({ url: server.url, ...options });
  const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
  const dead = client.queue("dead");
  await dead.create(timeouts);
  const queue = client.queue("orders");
  await queue.create({ ...timeouts, dead_queue: "dead" });
  return { client, queue, dead, [Symbol.asyncDispose]: () => server.stop() };
}

/** Works until the outcomes of `count` items are known. */
async function worked(
  { queue }: Awaited<ReturnType<typeof setup>>,
  handler: Handler,
  { count, ...options }: WorkOptions & { readonly count: number },
) {
  const notices: WorkerNotice[] = [];
  const worker = queue.work(handler, {
    processSignals: [],
    notice: (notice) => void notices.push(notice),
    ...options,
  });
  const settled = (): number => {
    const { running, ...ends } = worker.counts;
    return Object.values(ends).reduce((sum, end) => sum + end, 0);
  };
  while (settled() < count) await Bun.sleep(1);
  await worker.stop();
  return { counts: worker.counts, notices };
}

test.each(Object.entries(strangeErrors()))(
  "handler: if it throws %s, its item is retried and the others are completed",
  async (_, thrown) => {
    await using at = await setup();
    await at.queue.produce(["bad", "good", "good"]);
    const handler: Handler = (item) => {
      if (item.text() === "bad") throw thrown();
    };
    const { counts, notices } = await worked(at, handler, { count: 3, backoff: () => 60_000 });
    expect(counts).toMatchObject({ retried: 1, completed: 2, lost: 0, running: 0 });
    expect(notices).toMatchObject([{ kind: "retried", delayMs: 60_000 }]);
    expect(await at.queue.inspect()).toMatchObject({ retried: 1, queued: 0 });
    const [item] = await Array.fromAsync(at.queue.find());
    expect(item?.reason?.isWellFormed() ?? true).toBe(true);
  },
);

test.each(Object.entries(strangeBackoffs))(
  "backoff: if it is %s, the default is used and a fault reported",
  async (_, backoff) => {
    await using at = await setup({ random: () => 0.5 });
    await at.queue.produce("a");
    const handler: Handler = () => {
      throw new Error("no paper");
    };
    const options = { count: 1, backoff: backoff as Backoff };
    const { counts, notices } = await worked(at, handler, options);
    expect(counts).toMatchObject({ retried: 1, lost: 0, running: 0 });
    const reason = expect.stringMatching(/^backoff (is invalid; expected milliseconds, got|threw)/);
    expect(notices).toMatchObject([
      { kind: "fault", reason },
      { kind: "retried", delayMs: 750 },
    ]);
    expect(await at.queue.inspect()).toMatchObject({ retried: 1 });
  },
);

test.each([
  [Number.POSITIVE_INFINITY, 366 * 24 * 3_600_000],
  [1e300, 366 * 24 * 3_600_000],
  [0.2, 1],
  [-5, 0],
])("backoff: %d ms becomes %d ms", async (returned, delayMs) => {
  await using at = await setup();
  await at.queue.produce("a");
  let attempts = 0;
  const handler: Handler = () => {
    attempts += 1;
    if (attempts === 1) throw new Error("no paper");
  };
  const { notices } = await worked(at, handler, { count: 1, backoff: () => returned });
  expect(notices).toMatchObject([{ kind: "retried", delayMs }]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no log");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no log"))],
  ["rejects and hides it", () => strangeBackoffs["promise that rejects and hides it"]?.()],
  [
    "throws a revoked proxy",
    () => {
      throw strangeErrors()["revoked proxy"]?.();
    },
  ],
])("notice: if it %s, a line reports that and the worker continues", async (_, notice) => {
  const warned = spyOn(console, "warn").mockImplementation(() => undefined);
  try {
    await using at = await setup();
    await at.queue.produce(["bad", "good"]);
    const handler: Handler = (item) => {
      if (item.text() === "bad") throw new DeadLetter("cannot be read");
    };
    const { counts } = await worked(at, handler, { count: 2, notice });
    expect(counts).toMatchObject({ dead: 1, completed: 1, running: 0 });
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining("holdfast: the function for notices failed; ")],
    ]);
  } finally {
    warned.mockRestore();
  }
});

test("retry: the refusal of one item does not affect the others, and a DeadLetter reaches the dead queue", async () => {
  // A reason that is too long stands for anything that the server may refuse.
  await using at = await setup({
    fetch: (url, init) => {
      if (!url.endsWith(".retry")) return fetch(url, init);
      const { items, ...request } = JSON.parse(String(init.body));
      const sent = items.map((item: { reason: string }) =>
        item.reason === "too long" ? { ...item, reason: "x".repeat(2_000) } : item,
      );
      return fetch(url, { ...init, body: JSON.stringify({ ...request, items: sent }) });
    },
  });
  await at.queue.produce(["a", "too long", "b", "dead", "c"]);
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let started = 0;
  const handler: Handler = async (item) => {
    started += 1;
    if (started === 5) resolve();
    await all;
    if (item.text() === "dead") throw new DeadLetter("given up");
    throw new Error(item.text());
  };
  const options = { count: 5, concurrency: 5, backoff: () => 60_000 };
  const { counts, notices } = await worked(at, handler, options);
  expect(counts).toMatchObject({ retried: 3, dead: 1, lost: 1, running: 0 });
  expect(notices.filter(({ kind }) => kind === "lost")).toMatchObject([
    { reason: expect.stringContaining("reason"), error: { message: "too long" } },
  ]);
  expect(await at.dead.inspect()).toMatchObject({ queued: 1 });
});

test("retry: reasons too large for one call are sent in several", async () => {
  await using at = await setup();
  const texts = Array.from({ length: 400 }, (_, index) => String(index));
  await at.queue.produce(texts);
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let started = 0;
  const handler: Handler = async () => {
    started += 1;
    if (started === texts.length) resolve();
    await all;
    throw new Error("x".repeat(1_024));
  };
  const options = { count: texts.length, concurrency: texts.length, backoff: () => 60_000 };
  const { counts } = await worked(at, handler, options);
  expect(counts).toMatchObject({ retried: texts.length, lost: 0 });
});

test.each(Object.entries(strangeBackoffs))(
  "random: if it is %s, Math.random is used",
  async (_, random) => {
    await using at = await setup({ random: random as () => number });
    await at.queue.produce("a");
    const handler: Handler = () => {
      throw new Error("no paper");
    };
    const { notices } = await worked(at, handler, { count: 1 });
    const [notice] = notices;
    const delayMs = notice?.kind === "retried" ? notice.delayMs : Number.NaN;
    expect(delayMs).toBeGreaterThanOrEqual(500);
    expect(delayMs).toBeLessThanOrEqual(1_000);
  },
);
