// Which produces share a call, and that each caller gets its own outcome. One server answers when
// the test says so, the other is real.

import { afterEach, expect, jest, test } from "bun:test";
import { replyCodes } from "../openapi/codes.ts";
import { listeningApp } from "../server/testing/listening-app.ts";
import { type ClientOptions, createClient } from "./client.ts";
import type { ItemFields } from "./items.ts";
import { nextRound, settled, stillTime } from "./testing/still-time.ts";

type Fetch = NonNullable<ClientOptions["fetch"]>;
type Answer = () => Response | Promise<Response>;

interface Asked {
  readonly call: string;
  readonly queue: string;
  readonly key: string | null;
  readonly texts: readonly string[];
  readonly returnsIds: boolean | undefined;
  readonly timeoutMs: number;
  readonly bytes: number;
  readonly signal: AbortSignal;
  readonly answer: (answer: Answer) => void;
}

const reply =
  (code: keyof typeof replyCodes, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json(
      { code, code_text: replyCodes[code].text, message: `why ${code}`, reason: "any" },
      { status: code, headers },
    );
const ok = reply(200);
const broken: Answer = () => Promise.reject(new Error("ECONNRESET"));
const unreachable: Answer = () =>
  Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));

afterEach(() => void jest.useRealTimers());

/** A fake server whose answers the test controls. Fake time advances while it waits for a call. */
function parking(options: ClientOptions = {}) {
  const time = stillTime();
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, init) => {
    const body = String(init.body);
    const { queue_name: queue, items = [], request_timeout, return_ids } = JSON.parse(body);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const { signal } = init;
    if (!signal) throw new Error("a call has no signal");
    signal.addEventListener("abort", () => reject(signal.reason));
    asked.push({
      call: url.slice(url.lastIndexOf(".") + 1),
      queue,
      key: new Headers(init.headers).get("idempotency-key"),
      texts: items.map(({ utf8 }: ItemFields) => utf8),
      returnsIds: return_ids,
      timeoutMs: Number.parseInt(request_timeout, 10),
      bytes: Buffer.byteLength(body),
      signal,
      answer: resolve,
    });
    return (await promise)();
  };
  const client = createClient({
    url: "http://queue.test",
    fetch,
    pace: { baseMs: 1, capMs: 1 },
    ...options,
  });
  /** The call of that number, once it has arrived. */
  async function call(index: number): Promise<Asked> {
    for (;;) {
      const one = asked[index];
      if (one !== undefined) return one;
      time.advance(1);
      await nextRound();
    }
  }
  return { asked, call, client, time, queue: client.queue("orders") };
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "produced",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );
}

const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => String(from + index));

test("produce: produces of one round of events share a call, in order", async () => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(numbered(500).map((text) => queue.produce(text)));
  (await call(0)).answer(ok);
  await produced;
  expect(asked.map(({ texts }) => texts)).toEqual([numbered(500)]);
});

test("produce: produces that arrive during a call share the next one", async () => {
  const { asked, call, queue } = parking();
  const first = queue.produce("first");
  await call(0);
  const others = [];
  for (const text of numbered(50)) {
    others.push(queue.produce(text));
    await settled();
  }
  expect(asked.length).toBe(1);
  asked[0]?.answer(ok);
  await first;
  (await call(1)).answer(ok);
  await Promise.all(others);
  expect(asked.map(({ texts }) => texts)).toEqual([["first"], numbered(50)]);
});

test("produce: a single one is sent at once, and the next after its answer", async () => {
  const { asked, queue } = parking();
  for (const index of [0, 1, 2]) {
    const produced = queue.produce(String(index));
    await settled();
    expect(asked.length).toBe(index + 1);
    asked[index]?.answer(ok);
    await produced;
  }
});

test("produce: a call has at most 1,000 items, and no caller's items are split", async () => {
  const { asked, call, queue } = parking();
  const produced = Promise.all([
    queue.produce(numbered(600)),
    queue.produce(numbered(300, 600)),
    queue.produce(numbered(200, 900)),
    queue.produce(numbered(800, 1_100)),
    queue.produce("last"),
  ]);
  for (const index of [0, 1, 2]) (await call(index)).answer(ok);
  await produced;
  expect(asked.map(({ texts }) => texts)).toEqual([numbered(900), numbered(1_000, 900), ["last"]]);
});

test("produce: a call has at most 4 MB, unless one caller's items alone are larger", async () => {
  const { asked, call, queue } = parking();
  // Each character has three bytes in UTF-8.
  const large = "€".repeat(500_000);
  const produced = Promise.all([
    ...numbered(5).map(() => queue.produce(large)),
    queue.produce([large, large, large]),
    queue.produce("small"),
  ]);
  for (const index of [0, 1, 2, 3, 4]) (await call(index)).answer(ok);
  await produced;
  expect(asked.map(({ texts }) => texts.length)).toEqual([2, 2, 1, 3, 1]);
  expect(asked.map(({ bytes }) => bytes <= 4_000_000)).toEqual([true, true, true, false, true]);
});

test("produce: full calls do not wait for each other, but a queue has at most 8 in flight", async () => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(numbered(12).map(() => queue.produce(numbered(1_000))));
  await call(7);
  await settled();
  expect(asked.length).toBe(8);
  for (let index = 0; index < 12; index += 1) (await call(index)).answer(ok);
  await produced;
});

test("produce: queues do not wait for each other, nor do different timeouts", async () => {
  const { asked, call, client } = parking();
  const queue = client.queue("orders");
  const produced = Promise.all([
    queue.produce("a"),
    client.queue("letters").produce("b"),
    queue.produce("c", { timeoutMs: 60_000 }),
    queue.produce("d"),
    client.produce({ queue_name: "orders", items: [{ utf8: "e" }] }),
  ]);
  for (const index of [0, 1, 2]) (await call(index)).answer(ok);
  await produced;
  expect(asked.map(({ queue, texts }) => [queue, ...texts])).toEqual([
    ["orders", "a", "d", "e"],
    ["letters", "b"],
    ["orders", "c"],
  ]);
  expect(asked.map(({ timeoutMs }) => Math.round(timeoutMs / 1_000))).toEqual([300, 300, 60]);
});

test("produce: a call that hangs does not delay the next", async () => {
  const { asked, call, queue } = parking();
  // A quarter of the timeout is the patience.
  const hangs = outcomeOf(queue.produce("hangs", { timeoutMs: 200 }));
  await call(0);
  const produced = queue.produce("goes on", { timeoutMs: 200 });
  (await call(1)).answer(ok);
  await produced;
  expect(asked[1]?.texts).toEqual(["goes on"]);
  expect(asked[1]?.timeoutMs).toBeLessThanOrEqual(200);
  asked[0]?.answer(ok);
  expect(await hangs).toBe("produced");
});

test("produce: a call has the time left of the caller that has waited longest", async () => {
  const { asked, call, queue, time } = parking();
  const options = { timeoutMs: 60_000 };
  const first = queue.produce("first", options);
  await call(0);
  const second = queue.produce("second", options);
  time.advance(20);
  const third = queue.produce("third", options);
  asked[0]?.answer(ok);
  (await call(1)).answer(ok);
  await Promise.all([first, second, third]);
  expect(asked[1]?.timeoutMs).toBeLessThanOrEqual(59_981);
});

test.each([400, 413] as const)(
  "produce: after a %i each caller's items are sent separately",
  async (code) => {
    const { asked, call, queue } = parking();
    const produced = Promise.all(
      [["a", "b"], ["bad"], ["c"]].map((items) => outcomeOf(queue.produce(items))),
    );
    (await call(0)).answer(reply(code));
    for (const index of [1, 2, 3]) {
      const one = await call(index);
      one.answer(one.texts.includes("bad") ? reply(code) : ok);
    }
    expect(await produced).toEqual(["produced", "invalid", "produced"]);
    expect(asked.map(({ texts }) => texts)).toEqual([
      ["a", "b", "bad", "c"],
      ["a", "b"],
      ["bad"],
      ["c"],
    ]);
  },
);

test("produce: separate calls are limited in number, and omit callers that gave up", async () => {
  const { asked, call, queue } = parking();
  const leaving = new AbortController();
  const outcomes = numbered(20).map((text) =>
    outcomeOf(queue.produce(text, text === "9" ? { signal: leaving.signal } : {})),
  );
  (await call(0)).answer(reply(400));
  await call(8);
  await settled();
  expect(asked.length).toBe(9);
  leaving.abort("gone");
  for (let index = 1; index < 20; index += 1) (await call(index)).answer(ok);
  expect(await Promise.all(outcomes)).toEqual(
    numbered(20).map((text) => (text === "9" ? "gone" : "produced")),
  );
  expect(asked.slice(1).map(({ texts }) => texts[0])).not.toContain("9");
});

test("produce: all callers get an unknown outcome if a proxy answers the repetition", async () => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(["a", "b"].map((item) => outcomeOf(queue.produce(item))));
  (await call(0)).answer(broken);
  (await call(1)).answer(() => new Response("<h1>Bad Request</h1>", { status: 400 }));
  expect(await produced).toEqual(["unknown", "unknown"]);
  expect(asked.length).toBe(2);
});

test("produce: later calls are smaller after a proxy has refused one as too large", async () => {
  const { asked, call, queue } = parking();
  const large = "x".repeat(200_000);
  const produced = Promise.all(numbered(10).map(() => queue.produce(large)));
  (await call(0)).answer(reply(413));
  for (let index = 1; index <= 10; index += 1) (await call(index)).answer(ok);
  await produced;
  const again = Promise.all(numbered(10).map(() => queue.produce(large)));
  for (const index of [11, 12]) (await call(index)).answer(ok);
  await again;
  expect(asked.slice(11).map(({ texts }) => texts.length)).toEqual([5, 5]);
});

test.each([
  [453, "failed"],
  [454, "late"],
  [401, "unauthorized"],
] as const)("produce: a %i is the answer to each caller", async (code, expected) => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(["a", "b"].map((item) => outcomeOf(queue.produce(item))));
  (await call(0)).answer(reply(code));
  expect(await produced).toEqual([expected, expected]);
  expect(asked.length).toBe(1);
});

test("produce: the refusal of a queue that does not exist is the answer to each caller", async () => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(["a", "b"].map((item) => outcomeOf(queue.produce(item))));
  const refusal = { code: 400, code_text: "Bad Request", message: "no", reason: "no_such_queue" };
  (await call(0)).answer(() => Response.json(refusal, { status: 400 }));
  expect(await produced).toEqual(["invalid", "invalid"]);
  expect(asked.length).toBe(1);
});

test.each([
  ["429", reply(429)],
  ["503", reply(503)],
  ["a refused connection", unreachable],
])("produce: after %s the call is repeated with all items", async (_, answer) => {
  const { asked, call, queue } = parking();
  const produced = Promise.all(["a", "b"].map((item) => outcomeOf(queue.produce(item))));
  (await call(0)).answer(answer);
  (await call(1)).answer(ok);
  expect(await produced).toEqual(["produced", "produced"]);
  expect(asked.map(({ texts }) => texts)).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("produce: a signal withdraws unsent items, also between two attempts", async () => {
  const { asked, call, queue } = parking();
  const first = queue.produce("first");
  await call(0);
  const [one, two] = [new AbortController(), new AbortController()];
  const outcomes = Promise.all([
    outcomeOf(queue.produce("before", { signal: one.signal })),
    outcomeOf(queue.produce("between", { signal: two.signal })),
    outcomeOf(queue.produce("stays")),
    outcomeOf(queue.produce("never", { signal: AbortSignal.abort("never") })),
  ]);
  one.abort("before");
  asked[0]?.answer(ok);
  await first;
  (await call(1)).answer(() => {
    two.abort("between");
    return reply(503)() as Response;
  });
  (await call(2)).answer(ok);
  expect(await outcomes).toEqual(["before", "between", "produced", "never"]);
  expect(asked.map(({ texts }) => texts)).toEqual([["first"], ["between", "stays"], ["stays"]]);
});

test("produce: after no answer the repetition is unchanged, although a caller gave up", async () => {
  const { asked, call, queue } = parking();
  const leaving = new AbortController();
  const gone = outcomeOf(queue.produce("a", { signal: leaving.signal }));
  const stays = outcomeOf(queue.produce("b"));
  (await call(0)).answer(broken);
  (await call(1)).answer(() => {
    leaving.abort("gone");
    return reply(503)() as Response;
  });
  (await call(2)).answer(ok);
  expect([await gone, await stays]).toEqual(["gone", "produced"]);
  expect(asked.map(({ texts }) => texts)).toEqual([
    ["a", "b"],
    ["a", "b"],
    ["a", "b"],
  ]);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(1);
  expect(asked[0]?.key).toMatch(/^[0-9a-f]{32}$/);
});

test("produce: with keys: false, no answer is an unknown outcome for each caller", async () => {
  const { asked, call, queue } = parking({ keys: false });
  const produced = Promise.all(["a", "b"].map((item) => outcomeOf(queue.produce(item))));
  (await call(0)).answer(broken);
  expect(await produced).toEqual(["unknown", "unknown"]);
  expect(asked.map(({ key }) => key)).toEqual([null]);
});

test("produce: a caller that gives up after sending rejects at once; the others get their answer", async () => {
  const { asked, call, queue } = parking();
  const leaving = new AbortController();
  const gone = outcomeOf(queue.produce("a", { signal: leaving.signal }));
  const stays = outcomeOf(queue.produce("b"));
  await call(0);
  leaving.abort("gone");
  expect(await gone).toBe("gone");
  expect(asked[0]?.signal.aborted).toBe(false);
  asked[0]?.answer(ok);
  expect(await stays).toBe("produced");
});

test("produce: a call is aborted once all its callers have given up", async () => {
  const { asked, call, queue } = parking();
  const leaving = new AbortController();
  const { signal } = leaving;
  const gone = ["a", "b"].map((item) => outcomeOf(queue.produce(item, { signal })));
  await call(0);
  leaving.abort("gone");
  expect(await Promise.all(gone)).toEqual(["gone", "gone"]);
  await settled();
  expect(asked[0]?.signal.aborted).toBe(true);
});

test("produce: gather: false sends each caller's items separately", async () => {
  const { asked, call, queue } = parking({ gather: false });
  const produced = Promise.all(["a", "b"].map((item) => queue.produce(item)));
  for (const index of [0, 1]) (await call(index)).answer(ok);
  await produced;
  expect(asked.map(({ texts }) => texts)).toEqual([["a"], ["b"]]);
});

test("produce: requests that the server may refuse are sent separately", async () => {
  const { asked, call, client, queue } = parking();
  const unknown = { queue_name: "orders", items: [{ utf8: "c" }], colour: "red" };
  const produced = Promise.all([
    queue.produce("a"),
    queue.produce("b"),
    queue.produce([]),
    queue.produce(numbered(1_001)),
    client.produce(unknown),
    ...["d", "e"].map((item) => queue.produce(item, { timeoutMs: 1_000_000 })),
  ]);
  for (const index of [0, 1, 2, 3, 4, 5]) (await call(index)).answer(ok);
  await produced;
  expect(asked.map(({ texts }) => texts.length).toSorted((a, b) => a - b)).toEqual([
    0, 1, 1, 1, 2, 1_001,
  ]);
});

test("connections: their number is limited, and waiting leases do not delay other calls", async () => {
  const { asked, call, client, queue } = parking({ connectionsMax: 8 });
  const leaving = new AbortController();
  const { signal } = leaving;
  const leases = numbered(20).map(() => outcomeOf(queue.lease({ signal })));
  await call(5);
  await settled();
  expect(asked.length).toBe(6);
  const stats = numbered(4).map(() => client.stats({ queue_name: "orders" }));
  for (const index of [6, 7]) await call(index);
  await settled();
  expect(asked.length).toBe(8);
  for (const index of [6, 7, 8, 9]) (await call(index)).answer(ok);
  await Promise.all(stats);
  leaving.abort("enough");
  expect(await Promise.all(leases)).toEqual(leases.map(() => "enough"));
  expect(asked.length).toBe(10);
});

test("connections: a call without a free connection fails with NotInTime", async () => {
  const { asked, call, client, time } = parking({ connectionsMax: 2 });
  const first = client.stats({ queue_name: "orders" });
  await call(0);
  const late = client.stats({ queue_name: "orders" }, { timeoutMs: 20 });
  await settled();
  time.advance(20);
  expect(await outcomeOf(late)).toBe("late");
  asked[0]?.answer(ok);
  await first;
  const next = client.stats({ queue_name: "orders" });
  (await call(1)).answer(ok);
  await next;
  expect(() => createClient({ connectionsMax: 1 })).toThrow(
    "connectionsMax is invalid; expected a whole number from 2, got 1",
  );
});

test("produce: a server gets single produces of concurrent tasks in few calls, each item once", async () => {
  let calls = 0;
  const fetch: Fetch = (url, init) => {
    if (url.endsWith("produce")) calls += 1;
    return globalThis.fetch(url, init);
  };
  await using server = await listeningApp();
  const client = createClient({ url: server.url, fetch });
  const queue = client.queue("orders");
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
  await Promise.all(
    numbered(50).map(async (task) => {
      for (const item of numbered(20)) await queue.produce(`${task}-${item}`);
    }),
  );
  const lease = await queue.lease({ batch: 1_000 });
  const texts = lease?.items.map((item) => item.text()) ?? [];
  expect(texts.toSorted()).toEqual(
    numbered(50)
      .flatMap((task) => numbered(20).map((item) => `${task}-${item}`))
      .toSorted(),
  );
  // The items of one task are in order.
  const ofTask = texts.filter((text) => text.startsWith("7-"));
  expect(ofTask).toEqual(numbered(20).map((item) => `7-${item}`));
  expect(calls).toBeLessThan(500);
});

test("produce: a server's refusal of one caller's items affects that caller only", async () => {
  await using server = await listeningApp();
  const queue = createClient({ url: server.url }).queue("orders");
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
  const outcomes = await Promise.all([
    outcomeOf(queue.produce("a")),
    outcomeOf(queue.produce({ bytes: "not base64!" })),
    outcomeOf(queue.produce("b")),
  ]);
  expect(outcomes).toEqual(["produced", "invalid", "produced"]);
  expect(await queue.inspect()).toMatchObject({ queued: 2 });
});

test("produce: each caller gets the indexes of its own duplicates", async () => {
  const { call, queue } = parking();
  const leaving = new AbortController();
  const gone = queue.produce(["w", "x"], { signal: leaving.signal });
  const first = queue.produce(["a", "b"]);
  const second = queue.produce("c");
  const third = queue.produce(["d", "e", "f"]);
  leaving.abort();
  await gone.catch(() => undefined);
  const asked = await call(0);
  expect(asked.texts).toEqual(["a", "b", "c", "d", "e", "f"]);
  const answer = { code: 200, code_text: "OK", message: "", duplicates: [1, 3, 5] };
  asked.answer(() => Response.json(answer));
  expect(await Promise.all([first, second, third])).toEqual([
    { duplicates: [1] },
    { duplicates: [] },
    { duplicates: [0, 2] },
  ]);
});

test("produce: callers that want ids share calls, and each gets the ids of its items", async () => {
  const { asked, call, queue } = parking();
  const returnIds = { returnIds: true } as const;
  const leaving = new AbortController();
  const produced = [
    queue.produce(["a", "b"], returnIds),
    queue.produce("x"),
    queue.produce("c", returnIds),
    queue.produce("y", { returnIds: false }),
  ];
  const gone = queue.produce("d", { ...returnIds, signal: leaving.signal });
  produced.push(queue.produce(["e", "f"], returnIds));
  const told = await call(0);
  await call(1);
  leaving.abort();
  await gone.catch(() => undefined);
  expect(asked.map(({ texts, returnsIds }) => ({ texts, returnsIds }))).toEqual([
    { texts: ["a", "b", "c", "d", "e", "f"], returnsIds: true },
    { texts: ["x", "y"], returnsIds: undefined },
  ]);
  const answer = { code: 200, code_text: "OK", message: "", duplicates: [2, 5] };
  told.answer(() => Response.json({ ...answer, ids: ["1", "2", "", "4", "5", ""] }));
  asked[1]?.answer(ok);
  expect(await Promise.all(produced)).toEqual([
    { duplicates: [], ids: ["1", "2"] },
    { duplicates: [] },
    { duplicates: [0], ids: [""] },
    { duplicates: [] },
    { duplicates: [1], ids: ["5", ""] },
  ]);
});

test("produce: a server returns to each of many callers the id of its item", async () => {
  const asked: number[] = [];
  const fetch: Fetch = (url, init) => {
    if (url.endsWith("produce")) asked.push(JSON.parse(String(init.body)).items.length);
    return globalThis.fetch(url, init);
  };
  await using server = await listeningApp();
  const queue = createClient({ url: server.url, fetch }).queue("orders");
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
  const produced = await Promise.all(
    numbered(50).map(async (item) => {
      const { ids = [] } = await queue.produce(item, { returnIds: true });
      return [item, ...ids];
    }),
  );
  expect(asked).toEqual([50]);
  const lease = await queue.lease({ batch: 50 });
  expect(lease?.items.map((item) => [item.text(), item.id])).toEqual(produced);
});

test("produce: a caller that gives up during a call does not shift the indexes of the others", async () => {
  const { call, queue } = parking();
  const leaving = new AbortController();
  const gone = queue.produce(["w", "x"], { signal: leaving.signal });
  const stays = queue.produce(["a", "b"]);
  const asked = await call(0);
  leaving.abort();
  await gone.catch(() => undefined);
  const answer = { code: 200, code_text: "OK", message: "", duplicates: [0, 3] };
  asked.answer(() => Response.json(answer));
  expect(await stays).toEqual({ duplicates: [1] });
});
