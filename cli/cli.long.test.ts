// Runs commands against a real server; in a process of its own if it is interrupted, or if its
// arguments, input or output are those of a shell.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../client/client.ts";
import type { LeaseItem } from "../client/wire.ts";
import { documentText } from "../openapi/document.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { exitCodes } from "./exit-codes.ts";
import { type Run, runInProcess } from "./testing/in-process.ts";

const main = join(import.meta.dir, "main.ts");
const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
let server: ListeningApp;
let client: Client;

beforeAll(async () => {
  server = await listeningApp();
  // Without keys the server chooses the partition with the fewest items, which tests can predict.
  client = createClient({ url: server.url, keys: false });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function spawn(
  words: readonly string[],
  input: string | Uint8Array,
  env: Record<string, string> = {},
) {
  return Bun.spawn([process.execPath, main, ...words], {
    cwd: folder,
    env: { ...process.env, HOLDFAST_URL: server.url, ...env },
    stdin: typeof input === "string" ? new TextEncoder().encode(input) : input,
    stdout: "pipe",
    stderr: "pipe",
  });
}

function run(
  words: readonly string[],
  input: string | Uint8Array<ArrayBuffer> = "",
  env: Record<string, string> = {},
): Promise<Run> {
  return runInProcess(words, {
    input,
    env: { HOLDFAST_URL: server.url, ...env },
    cwd: folder,
  });
}

/** Splits a command line at spaces. */
const holdfast = (line: string, input = ""): Promise<Run> => run(line.split(" "), input);

/** Parses the JSON output of a command that succeeded. */
async function json(line: string, input = "") {
  const { code, out, error } = await holdfast(`${line} --json`, input);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out);
}

async function queueOf(name: string, settings: object = {}) {
  const queue = client.queue(name);
  // A lease outlasts the commands of a test, however slowly they start.
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h", ...settings });
  return queue;
}

/** Leases from an empty queue; repeated if a stalled machine caused a timeout of the client. */
async function emptyLease(line: string): Promise<Run> {
  for (;;) {
    const ended = await holdfast(line);
    if (ended.code !== exitCodes.unknown.code) return ended;
  }
}

const file = (name: string): string => join(folder, name);

test("produce: takes arguments, files, and JSON lines", async () => {
  const queue = await queueOf("produced");
  writeFileSync(file("a.bin"), new Uint8Array([0, 255]));
  expect(await holdfast(`produce produced one two --kind k`)).toEqual({
    code: 0,
    out: "produced 2 items into produced\n",
    error: "",
  });
  expect(await json(`produce produced --file ${file("a.bin")}`)).toEqual({
    queue_name: "produced",
    produced: 1,
  });
  const lines =
    '"three"\n\n{"json": {"four": 4}, "kind": "own", "reference": "r"}\n{"utf8": "five"}';
  expect(await json("produce produced --kind k", lines)).toMatchObject({ produced: 3 });
  const lease = await queue.lease({ batch: 10 });
  expect(
    lease?.items.map((item) => [item.kind, item.reference, ...item.payload.subarray(0, 2)]),
  ).toEqual([
    ["k", "", 111, 110],
    ["k", "", 116, 119],
    ["", "", 0, 255],
    ["k", "", 116, 104],
    ["own", "r", 123, 34],
    ["k", "", 102, 105],
  ]);
});

test("produce: many lines are sent in batches, and an error reports how many items precede a bad line", async () => {
  const queue = await queueOf("batched");
  const lines = Array.from({ length: 2_500 }, (_, index) => JSON.stringify(`item ${index}`));
  expect(await json("produce batched --batch 1000", lines.join("\n"))).toMatchObject({
    produced: 2_500,
  });
  const bad = await holdfast("produce batched --batch 2", '"a"\n"b"\n"c"\n{"utf": "d"}\n');
  expect(bad.code).toBe(exitCodes.usage.code);
  expect(bad.out).toBe("produced 2 items into batched\n");
  expect(bad.error).toBe(
    "error: line 4 is invalid; expected only kind, encoding, reference, headers, enqueue_at, unique_key, priority, max_attempts, lease_timeout, group, bytes, utf8, json, got 'utf'\n" +
      "Usage: holdfast produce [options] <queue> [payload...]\n",
  );
  expect(await queue.inspect()).toMatchObject({ queued: 2_502 });
  const both = await holdfast("produce batched", '{"json": 1, "utf8": "x"}');
  expect(both.error).toStartWith(
    "error: line 1 is invalid; payload is given twice; expected one of json, utf8 and bytes\nUsage: ",
  );
});

test("produce --priority, lease --priority-min: urgent items first, and shown", async () => {
  await json("queues create ranked --priority-aging never");
  expect(await json("queues info ranked")).toMatchObject({ priority_aging: "never" });
  await json("queues update ranked --priority-aging 10m");
  expect(await json("queues info ranked")).toMatchObject({ priority_aging: "10m" });
  await json("produce ranked", '"report"');
  expect((await holdfast("items list ranked")).out).not.toContain("priority");
  await json("produce ranked --priority 7", '"reset"\n{"utf8": "alarm", "priority": 9}');
  const urgent = await json("items peek ranked --priority-min 5");
  expect(urgent.map(({ priority }: LeaseItem) => priority)).toEqual([9, 7]);
  for (const line of ["items peek ranked", "items find ranked"]) {
    const [head = "", ...rows] = (await holdfast(line)).out.split("\n");
    expect(head.split(/ +/).slice(2, 5)).toEqual(["state", "priority", "attempts"]);
    expect(rows.slice(0, 3).map((row) => row.split(/ +/).slice(3, 5))).toEqual([
      ["ready", "9"],
      ["ready", "7"],
      ["ready", "0"],
    ]);
  }
  const lines = (await holdfast("export ranked")).out;
  await json("queues create ranked-copy");
  await json("import ranked-copy", lines);
  const copied = await json("items peek ranked-copy");
  expect(copied.map(({ priority }: LeaseItem) => priority)).toEqual([9, 7, 0]);
  const leased = await json("lease ranked --batch 10 --priority-min 8");
  expect(leased.items).toMatchObject([{ priority: 9 }]);
  expect((await holdfast("lease ranked --batch 10")).out).toMatch(
    / priority .* payload\n.* 7 +reset\n/,
  );
  const none = await emptyLease("lease ranked --priority-min 1 --wait 10ms");
  expect(none.code).toBe(exitCodes.empty.code);
  expect((await holdfast("lease ranked --priority-min 10")).error).toContain(
    "expected a whole number from 0 to 9, got '10'",
  );
});

test("produce --max-attempts, --lease-timeout: items have their own, also after an export", async () => {
  await json("queues create fragile --max-attempts 5");
  await json(
    "produce fragile --max-attempts 2 --lease-timeout 10m",
    '"report"\n{"utf8": "once", "max_attempts": 1}',
  );
  const own_lease_timeout = "10m0s";
  const expected = [
    { max_attempts: 2, own_max_attempts: 2, own_lease_timeout },
    { max_attempts: 1, own_max_attempts: 1, own_lease_timeout },
  ];
  expect(await json("items peek fragile")).toMatchObject(expected);
  const lines = (await holdfast("export fragile")).out;
  await json("queues create fragile-copy");
  await json("import fragile-copy", lines);
  expect(await json("items peek fragile-copy")).toMatchObject(expected);
  expect((await holdfast("produce fragile x --max-attempts 0")).error).toContain(
    "expected a whole number from 1 to 65536, got '0'",
  );
});

test("groups: items take turns, and groups are listed and set", async () => {
  await json("queues create tenants --grouped --group-leased-max 1 --group-order strict");
  const rules = { grouped: true, group_leased_max: 1, group_order: "strict" };
  expect(await json("queues info tenants")).toMatchObject(rules);
  await json("queues update tenants --group-leased-max 0 --group-rate 5/1s --group-on-dead block");
  expect(await json("queues info tenants")).toMatchObject({
    ...{ group_leased_max: 0, group_rate: "5/1s", group_on_dead: "block" },
  });
  await json("produce tenants --group a", '"one"\n{"utf8": "two", "group": "b"}');
  expect(await json("groups set tenants a --paused --weight 3")).toMatchObject({
    ...{ group: "a", paused: true, weight: 3, blocked_by: "paused" },
  });
  const { items } = await json("groups list tenants --blocked");
  expect(items).toMatchObject([{ group: "a", waiting: 1 }]);
  expect((await holdfast("groups list tenants")).out).toMatch(
    /group +waiting +leased +weight +blocked by .*\na +1 +0 +3 +paused .*\nb +1 +0 +1 /,
  );
  expect(await json("items find tenants --group b")).toMatchObject({ items: [{ group: "b" }] });
  const { summaries } = await json("items summarize tenants --by group");
  expect(summaries).toHaveLength(2);
  const leased = await json("lease tenants --batch 5");
  expect(leased.items).toMatchObject([{ group: "b" }]);
  expect(await json("groups set tenants a --resume --unblock")).toMatchObject({ paused: false });
  expect(await holdfast("groups set tenants a")).toMatchObject({ code: exitCodes.usage.code });
  expect((await holdfast("groups set tenants a --weight 0")).error).toContain(
    "expected a whole number from 1 to 100, got '0'",
  );
  expect((await holdfast("groups set tenants a --paused --resume")).error).toContain(
    "cannot be used with",
  );
  await json("queues create groupless");
  expect((await holdfast("groups list groupless")).error).toContain("'groupless' is not grouped");
});

test("produce --key: a repeated input is produced once", async () => {
  const queue = await queueOf("named");
  const lines = Array.from({ length: 5 }, (_, index) => `"${index}"`);
  const first = lines.slice(0, 4).join("\n");
  expect(await json("produce named --batch 2 --key nightly", first)).toMatchObject({ produced: 4 });
  const all = lines.join("\n");
  expect(await json("produce named --batch 2 --key nightly", all)).toMatchObject({ produced: 5 });
  expect((await queue.inspect()).queued).toBe(5);
  const other = await holdfast("produce named --batch 2 --key nightly", '"other"\n"input"');
  expect(other.code).not.toBe(0);
  expect(other.error).toContain("'nightly/1' was used with another request");
});

test("produce --ids: prints what a script needs to name the items", async () => {
  const queue = await queueOf("named-items", { unique_for: "1h" });
  const lines = '{"utf8":"a"}\n{"utf8":"b","unique_key":"u"}\n{"utf8":"c","unique_key":"u"}\n';
  const { out, error } = await holdfast("produce named-items --ids --batch 2", lines);
  expect(error).toBe("produced 2 items into named-items; 1 duplicate passed over\n");
  expect(out).toMatch(/^\w{27}\n\w{27}\n\n$/);
  const held = (await queue.lease({ batch: 3 }))?.items.map(({ id }) => id);
  expect(out.trimEnd().split("\n")).toEqual(held ?? []);
  const { ids, produced } = await json("produce named-items x y --ids");
  expect({ produced, ids: ids.length }).toEqual({ produced: 2, ids: 2 });
});

test("transact: completes and produces as standard input requests, all or nothing", async () => {
  const inputs = await queueOf("inputs");
  const outputs = await queueOf("outputs");
  await inputs.produce("a");
  const lease = await inputs.lease();
  const body = JSON.stringify({
    complete: [{ queue_name: "inputs", partition: 0, ids: lease?.items.map(({ id }) => id) }],
    produce: [{ queue_name: "outputs", items: [{ utf8: "b" }] }],
  });
  const done = await holdfast("transact --key once", body);
  expect(done).toMatchObject({ code: 0, error: "" });
  expect(done.out).toMatch(/^produced into +partition +delivered\noutputs +0 +(yes|soon)\n$/);
  // A repetition with the key has no second effect; without the key its input is already finished.
  expect(await json("transact --key once", body)).toMatchObject({ produced: [{}] });
  expect((await holdfast("transact", body)).code).toBe(exitCodes.refused.code);
  expect((await outputs.lease({ batch: 2 }))?.items.map((item) => item.text())).toEqual(["b"]);
  for (const [input, fault] of [
    ["", "there is nothing to do"],
    ["{", "input is invalid"],
    ["1", "input is invalid"],
  ] as const) {
    const { code, error } = await holdfast("transact", input);
    expect(code).toBe(exitCodes.usage.code);
    expect(error).toContain(`${fault}; expected the JSON body of queue.transact`);
  }
  expect((await holdfast("transact", '{"commit": []}')).error).toContain(
    "commit is unknown; expected one of",
  );
});

test("produce --header: applies to items without headers, and items get shows it", async () => {
  const queue = await queueOf("headers");
  const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const own = '{"utf8": "own", "headers": {"a": "b=c"}}';
  const flags = `--header tenant=acme --header traceparent=${trace} --header empty=`;
  await json(`produce headers ${flags}`, `"common"\n${own}`);
  const { items } = await json("items find headers");
  const shared = { tenant: "acme", traceparent: trace, empty: "" };
  expect(items.map((item: LeaseItem) => item.headers)).toEqual([shared, { a: "b=c" }]);
  const { out } = await holdfast(`items get ${items[1].id}`);
  expect(out).toMatch(/^headers\s+\{"a":"b=c"\}$/m);
  expect((await queue.lease())?.items[0]?.headers).toEqual(shared);
  for (const bad of ["tenant", "=acme"]) {
    const { code, error } = await holdfast(`produce headers x --header ${bad}`);
    expect(code).toBe(exitCodes.usage.code);
    expect(error).toContain(`expected a name and a value such as tenant=acme, got '${bad}'`);
  }
});

test("produce --text: lines and arguments are payloads unchanged", async () => {
  const queue = await queueOf("texts");
  const lines = '  two anchors\n\n{"json": 1}\r\n\r\n \t \n\ufeff\r\n"quoted"\n';
  expect(await json("produce texts --text --kind k", lines)).toMatchObject({ produced: 5 });
  expect(await json("produce texts --text argument")).toMatchObject({ produced: 1 });
  // Bytes that are not valid text in any supported encoding.
  const command = [process.execPath, main, "produce", "texts", "--text"];
  const env = { ...process.env, HOLDFAST_URL: server.url };
  const stdin = new Uint8Array([255, 254, 10]);
  expect(await Bun.spawn(command, { env, stdin, stdout: "ignore" }).exited).toBe(0);
  const lease = await queue.lease({ batch: 10 });
  expect(lease?.items.map((item) => [item.kind, item.text()])).toEqual([
    ["k", "  two anchors"],
    ["k", '{"json": 1}'],
    ["k", " \t "],
    ["k", "\ufeff"],
    ["k", '"quoted"'],
    ["", "argument"],
    ["", "\ufffd\ufffd"],
  ]);
  expect(lease?.items.at(-1)?.payload).toEqual(new Uint8Array([255, 254]));
});

test("input that is not UTF-8 is refused with its line, instead of altered", async () => {
  const queue = await queueOf("encoded", { unique_for: "10m" });
  const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  const line = (key: string) => `{"utf8": "a", "unique_key": "${key}"}\n`;
  const lines = latin1(
    `\xef\xbb\xbf${line("caf\xc3\xa9")}\n \t\n${line("cafe")}${line("caf\xe9")}${line("caf\xe8")}`,
  );
  expect(await run(["produce", "encoded", "--batch", "1"], lines)).toMatchObject({
    code: exitCodes.usage.code,
    out: "produced 1 item into encoded\n",
    error: expect.stringContaining("error: line 5 is not valid UTF-8; expected a JSON text"),
  });
  const item = latin1(`{"id": "1n9rPb4rwKwuC00010000000000", "kind": "caf\xe9"}\n`);
  for (const [command, input] of [
    ["import encoded", item],
    ["complete encoded", latin1('{"queue_name": "caf\xe9"}')],
    ["transact", latin1('{\n"complete": ["caf\xe9"]}')],
  ] as const) {
    const { code, error } = await run(command.split(" "), input);
    expect([command, code]).toEqual([command, exitCodes.usage.code]);
    const number = command === "transact" ? 2 : 1;
    expect(error).toContain(`error: line ${number} is not valid UTF-8; expected `);
  }
  expect(await queue.inspect()).toMatchObject({ queued: 1 });
});

test.skipIf(process.platform !== "linux")("an argument that is not UTF-8 is refused", async () => {
  const queue = await queueOf("arguments");
  const shell = `exec "$0" "$1" produce arguments "\ufffd" "$(printf 'caf\\351')"`;
  const child = Bun.spawn(["sh", "-c", shell, process.execPath, main], {
    env: { ...process.env, HOLDFAST_URL: server.url },
    stdout: "ignore",
    stderr: "pipe",
  });
  const error = await new Response(child.stderr).text();
  expect(await child.exited).toBe(exitCodes.usage.code);
  expect(error).toContain("error: argument 4 is not valid UTF-8; got 'caf\ufffd'");
  expect(await holdfast("produce arguments \ufffd")).toMatchObject({ code: 0 });
  expect(await queue.inspect()).toMatchObject({ queued: 1 });
});

test("produce: --at schedules, by a date-time or by a duration from now", async () => {
  const queue = await queueOf("scheduled");
  await json("produce scheduled later --at 1h");
  await json("produce scheduled much --at 2999-01-01T00:00:00Z");
  expect(await queue.inspect()).toMatchObject({ queued: 0, scheduled: 2 });
});

test("lease, complete and retry: a lease that is piped is completed, and so are ids", async () => {
  const queue = await queueOf("leased");
  await queue.produce(["a", "b", "c"]);
  const reply = await holdfast("lease leased --batch 2 --json");
  expect(await json("complete leased", reply.out)).toEqual({ queue_name: "leased", completed: 2 });
  const { partition, items } = await json("lease leased");
  const [{ id }] = items;
  expect(await json(`retry leased ${id} --partition ${partition} --at 1h`)).toMatchObject({
    retried: 1,
  });
  expect(await queue.inspect()).toMatchObject({ queued: 0, retried: 1 });
  const { code, out } = await emptyLease("lease leased --wait 20ms");
  expect({ code, out }).toEqual({ code: exitCodes.empty.code, out: "" });
});

test("extend and release: a lease is extended, then released without counting the attempt", async () => {
  const queue = await queueOf("kept");
  await queue.produce(["a", "b"]);
  const reply = await holdfast("lease kept --batch 2 --lease-timeout 2m --json");
  const { partition, items } = JSON.parse(reply.out);
  const leased = Date.parse(items[0].lease_deadline);
  const hour = 3_600_000;
  const kept = await json("extend kept --lease-timeout 1h", reply.out);
  expect(kept).toEqual({ queue_name: "kept", extended: 2, lease_deadline: expect.any(String) });
  const deadline = Date.parse(kept.lease_deadline);
  // One hour after the extend, by the server's clock.
  expect(deadline).toBeGreaterThan(leased - 120_000 + hour);
  const one = `kept ${items[0].id} --partition ${partition}`;
  const shown = await holdfast(`extend ${one} -t 2h`);
  expect(shown).toMatchObject({ code: 0, error: "" });
  expect(shown.out).toMatch(/^extended 1 of kept until \d{4}-\S+Z\n$/);
  expect(Date.parse(shown.out.trim().split(" ").at(-1) ?? "")).toBeGreaterThan(deadline);
  expect(await holdfast(`release ${one}`)).toEqual({
    code: 0,
    out: "released 1 of kept\n",
    error: "",
  });
  const again = await json("lease kept");
  expect(again.items).toMatchObject([{ attempts: 1 }]);
  expect(again.items[0].id).not.toBe(items[0].id);
  for (const verb of ["extend", "release"]) {
    const late = await holdfast(`${verb} ${one}`);
    expect(late).toMatchObject({ code: exitCodes.refused.code, out: "" });
    expect(late.error).toContain(items[0].id);
    expect(await holdfast(`${verb} kept`)).toMatchObject({ code: exitCodes.usage.code });
  }
  const unit = await holdfast("lease kept --lease-timeout 5x");
  expect(unit).toMatchObject({ code: exitCodes.refused.code, out: "" });
});

test("tables: control characters of items are escaped; JSON is unchanged", async () => {
  const queue = await queueOf("hostile");
  const evil = "\u001b[2J\u0007\u009b31m\u202e\u007f";
  const shown = "\\u001b[2J\\u0007\\u009b31m\\u202e\\u007f";
  await queue.produce({ utf8: `a${evil}`, kind: `k${evil}`, reference: `r\n${evil}` });
  for (const line of ["items list hostile", "items peek hostile", "lease hostile"]) {
    const { code, out } = await holdfast(line);
    expect([line, code]).toEqual([line, 0]);
    for (const text of [`a${shown}`, `k${shown}`, `r\\u000a${shown}`]) expect(out).toContain(text);
    expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  }
  expect(await json("items list hostile")).toMatchObject([{ kind: `k${evil}` }]);
});

test("complete and retry: piped input must be a lease of that queue, or nothing changes", async () => {
  const queue = await queueOf("piped");
  await queue.produce("a");
  const { out } = await holdfast("lease piped --json");
  for (const [line, fault] of [
    ['{"partition":0,"items":[null]}', "expected the reply of a lease"],
    ['{"partition":0,"items":[{}]}', "expected the reply of a lease"],
    ['{"partition":"0","items":[]}', "expected the reply of a lease"],
    [out.replace("piped", "other"), "expected a lease of 'piped', got 'other'"],
  ] as const) {
    for (const verb of ["complete", "retry", "extend", "release"]) {
      const run = await holdfast(`${verb} piped`, line);
      expect({ code: run.code, out: run.out }).toEqual({ code: exitCodes.usage.code, out: "" });
      expect(run.error).toStartWith(`error: line 1 is invalid; ${fault}\nUsage: holdfast ${verb} `);
    }
  }
  const twice = await holdfast("complete piped", out + out);
  expect(twice).toMatchObject({ code: exitCodes.refused.code, out: "completed 1 of piped\n" });
});

test("lease: prints a table, and with --complete completes the items", async () => {
  const queue = await queueOf("shown");
  await queue.produce({ utf8: "two\nanchors", kind: "order" });
  const { code, out, error } = await holdfast("lease shown --complete");
  const [first, head, row] = out.split("\n");
  expect([code, first, error]).toEqual([0, "partition 0", "completed 1 of shown\n"]);
  expect(head).toMatch(/^id +attempts +kind +reference +lease until +payload$/);
  expect(row).toMatch(/^\w{27} +1 +order +\d{4}-\S+Z +two anchors$/);
  expect(await queue.inspect()).toMatchObject({ queued: 0 });
});

test("lease: the table has columns for headers and reasons if items have them", async () => {
  const queue = await queueOf("told");
  await queue.produce([{ utf8: "a", headers: { a: "1", b: "2" } }, "b"]);
  const lease = await queue.lease();
  const item = { id: lease?.items[0]?.id ?? "", reason: "no\nstock" };
  await client.retry({ queue_name: "told", partition: 0, items: [item] });
  const { out } = await holdfast("lease told --batch 2");
  const [, head, ...rows] = out.trimEnd().split("\n");
  expect(head).toMatch(/^id +attempts +kind +reference +lease until +headers +reason +payload$/);
  expect(rows).toEqual([
    expect.stringMatching(/^\w{27} +1 +\S+Z +0 +b$/),
    expect.stringMatching(/^\w{27} +2 +\S+Z +2 +no stock +a$/),
  ]);
});

test("complete: a refusal lists each id with its reason, as text and as JSON", async () => {
  await queueOf("refused");
  const { code, error } = await holdfast("complete refused abc def --partition 0");
  const why = (id: string): string =>
    `invalid storage id; '${id}': Valid encoded KSUIDs are 27 characters`;
  expect(code).toBe(exitCodes.refused.code);
  expect(error).toBe(`error: ${why("abc")}\n  abc: ${why("abc")}\n  def: ${why("def")}\n`);
  const machine = await holdfast("complete refused abc --partition 0 --json");
  expect(JSON.parse(machine.error)).toEqual({
    code: "failed",
    status: 453,
    operation: "complete",
    message: why("abc"),
    details: { abc: why("abc") },
  });
});

test("retry --dead: sends items to the dead queue", async () => {
  const dead = await queueOf("graveyard");
  const queue = await queueOf("dying", { dead_queue: "graveyard" });
  await queue.produce("x");
  const reply = await holdfast("lease dying --json");
  await json("retry dying --dead", reply.out);
  expect(await dead.inspect()).toMatchObject({ queued: 1 });
});

test("queues: create, list, info, update and delete", async () => {
  await json("queues create q1 --lease-timeout 30s --max-attempts 3 --partitions 2 --reference me");
  expect(await json("queues info q1")).toMatchObject({
    queue_name: "q1",
    lease_timeout: "30s",
    expire_timeout: "24h",
    max_attempts: 3,
    requested_partitions: 2,
    reference: "me",
  });
  expect(await holdfast("queues create q1")).toMatchObject({
    code: exitCodes.refused.code,
    error: "error: invalid queue; 'q1' already exists\n",
  });
  await json("queues update q1 --leased-max 5 --lease-rate 100/1s --waiting-max 4");
  await json("queues update q1 --retry-backoff 1s..5m");
  const retry_backoff = "1s..5m";
  const limits = { leased_max: 5, lease_rate: "100/1s", waiting_max: 4, retry_backoff };
  expect(await json("queues info q1")).toMatchObject(limits);
  await json("queues update q1 --max-attempts 0");
  expect(await json("queues info q1")).toMatchObject({ max_attempts: 0, lease_timeout: "30s" });
  const later = { utf8: "d", enqueue_at: "2999-01-01T00:00:00Z" };
  await client.queue("q1").produce(["a", "b", "c", later]);
  const refused = await holdfast("produce q1 x");
  expect(refused.code).toBe(exitCodes.refused.code);
  expect(refused.error).toContain("queue is full; 4 items wait and 1 would be added, expected at");
  await client.queue("q1").lease({ batch: 1, leaseTimeout: "30m" });
  // The counts are at most one second old.
  let { out } = await holdfast("queues list");
  while (!/^q1 +2/m.test(out)) out = (await holdfast("queues list")).out;
  expect(out).toMatch(
    /^queue +ready +leased +scheduled +partitions +lease +expire +attempts +paused +dead queue +reference\n/,
  );
  expect(out).toMatch(/^q1 +2 +1 +1 +2 +30s +24h +0 +me$/m);
  const kept = await holdfast("queues delete q1");
  expect(kept).toMatchObject({ code: exitCodes.refused.code, out: "" });
  expect(kept.error).toBe("error: queue is not empty; 'q1' holds 4 items\n");
  const asked = await holdfast("queues delete q1 --force");
  expect(asked).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(asked.error).toStartWith(
    "error: --yes is required; there is no terminal for a confirmation\n",
  );
  expect(await json("queues info q1")).toMatchObject({ queue_name: "q1" });
  expect(await holdfast("queues delete q1 --force --yes")).toMatchObject({
    code: 0,
    out: "deleted q1\n",
  });
});

test("produce: an item with a unique key is written once, and the duplicate is reported", async () => {
  await json("queues create singles --unique-for 1h");
  expect(await json("queues info singles")).toMatchObject({ unique_for: "1h" });
  expect(await json("produce singles a --unique-key k")).toEqual({
    queue_name: "singles",
    produced: 1,
  });
  const lines = '{"utf8": "b", "unique_key": "k"}\n{"utf8": "c", "unique_key": "l"}\n"d"\n';
  expect(await holdfast("produce singles", lines)).toMatchObject({
    code: 0,
    out: "produced 2 items into singles; 1 duplicate passed over\n",
  });
  expect(await json("produce singles a --unique-key k")).toEqual({
    queue_name: "singles",
    produced: 0,
    duplicates: 1,
  });
  await json("queues update singles --max-attempts 1");
  expect(await json("queues info singles")).toMatchObject({ unique_for: "1h" });
});

test("queues pause, resume: stop leases, produces or both, and list and info show it", async () => {
  const queue = await queueOf("halted");
  await queue.produce("x");
  const paused = await run(["queues", "pause", "halted", "--because", "moving house"]);
  expect(paused).toMatchObject({ code: 0, out: "paused halted\n" });
  expect(await emptyLease("lease halted --wait 20ms")).toMatchObject({
    code: exitCodes.empty.code,
    error: "error: queue is paused; moving house\n",
  });
  const listed = async () => /^halted .*$/m.exec((await holdfast("queues list")).out)?.[0];
  expect(await listed()).toMatch(/ 0 +lease$/);
  await json("queues pause halted --produce");
  expect(await listed()).toMatch(/ 0 +produce$/);
  expect(await holdfast("produce halted y")).toMatchObject({
    code: exitCodes.refused.code,
    error: expect.stringContaining("queue is paused; it takes no items until it is resumed"),
  });
  await json("queues pause halted --lease --produce");
  expect(await listed()).toMatch(/ 0 +lease, produce$/);
  const { out } = await holdfast("queues info halted");
  expect(out).toMatch(/^lease_paused +true$/m);
  expect(await holdfast("queues resume halted")).toMatchObject({ out: "resumed halted\n" });
  expect(await json("queues info halted")).toMatchObject({
    lease_paused: false,
    produce_paused: false,
    pause_reason: "",
  });
  expect((await json("lease halted --complete")).items).toHaveLength(1);
});

test("queues delete: no confirmation is required if nothing would be lost", async () => {
  await queueOf("target");
  await queueOf("aiming", { dead_queue: "target" });
  expect(await holdfast("queues delete target")).toMatchObject({ code: exitCodes.refused.code });
  expect(await holdfast("queues delete target --force")).toMatchObject({
    code: 0,
    out: "deleted target\n",
  });
  expect(await holdfast("queues delete target --force")).toMatchObject({
    code: exitCodes.refused.code,
  });
});

test("queues update: a dry run reports the items of surplus partitions, and --expect limits them", async () => {
  const queue = await queueOf("shrinks", { requested_partitions: 2 });
  await queue.produce(["a", "b"]);
  await queue.produce(["c", "d"]);
  expect(await holdfast("queues update shrinks --partitions 1 --dry-run")).toEqual({
    code: 0,
    out: "would update shrinks; surplus partitions hold 2 ready, 0 leased, 0 scheduled, 0 retried\n",
    error: "",
  });
  expect(await json("queues info shrinks")).toMatchObject({ requested_partitions: 2 });
  expect(await holdfast("queues update shrinks --partitions 1 --expect 1")).toMatchObject({
    code: exitCodes.refused.code,
    error: expect.stringContaining("count has changed; "),
  });
  expect(await holdfast("queues update shrinks --dry-run")).toMatchObject({
    code: exitCodes.usage.code,
  });
  expect(await holdfast("queues update shrinks --partitions 1 --expect 2")).toMatchObject({
    code: 0,
    out: "updated shrinks\n",
  });
});

test("queues list: counts the items of all queues, including new ones", async () => {
  await using own = await listeningApp();
  const { queue } = createClient({ url: own.url });
  const names = Array.from({ length: 102 }, (_, index) => `q${String(index).padStart(3, "0")}`);
  for (const name of names) await queue(name).create({ lease_timeout: "1m", expire_timeout: "1h" });
  await queue("q099").produce("a");
  const list = (...words: string[]) =>
    run(["queues", "list", ...words], "", { HOLDFAST_URL: own.url });
  const { out, error } = await list();
  expect(error).toBe("");
  expect(out).toMatch(/^q099 +1 +0 +0 +1 +1m +1h +0$/m);
  expect(out).toMatch(/^q100 +0 +0 +0 +1 +1m +1h +0$/m);
  await queue("r").create({ lease_timeout: "1m", expire_timeout: "1h" });
  const counts = JSON.parse((await list("--json")).out).map(
    (row: { counts: unknown }) => row.counts,
  );
  const none = { ready: 0, leased: 0, scheduled: 0 };
  expect(counts.slice(99)).toEqual([{ ready: 1, leased: 0, scheduled: 0 }, none, none, none]);
});

test("queues create --if-not-exists: creates a queue, or keeps an existing one", async () => {
  const create = "queues create once --if-not-exists";
  expect(await holdfast(create)).toEqual({ code: 0, out: "created once\n", error: "" });
  for (const [flags, told] of [
    ["", ""],
    ["--lease-timeout 60s --max-attempts 0", ""],
    [
      "--max-attempts 7 --expire-timeout never",
      '; expire_timeout is "24h", not "never"; max_attempts is 0, not 7',
    ],
  ]) {
    expect(await holdfast(`${create} ${flags}`.trim())).toEqual({
      code: 0,
      out: `once already exists, and is unchanged${told}\n`,
      error: "",
    });
  }
  expect(await json(create)).toMatchObject({ queue_name: "once", max_attempts: 0 });
  const bad = await holdfast("queues create never --if-not-exists --lease-timeout 48h");
  expect(bad).toMatchObject({ code: exitCodes.refused.code, out: "" });
  expect(bad.error).toStartWith("error: lease timeout is too long; ");
});

test("stats and inspect: print counts, once or repeatedly", async () => {
  const queue = await queueOf("counted", { requested_partitions: 2 });
  await queue.produce(["a", "b"]);
  const { out } = await holdfast("stats counted");
  expect(out).toMatch(
    /^partition +total +leased +scheduled +failures +age +leased for +oldest ready +next due\n +0 +2 +0 /,
  );
  expect(out).toEndWith("waiting: 0 lease, 0 produce, 0 complete; in flight: 0\n");
  expect(await json("inspect counted")).toMatchObject({ queued: 2, partitions: 2 });
  expect((await holdfast("inspect counted")).out).toMatch(/^queued +2$/m);

  const child = spawn(["stats", "counted", "--watch", "10ms", "--json"], "");
  let text = "";
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.split("\n").length > 3) break;
  }
  child.kill("SIGINT");
  await child.exited;
  expect(JSON.parse(text.split("\n")[1] ?? "")).toMatchObject({ queue_name: "counted" });
});

describe("items", () => {
  test("list: prints the items of each partition with their states, up to a limit, from a pivot", async () => {
    const queue = await queueOf("listed", { requested_partitions: 2 });
    await queue.produce([{ utf8: "a", kind: "k", reference: "r" }, "b"]);
    await queue.produce(["c", { utf8: "later", enqueue_at: "2999-01-01T00:00:00Z" }]);
    await queue.lease({ batch: 1 });
    const { code, out } = await holdfast("items list listed");
    expect(code).toBe(0);
    const [head, ...rows] = out.trimEnd().split("\n");
    expect(head).toMatch(/^partition +id +state +attempts +kind +reference +payload$/);
    expect(rows).toEqual([
      expect.stringMatching(/^ +0 +\w{27} +leased until \d{4}-\S+Z +1 +k +r +a$/),
      expect.stringMatching(/^ +0 +\w{27} +ready +0 +b$/),
      expect.stringMatching(/^ +1 +\w{27} +ready +0 +c$/),
    ]);
    expect((await holdfast("items list listed --scheduled")).out).toMatch(
      /^ +1 +\w{27} +scheduled for 2999-01-01T00:00:00.000Z +0 +later$/m,
    );
    const [first] = await json("items list listed --limit 1");
    expect(first).toMatchObject({ partition: 0, scheduled: false, is_leased: true, kind: "k" });
    const rest = await json(`items list listed --partition 0 --pivot ${first.id}`);
    expect(rest).toMatchObject([{ partition: 0, payload: "Yg==" }]);
    expect(await holdfast("items list listed --partition 1 --limit 1 --scheduled")).toMatchObject({
      out: expect.stringContaining("later"),
    });
    const pivot = await holdfast(`items list listed --pivot ${first.id}`);
    expect(pivot.error).toStartWith("error: --pivot is invalid; expected --partition with it\n");
  });

  test("peek: prints the items that a lease would get next, without leasing", async () => {
    const queue = await queueOf("peeked", { requested_partitions: 2 });
    await queue.produce("alone");
    await queue.produce(Array.from({ length: 202 }, (_, index) => String(index)));
    await queue.lease({ batch: 151 });
    const peeked = await json("items peek peeked --limit 2");
    expect(await queue.inspect()).toMatchObject({ queued: 52 });
    const lease = await queue.lease({ batch: 2 });
    expect(peeked).toMatchObject(lease?.items.map(({ id }) => ({ id, is_leased: false })) ?? []);
    expect((await json("items peek peeked")).length).toBe(10);
    expect((await holdfast("items peek peeked --partition 0")).out).toMatch(/ alone\n$/);
    await queueOf("bare");
    expect(await holdfast("items peek bare")).toEqual({
      code: 0,
      out: "there are no matching items\n",
      error: "",
    });
  });

  test("cancel: removes unfinished items of a queue, and shows what each was", async () => {
    const queue = await queueOf("cancelling", { requested_partitions: 2 });
    await queue.produce(["a", "b"]);
    await queue.lease();
    const ids = (await json("items list cancelling")).map(({ id }: { id: string }) => id);
    const line = `items cancel cancelling ${ids.join(" ")}`;
    const { items } = await json(line);
    expect(items.map(({ was }: { was: string }) => was).toSorted()).toEqual(["leased", "ready"]);
    expect(await queue.inspect()).toMatchObject({ queued: 0, leased: 0 });
    const again = await holdfast(line);
    expect(again).toMatchObject({ code: 0, error: "" });
    for (const id of ids) expect(again.out).toContain(`${id}  not_found\n`);
    expect(await holdfast("items cancel cancelling x")).toMatchObject({
      code: exitCodes.refused.code,
    });
  });

  test("delete: removes the given items of a partition, and reports only those", async () => {
    const queue = await queueOf("shrinking");
    await queue.produce(["a", "b", "c"]);
    const [a, b] = await json("items list shrinking");
    const line = `items delete shrinking ${a.id} ${b.id} --partition 0`;
    const out = "2 items of shrinking deleted, as far as partition 0 had them\n";
    expect(await holdfast(`${line} --dry-run`)).toMatchObject({
      out: "would delete of shrinking: 2 ready, 0 leased, 0 scheduled, 0 retried\n",
    });
    expect(await holdfast(`${line} --expect 1`)).toMatchObject({ code: exitCodes.refused.code });
    expect(await queue.inspect()).toMatchObject({ queued: 3 });
    expect(await holdfast(line)).toEqual({ code: 0, out, error: "" });
    expect(await queue.inspect()).toMatchObject({ queued: 1 });
    expect(await holdfast(line)).toEqual({ code: 0, out, error: "" });
    expect(await json(line)).toMatchObject({ code: 200 });
    expect(await holdfast("items delete shrinking x")).toMatchObject({
      code: exitCodes.usage.code,
      error: expect.stringContaining("--partition"),
    });
    const malformed = await holdfast("items delete shrinking x --partition 0");
    expect(malformed).toMatchObject({ code: exitCodes.refused.code, out: "" });
  });
});

test("reload: recounts a queue", async () => {
  await queueOf("reloaded");
  expect(await holdfast("reload reloaded")).toEqual({
    code: 0,
    out: "recounted reloaded\n",
    error: "",
  });
  expect(await json("reload reloaded")).toMatchObject({ code: 200 });
});

test("clock advance: advances the test clock of a server, and prints its time", async () => {
  await using own = await listeningApp({}, { testClock: true });
  const { queue } = createClient({ url: own.url });
  await queue("q1").create({ lease_timeout: "30s", expire_timeout: "1h" });
  await queue("q1").produce("a");
  const lease = await queue("q1").lease();
  const deadline = Date.parse(lease?.items[0]?.lease_deadline ?? "");
  const url = { HOLDFAST_URL: own.url };
  const advanced = await run(["clock", "advance", "10m"], "", url);
  const now = new Date(deadline + 570_000).toISOString();
  expect(advanced).toEqual({ code: 0, out: `${now}\n`, error: "" });
  expect(await queue("q1").inspect()).toMatchObject({ queued: 1 });
  expect(await run(["clock", "advance", "0s"], "", url)).toMatchObject({
    code: exitCodes.refused.code,
    error: expect.stringContaining("advance is invalid; expected a duration from 1ms"),
  });
  expect(await holdfast("clock advance 10m")).toMatchObject({
    code: exitCodes.refused.code,
    error: "error: there is no test clock; start with --test-clock or testClock\n",
  });
});

test("durations: --at, --before and --from are relative to the server's time", async () => {
  await using own = await listeningApp({}, { testClock: true });
  const client = createClient({ url: own.url });
  await client.queue("q1").create({ lease_timeout: "30s", expire_timeout: "1d" });
  await client.queue("q1").produce("old");
  await client.advance({ by: "3h" });
  const url = { HOLDFAST_URL: own.url };
  const of = async (...words: string[]) => {
    const { code, out, error } = await run([...words, "--json"], "", url);
    expect({ code, error }).toEqual({ code: 0, error: "" });
    return JSON.parse(out);
  };
  await of("produce", "q1", "later", "--at", "15m");
  expect(await client.queue("q1").inspect()).toMatchObject({ queued: 1, scheduled: 1 });
  expect((await of("items", "find", "q1", "--before", "2h")).items).toHaveLength(1);
  const { partition, items } = await of("lease", "q1");
  await of("retry", "q1", items[0].id, "--partition", String(partition), "--at", "10m");
  await client.advance({ by: "9m" });
  expect(await client.queue("q1").inspect()).toMatchObject({ retried: 1 });
  await client.advance({ by: "6m" });
  expect(await client.queue("q1").inspect()).toMatchObject({ queued: 2 });
});

test("clear: removes the given kinds after a confirmation, and prints the counts", async () => {
  const queue = await queueOf("cleared");
  await queue.produce(["a", "b", "c", { utf8: "d", enqueue_at: "2999-01-01T00:00:00Z" }]);
  await queue.lease({ batch: 1 });
  const usage = "Usage: holdfast clear [options] <queue>\n";
  for (const [line, fault] of [
    ["clear cleared", "there is nothing to clear; expected --ready, --scheduled or --retried"],
    ["clear cleared --retried --leased", "--leased is invalid; expected --ready with it"],
    ["clear cleared --ready", "--yes is required; there is no terminal for a confirmation"],
  ] as const) {
    expect(await holdfast(line)).toEqual({
      code: exitCodes.usage.code,
      out: "",
      error: `error: ${fault}\n${usage}`,
    });
  }
  expect(await queue.inspect()).toMatchObject({ queued: 2, scheduled: 1 });
  expect(await holdfast("clear cleared --ready --leased --yes")).toEqual({
    code: 0,
    out: "cleared cleared: 2 ready, 1 leased\n",
    error: "",
  });
  expect(await queue.inspect()).toMatchObject({ queued: 0, scheduled: 1 });
  expect(await json("clear cleared --scheduled --retried --yes")).toEqual({
    queue_name: "cleared",
    cleared: { scheduled: 1, retried: 0 },
  });
  expect(await queue.inspect()).toMatchObject({ scheduled: 0 });
});

test("clear, queues delete: a dry run prints what would be lost, and --expect limits it", async () => {
  const queue = await queueOf("guarded");
  await queue.produce(["a", "b", "c"]);
  await queue.lease({ batch: 1 });
  expect(await holdfast("clear guarded --ready --leased --dry-run")).toEqual({
    ...{ code: 0, error: "", out: "would clear guarded: 2 ready, 1 leased\n" },
  });
  expect(await json("queues delete guarded --force --dry-run")).toMatchObject({
    counts: { ready: 2, leased: 1, scheduled: 0, retried: 0 },
    ...{ waiting_leases: 0, dependents: [] },
  });
  expect(await holdfast("queues delete guarded --force --dry-run")).toMatchObject({
    out: "would delete guarded: 2 ready, 1 leased, 0 scheduled, 0 retried, 0 waiting leases\n",
  });
  for (const line of [
    "clear guarded --ready --yes --expect 1",
    "queues delete guarded --force --yes --expect 1",
  ]) {
    expect(await holdfast(line)).toMatchObject({
      code: exitCodes.refused.code,
      error: expect.stringContaining("count has changed; "),
    });
  }
  expect(await queue.inspect()).toMatchObject({ queued: 2 });
  expect(await holdfast("clear guarded --ready --yes --expect 2")).toMatchObject({ code: 0 });
  expect(await queue.inspect()).toMatchObject({ queued: 0 });
});

test("explain: prints findings, or that there are none", async () => {
  const queue = await queueOf("explained");
  expect(await holdfast("explain explained")).toMatchObject({
    out: "explained: there are no items, and no client waits for any\n",
  });
  await queue.produce("a");
  await queue.pause({ reason: "deploy" });
  const { out } = await holdfast("explain explained");
  expect(out).toMatch(
    /^explained: paused\n\npaused, since 20\S+Z\n {2}Leases are paused: deploy\.\n$/,
  );
  await queue.pause({ reason: "\u001b[2J" });
  expect((await holdfast("explain explained")).out).toContain("are paused: \\u001b[2J.");
  await queue.pause({ reason: "deploy" });
  expect(await json("explain explained")).toMatchObject({
    ...{ queue_name: "explained", health: "paused", findings: [{ kind: "paused", count: 1 }] },
  });
});

test("clients: prints clients that hold items and clients that wait", async () => {
  const queue = await queueOf("visited");
  expect(await holdfast("clients visited")).toMatchObject({
    out: "0 clients with items, 0 waiting for some\n",
  });
  await queue.produce(["a", "b"]);
  await queue.lease({ batch: 2, clientId: "worker-9" });
  const leaving = new AbortController();
  const { signal } = leaving;
  const waiting = queue.lease({ clientId: "worker-2", timeoutMs: 600_000, signal });
  for (;;) if ((await queue.clients()).waiting_count === 1) break;
  const { out } = await holdfast("clients visited");
  expect(out).toMatch(/^holds +items +partitions +next lapse\nworker-9 +2 +0 +20\S+Z\n/);
  expect(out).toMatch(/\nwaits +for +since +position\nworker-2 +1 +20\S+Z +1\n/);
  expect(out).toEndWith("\n1 client with items, 1 waiting for some\n");
  expect(await json("clients visited --limit 1")).toMatchObject({
    holding: [{ client_id: "worker-9", items: 2, partitions: [0] }],
    waiting: [{ client_id: "worker-2", batch_size: 1, position: 1 }],
  });
  leaving.abort();
  await waiting.catch(() => undefined);
});

test("overview: prints all queues, the worst first, and totals", async () => {
  const quiet = await queueOf("a-quiet");
  const paused = await queueOf("z-paused");
  await paused.produce("a");
  await paused.pause({});
  let out = "";
  // The overview is computed once per second.
  while (!out.includes("z-paused")) ({ out } = await holdfast("overview --rows 10000"));
  expect(out).toMatch(/^queue +health +for +ready +leased +scheduled +waiting +oldest\n/m);
  expect(out.indexOf("z-paused")).toBeLessThan(out.indexOf("a-quiet"));
  expect(out).toMatch(/\d+ queues: \d+ ready, \d+ leased, \d+ scheduled; 1 of 1 shard up; /);
  const { queues } = await json("overview");
  const place = queues.queue_name.indexOf("z-paused");
  expect([queues.health[place], queues.ready[place]]).toEqual(["paused", 1]);
  await quiet.delete();
});

test("overview --watch: refreshes, with rates from the second output", async () => {
  await queueOf(`watched-${crypto.randomUUID()}`);
  const watched = spawn(["overview", "--watch", "1s", "--rows", "10000"], "");
  let out = "";
  for await (const chunk of watched.stdout) {
    out += new TextDecoder().decode(chunk);
    if (/ in\/s +done\/s\n/.test(out)) break;
  }
  watched.kill("SIGINT");
  expect(await watched.exited).toBe(exitCodes.interrupted.code);
});

describe("export and import", () => {
  async function exported() {
    const name = `source-${crypto.randomUUID()}`;
    const queue = await queueOf(name, { requested_partitions: 2 });
    for (const kind of ["a", "b"]) {
      await queue.produce(
        Array.from({ length: 20 }, (_, index) => ({ kind, utf8: String(index) })),
      );
    }
    await queue.produce({ utf8: "later", enqueue_at: "2999-01-01T00:00:00Z" });
    await (await queue.lease({ batch: 3 }))?.retry([]);
    return { name, path: file(`${name}.jsonl`) };
  }

  test("an import restores exported items with order, kinds, attempts and instants", async () => {
    const { name, path } = await exported();
    expect(await json(`export ${name} --out ${path} --page 7`)).toMatchObject({ exported: 41 });
    const { out } = await holdfast(`export ${name}`);
    expect(out).toBe(readFileSync(path, "utf8"));
    const copy = await queueOf(`${name}-copy`, { requested_partitions: 2 });
    expect(await json(`import ${name}-copy ${path} --batch 7`)).toMatchObject({ imported: 41 });
    expect(await copy.inspect()).toMatchObject({ queued: 40, scheduled: 1 });
    const of = async (queue_name: string, partition: number) =>
      (await client.listItems({ queue_name, partition, pivot: "", limit: 100 })).items.map(
        ({ kind, payload, attempts, expire_deadline }) => [
          kind,
          payload,
          attempts,
          expire_deadline,
        ],
      );
    expect(await of(`${name}-copy`, 0)).toEqual(await of(name, 0));
    expect(await of(`${name}-copy`, 1)).toEqual(await of(name, 1));
    // A repeated import stores nothing twice.
    expect(await json(`import ${name}-copy`, readFileSync(path, "utf8"))).toEqual({
      queue_name: `${name}-copy`,
      imported: 0,
      already_there: 41,
    });
    expect(await copy.inspect()).toMatchObject({ queued: 40, scheduled: 1 });
    // Nor does it store the remaining items twice after some were removed.
    const lease = await copy.lease({ batch: 1 });
    await lease?.complete();
    expect(await holdfast(`import ${name}-copy ${path}`)).toEqual({
      code: 0,
      out: `imported 1 item into ${name}-copy; 40 were there already\n`,
      error: "",
    });
  });

  test("an interrupted export continues after its last whole line", async () => {
    const { name, path } = await exported();
    await json(`export ${name} --out ${path}`);
    const whole = readFileSync(path, "utf8");
    const lengths = [
      0,
      1,
      whole.indexOf("\n"),
      whole.indexOf("\n") + 1,
      whole.length >> 1,
      whole.length - 1,
    ];
    for (const length of lengths) {
      writeFileSync(path, whole.slice(0, length));
      expect(await json(`export ${name} --out ${path} --resume`)).toMatchObject({ exported: 41 });
      expect(readFileSync(path, "utf8")).toBe(whole);
    }
    const again = await holdfast(`export ${name} --out ${path}`);
    expect(again.code).toBe(exitCodes.usage.code);
    expect(again.error).toStartWith(
      `error: file exists; expected a new one, or --resume, got '${path}'\n`,
    );
  });

  test("an interrupted import continues after its last call", async () => {
    const { name, path } = await exported();
    await json(`export ${name} --out ${path}`);
    const good = readFileSync(path, "utf8");
    const lines = good.split("\n");
    const copy = await queueOf(`${name}-copy`);
    writeFileSync(path, [...lines.slice(0, 25), "broken", ...lines.slice(25)].join("\n"));
    const failed = await holdfast(`import ${name}-copy ${path} --batch 10`);
    expect(failed).toMatchObject({ code: 2, out: `imported 20 items into ${name}-copy\n` });
    expect(failed.error).toStartWith(
      "error: line 26 is invalid; expected an exported item, got 'broken'\n",
    );
    expect(await copy.inspect()).toMatchObject({ queued: 20 });
    writeFileSync(path, good);
    const asked = await holdfast(`import ${name}-copy ${path}`);
    expect(asked.error).toStartWith(
      "error: import was interrupted after line 20; expected --resume",
    );
    expect(await json(`import ${name}-copy ${path} --resume`)).toMatchObject({ imported: 21 });
    expect(await copy.inspect()).toMatchObject({ queued: 40, scheduled: 1 });
    expect(await Bun.file(`${path}.imported`).exists()).toBe(false);
  });
});

test("openapi: prints the document of the contract", async () => {
  expect(await holdfast("openapi")).toEqual({ code: 0, out: documentText(), error: "" });
});

test("bench: measures both phases and leaves nothing behind", async () => {
  const phases = await json("bench --items 200 --batch 20 --connections 2");
  expect(phases).toMatchObject([
    { phase: "produce", items: 200, calls: 10 },
    { phase: "lease + complete", items: 200 },
  ]);
  const { items } = await client.listQueues({ pivot: "bench", limit: 10 });
  expect(items.filter(({ queue_name }) => queue_name.startsWith("bench"))).toEqual([]);
});

describe("completions", () => {
  test.each(["bash", "zsh", "fish"])("%s gets a script that asks this program", async (shell) => {
    const { code, out } = await holdfast(`completions ${shell}`);
    expect(code).toBe(0);
    expect(out).toContain("holdfast completions complete --");
    const path = file(`completions.${shell}`);
    writeFileSync(path, out);
    const program = Bun.which(shell);
    if (program !== null) {
      expect(Bun.spawnSync([program, "-n", path]).stderr.toString()).toBe("");
    }
  });

  const offered = async (words: readonly string[]): Promise<string[]> =>
    (await run(["completions", "complete", "--", ...words])).out
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(":"))
      .map((line) => line.split("\t")[0] ?? "");

  test.if(Bun.which("bash") !== null)(
    "bash completes words by calling the command, also repeatedly",
    async () => {
      const bin = file("bin");
      mkdirSync(bin);
      const command = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
      writeFileSync(join(bin, "holdfast"), command, { mode: 0o755 });
      // Replaces functions of bash-completion and of an interactive shell.
      const script = `
_get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }
compopt() { :; }
# Another command whose completions are made by the same library.
readonly ShellCompDirectiveError=1
source <(holdfast completions bash)
source <(holdfast completions bash)
COMP_WORDS=(holdfast queues cr) COMP_CWORD=2
__holdfast_complete
echo "\${COMPREPLY[@]}"`;
      const child = Bun.spawn(["bash", "-c", script], {
        env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, HOLDFAST_URL: server.url },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const said = await new Response(child.stdout).text();
      expect([said.trim(), await new Response(child.stderr).text()]).toEqual(["create", ""]);
    },
  );

  test("commands, flags and names of queues are suggested", async () => {
    await queueOf("offered-queue");
    expect(await offered(["pro"])).toEqual(["produce"]);
    expect(await offered(["queues", "de"])).toEqual(["delete"]);
    expect(await offered(["lease", "offered-queue", "--b"])).toEqual(["--batch"]);
    expect(await offered(["serve", "--shu"])).toEqual(["--shutdown-timeout-ms"]);
    expect(await offered(["stats", "offered"])).toEqual(["offered-queue"]);
  });
});

describe("errors", () => {
  test.each([
    [
      "prodce",
      "error: unknown command 'prodce'\n(Did you mean produce?)\nUsage: holdfast [options] [command]\n",
    ],
    [
      "produce",
      "error: missing required argument 'queue'\nUsage: holdfast produce [options] <queue> [payload...]\n",
    ],
    [
      "lease a b",
      "error: too many arguments for 'lease'. Expected 1 argument but got 2: a, b.\nUsage: holdfast lease",
    ],
    [
      "lease a --bach 2",
      "error: unknown option '--bach'\n(Did you mean --batch?)\nUsage: holdfast lease [options] <queue>\n",
    ],
    [
      "lease a --batch 0",
      "error: option '-n, --batch <count>' argument '0' is invalid. expected a whole number from 1 to 1000, got '0'\nUsage: holdfast lease",
    ],
    [
      "lease a --wait soon",
      "error: option '--wait <duration>' argument 'soon' is invalid. expected a duration such as 30s; time: invalid duration",
    ],
    ["queues", "Usage: holdfast queues [options] [command]\n"],
    [
      "queues update a",
      "error: there is nothing to change; expected one of the options\nUsage: holdfast queues update [options] <queue>\n",
    ],
    [
      "complete a b",
      "error: --partition is required; expected the one that the lease came from\nUsage: holdfast complete [options] <queue> [id...]\n",
    ],
    [
      "complete a",
      "error: there is nothing to complete; expected ids, or leases on standard input\nUsage: holdfast complete",
    ],
    [
      "produce nowhere",
      "error: there is nothing to produce; expected payloads, --file, or lines on standard input\n",
    ],
    [
      "import a nothing.jsonl",
      "error: file does not exist; expected an export, got 'nothing.jsonl'\nUsage: holdfast import",
    ],
    [
      "--url x serve",
      "error: serve is the first word; expected its own flags alone, behind it\nUsage: holdfast serve [flags]\n",
    ],
    ["key", "error: missing required argument 'name'\nUsage: holdfast key [options] <name...>\n"],
    [
      "stats a --watch 1ms",
      "error: option '-w, --watch [interval]' argument '1ms' is invalid. expected a duration from 10ms, got '1ms'\nUsage: holdfast stats",
    ],
    [
      "inspect a --url localhost:9090",
      "error: --url is invalid; expected one such as http://localhost:9090, got 'localhost:9090'\nUsage: holdfast inspect",
    ],
    [
      "completions tcsh",
      "error: command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.\nUsage: holdfast completions",
    ],
  ])("%s: gets the usage line it needs", async (line, expected) => {
    const { code, out, error } = await holdfast(line);
    expect({ code, out }).toEqual({ code: exitCodes.usage.code, out: "" });
    expect(error.slice(0, expected.length)).toBe(expected);
    expect(error).not.toMatch(/\n +at |\.ts:\d/);
  });

  test("a file that cannot be read or written is a usage error, not a bug", async () => {
    await queueOf("filed");
    for (const line of ["export filed --out missing/out.jsonl", `import filed ${folder}`]) {
      const { code, out, error } = await holdfast(line);
      expect({ code, out }).toEqual({ code: exitCodes.usage.code, out: "" });
      expect(error).toMatch(
        /^error: file cannot be read or written; E\w+: [^\n]+\nUsage: holdfast \w+ /,
      );
    }
  });

  test.each([
    ["prodce", "unknown command 'prodce' (Did you mean produce?)"],
    [
      "lease a --batch 0",
      "option '-n, --batch <count>' argument '0' is invalid. expected a whole number from 1 to 1000, got '0'",
    ],
    ["queues", "command is missing; expected one of --help"],
    ["clear a", "there is nothing to clear; expected --ready, --scheduled or --retried"],
  ])("%s --json: machines are told in JSON, and in nothing else", async (line, message) => {
    const { code, out, error } = await holdfast(`${line} --json`);
    expect({ code, out, error: JSON.parse(error) }).toEqual({
      code: exitCodes.usage.code,
      out: "",
      error: { code: "usage", message },
    });
  });

  test("after an answer that is not the server's the outcome is unknown, and a key is sent", async () => {
    const asked: (string | null)[] = [];
    const proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      reusePort: false,
      fetch: (request) => {
        asked.push(request.headers.get("authorization"));
        return new Response("no", { status: asked.length === 1 ? 502 : 401 });
      },
    });
    const env = { HOLDFAST_URL: `http://127.0.0.1:${proxy.port}`, HOLDFAST_API_KEY: "key-1" };
    try {
      expect((await run(["produce", "a", "x"], "", env)).code).toBe(exitCodes.unknown.code);
      const refused = await run(["produce", "a", "x", "--api-key", "key-2"], "", env);
      expect(refused.code).toBe(exitCodes.unauthorized.code);
      expect(asked).toEqual(["Bearer key-1", "Bearer key-1", "Bearer key-2"]);
    } finally {
      await proxy.stop(true);
    }
  });
});

test("confirm-loss: reports if nothing was lost", async () => {
  expect((await holdfast("confirm-loss")).out).toBe(
    "nothing to confirm: the server has recorded no loss\n",
  );
  expect(await json("confirm-loss --expect 2")).toEqual({ lost_commits: 0 });
  expect((await holdfast("confirm-loss --expect few")).code).toBe(exitCodes.usage.code);
});

test("whoami, keys, actions: a server without keys reports that it has none", async () => {
  expect((await holdfast("whoami")).out).toBe("anonymous: the server requires no API keys\n");
  expect((await json("whoami")).keys_required).toBe(false);
  expect((await holdfast("keys")).out).toBe("the server requires no API keys\n");
  await queueOf("noted");
  await client.queue("noted").pause();
  const { items } = await json("actions noted --limit 1");
  expect(items).toMatchObject([{ key_name: "", operation: "pause", queue_name: "noted" }]);
  expect((await holdfast("actions untouched")).out).toMatch(/^no actions since \d{4}-.*Z\n$/);
});

test("--url: may have the path prefix of a proxy", async () => {
  await using behind = await listeningApp({ basePath: "/tools/holdfast" });
  const env = { HOLDFAST_URL: `${behind.url}/tools/holdfast` };
  const created = await run(["queues", "create", "orders"], "", env);
  expect(created).toEqual({ code: 0, out: "created orders\n", error: "" });
  const elsewhere = await run(["stats", "orders", "--url", `${behind.url}/tools/`]);
  expect(elsewhere.code).toBe(exitCodes.refused.code);
  expect(elsewhere.error).toContain("path does not exist; got '/tools/v1/queue.stats'");
});

test("help: lists every command and exit code; NO_COLOR and pipes get no colours", async () => {
  const { code, out } = await holdfast("--help");
  expect(code).toBe(0);
  for (const { code: exit, when } of Object.values(exitCodes)) {
    expect(out).toContain(`${String(exit).padStart(5)}  ${when}`);
  }
  expect(out).not.toContain("\u001b[");
  expect((await holdfast("queues list")).out).not.toContain("\u001b[");
  expect((await holdfast("--version")).out).toMatch(/^holdfast \d+\.\d+\.\d+\n$/);
});

test("documentation: the page lists each command and exit code", async () => {
  const page = readFileSync(join(import.meta.dir, "../content/docs/command-line.mdx"), "utf8");
  const words = page.replaceAll("`", "");
  for (const { code, when } of Object.values(exitCodes))
    expect(words).toContain(`| ${code} | ${when} |`);
  const { out } = await holdfast("--help");
  const [, list = ""] = /Commands:\n([\s\S]*?)\n\n/.exec(out) ?? [];
  const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name ?? "");
  expect(names).toHaveLength(39);
  expect(
    names.filter((name) => name !== "help" && !new RegExp(`\\b${name}\\b`).test(page)),
  ).toEqual([]);
});
