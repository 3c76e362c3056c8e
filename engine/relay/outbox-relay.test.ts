import { expect, test } from "bun:test";
import type { OutboundItem } from "../../stores/item.ts";
import { failure, QueueError, undeliveredBackup } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Result } from "../model/messages.ts";
import type { Request } from "../operations.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { OutboxRelay } from "./outbox-relay.ts";

interface Call {
  readonly shard: number;
  readonly request: Request;
  readonly settle: (result: Result, op: number) => void;
  readonly fail: (cause: QueueError) => void;
}

const done: Result = { ok: true, value: { kind: "done" } };

function item(outboundSeq: number, targetShard = 1): OutboundItem {
  return {
    slot: 0,
    seq: outboundSeq,
    createdAt: 0,
    queuedAt: 0,
    expireDeadline: 0,
    early: false,
    attempts: 0,
    kind: "",
    encoding: "",
    reference: "",
    headers: "",
    sourceId: "",
    past: "",
    payload: "",
    outboundSeq,
    targetShard,
    targetOwner: 0,
  };
}

/** A page of an outbox with these items. */
function page(...numbers: number[]): Result {
  return { ok: true, value: { kind: "outbound", items: numbers.map((number) => item(number)) } };
}

const nothing = page();

/** A report of `count` items for a queue of a shard. */
function waits(count: number, targetShard = 1, targetOwner = 0) {
  return count === 0 ? [] : [{ targetShard, targetOwner, count }];
}

function unused(): void {
  throw new Error("a shard answers its own requests");
}

function setupCourier() {
  const clock = new VirtualClock(0);
  const calls: Call[] = [];
  const put = (shard: number, request: Request, settle: Call["settle"], fail = unused) =>
    void calls.push({ shard, request, settle, fail });
  const outboxRelay = new OutboxRelay({
    clock,
    shard: () => ({ shard: 0, put: (request, settle) => put(0, request, settle) }),
    setAside: () => undefined,
    other: (shard) => ({
      receive: (sourceShard, items) =>
        new Promise((settle, fail) =>
          put(shard, { kind: "receive", sourceShard, items }, settle, fail),
        ),
    }),
  });
  /** Settles the oldest pending call and returns its description. */
  const settleNext = async (result: Result = done): Promise<string | undefined> => {
    const call = calls.shift();
    call?.settle(result, 1);
    for (let steps = 0; steps < 4; steps += 1) await Promise.resolve();
    if (call === undefined) return undefined;
    const { request } = call;
    if (request.kind === "forward") {
      return `${call.shard} forward to ${request.targetShard}, has ${request.arrived}`;
    }
    if (request.kind !== "receive") return request.kind;
    return `${call.shard} receive ${request.items.map(({ outboundSeq }) => outboundSeq)}`;
  };
  return { clock, outboxRelay, calls, settleNext };
}

test("count: pages go to the target one after the other, and each request says what has arrived", async () => {
  const { outboxRelay, settleNext } = setupCourier();
  outboxRelay.count(1, waits(3));
  expect([
    await settleNext(page(1, 2)),
    await settleNext(),
    await settleNext(page(3)),
    await settleNext(),
    await settleNext(nothing),
    await settleNext(),
  ]).toEqual([
    "0 forward to 1, has 0",
    "1 receive 1,2",
    "0 forward to 1, has 2",
    "1 receive 3",
    "0 forward to 1, has 3",
    undefined,
  ]);
});

test("count: one page at a time is in transit between two shards, and others do not wait for it", async () => {
  const { outboxRelay, calls } = setupCourier();
  outboxRelay.count(1, waits(1));
  outboxRelay.count(1, waits(2));
  outboxRelay.count(2, waits(1, 2));
  expect(calls.map(({ request }) => request)).toEqual([
    { kind: "forward", targetShard: 1, arrived: 0 },
    { kind: "forward", targetShard: 2, arrived: 0 },
  ]);
});

test("count: items added while a page is requested are requested next", async () => {
  const { outboxRelay, settleNext, calls } = setupCourier();
  outboxRelay.count(1, waits(1));
  // The report arrives before the answer that it contains is delivered.
  outboxRelay.count(1, waits(2));
  expect(await settleNext(nothing)).toBe("0 forward to 1, has 0");
  expect(await settleNext(nothing)).toBe("0 forward to 1, has 0");
  expect(calls).toEqual([]);
});

test("count: a target without room, or one that closes, is retried later", async () => {
  const { clock, outboxRelay, settleNext, calls } = setupCourier();
  outboxRelay.count(1, waits(1));
  await settleNext(page(1));
  await settleNext(failure("store_full", "full"));
  expect(calls).toHaveLength(0);
  await clock.advance(1_000);
  expect(await settleNext(page(1))).toBe("0 forward to 1, has 0");
  await settleNext(failure("shutting_down", "closing"));
  expect(calls).toHaveLength(0);
  await clock.advance(1_000);
  expect(await settleNext(page(1))).toBe("0 forward to 1, has 0");
  calls.shift()?.fail(QueueError.from(failure("not_ready", "away")));
  await clock.advance(1_000);
  expect(await settleNext(failure("shutting_down", "closing"))).toBe("0 forward to 1, has 0");
  await clock.advance(60_000);
  expect(calls).toHaveLength(0);
});

test("count: a source without room to remove items is asked again, and nothing is abandoned", async () => {
  const { clock, outboxRelay, settleNext, calls } = setupCourier();
  outboxRelay.count(1, waits(1));
  await settleNext(page(1));
  await settleNext();
  expect(await settleNext(failure("store_full", "there is no space left"))).toBe(
    "0 forward to 1, has 1",
  );
  expect(outboxRelay.isSending(0)).toBe(true);
  expect(calls).toHaveLength(0);
  await clock.advance(1_000);
  expect(await settleNext(nothing)).toBe("0 forward to 1, has 1");
});

test("isSending: is true until the source has removed the item", async () => {
  const { outboxRelay, settleNext } = setupCourier();
  outboxRelay.count(1, waits(1, 1, 5));
  const targeted = () => [outboxRelay.isSending(5), outboxRelay.isSending(6)];
  expect(targeted()).toEqual([true, false]);
  await settleNext(page(1));
  await settleNext();
  expect(targeted()).toEqual([true, false]);
  outboxRelay.count(1, waits(0));
  await settleNext(nothing);
  expect(targeted()).toEqual([false, false]);
});

test("countAll: a reopened shard sends the rest of its outbox", async () => {
  const { outboxRelay, calls } = setupCourier();
  outboxRelay.countAll([...waits(2, 1, 5), ...waits(1, 1, 6), ...waits(1, 2)]);
  expect(calls).toHaveLength(2);
  expect([outboxRelay.isSending(5), outboxRelay.isSending(6)]).toEqual([true, true]);
});

test("hold: resolves once nothing is in transit, and nothing is sent before its release", async () => {
  const { outboxRelay, calls, settleNext } = setupCourier();
  outboxRelay.count(1, waits(1));
  await settleNext(page(1));
  let held: { release: () => void } | null = null;
  const holding = outboxRelay.hold(undeliveredBackup).then((hold) => {
    held = hold;
  });
  outboxRelay.count(1, waits(3));
  outboxRelay.count(2, waits(1, 2));
  expect(await settleNext()).toBe("1 receive 1");
  await Promise.resolve();
  expect(held).toBeNull();
  // The page stays where it is: only the acknowledgement of the previous page counts.
  expect(await settleNext(page(2, 3))).toBe("0 forward to 1, has 1");
  await holding;
  expect(calls).toEqual([]);
  (held as { release: () => void } | null)?.release();
  expect([await settleNext(page(2, 3)), await settleNext(nothing), await settleNext()]).toEqual([
    "0 forward to 1, has 1",
    "0 forward to 2, has 0",
    "1 receive 2,3",
  ]);
});

test("hold: fails when items in transit do not arrive", async () => {
  const { clock, outboxRelay } = setupCourier();
  outboxRelay.count(1, waits(1));
  const holding = outboxRelay.hold(undeliveredBackup).catch((error: unknown) => error);
  await clock.advance(limits.holdMsMax);
  expect(await holding).toMatchObject({ code: "store" });
});
