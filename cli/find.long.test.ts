// Runs `holdfast items find`, `summarize`, `get`, `explain`, `redrive` and `tasks` against a server.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, createClient } from "../client/client.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { exitCodes } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

let server: ListeningApp;
let client: Client;

beforeAll(async () => {
  server = await listeningApp();
  client = createClient({ url: server.url });
});
afterAll(() => server.stop());

function run(words: readonly string[], input = "") {
  return runInProcess(words, { input, env: { HOLDFAST_URL: server.url } });
}

async function json(...words: string[]) {
  const { code, out, error } = await run([...words, "--json"]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out);
}

// A lease outlasts the commands of a test, however slowly they start.
const timeouts = { lease_timeout: "30m", expire_timeout: "1h" };
const reasons = ["card 1 declined", "card 2 declined", "timeout"];

/** Makes two queues: `a`, `b` and `c` have died in the first, where `d` is ready. */
async function setup() {
  const name = `orders-${crypto.randomUUID().slice(0, 8)}`;
  const dead = client.queue(`${name}-dead`);
  await dead.create(timeouts);
  const queue = client.queue(name);
  await queue.create({ ...timeouts, dead_queue: dead.name });
  const payloads = ["a", "b", "c"].map((utf8) => ({ utf8, kind: "charge" }));
  const { ids = [] } = await queue.produce(payloads, { returnIds: true });
  const lease = await queue.lease({ batch: 3 });
  const items = lease?.items.map(({ id }, index) => ({
    id,
    dead: true,
    reason: reasons[index] ?? "",
  }));
  await client.retry({ queue_name: name, partition: 0, items: items ?? [] });
  await queue.produce("d");
  return { queue, dead, ids };
}

test("items find: prints matching items with their reasons, and the limit if it was reached", async () => {
  const { queue, dead } = await setup();
  const { out } = await run(["items", "find", dead.name, "--reason", "card 7 declined"]);
  const [head, ...rows] = out.trimEnd().split("\n");
  expect(head).toMatch(/^partition +id +state +attempts +kind +reason +payload$/);
  const row = (reason: string, payload: string) =>
    expect.stringMatching(
      new RegExp(`^ +0 +\\w{27} +rejected in ${queue.name} +1 +charge +${reason} +${payload}$`),
    );
  expect(rows).toEqual([
    row("card 1 declined", "a"),
    row("card 2 declined", "b"),
    "2 items found among 3; all there are",
  ]);
  const limited = await json("items", "find", dead.name, "-n", "2");
  expect(limited).toMatchObject({
    items: [{ payload: btoa("a") }, {}],
    scanned: 2,
    is_all: false,
  });
  const newest = await json("items", "find", dead.name, "-n", "2", "--newest");
  const all = await json("items", "find", dead.name);
  expect(newest.items).toEqual(all.items.toReversed().slice(0, 2));
  const some = await run(["items", "find", dead.name, "-n", "1"]);
  expect(some.out).toEndWith("1 item found among 1; there may be more\n");
  expect((await run(["items", "find", queue.name, "--state", "leased"])).out).toBe(
    "0 items found among 0; all there are\n",
  );
});

test.each<[string, readonly string[], string[]]>([
  ["kind", ["--kind", "charge"], ["a", "b", "c"]],
  ["reference", ["--reference", "r"], []],
  ["contents", ["--contains", "b"], ["b"]],
  ["death", ["--death", "rejected", "--attempts-min", "1"], ["a", "b", "c"]],
  ["death", ["--death", "expired"], []],
  ["when it was produced", ["--before", "1h"], []],
  ["when it was produced", ["--before", "2999-01-01T00:00:00Z"], ["a", "b", "c"]],
  ["how often it was sent back", ["--redriven-max", "0", "--partition", "0"], ["a", "b", "c"]],
])("items find: by %s: %j", async (_, words, texts) => {
  const { dead } = await setup();
  const { items } = await json("items", "find", dead.name, ...words);
  expect(items.map(({ payload }: { payload: string }) => atob(payload))).toEqual(texts);
});

test("items find: filters by the first id and by the queue of origin", async () => {
  const { queue, dead, ids } = await setup();
  const { items } = await json(
    "items",
    "find",
    dead.name,
    "--origin",
    String(ids[1]),
    "--from",
    queue.name,
  );
  expect(items).toMatchObject([{ payload: btoa("b"), origin_id: ids[1] }]);
});

test("items summarize: counts by reason, the largest first, or by another field", async () => {
  const { queue, dead } = await setup();
  const { out } = await run(["items", "summarize", dead.name]);
  const [head, ...rows] = out.trimEnd().split("\n");
  expect(head).toMatch(/^items +first +last +reason$/);
  expect(rows).toEqual([
    expect.stringMatching(/^ +2 +\S+Z +\S+Z +card <n> declined$/),
    expect.stringMatching(/^ +1 +\S+Z +\S+Z +timeout$/),
  ]);
  expect(await json("items", "summarize", dead.name, "--by", "origin_queue")).toMatchObject({
    ...{ summaries: [{ value: queue.name, count: 3 }], scanned: 3 },
  });
  expect((await run(["items", "summarize", queue.name, "--state", "scheduled"])).out).toBe(
    "no items among 0\n",
  );
  expect((await run(["items", "summarize", queue.name])).out).toMatch(/\(none\)\n$/);
});

test("items find and summarize --dead: only the items of the dead queue that come from this queue", async () => {
  const { queue, dead } = await setup();
  const other = client.queue(`other-${crypto.randomUUID().slice(0, 8)}`);
  await other.create({ ...timeouts, dead_queue: dead.name });
  await other.produce("e");
  const lease = await other.lease();
  const items = (lease?.items ?? []).map(({ id }) => ({ id, reason: "no answer", dead: true }));
  await client.retry({ queue_name: other.name, partition: 0, items });
  const found = await json("items", "find", queue.name, "--dead", "--kind", "charge");
  expect(found.items.map(({ payload }: { payload: string }) => atob(payload))).toEqual([
    ...["a", "b", "c"],
  ]);
  expect(await json("items", "summarize", other.name, "--dead")).toMatchObject({
    ...{ summaries: [{ value: "no answer", count: 1 }], scanned: 4 },
  });
  const none = await run(["items", "find", dead.name, "--dead"]);
  expect([none.code, none.error]).toEqual([
    exitCodes.usage.code,
    expect.stringContaining(`queue '${dead.name}' has no dead queue`),
  ]);
});

test("items summarize --top: prints the largest summaries, and the total of the others", async () => {
  const { dead } = await setup();
  const { out } = await run(["items", "summarize", dead.name, "--top", "1"]);
  const [, ...rows] = out.trimEnd().split("\n");
  expect(rows).toEqual([
    expect.stringMatching(/^ +2 +\S+Z +\S+Z +card <n> declined$/),
    "1 item with 1 other value",
  ]);
  expect(await json("items", "summarize", dead.name, "--top", "1")).toMatchObject({
    ...{ summaries: [{ value: "card <n> declined", count: 2 }], other_items: 1 },
  });
});

test("items find and summarize: a reason is printed whole, and --reason accepts it", async () => {
  const { queue, dead } = await setup();
  const reason = `upstream payments.internal did not answer within 30 s;\n  ${"it is overloaded ".repeat(3)}`;
  const lease = await queue.lease({ batch: 1 });
  const item = { id: lease?.items[0]?.id ?? "", dead: true, reason };
  await client.retry({ queue_name: queue.name, partition: 0, items: [item] });
  const words = [dead.name, "--contains", "d"];
  const { out } = await run(["items", "summarize", ...words]);
  const [, summary = ""] = /Z +(upstream .*)$/m.exec(out) ?? [];
  expect(summary).toHaveLength(reason.replaceAll(/\s+/g, " ").trim().length + "<n>".length - 2);
  const found = await run(["items", "find", ...words]);
  const [, one = ""] = /(upstream .*?) +d$/m.exec(found.out) ?? [];
  for (const copied of [summary, one]) {
    const { items } = await json("items", "find", dead.name, "--reason", copied);
    expect(items).toMatchObject([{ payload: btoa("d"), reason }]);
    const dry = await run(["redrive", dead.name, "--reason", copied, "--dry-run"]);
    expect(dry.out).toStartWith(`1 item of ${dead.name} would go`);
  }
});

test("items get and explain: print one item, by its id or a former one", async () => {
  const { queue, dead, ids } = await setup();
  const { items } = await json("items", "find", dead.name, "-n", "1");
  const { out } = await run(["items", "get", items[0].id]);
  expect(out).toMatch(new RegExp(`^origin_queue +${queue.name}$`, "m"));
  expect(out).toEndWith("\na\n");
  expect(await json("items", "get", items[0].id)).toMatchObject({ payload: btoa("a") });
  const range = ["--payload-offset", "0", "--payload-limit", "0"];
  expect(await json("items", "get", items[0].id, ...range)).toMatchObject({
    ...{ payload: "", payload_bytes: 1 },
  });
  const gone = await run(["items", "get", String(ids[0])]);
  expect(gone).toMatchObject({ code: exitCodes.refused.code, out: "" });
  expect(gone.error).toContain(`no item has the id '${ids[0]}'`);
  const explained = await run(["items", "explain", String(ids[0])]);
  expect(explained).toEqual({
    ...{ code: 0, error: "" },
    out: [
      `${items[0].id} is ready in ${dead.name}.`,
      "It is ready, with 0 ahead of it in partition 0.",
      `It died in '${queue.name}': it was rejected.`,
      "The last reason given was: card 1 declined",
      `It now has another id; it was produced as ${ids[0]}.\n`,
    ].join("\n"),
  });
  const nowhere = await run(["items", "explain", `1${"z".repeat(26)}`]);
  expect(nowhere.out).toStartWith("No item has this id");
});

test("redrive: prints the count, asks, and sends items back; --follow waits", async () => {
  const { queue, dead } = await setup();
  const reason = ["--reason", "card 1 declined"];
  const dry = await run(["redrive", dead.name, ...reason, "--dry-run"]);
  expect(dry).toEqual({
    ...{ code: 0, error: "" },
    out: `2 items of ${dead.name} would go to where they came from\n`,
  });
  // There is no terminal for the confirmation.
  const unasked = await run(["redrive", dead.name, ...reason]);
  expect(unasked).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(unasked.error).toContain("--yes");
  expect(await dead.inspect()).toMatchObject({ queued: 3 });
  const done = await run(["redrive", dead.name, ...reason, "--yes", "--follow"]);
  expect(done.out).toMatch(new RegExp(`^\\w+ of ${dead.name} is done: 2 of 2 items moved\\n$`));
  expect(await queue.inspect()).toMatchObject({ queued: 3 });
  expect(await dead.inspect()).toMatchObject({ queued: 1 });
});

test("redrive, repair --expect: refused if there are more, and nothing moves", async () => {
  const { queue, dead } = await setup();
  const few = await run(["redrive", dead.name, "--expect", "2", "--yes"]);
  expect(few).toMatchObject({ code: exitCodes.refused.code, out: "" });
  expect(few.error).toContain("count has changed; 3 items would be moved, expected at most 2");
  const none = await run(["repair", queue.name, "delete", "--all", "--expect", "0", "--yes"]);
  expect(none.error).toContain("count has changed; 1 items would be removed, expected at most 0");
  expect(await json("redrive", dead.name, "--expect", "2", "--dry-run")).toMatchObject({
    matched: 3,
  });
  expect(await dead.inspect()).toMatchObject({ queued: 3 });
  const { out } = await run(["redrive", dead.name, "--expect", "3", "--yes"]);
  expect(out).toStartWith(`3 items of ${dead.name} will go to where they came from; `);
});

test("redrive: a dry run prints how many items go where, and how many stay", async () => {
  const { queue, dead } = await setup();
  const dieIn = async (name: string, count: number) => {
    const other = client.queue(name);
    await other.create({ ...timeouts, dead_queue: dead.name });
    await other.produce(Array.from({ length: count }, () => "e"));
    const lease = await other.lease({ batch: count });
    await lease?.retry(lease.items, { dead: true });
  };
  await dieIn(`${queue.name}-b`, 2);
  await dieIn(`${queue.name}-gone`, 1);
  await client.queue(`${queue.name}-gone`).delete({ force: true });
  const { out } = await run(["redrive", dead.name, "--dry-run"]);
  expect(out).toBe(
    `6 items of ${dead.name} would go to where they came from: 3 to ${queue.name}, ` +
      `2 to ${queue.name}-b; 1 of them stays, because its queue was deleted\n`,
  );
});

test("redrive: moves given items to another queue, up to a count, at a rate", async () => {
  const { queue, dead } = await setup();
  const { items } = await json("items", "find", dead.name);
  const begun = await json("redrive", dead.name, items[1].id, "--to", queue.name, "--yes");
  expect(begun).toEqual({
    ...{ queue_name: dead.name, matched: 1, task_id: begun.task_id },
    destinations: [{ queue_name: queue.name, count: 1 }],
  });
  const slow = await run(["redrive", dead.name, "--limit", "2", "--per-second", "1", "--yes"]);
  const [, task = ""] = /see 'holdfast tasks info (\w+)'/.exec(slow.out) ?? [];
  expect(slow.out).toStartWith(`2 items of ${dead.name} will go to where they came from; `);
  while ((await client.taskInfo({ task_id: task })).moved === 0) await Bun.sleep(5);
  expect(await json("tasks", "info", task)).toMatchObject({
    task_id: task,
    matched: 2,
    per_second: 1,
  });
  expect((await run(["tasks", "cancel", task])).out).toMatch(
    /is (cancelled|done): [12] of 2 items moved/,
  );
  const { task_id } = begun;
  while ((await client.taskInfo({ task_id })).state === "running") await Bun.sleep(5);
  const listed = await run(["tasks", "list", dead.name]);
  expect(listed.out).toMatch(/^task +action +state +queue +to +done +skipped +begun +by$/m);
  expect(listed.out).toMatch(
    new RegExp(`^${begun.task_id} +redrive +done +${dead.name} +${queue.name} +1 of 1 `, "m"),
  );
  expect(
    (await json("tasks", "list", dead.name)).map((one: { task_id: string }) => one.task_id),
  ).toEqual([task, begun.task_id]);
  expect((await run(["tasks", "list", queue.name])).out).toBe("there are no tasks\n");
});

test("overview: prints running tasks with their progress", async () => {
  const { queue } = await setup();
  await queue.produce(Array.from({ length: 900 }, (_, index) => String(index)));
  const { task_id } = await queue.repair({ action: "delete", filter: {}, per_second: 1 });
  let out = "";
  // The overview is computed once per second.
  while (!out.includes(`delete of ${queue.name}`)) ({ out } = await run(["overview"]));
  expect(out).toMatch(new RegExp(`^delete of ${queue.name} runs: \\d+ of 901 items$`, "m"));
  await client.cancelTask({ task_id });
});

test("redrive: items of a deleted queue stay, and a line reports them", async () => {
  const { queue, dead } = await setup();
  await queue.delete({ force: true });
  const { out } = await run(["redrive", dead.name, "--yes", "--follow"]);
  expect(out).toMatch(/is done: 0 of 3 items moved; 3 stay, because their queue was deleted\n$/);
});

test("repair: waiting items are promoted, rejected with a reason, or removed", async () => {
  const { queue, dead } = await setup();
  await queue.produce([{ utf8: "later", enqueue_at: new Date(Date.now() + 3_600_000) }]);
  const before = await queue.inspect();
  const promote = ["repair", queue.name, "promote", "--all"];
  expect((await run([...promote, "--dry-run"])).out).toBe(
    `1 item of ${queue.name} would be ready at once\n`,
  );
  expect((await run([...promote, "--yes", "--follow"])).out).toMatch(
    new RegExp(`^\\w+ of ${queue.name} is done: 1 of 1 item promoted\\n$`),
  );
  expect(await queue.inspect()).toMatchObject({ queued: before.queued + 1, scheduled: 0 });
  const { items } = await json("items", "find", queue.name, "--contains", "later");
  const why = ["--because", "sent by mistake", "--yes", "--follow"];
  const rejected = await run(["repair", queue.name, "reject", items[0].id, ...why]);
  expect(rejected.out).toContain("1 of 1 item rejected");
  const died = await json("items", "find", dead.name, "--contains", "later");
  expect(died.items).toMatchObject([{ reason: "sent by mistake", death: "rejected" }]);
  const removed = await run([
    "repair",
    dead.name,
    "delete",
    "--from",
    queue.name,
    "-y",
    "--follow",
  ]);
  expect(removed.out).toContain("4 of 4 items removed");
  expect(await dead.inspect()).toMatchObject({ queued: 0 });
});

test("repair: prioritize gives items another priority, and skips those that have it", async () => {
  const { queue } = await setup();
  await queue.produce([{ utf8: "urgent", priority: 8 }]);
  const count = (await queue.inspect()).queued;
  const prioritize = ["repair", queue.name, "prioritize", "--priority", "8", "--all"];
  expect((await run([...prioritize, "--dry-run"])).out).toBe(
    `${count} items of ${queue.name} would get the priority 8\n`,
  );
  expect((await run([...prioritize, "--yes", "--follow"])).out).toMatch(
    new RegExp(
      `${count - 1} of ${count} items prioritized; 1 stay, because they have the priority`,
    ),
  );
  const { items } = await json("items", "find", queue.name, "--state", "ready");
  expect(items.every(({ priority }: { priority: number }) => priority === 8)).toBe(true);
});

test("repair: retry returns the items that a client holds, without a filter", async () => {
  const { queue } = await setup();
  const lease = await queue.lease({ clientId: "worker-7" });
  const retry = ["repair", queue.name, "retry", "--holder", "worker-7"];
  expect((await run([...retry, "--dry-run"])).out).toBe(
    `1 item of ${queue.name} would be retried\n`,
  );
  const taken = await run([...retry, "--because", "gone", "--yes", "--follow"]);
  expect(taken.out).toContain("1 of 1 item retried");
  const { items } = await json("items", "find", queue.name, "--reason", "gone");
  expect(items).toMatchObject([{ state: "ready", attempts: 1, origin_id: lease?.items[0]?.id }]);
});

test.each<[readonly string[], keyof typeof exitCodes, string]>([
  [
    ["repair", "none", "delete", "-y"],
    "usage",
    "expected ids, a filter, --state, --holder or --all",
  ],
  [["repair", "none", "retry", "--holder", "x", "-y"], "refused", "no such queue named 'none'"],
  [["repair", "none", "burn", "--all"], "usage", "promote, reject, retry, prioritize, delete"],
  [["repair", "none", "prioritize", "--priority", "10", "--all"], "usage", "0 to 9"],
  [["repair", "none", "delete", "--all", "--dry-run"], "refused", "no such queue named 'none'"],
  [["items", "find", "none"], "refused", "no such queue named 'none'"],
  [["items", "find", "none", "--state", "lost"], "usage", "--state"],
  [["items", "find", "none", "-n", "0"], "usage", "--limit"],
  [["items", "summarize", "none", "--by", "payload"], "usage", "--by"],
  [["items", "get", "42"], "refused", "invalid storage id; '42'"],
  [
    ["items", "find", "none", "--before", "noon"],
    "usage",
    "a duration before now such as 15m, got 'noon'",
  ],
  [["redrive", "none", "--dry-run"], "refused", "no such queue named 'none'"],
  [["redrive", "none", "--per-second", "0", "--yes"], "usage", "--per-second"],
  [["tasks", "info", "x"], "refused", "no such task 'x'"],
  [["tasks", "cancel", "x"], "refused", "no such task 'x'"],
  [["tasks", "list", "none"], "refused", "no such queue named 'none'"],
])("%j is refused with a reason", async (words, code, message) => {
  const ended = await run(words);
  expect(ended).toMatchObject({ code: exitCodes[code].code, out: "" });
  expect(ended.error).toContain(message);
});

test("retry --because: the reason is in the next lease and in the dead queue", async () => {
  const { queue } = await setup();
  const lease = await run(["lease", queue.name, "--json"]);
  const { code } = await run(["retry", queue.name, "--because", "no stock"], lease.out);
  expect(code).toBe(0);
  const next = await queue.lease({ batch: 1 });
  expect(next?.items[0]?.reason).toBe("no stock");
});
