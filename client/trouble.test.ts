// A client reports an unreachable server soon, and once.

import { expect, spyOn, test } from "bun:test";
import { type ClientOptions, createClient } from "./client.ts";
import type { Queue } from "./queue.ts";
import { settled, stillTime } from "./testing/still-time.ts";
import type { ClientNotice } from "./trouble.ts";

const unreachable = () =>
  Promise.reject(Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" }));
const done = () => Promise.resolve(Response.json({ code: 200, code_text: "OK", message: "" }));

function setup(options: ClientOptions = {}) {
  const server = { answer: unreachable as () => Promise<Response> };
  const notices: ClientNotice[] = [];
  const client = createClient({
    url: "http://nowhere.test:9090",
    fetch: () => server.answer(),
    random: () => 1,
    notice: (notice) => void notices.push(notice),
    ...options,
  });
  return { server, notices, queue: client.queue("orders") };
}

/** Advances time in small steps, so that pauses between attempts end one by one. */
async function advanceInSteps(time: { advance(ms: number): void }, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    time.advance(100);
    await settled();
  }
}

test("trouble: a server that is down is reported once within a second, although many calls wait", async () => {
  using time = stillTime();
  const { server, notices, queue } = setup();
  const produced = [queue.produce("a"), queue.produce("b", { key: "b" }), queue.stats()];
  await settled();
  expect(notices).toEqual([]);
  await advanceInSteps(time, 1_000);
  expect(notices).toEqual([
    {
      kind: "trouble",
      operation: expect.any(String),
      error: expect.objectContaining({ code: "unavailable" }),
      leftMs: expect.any(Number),
    },
  ]);
  expect(notices[0]?.leftMs).toBeGreaterThan(298_000);
  await advanceInSteps(time, 10_000);
  expect(notices).toHaveLength(1);
  server.answer = done;
  await advanceInSteps(time, 6_000);
  await Promise.all(produced);
  // The next outage is reported again.
  server.answer = unreachable;
  const again = queue.produce("c", { timeoutMs: 5_000 }).catch((error) => error.code);
  await advanceInSteps(time, 6_000);
  expect(notices).toHaveLength(2);
  expect(await again).toBe("unavailable");
});

test("trouble: a connection that breaks once is not reported", async () => {
  using time = stillTime();
  const { server, notices, queue } = setup();
  const produced = queue.produce("a");
  await settled();
  server.answer = done;
  await advanceInSteps(time, 1_000);
  await produced;
  expect(notices).toEqual([]);
});

test("trouble: by default a line is printed, and a notice function that throws stops nothing", async () => {
  const warned = spyOn(console, "warn").mockImplementation(() => undefined);
  try {
    using time = stillTime();
    const { queue } = setup({ notice: undefined } as unknown as ClientOptions);
    void queue.produce("a").catch(() => undefined);
    await advanceInSteps(time, 1_000);
    expect(warned.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^holdfast: trouble with produce, repeating it for up to \d+ s; the server cannot be reached at http:\/\/nowhere\.test:9090; .*ECONNREFUSED/,
        ),
      ],
    ]);
    const { server, queue: other } = setup({
      notice: () => {
        throw new Error("no log");
      },
    });
    const produced = other.produce("a");
    await advanceInSteps(time, 1_000);
    server.answer = done;
    await advanceInSteps(time, 3_000);
    await produced;
    expect(warned).toHaveBeenCalledTimes(2);
  } finally {
    warned.mockRestore();
  }
});

test("trouble: a worker's calls are reported by the worker and not by the client", async () => {
  using time = stillTime();
  const { notices, queue } = setup();
  const kinds: string[] = [];
  const worker = queue.work(() => undefined, {
    notice: ({ kind }) => void kinds.push(kind),
    processSignals: [],
  });
  await advanceInSteps(time, 15_000);
  expect(kinds).toContain("trouble");
  expect(notices).toEqual([]);
  await worker.stop();
});

test.each([
  ["produce", (queue: Queue) => queue.produce("a")],
  // This call is never repeated.
  ["pause", (queue: Queue) => queue.pause()],
])("trouble: a missing answer is reported after five seconds: %s", async (operation, call) => {
  using time = stillTime();
  const { server, notices, queue } = setup();
  server.answer = () => new Promise(() => undefined);
  void call(queue).catch(() => undefined);
  await advanceInSteps(time, 4_900);
  expect(notices).toEqual([]);
  await advanceInSteps(time, 300);
  expect(notices).toMatchObject([
    { operation, error: { message: "no answer from the server for 5000 ms" } },
  ]);
  await advanceInSteps(time, 30_000);
  expect(notices).toHaveLength(1);
});
