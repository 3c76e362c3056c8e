// The data of the console, over HTTP: explain, clients, the overview and its machine, partitions as
// columns, and counts before destructive calls.

import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { manifestName } from "../../engine/backup.ts";
import type { EngineOverview } from "../../engine/model/api.ts";
import type { OverviewMachine } from "../../openapi/schemas.ts";
import manifest from "../../package.json" with { type: "json" };
import type { KeyIdentity } from "../auth/key-rights.ts";
import {
  instant,
  minute,
  orders,
  plain,
  refused,
  run,
  second,
  start,
} from "../testing/running-app.ts";
import { serverHostInfo } from "./host-info.ts";
import { OverviewReplies } from "./overview.ts";

test("explain: findings with their instants as date-times", async () => {
  await using app = await run();
  await app.produce("a");
  await app.ok("pause", { ...orders, reason: "deploy" });
  await app.advance(second);
  expect(await app.ok("explain", orders)).toEqual({
    queue_name: "orders",
    as_of: instant(start + second),
    health: "paused",
    findings: [
      {
        kind: "paused",
        since: expect.stringMatching(/^2026-01-01T00:00:00\.\d{3}Z$/),
        count: 1,
        next_at: null,
        text: "Leases are paused: deploy.",
      },
    ],
  });
});

test("clients: waiting clients and holders of leases are listed by their client ids", async () => {
  await using app = await run();
  await app.produce("a", "b");
  await app.lease({ client_id: "worker-9", batch_size: 2 });
  await app.begin("lease", app.leaseOf({ client_id: "worker-2", batch_size: 5 }));
  expect(await app.ok("clients", orders)).toEqual({
    queue_name: "orders",
    as_of: instant(start),
    waiting_count: 1,
    waiting: [{ client_id: "worker-2", since: instant(start), batch_size: 5, position: 1 }],
    holding_count: 1,
    holding: [
      {
        client_id: "worker-9",
        items: 2,
        partitions: [0],
        next_lapse_at: instant(start + 60 * minute),
      },
    ],
    partial: false,
  });
  expect(plain(await app.call("clients", { ...orders, limit: 0 }))?.code).toBe(400);
  expect(plain(await app.call("clients", { ...orders, limit: null }))?.code).toBe(200);
});

test("overview: queues as columns, all at first and then what has changed", async () => {
  await using app = await run();
  await app.create("other");
  await app.produce("a", "b");
  await app.lease({ batch_size: 1 });
  const first = await app.ok("overview", {});
  expect(first).toMatchObject({
    ...{ now: instant(start), as_of: instant(start), whole: true, removed: [], alarms: [] },
    totals: { queues: 2, ready: 1, leased: 1, produced_total: 2, leased_total: 1 },
    shards: [{ shard: 0, state: "up", since: null, restarts: 0 }],
    machine: { disk_bytes: 0, last_backup_at: null },
  });
  const { queue_name, ...columns } = first.queues;
  const place = queue_name.indexOf("orders");
  expect([...queue_name].sort()).toEqual(["orders", "other"]);
  for (const column of Object.values(columns)) expect(column).toHaveLength(2);
  expect([columns.ready[place], columns.leased[place], columns.health[place]]).toEqual([
    ...[1, 1, "flows"],
  ]);
  await app.advance(second);
  const quiet = await app.ok("overview", { since: first.since });
  expect(quiet).toMatchObject({ whole: false, queues: { queue_name: [] } });
  await app.produce("c");
  await app.advance(second);
  const { queues } = await app.ok("overview", { since: quiet.since });
  expect(queues).toMatchObject({ queue_name: ["orders"], ready: [2] });
});

test("stats: 1,025 partitions as columns take at most 15 kB, with the values of the rows", async () => {
  await using app = await run({ orders: { requested_partitions: 1_025 } });
  for (let count = 0; count < 40; count += 1) await app.produce("a", "b", "c");
  await app.lease({ batch_size: 3 });
  await app.advance(150 * second);
  const rows = await app.ok("stats", orders);
  const answer = await app.call("stats", { ...orders, columns: true });
  expect(JSON.stringify(answer.body).length).toBeLessThan(15_000);
  const [{ columns, partitions, ...line }] = answer.body.logical_queues;
  expect({ partitions, partition: columns.partition, scheduled: columns.scheduled }).toEqual({
    ...{ partitions: [], partition: [], scheduled: [] },
  });
  expect(rows.logical_queues).toMatchObject([line]);
  const inRows = rows.logical_queues[0]?.partitions ?? [];
  expect(columns.total).toEqual(inRows.map(({ total }) => total));
  expect(columns.total_leased).toEqual(inRows.map(({ total_leased }) => total_leased));
  expect(columns.average_age_seconds[0]).toBe(150);
  expect(columns.average_leased_age_seconds.filter((age: number) => age > 0)).toEqual([150]);
});

test("clear, delete, update, delete items: counts are returned only if requested", async () => {
  await using app = await run();
  await app.produce("a", "b");
  const kinds = { queue: true, scheduled: false, retry: false, destructive: false };
  const counts = { ready: 2, leased: 0, scheduled: 0, retried: 0 };
  const done = { code: 200, code_text: "OK", message: "" };
  const ids = (await app.stored()).map(({ id }) => id);
  const named = { ...orders, partition: 0, ids };
  for (const [id, body] of [
    ["clear", { ...orders, ...kinds }],
    ["deleteItems", named],
  ] as const) {
    expect(await app.ok(id, { ...body, dry_run: true } as never)).toEqual({ ...done, counts });
    const reply = await app.call(id, { ...body, expect: 1 });
    const text = "count has changed; 2 items would be removed, expected at most 1";
    expect(plain(reply)).toEqual(refused(453, text, { count: "2" }));
    expect(reply.body.reason).toBe("count_changed");
  }
  expect(await app.ok("updateQueue", { ...orders, dry_run: true })).toEqual({
    ...done,
    counts: { ...counts, ready: 0 },
  });
  expect(await app.ok("deleteQueue", { ...orders, force: true, dry_run: true })).toEqual({
    ...{ ...done, counts, waiting_leases: 0, dependents: [] },
  });
  expect(await app.ok("deleteItems", { ...named, expect: 2 })).toEqual({ ...done, counts });
  expect(await app.ok("clear", { ...orders, ...kinds })).toEqual(done);
  expect(await app.ok("deleteQueue", { ...orders, force: false })).toEqual(done);
});

const overview: EngineOverview = {
  ...{ asOf: start, since: "a.1", isWhole: true, rows: [], removed: [], alarms: [] },
  shard: {
    ...{ shard: 0, state: "up", since: null, commitP50Us: null, commitP99Us: null, restarts: 0 },
    ...{ failures: 0, quarantined: 0, miscounted: 0, walBytes: 0, fileBytes: 0, waiting: 0 },
    itemsPerSecond: 0,
  },
  tasks: [],
  totals: {
    ...{ queues: 0, ready: 0, held: 0, scheduled: 0, waiting: 0, produced: 0, leased: 0 },
    ...{ completed: 0, retried: 0, released: 0, extended: 0, lapsed: 0, expired: 0, dead: 0 },
    ...{ discarded: 0, removed: 0, arrived: 0, redriven: 0 },
  },
};

function repliesOf(machine: Partial<OverviewMachine>, ticks: readonly number[] = [0, 0]) {
  const made = { count: 0, now: start };
  let tick = 0;
  const replies = new OverviewReplies({
    engine: { overview: () => ({ now: made.now, overview }) },
    machine: () => {
      made.count += 1;
      const version = "1.0.0";
      const none = { memory_bytes: 0, disk_bytes: 0, disk_free_bytes: 0, last_backup_at: null };
      return {
        name: "eu-1",
        version,
        store: "sqlite",
        started_at: instant(start),
        ...none,
        ...machine,
      };
    },
    now: () => ticks[Math.min(tick++, ticks.length - 1)] ?? 0,
    machineNow: () => start - minute,
  });
  const replyTo = (identity: KeyIdentity | null = null) =>
    JSON.parse(replies.reply("", identity).text);
  return { made, replyTo };
}

test("overview: a cached text is sent again, with the instant of each reply", () => {
  const { made, replyTo } = repliesOf({});
  const first = replyTo();
  made.now = start + 400;
  expect(replyTo()).toEqual({ ...first, now: instant(start + 400) });
  expect(first.machine_now).toBe(instant(start - minute));
  expect(made.count).toBe(1);
});

test("overview: keys for the same queues share one text", () => {
  const { made, replyTo } = repliesOf({});
  for (const name of ["a", "b"])
    replyTo({ name, rights: [{ roles: ["read"], queues: ["orders*"] }] });
  expect(made.count).toBe(1);
  replyTo({ name: "c", rights: [{ roles: ["read"], queues: ["orders*", "billing"] }] });
  replyTo({ name: "d", rights: [{ roles: ["read"], queues: ["*"] }] });
  replyTo();
  expect(made.count).toBe(3);
});

test.each([
  [1, 1_000],
  [10, 1_000],
  [10.5, 2_000],
  [35, 4_000],
  [500, 10_000],
])("overview: if building it takes %d ms, poll_after_ms is %d", (tookMs, pollMs) => {
  expect(repliesOf({}, [0, tookMs]).replyTo().poll_after_ms).toBe(pollMs);
});

test.each([
  [100e9, 6e9, []],
  [100e9, 4e9, ["disk_low"]],
  [10e9, 0.9e9, ["disk_low"]],
  [0, 0, []],
])("overview: of %d bytes with %d free the alarms are %j", (disk_bytes, disk_free_bytes, kinds) => {
  const { alarms } = repliesOf({ disk_bytes, disk_free_bytes }).replyTo();
  expect(alarms.map(({ kind }: { kind: string }) => kind)).toEqual(kinds);
});

test("machine: its name, its disk, and the newest complete backup", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-machine-"));
  try {
    let now = 0;
    const config = { name: "", store: "sqlite", data: folder, backups: folder } as const;
    const machine = serverHostInfo(config, () => now);
    expect(machine()).toMatchObject({
      name: hostname(),
      version: manifest.version,
      store: "sqlite",
      last_backup_at: null,
    });
    expect(machine().disk_bytes).toBeGreaterThan(machine().disk_free_bytes);
    expect(machine().memory_bytes).toBeGreaterThan(10_000_000);
    for (const day of ["01", "02", "03"]) mkdirSync(join(folder, `2026-03-${day}T12-00-00-000Z`));
    mkdirSync(join(folder, "2026-03-04T12-00-00-000Z.part"));
    for (const day of ["01", "02"]) {
      writeFileSync(join(folder, `2026-03-${day}T12-00-00-000Z`, manifestName), "{}");
    }
    // The result is cached for ten seconds.
    expect(machine().last_backup_at).toBe(null);
    now += 10_000;
    expect(machine().last_backup_at).toBe("2026-03-02T12:00:00.000Z");
    const inMemory = { ...config, name: "eu-1", store: "memory", backups: "" } as const;
    expect(serverHostInfo(inMemory)()).toMatchObject({
      ...{ name: "eu-1", disk_bytes: 0, disk_free_bytes: 0, last_backup_at: null },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("overview: a since of a former engine is not accepted by the next one, even in the same millisecond", async () => {
  await using app = await run();
  const { since } = await app.ok("overview", { since: "" });
  expect(await app.ok("overview", { since })).toMatchObject({ whole: false });
  await app.restart();
  await app.produce("one");
  expect(await app.ok("overview", { since })).toMatchObject({ whole: true });
});
