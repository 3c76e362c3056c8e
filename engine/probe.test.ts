import { expect, test } from "bun:test";
import { setup, minute, hour, second, day, start, got, textsOf, idsOf, completeOf, produceOf } from "/work/main/engine/simulation/bundle.ts";

test("smoke", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  await b.produce("q", "a", "b", "c");
  const l = await b.lease("q", { batchSize: 2 });
  expect(textsOf(l.items)).toEqual(["a", "b"]);
  expect((await b.complete(l)).ok).toBe(true);
  expect(await b.listed("q")).toEqual(["c"]);
  const w = await b.beginLease("q"); expect(got(w)).toEqual(["c"]);
  const w2 = await b.beginLease("q"); expect(w2.ending).toBe(null);
  await b.clock.advance(minute);
  expect(w2.ending).toMatchObject({ ok: false, code: "empty" });
  await b.clock.advance(10);
  expect(await b.lease("q").then(x=>x.items[0]?.attempts)).toBe(2);
});

test("clear: leased items ahead do not stall it", async () => {
  const b = await setup();
  await b.createQueue({ name: "q", leaseTimeoutMs: hour });
  await b.produceMany("q", 5001);
  for (let i = 0; i < 5; i++) await b.lease("q", { batchSize: 1000 });
  const e = await b.ending(() => b.engine.clear({ queue: "q", ready: true, scheduled: false, retried: false, destructive: false }));
  expect(e.ok).toBe(true);
});

test("clear: scheduled ones not meant do not stall it", async () => {
  const b = await setup();
  await b.createQueue({ name: "q", leaseTimeoutMs: hour });
  await b.produceMany("q", 5000);
  for (let i = 0; i < 5; i++) { const l = await b.lease("q", { batchSize: 1000 }); await b.retry(l, { retryAt: start + hour }); }
  await b.run(() => b.engine.produce(produceOf("q", ["s"], start + hour)));
  const e = await b.ending(() => b.engine.clear({ queue: "q", ready: false, scheduled: true, retried: false, destructive: false }));
  expect(e.ok).toBe(true);
  expect((await b.scheduled("q")).length).toBe(5000);
});

test("clear: after a crash in the middle nothing cleared is offered", async () => {
  const b = await setup();
  await b.createQueue({ name: "q", leaseTimeoutMs: hour });
  await b.produceMany("q", 10000);
  b.store().killAt({ commitsBefore: 1, applied: true });
  const c = await b.begin(() => b.engine.clear({ queue: "q", ready: true, scheduled: false, retried: false, destructive: false }));
  expect(c.ending).toBe(null);
  b.store().hold();
  for (const s of [b.store()]) s.kill();
  const opening = b.open();
  await opening;
  const p = b.begin(() => b.engine.produce(produceOf("q", ["new"])));
  const l = b.beginLease("q", { batchSize: 10 });
  await p;
  expect(got(await l)).toEqual(["new"]);
});

test("clock back over restart: calls go on", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  await b.clock.advance(hour);
  await b.produce("q", "a");
  await b.restart({ now: start });
  const e = await b.ending(() => b.engine.produce(produceOf("q", ["b"])));
  expect(e).toEqual({ ok: true, value: undefined });
});

test("port: a shorter deadline behind a longer is answered in time", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  b.store().openFault = "failed";
  b.store().fail({ fault: "failed", applied: false });
  const a = await b.begin(() => b.engine.produce(produceOf("q", ["b"])));
  await b.clock.advance(second);
  const c = await b.begin(() => b.engine.produce({...produceOf("q", ["c"]), requestTimeoutMs: 5*minute}));
  const d = await b.begin(() => b.engine.produce({...produceOf("q", ["d"]), requestTimeoutMs: second}));
  await b.clock.advance(second);
  expect(d.ending).toMatchObject({ ok: false, code: "empty" });
});

test("full: recovers under load", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  await b.produce("q", "x");
  b.store().fail({ fault: "full", applied: false });
  const a = await b.ending(() => b.engine.produce(produceOf("q", ["b"])));
  expect(a.ok).toBe(false);
  b.store().heal();
  let last;
  for (let i = 0; i < 20; i++) { await b.clock.advance(400); last = await b.ending(() => b.engine.produce(produceOf("q", ["c"]))); }
  expect(last?.ok).toBe(true);
});

test("lease: granted directly and the store slow, answered in time", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  await b.produce("q", "x");
  b.store().hold();
  const l = await b.beginLease("q", { requestTimeoutMs: second });
  await b.clock.advance(2 * second);
  expect(l.ending).toMatchObject({ code: "empty" });
  b.store().release();
  const r = await b.lease("q");
  expect(r.items[0]?.attempts).toBe(1);
});
test("open: a store that says something strange fails to open", async () => {
  const b = await setup();
  (b as any).x = 1;
});
test("delete of queue waits quietly while produce in flight", async () => {
  const b = await setup();
  await b.createQueue({ name: "q" });
  b.store().hold();
  const p = await b.begin(() => b.engine.produce(produceOf("q", ["b"])));
  const d = await b.begin(() => b.engine.deleteQueue({ name: "q", force: false }));
  b.store().release();
  await b.clock.settle();
  expect(p.ending?.ok).toBe(true);
  expect(d.ending).toMatchObject({ code: "refused" });
});
