// A caller's clock is finer than a millisecond: stored instants are not before the call, and
// nothing happens before a requested instant.

import { expect, test } from "bun:test";
import { instant, minute, orders, run, start, textsOf } from "../testing/running-app.ts";

const called = start + 0.4;
const next = instant(start + 1);

async function runAtFraction() {
  const app = await run({ orders: null });
  await app.advance(called - start);
  return app;
}

test("queue: created_at and updated_at are not before the call", async () => {
  await using app = await runAtFraction();
  await app.create("orders");
  const made = { created_at: next, updated_at: next };
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject(made);
  await app.ok("updateQueue", { ...orders, reference: "x" });
  const changed = { created_at: next, updated_at: instant(start + 2) };
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject(changed);
});

test("item: created_at and updated_at are not before its produce, import or dead-lettering", async () => {
  await using app = await runAtFraction();
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead" });
  await app.ok("importItems", { ...orders, partition: 0, items: [{}] });
  await app.produce("leased", "retried", "dead");
  const made = { created_at: next, updated_at: next };
  expect(await app.stored()).toMatchObject([made, made, made, made]);
  await app.lease({ batch_size: 2 });
  await app.retry(await app.lease({ batch_size: 1 }));
  await app.retry(await app.lease({ batch_size: 1 }), { dead: true });
  expect(await app.stored()).toMatchObject([made, made, made]);
  expect(await app.stored("dead")).toMatchObject([made]);
  // A deadline counts from before the call; the server's own clock decides when it is reached.
  const [leased] = await app.stored();
  expect(leased?.lease_deadline).toBe(instant(start + 60 * minute));
});

test("an instant finer than a millisecond is rounded up", async () => {
  await using app = await run();
  const fine = "2026-01-01T00:00:01.0004Z";
  const rounded = "2026-01-01T00:00:01.001Z";
  const items = [
    { payload: btoa("expires"), expire_deadline: fine, created_at: fine },
    { payload: btoa("lapses"), is_leased: true, lease_deadline: fine },
    { payload: btoa("falls due"), enqueue_at: fine },
  ];
  const imported = await app.ok("importItems", { ...orders, partition: 0, items });
  expect(imported.items).toMatchObject([
    { expire_deadline: rounded, created_at: rounded },
    { lease_deadline: rounded },
    { enqueue_at: rounded },
  ]);
  await app.advance(1_000);
  expect(textsOf(await app.stored())).toEqual(["expires", "lapses"]);
  await app.advance(1);
  expect(textsOf((await app.lease()).items)).toEqual(["lapses", "falls due"]);
});

test("retry_after: a duration from the call, not together with retry_at", async () => {
  await using app = await run();
  await app.produce("a", "b");
  const { items, ...lease } = await app.lease({ batch_size: 2 });
  const [a, b] = items;
  const place = { ...orders, partition: lease["partition"] };
  const both = { id: a?.id ?? "", retry_at: instant(start + minute), retry_after: "1m" };
  const refused = "retry is invalid; expected retry_at or retry_after, got both";
  expect(await app.call("retry", { ...place, items: [both] })).toMatchObject({
    code: 400,
    body: { message: refused },
  });
  const rejected = [
    ["soon", 'retry after is invalid; time: invalid duration "soon"'],
    ["9000h", "retry after is invalid"],
  ] as const;
  for (const [retry_after, message] of rejected) {
    const { code, body } = await app.call("retry", {
      ...place,
      items: [{ id: a?.id ?? "", retry_after }],
    });
    expect(code).toBe(400);
    expect(body.message).toStartWith(message);
  }
  const given = [
    { id: a?.id ?? "", retry_after: "90s" },
    { id: b?.id ?? "", retry_after: "0s" },
  ];
  await app.ok("retry", { ...place, items: given });
  expect(textsOf(await app.stored())).toEqual(["b"]);
  const page = { ...orders, partition: 0, pivot: "", limit: 9 };
  const { items: scheduled } = await app.ok("listScheduled", page);
  expect(scheduled).toMatchObject([{ enqueue_at: instant(start + 90_000) }]);
});
