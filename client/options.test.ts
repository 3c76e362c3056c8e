// Invalid options of clients, workers and calls are refused before anything is sent, and durations
// of any length work.

import { expect, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { nextRound, settled, stillTime } from "./testing/still-time.ts";
import type { WorkOptions } from "./worker.ts";

const thrownBy = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "nothing";
};

test.each([
  [{ uri: "http://localhost:1" }, "option 'uri' is unknown (did you mean url?); expected url, "],
  [{ apikey: "x" }, "option 'apikey' is unknown (did you mean apiKey?); expected url, "],
  [{ zzz: 1 }, "option 'zzz' is unknown; expected url, apiKey, "],
  [{ gather: "yes" }, "gather is invalid; expected true or false, got string"],
  [{ attemptsMax: 0 }, "attemptsMax is invalid; expected a number from 1, got number 0"],
  [
    { pace: { base: 1 } },
    "option 'base' is unknown (did you mean baseMs?); expected baseMs, capMs",
  ],
  [{ pace: { baseMs: Number.NaN, capMs: 1 } }, "baseMs is invalid; expected milliseconds from 0"],
  [
    { apiKey: "secret\n" },
    "apiKey is invalid; expected visible ASCII characters, character 7 of 7",
  ],
  [{ apiKey: "söcret" }, "apiKey is invalid; expected visible ASCII characters, character 2 of 6"],
  [{ apiKey: 7 }, "apiKey is invalid; expected a text, got number 7"],
])("createClient: %p is refused", (options, message) => {
  expect(thrownBy(() => createClient(options as ClientOptions))).toStartWith(message);
});

test("createClient: undefined options count as absent, and errors do not contain the key", () => {
  expect(thrownBy(() => createClient({ apiKey: undefined } as unknown as ClientOptions))).toBe(
    "nothing",
  );
  expect(thrownBy(() => createClient({ apiKey: "secret\n" }))).not.toContain("secret");
});

test.each([
  [{ concurency: 5 }, "option 'concurency' is unknown (did you mean concurrency?)"],
  [{ drainMS: 5 }, "option 'drainMS' is unknown (did you mean drainMs?)"],
  [{ drainMs: Number.NaN }, "drainMs is invalid; expected milliseconds from 0, got number NaN"],
  [{ marginMs: "5s" }, "marginMs is invalid; expected milliseconds from 0, got string"],
  [{ timeoutMs: -1 }, "timeoutMs is invalid; expected milliseconds from 0, got number -1"],
  [{ priorityMin: 10 }, "priorityMin is invalid; expected a whole number from 0 to 9, got number"],
  [{ backoff: 5 }, "backoff is invalid; expected a function, got number 5"],
])("work: %p is refused", (options, message) => {
  const queue = createClient().queue("orders");
  expect(thrownBy(() => queue.work(() => undefined, options as WorkOptions))).toStartWith(message);
});

test("work: a missing handler is refused", () => {
  const queue = createClient().queue("orders");
  expect(thrownBy(() => queue.work(undefined as never))).toBe(
    "handler is invalid; expected a function, got undefined",
  );
});

test("call options: an unknown option is refused, and nothing is sent", async () => {
  let sent = 0;
  const client = createClient({
    fetch: () => {
      sent += 1;
      return Promise.reject(new Error("sent"));
    },
    attemptsMax: 1,
  });
  const queue = client.queue("orders");
  const refusals = {
    produce: [queue.produce("x", { timeoutMS: 5 } as object), "(did you mean timeoutMs?)"],
    ids: [queue.produce("x", { returnids: true } as object), "(did you mean returnIds?)"],
    lease: [queue.lease({ bach: 5 } as object), "(did you mean batch?)"],
    leases: [queue.leases({ clientid: "x" } as object).next(), "(did you mean clientId?)"],
    stats: [queue.stats({ sginal: null } as object), "(did you mean signal?)"],
    long: [queue.produce("x", { timeoutMs: Number.POSITIVE_INFINITY }), "at most 900000"],
    none: [queue.stats({ timeoutMs: Number.NaN }), "timeoutMs is invalid"],
  } as const;
  for (const [name, [call, words]] of Object.entries(refusals)) {
    const error: unknown = await (call as Promise<unknown>).catch((thrown) => thrown);
    expect([name, error]).toEqual([
      name,
      expect.objectContaining({ message: expect.stringContaining(words) }),
    ]);
  }
  expect(sent).toBe(0);
});

test.each([2 ** 31, 2 ** 33, Number.POSITIVE_INFINITY])(
  "work: with drainMs of %d its handlers may finish",
  async (drainMs) => {
    using time = stillTime();
    await using server = await listeningApp();
    const queue = createClient({ url: server.url }).queue("orders");
    await queue.create({ lease_timeout: "30d", expire_timeout: "60d" });
    await queue.produce("long");
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const worker = queue.work(
      async (_, { signal }) => {
        signals.push(signal);
        await ended;
      },
      { concurrency: 1, drainMs, processSignals: [] },
    );
    while (signals.length === 0) await nextRound();
    const stopped = worker.stop();
    for (let passed = 0; passed < 5; passed += 1) {
      time.advance(3_600_000);
      await settled();
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    end();
    await stopped;
    expect(worker.counts).toMatchObject({ completed: 1, released: 0 });
  },
);

test("timers: a call and a pause may exceed the runtime's longest timer", async () => {
  using time = stillTime();
  let answer: () => Promise<Response> = () => Promise.reject(coded("ECONNREFUSED"));
  const asked: AbortSignal[] = [];
  const client = createClient({
    pace: { baseMs: 2 ** 32, capMs: 2 ** 33 },
    random: () => 1,
    fetch: (_, { signal }) => {
      if (signal) asked.push(signal);
      return answer();
    },
  });
  const { promise: open, resolve } = Promise.withResolvers<Response>();
  const timeoutMs = 2 ** 40;
  const stats = client.stats({ queue_name: "orders" }, { timeoutMs });
  await settled();
  time.advance(86_400_000);
  await settled();
  // The pause is not over.
  expect(asked).toHaveLength(1);
  answer = () => open;
  for (let passed = 0; passed < 2; passed += 1) {
    time.advance(2 ** 31);
    await settled();
  }
  expect(asked).toHaveLength(2);
  time.advance(86_400_000);
  await settled();
  expect(asked[1]?.aborted).toBe(false);
  resolve(Response.json({ logical_queues: [] }));
  expect(await stats).toEqual({ logical_queues: [] } as never);
});

const coded = (code: string): Error => Object.assign(new TypeError("fetch failed"), { code });
