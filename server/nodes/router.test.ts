// How a router treats the outcomes of this node's own shards.

import { describe, expect, test } from "bun:test";
import { steadyClock } from "../../engine/model/clock.ts";
import {
  closingFailure,
  type Failure,
  QueueError,
  reopeningFailure,
  unreachableLease,
} from "../../engine/model/errors.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import { decodeCalls } from "../calls/frame.ts";
import { Caller } from "../routes/route.ts";
import { silentLog } from "../testing/memory-engine.ts";
import type { Membership } from "./membership.ts";
import { ping } from "./peer.ts";
import { Router } from "./router.ts";
import { Watchers } from "./watchers.ts";

/** This node always owns the shard. */
const owner: Partial<Membership> = {
  ...{ watchers: new Watchers(steadyClock()), isLast: false, isStale: false },
  ...{ isTrusted: () => true, isOwner: () => true, isChanging: () => false },
  ...{ others: () => [], ownerNode: () => null },
};

const body = { queue_name: "orders", request_timeout: "10ms", batch_size: 1, lease_timeout: null };

function setup(ends: Failure, { endsAtOnce = false } = {}) {
  const connect = (): never => {
    throw new Error("no other node is there");
  };
  const clock = steadyClock();
  const router = new Router({
    ...{ memberships: [owner as Membership], localShard: () => null },
    ...{ clock, connect, log: silentLog },
  });
  const route = async (asked: { readonly request_timeout: string }): Promise<never> => {
    await Bun.sleep(endsAtOnce ? 0 : Number.parseInt(asked.request_timeout, 10));
    throw QueueError.from(ends);
  };
  const routes: Record<
    "lease" | "produce",
    (asked: typeof body, caller: Caller) => Promise<unknown>
  > = router.around({ lease: route, produce: route }, 0);
  const caller = new Caller({ client: new AbortController(), requestKey: null });
  return { router, routes, caller };
}

describe("a lease that times out while the shard of its queue is down", () => {
  test("is refused with that reason by the owner", async () => {
    const { routes, caller } = setup(unreachableLease);
    await expect(routes.lease(body, caller)).rejects.toMatchObject({ reason: "not_ready" });
  });

  test("is refused with that reason by another node", async () => {
    const { router, caller } = setup(unreachableLease);
    const call = {
      operation: "lease",
      shard: 0,
      body: JSON.stringify(body),
      requestKey: null,
    } as const;
    expect(await router.serve(call, caller)).toMatchObject({
      is: "failure",
      failure: { reason: "not_ready" },
    });
  });
});

test.each([
  ["a lease", "lease", closingFailure],
  ["a produce", "produce", closingFailure],
  ["a lease while the shard is opened again", "lease", reopeningFailure],
  ["a produce while the shard is opened again", "produce", reopeningFailure],
] as const)("%s is done where the shard is, within its time", async (_, id, ends) => {
  const { router, caller } = setup(ends, { endsAtOnce: true });
  const call = {
    ...{ operation: id, shard: 0 },
    body: JSON.stringify({ ...body, request_timeout: "1h" }),
    requestKey: null,
  };
  expect(await router.serve(call, caller)).toMatchObject({ is: "moved" });
});

test.each([
  ["lease", "empty"],
  ["produce", "shutting_down"],
] as const)(
  "%s: of an engine that ends, its caller is told that its time is up",
  async (id, reason) => {
    const { routes, caller } = setup(closingFailure);
    await expect(routes[id](body, caller)).rejects.toMatchObject({ reason });
  },
);

const second = 1_000;
const isPing = (text: string): boolean => text === ping;
const silent = { url: "http://silent", key: "k" } as NodeRow;

/** Another node owns the shard; `url` is `null`: no node does. */
function elsewhere(url: string | null) {
  const clock = new VirtualClock(0);
  const membership: Partial<Membership> = {
    ...owner,
    ...{ isTrusted: () => false, isOwner: () => false },
    others: () => [silent],
    ...{ ownerNode: () => (url === null ? null : silent), watchers: new Watchers(clock) },
  };
  const sent: string[] = [];
  const router = new Router({
    ...{ memberships: [membership as Membership], localShard: () => null, clock, log: silentLog },
    // The peer is connected and does not answer, like a stopped process.
    connect: (_, events) => {
      clock.nextTick(() => events.opened());
      return { send: (text) => sent.push(text), close: () => events.closed() };
    },
  });
  const local = async (): Promise<never> => {
    throw QueueError.from(closingFailure);
  };
  const routes: Record<"listQueues", (body: object, caller: Caller) => Promise<unknown>> =
    router.around({ listQueues: local }, 0);
  const caller = new Caller({ client: new AbortController(), requestKey: null });
  /** After how many milliseconds a call fails, and the error. */
  const failing = async (asking: Caller) => {
    let failed: { readonly ms: number; readonly error: unknown } | null = null;
    const page = { pivot: "", limit: 10 };
    routes.listQueues(page, asking).catch((error) => {
      failed = { ms: clock.now(), error };
    });
    while (failed === null) await clock.advance(50);
    return failed as { readonly ms: number; readonly error: unknown };
  };
  return { caller, failing, sent };
}

describe.each([
  ["the owner of the shard is silent", silent.url],
  ["no node owns the shard", null],
])("%s", (_, url) => {
  test("a call to all shards ends after a second, because its reply may omit the shard", async () => {
    const { caller, failing } = elsewhere(url);
    const { ms, error } = await failing(caller.waitingElsewhere(second));
    expect(ms).toBe(second);
    expect(error).toMatchObject({ code: "closing", reason: "not_ready" });
  });

  test("any other call waits until its timeout", async () => {
    const { caller, failing } = elsewhere(url);
    expect((await failing(caller)).ms).toBeGreaterThan(3 * second);
  });
});

test("a call that times out is aborted at the node that it was sent to", async () => {
  const { caller, failing, sent } = elsewhere(silent.url);
  await failing(caller.waitingElsewhere(second));
  expect(sent.map(isPing)).toContain(false);
  const [call, back] = sent.filter((text) => !isPing(text)).flatMap(decodeCalls);
  expect(call).toMatchObject({ call: { operation: "listQueues", shard: 0 } });
  expect(back).toEqual({ number: call?.number ?? 0, call: null });
});

test("a call waits for a shard of this node until its timeout", async () => {
  const { routes, caller } = setup(unreachableLease);
  const slow = { ...body, request_timeout: "60ms" };
  // The bound of 1 ms is only for shards of other nodes.
  const reply = routes.produce(slow, caller.waitingElsewhere(1));
  await expect(reply).rejects.toThrow(unreachableLease.message);
});

test("a node that is cut off from a shard's database calls the nodes known from another database", async () => {
  const node = {
    ...{ url: "http://b", key: "b", version: "", startedAt: 0, seenAt: 0 },
    ...{ isDraining: false, isLive: true },
  };
  const none = { isTrusted: () => false, isOwner: () => false, isLast: false };
  const near = { ...owner, ...none, others: () => [node] };
  const cutOff = { ...owner, ...none, isStale: true };
  const asked: string[] = [];
  const router = new Router({
    ...{ memberships: [near as unknown as Membership, cutOff as unknown as Membership] },
    ...{ localShard: () => null, clock: steadyClock(), log: silentLog },
    connect: ({ url }) => {
      asked.push(url);
      throw new Error("this test needs only the first call");
    },
  });
  const { produce } = router.around({ produce: async (_: typeof body, __: Caller) => null }, 1);
  const caller = new Caller({ client: new AbortController(), requestKey: null });
  await produce(body, caller).catch(() => undefined);
  expect(asked[0]).toBe("http://b");
});
