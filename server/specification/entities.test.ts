// The fields of each entity. A reply contains every field, whatever its value.

import { expect } from "bun:test";
import { rowsOf } from "../testing/rows.ts";
import {
  day,
  done,
  hour,
  idsOf,
  instant,
  minute,
  orders,
  plain,
  refused,
  run,
  second,
  start,
  textsOf,
  timed,
} from "../testing/running-app.ts";

const { row, complete } = rowsOf("entities", [
  "entity QueueInfo: every field",
  "entity QueueInfo: created_at, updated_at are timestamps",
  "entity QueueInfo: dead_queue is empty in a list if the queue is itself a dead queue",
  "entity QueueInfo: reference is free text",
  "entity QueueInfo: lease_timeout, expire_timeout are duration strings",
  "entity QueueInfo: max_attempts 0 means infinite, lease timeouts count as attempts",
  "entity QueueInfo: requested_partitions may differ from the active partitions",
  "entity Produce item: encoding, kind and reference are user-defined strings",
  "entity Produce item: bytes is base64 in JSON",
  "entity Produce item: utf8 is plain text",
  "entity Produce item: if both bytes and utf8 are given, bytes wins",
  "entity Lease item: every field; id and lease_deadline are required",
  "entity Retry item: id",
  "entity Retry item: retry_at empty means re-queue immediately and increment attempts",
  "entity Retry item: dead sends the item to the dead queue whatever attempts remain",
  "entity Storage item: every field",
  "entity Partition stats: every field",
  "entity Logical queue stats: every field",
  "entity Reply: code, code_text, message",
  "entity Inspect: every field",
]);

type Kind = "text" | "instant" | "instant?" | "duration" | "count" | "flag" | "base64" | "list";

const instantText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const kinds: Record<Kind, (value: unknown) => boolean> = {
  text: (value) => typeof value === "string",
  instant: (value) => typeof value === "string" && instantText.test(value),
  "instant?": (value) => value === null || kinds.instant(value),
  duration: (value) => typeof value === "string" && /^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value),
  count: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  flag: (value) => typeof value === "boolean",
  base64: (value) => typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
  list: (value) => Array.isArray(value),
};

/** Checks that an entity has exactly these fields, each of its kind. */
function expectFields(entity: object, fields: Record<string, Kind>): void {
  expect(Object.keys(entity).sort()).toEqual(Object.keys(fields).sort());
  const values = Object.entries(entity);
  expect(values.filter(([key, value]) => !kinds[fields[key] ?? "text"](value))).toEqual([]);
}

const queueInfo = {
  queue_name: "text",
  created_at: "instant",
  updated_at: "instant",
  dead_queue: "text",
  reference: "text",
  lease_timeout: "duration",
  expire_timeout: "duration",
  max_attempts: "count",
  requested_partitions: "count",
  // Beyond the specification.
  leased_max: "count",
  lease_rate: "text",
  unique_for: "text",
  priority_aging: "text",
  waiting_max: "count",
  retry_backoff: "text",
  grouped: "flag",
  group_leased_max: "count",
  group_rate: "text",
  group_waiting_max: "count",
  group_order: "text",
  group_on_dead: "text",
  lease_paused: "flag",
  produce_paused: "flag",
  pause_reason: "text",
} as const;

row("entity QueueInfo: every field", async () => {
  await using app = await run();
  await app.create("full", {
    dead_queue: "orders",
    reference: "team",
    max_attempts: 3,
    requested_partitions: 2,
  });
  for (const name of ["orders", "full"]) {
    expectFields(await app.ok("queueInfo", { name }), queueInfo);
  }
  const { items } = await app.ok("listQueues", { pivot: "", limit: 10 });
  expect(items).toHaveLength(2);
  for (const item of items) expectFields(item, queueInfo);
  expect(items[0]).toEqual({
    queue_name: "full",
    created_at: instant(start),
    updated_at: instant(start),
    dead_queue: "orders",
    reference: "team",
    lease_timeout: "60m",
    expire_timeout: "24h",
    max_attempts: 3,
    requested_partitions: 2,
    leased_max: 0,
    lease_rate: "",
    unique_for: "",
    priority_aging: "60s",
    waiting_max: 0,
    retry_backoff: "",
    grouped: false,
    group_leased_max: 0,
    group_rate: "",
    group_waiting_max: 0,
    group_order: "loose",
    group_on_dead: "continue",
    lease_paused: false,
    produce_paused: false,
    pause_reason: "",
  });
});

row("entity QueueInfo: created_at, updated_at are timestamps", async () => {
  await using app = await run();
  await app.advance(minute);
  // The server ignores the client's values of these fields, so that a reply can be sent back.
  const info = await app.ok("queueInfo", { name: "orders" });
  await app.ok("updateQueue", { ...info, created_at: "2001-01-01T00:00:00Z", reference: "x" });
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject({
    created_at: instant(start),
    updated_at: instant(start + minute),
  });
});

row(
  "entity QueueInfo: dead_queue is empty in a list if the queue is itself a dead queue",
  async () => {
    await using app = await run();
    await app.create("work", { dead_queue: "orders" });
    const { items } = await app.ok("listQueues", { pivot: "", limit: 10 });
    expect(items.map(({ queue_name, dead_queue }) => [queue_name, dead_queue])).toEqual([
      ["orders", ""],
      ["work", "orders"],
    ]);
  },
);

row("entity QueueInfo: reference is free text", async () => {
  await using app = await run({ store: "sqlite" });
  const reference = `line\nü "quoted" \u0000 ${"x".repeat(1_900)}`;
  await app.ok("updateQueue", { ...orders, reference });
  await app.restart();
  expect((await app.ok("queueInfo", { name: "orders" })).reference).toBe(reference);
  expect(plain(await app.call("updateQueue", { ...orders, reference: "x".repeat(2_001) }))).toEqual(
    refused(400, "reference field is invalid; cannot be greater than '2000' characters"),
  );
});

row("entity QueueInfo: lease_timeout, expire_timeout are duration strings", async () => {
  await using app = await run({ orders: { lease_timeout: "1h30m", expire_timeout: "5400s" } });
  await app.produce("a");
  const { items } = await app.lease();
  expect(items[0]?.lease_deadline).toBe(instant(start + 90 * minute));
  expect((await app.stored())[0]?.expire_deadline).toBe(instant(start + 90 * minute));
  for (const [key, text] of [
    ["lease_timeout", "soon"],
    ["expire_timeout", "7w"],
    ["expire_timeout", "-1h"],
  ] as const) {
    const { code, body } = await app.call("updateQueue", { ...orders, [key]: text });
    expect(code).toBe(400);
    expect(body.message).toStartWith(`${key.replace("_", " ")} is invalid; time: `);
  }
});

row(
  "entity QueueInfo: max_attempts 0 means infinite, lease timeouts count as attempts",
  async () => {
    await using app = await run({ orders: { lease_timeout: "1s", max_attempts: 0 } });
    await app.produce("a");
    for (let attempts = 1; attempts <= 20; attempts += 1) {
      const [item] = (await app.lease()).items;
      expect(item?.attempts).toBe(attempts);
      await app.advance(second);
    }
    await app.ok("updateQueue", { ...orders, max_attempts: 21 });
    expect((await app.lease()).items[0]?.attempts).toBe(21);
    await app.advance(second);
    expect(await app.stored()).toEqual([]);
  },
);

row("entity QueueInfo: requested_partitions may differ from the active partitions", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  await app.produce("a");
  await app.produce("b");
  await app.ok("updateQueue", { ...orders, requested_partitions: 1 });
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject({ requested_partitions: 1 });
  expect(await app.ok("inspect", orders)).toMatchObject({ partitions: 2 });
});

row("entity Produce item: encoding, kind and reference are user-defined strings", async () => {
  for (const store of ["memory", "sqlite"] as const) {
    await using app = await run({ store });
    const texts = ["", "text/plain; charset=x", 'ü😀\u0000"\\', "x".repeat(10_000)];
    await app.ok("produce", {
      ...timed,
      items: texts.map((text) => ({ encoding: text, kind: `k${text}`, reference: `r${text}` })),
    });
    const { items } = await app.lease();
    expect(items.map(({ encoding, kind, reference }) => [encoding, kind, reference])).toEqual(
      texts.map((text) => [text, `k${text}`, `r${text}`]),
    );
  }
});

row("entity Produce item: bytes is base64 in JSON", async () => {
  await using app = await run({ store: "sqlite" });
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value)).toString("base64");
  await app.ok("produce", { ...timed, items: [{ bytes }, { bytes: "" }, {}] });
  expect((await app.lease()).items.map((item) => item.bytes)).toEqual([bytes, "", ""]);
  expect(plain(await app.call("produce", { ...timed, items: [{}, { bytes: "a!" }] }))).toEqual(
    refused(400, "items[1].bytes is invalid; expected base64, got 'a!'"),
  );
});

row("entity Produce item: utf8 is plain text", async () => {
  await using app = await run();
  await app.ok("produce", { ...timed, items: [{ utf8: "é\u0000😀" }] });
  expect((await app.lease()).items[0]?.bytes).toBe(Buffer.from("é\u0000😀").toString("base64"));
});

row("entity Produce item: if both bytes and utf8 are given, bytes wins", async () => {
  await using app = await run();
  await app.ok("produce", { ...timed, items: [{ bytes: btoa("bytes"), utf8: "text" }] });
  expect(textsOf((await app.lease()).items)).toEqual(["bytes"]);
});

row("entity Lease item: every field; id and lease_deadline are required", async () => {
  for (const items of [[{}], [{ encoding: "e", kind: "k", reference: "r", utf8: "a" }]]) {
    await using app = await run();
    await app.ok("produce", { ...timed, items });
    const lease = await app.lease();
    const beyond = { max_attempts: "count", now: "instant", retry_backoff: "text" } as const;
    expectFields(lease, { queue_name: "text", partition: "count", items: "list", ...beyond });
    const [item = {}] = lease.items;
    expectFields(item, {
      id: "text",
      encoding: "text",
      kind: "text",
      reference: "text",
      priority: "count",
      attempts: "count",
      lease_deadline: "instant",
      bytes: "base64",
    });
    expect(item).toMatchObject({
      id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
      lease_deadline: instant(start + hour),
      priority: 0,
      attempts: 1,
    });
  }
});

row("entity Retry item: id", async () => {
  await using app = await run();
  await app.produce("a", "b");
  const lease = await app.lease();
  const [first] = lease.items;
  expect((await app.retry({ ...lease, items: first === undefined ? [] : [first] })).code).toBe(200);
  const stored = await app.stored();
  expect(textsOf(stored)).toEqual(["b", "a"]);
  expect(stored.map(({ is_leased }) => is_leased)).toEqual([true, false]);
});

row(
  "entity Retry item: retry_at empty means re-queue immediately and increment attempts",
  async () => {
    for (const how of [{}, { retry_at: "" }, { retry_at: null }, { retry_at: instant(start) }]) {
      await using app = await run();
      await app.produce("a");
      const { partition, items } = await app.lease();
      const retried = idsOf(items).map((id) => ({ id, ...how }));
      await app.ok("retry", { ...orders, partition, items: retried });
      expect((await app.lease()).items).toMatchObject([{ attempts: 2 }]);
    }
  },
);

row(
  "entity Retry item: dead sends the item to the dead queue whatever attempts remain",
  async () => {
    await using app = await run({ orders: null });
    await app.create("dead");
    await app.create("orders", { dead_queue: "dead", max_attempts: 100 });
    await app.produce("a");
    const how = { dead: true, retry_at: instant(start + hour) };
    expect(plain(await app.retry(await app.lease(), how))).toEqual({ code: 200, body: done });
    expect(textsOf(await app.stored("dead"))).toEqual(["a"]);
    expect([...(await app.stored()), ...(await app.scheduled())]).toEqual([]);
  },
);

row("entity Storage item: every field", async () => {
  for (const store of ["memory", "sqlite"] as const) {
    await using app = await run({ store, orders: null });
    await app.create("dead");
    await app.create("orders", { dead_queue: "dead", max_attempts: 9 });
    await app.produce("leased");
    const { items: leased } = await app.lease();
    await app.advance(minute);
    const enqueue_at = instant(start + day);
    const text = { encoding: "e", kind: "k", reference: "r" };
    const items = [{ ...text, utf8: "ready" }, { enqueue_at }];
    await app.ok("produce", { ...timed, items });
    const listed = [...(await app.stored()), ...(await app.scheduled())];
    expect(listed).toHaveLength(3);
    for (const item of [...listed, ...(await app.stored("dead"))]) {
      expectFields(item, {
        id: "text",
        source_id: "text",
        is_leased: "flag",
        lease_deadline: "instant?",
        dead_deadline: "instant?",
        expire_deadline: "instant",
        created_at: "instant",
        updated_at: "instant",
        enqueue_at: "instant?",
        priority: "count",
        attempts: "count",
        max_attempts: "count",
        reference: "text",
        encoding: "text",
        kind: "text",
        payload: "base64",
      });
    }
    expect(listed).toMatchObject([
      {
        id: leased[0]?.id,
        is_leased: true,
        lease_deadline: instant(start + hour),
        dead_deadline: instant(start + day),
        expire_deadline: instant(start + day),
        created_at: instant(start),
        updated_at: instant(start),
        enqueue_at: null,
        priority: 0,
        attempts: 1,
        max_attempts: 9,
        payload: btoa("leased"),
      },
      {
        ...text,
        is_leased: false,
        lease_deadline: null,
        expire_deadline: instant(start + minute + day),
        created_at: instant(start + minute),
        attempts: 0,
        payload: btoa("ready"),
      },
      { enqueue_at, expire_deadline: instant(start + 2 * day), is_leased: false, payload: "" },
    ]);
  }
});

const partitionStats = {
  partition: "count",
  total: "count",
  total_leased: "count",
  average_age: "duration",
} as const;

row("entity Partition stats: every field", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  await app.produce("a", "b");
  await app.lease({ batch_size: 1 });
  await app.advance(minute);
  const { logical_queues } = await app.ok("stats", orders);
  const partitions = logical_queues.flatMap((line) => line.partitions);
  for (const one of partitions) {
    const { scheduled: _1, failures: _2, average_leased_age: _3, ...some } = one;
    const { oldest_ready_at: _4, next_due_at: _5, ...rest } = some;
    expectFields(rest, partitionStats);
  }
  expect(partitions).toMatchObject([
    { partition: 0, total: 2, total_leased: 1, average_age: "1m0s" },
    { partition: 1, total: 0, total_leased: 0, average_age: "0s" },
  ]);
});

row("entity Logical queue stats: every field", async () => {
  await using app = await run();
  const { queue_name, logical_queues } = await app.ok("stats", orders);
  expect(queue_name).toBe("orders");
  expect(logical_queues).toHaveLength(1);
  for (const { counters: _, ...line } of logical_queues) {
    expectFields(line, {
      average_leased_age: "duration",
      produce_waiting: "count",
      lease_waiting: "count",
      complete_waiting: "count",
      in_flight: "count",
      partitions: "list",
    });
  }
  await app.begin("lease", app.leaseOf());
  await app.begin("lease", app.leaseOf());
  expect((await app.ok("stats", orders)).logical_queues).toMatchObject([
    { lease_waiting: 2, produce_waiting: 0, complete_waiting: 0, in_flight: 0 },
  ]);
});

row("entity Reply: code, code_text, message", async () => {
  await using app = await run();
  const fields = { code: "count", code_text: "text", message: "text" } as const;
  const good = await app.call("produce", { ...timed, items: [{}] });
  const bad = await app.call("produce", { ...timed, items: [] });
  expectFields(good.body, fields);
  // Beyond the specification, and only in error replies.
  expectFields(bad.body, { ...fields, reason: "text" });
  for (const { code, body } of [good, bad]) {
    expect(body.code).toBe(code);
  }
  expect(good.body).toEqual({ code: 200, code_text: "OK", message: "" });
  expect(bad.body).toMatchObject({ code: 400, code_text: "Bad Request" });
});

row("entity Inspect: every field", async () => {
  await using app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead", requested_partitions: 3 });
  const fields = {
    queue_name: "text",
    partitions: "count",
    queued: "count",
    leased: "count",
    retried: "count",
    scheduled: "count",
    dead_letter: "count",
  } as const;
  expectFields(await app.ok("inspect", orders), fields);
  await app.produce("retried");
  await app.retry(await app.lease(), { retry_at: instant(start + hour) });
  await app.produce("dead");
  await app.retry(await app.lease(), { dead: true });
  const later = { enqueue_at: instant(start + hour) };
  await app.ok("produce", { ...timed, items: [{}, {}, {}, later, later] });
  await app.lease({ batch_size: 1 });
  const inspected = await app.ok("inspect", orders);
  expectFields(inspected, fields);
  expect(inspected).toEqual({
    queue_name: "orders",
    partitions: 3,
    queued: 2,
    leased: 1,
    retried: 1,
    scheduled: 2,
    dead_letter: 1,
  });
});

complete();
