import { expect, test } from "bun:test";
import type { OutboundItem } from "../stores/item.ts";
import { Courier } from "./courier.ts";
import { failure } from "./errors.ts";
import type { Request } from "./messages.ts";
import type { Result, ShardPort } from "./port.ts";
import { VirtualClock } from "./simulation/virtual-clock.ts";

interface Call {
  readonly shard: number;
  readonly request: Request;
  readonly settle: (result: Result, op: number) => void;
}

const done: Result = { ok: true, value: { kind: "done" } };

function item(outboundSeq: number, targetSlot = 0, targetShard = 1): OutboundItem {
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
    sourceId: "",
    payload: "",
    outboundSeq,
    targetShard,
    targetSlot,
  };
}

function setupCourier() {
  const clock = new VirtualClock(0);
  const calls: Call[] = [];
  const port = (shard: number) =>
    ({
      put: (request: Request, settle: Call["settle"]) =>
        void calls.push({ shard, request, settle }),
    }) as unknown as ShardPort;
  const courier = new Courier({ clock, port: (shard) => (shard < 3 ? port(shard) : undefined) });
  /** Settles the oldest call that waits, and says what it was. */
  const settleNext = (result: Result = done): string | undefined => {
    const call = calls.shift();
    call?.settle(result, 1);
    if (call === undefined) return undefined;
    const { request } = call;
    if (request.kind === "received") return `${call.shard} received ${request.outboundSeqs}`;
    if (request.kind !== "receive") return request.kind;
    return `${call.shard} receive ${request.items.map(({ outboundSeq }) => outboundSeq)}`;
  };
  return { clock, courier, calls, settleNext };
}

test("carry: the target takes the items before the source forgets them", () => {
  const { courier, settleNext } = setupCourier();
  courier.carry(0, [item(1), item(2)]);
  expect([settleNext(), settleNext(), settleNext()]).toEqual([
    "1 receive 1,2",
    "0 received 1,2",
    undefined,
  ]);
});

test("carry: between two shards one message travels at a time, in order", () => {
  const { courier, calls, settleNext } = setupCourier();
  courier.carry(0, [item(1)]);
  courier.carry(0, [item(2)]);
  courier.carry(0, [item(3, 0, 2)]);
  expect(calls).toHaveLength(2);
  const said = [settleNext(), settleNext(), settleNext(), settleNext(), settleNext(), settleNext()];
  expect(said).toEqual([
    "1 receive 1",
    "2 receive 3",
    "0 received 1",
    "0 received 3",
    "1 receive 2",
    "0 received 2",
  ]);
});

test("carry: what is on its way already is not sent again", () => {
  const { courier, settleNext } = setupCourier();
  courier.carry(0, [item(1), item(2)]);
  courier.carry(0, [item(1), item(2), item(3)]);
  expect([settleNext(), settleNext(), settleNext(), settleNext()]).toEqual([
    "1 receive 1,2",
    "0 received 1,2",
    "1 receive 3",
    "0 received 3",
  ]);
});

test("carry: a target without room is asked again later, one that closes is not", async () => {
  const { clock, courier, settleNext, calls } = setupCourier();
  courier.carry(0, [item(1)]);
  settleNext(failure("store", "full"));
  expect(calls).toHaveLength(0);
  await clock.advance(1_000);
  expect(settleNext(failure("closing", "closing"))).toBe("1 receive 1");
  await clock.advance(60_000);
  expect(calls).toHaveLength(0);
});

test("isTargeted: a slot is, until the source has forgotten the item", () => {
  const { courier, settleNext } = setupCourier();
  courier.carry(0, [item(1, 5)]);
  const targeted = () => [
    courier.isTargeted(1, 5),
    courier.isTargeted(1, 6),
    courier.isTargeted(0, 5),
  ];
  expect(targeted()).toEqual([true, false, false]);
  settleNext();
  expect(targeted()).toEqual([true, false, false]);
  settleNext();
  expect(targeted()).toEqual([false, false, false]);
});

test("carry: a source that has no room to forget is asked again, and nothing is given up", async () => {
  const { clock, courier, settleNext } = setupCourier();
  courier.carry(0, [item(1)]);
  const full = failure("store", "there is no space left");
  expect([settleNext(), settleNext(full)]).toEqual(["1 receive 1", "0 received 1"]);
  expect(courier.isTargeted(1, 0)).toBe(true);
  await clock.advance(1_000);
  // The target has had it and takes it once, whatever number of times it comes.
  expect([settleNext(), settleNext()]).toEqual(["1 receive 1", "0 received 1"]);
  expect(courier.isTargeted(1, 0)).toBe(false);
});

test("hold: resolves once nothing is on its way, and nothing sets out before its release", async () => {
  const { courier, calls, settleNext } = setupCourier();
  courier.carry(0, [item(1)]);
  let held: { release: () => void } | null = null;
  const holding = courier.hold().then((hold) => {
    held = hold;
  });
  courier.carry(0, [item(2), item(3, 0, 2)]);
  expect(settleNext()).toBe("1 receive 1");
  await Promise.resolve();
  expect(held).toBeNull();
  expect(settleNext()).toBe("0 received 1");
  await holding;
  expect(calls).toEqual([]);
  (held as { release: () => void } | null)?.release();
  expect([settleNext(), settleNext()]).toEqual(["1 receive 2", "2 receive 3"]);
});
