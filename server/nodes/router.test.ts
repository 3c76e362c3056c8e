// What a router makes of what this node's own shards say.

import { describe, expect, test } from "bun:test";
import { steadyClock } from "../../engine/model/clock.ts";
import {
  closingFailure,
  type Failure,
  QueueError,
  reopeningFailure,
  unreachableLease,
} from "../../engine/model/errors.ts";
import { Caller } from "../routes/route.ts";
import { silentLog } from "../testing/memory-engine.ts";
import type { Membership } from "./membership.ts";
import { Router } from "./router.ts";

/** This node has the shards all along. */
const owner: Partial<Membership> = {
  ...{ version: 1, isTrusted: true, isOwner: true, isLast: false, isStale: false },
  ...{ isChanging: false, others: [], owner: null, ownerNode: null },
  watch: () => () => undefined,
  change: () => Promise.resolve(),
};

const body = { queue_name: "orders", request_timeout: "10ms", batch_size: 1, lease_timeout: null };

function setup(ends: Failure, { endsAtOnce = false } = {}) {
  const connect = (): never => {
    throw new Error("no other node is there");
  };
  const clock = steadyClock();
  const router = new Router(owner as Membership, { clock, connect, log: silentLog });
  const route = async (asked: { readonly request_timeout: string }): Promise<never> => {
    await Bun.sleep(endsAtOnce ? 0 : Number.parseInt(asked.request_timeout, 10));
    throw QueueError.from(ends);
  };
  const routes: Record<
    "lease" | "produce",
    (asked: typeof body, caller: Caller) => Promise<unknown>
  > = router.around({ lease: route, produce: route });
  const caller = new Caller({ client: new AbortController(), requestKey: null });
  return { router, routes, caller };
}

describe("a lease whose time is up while the shard of its queue is down", () => {
  test("is told so by the node that has the shards", async () => {
    const { routes, caller } = setup(unreachableLease);
    await expect(routes.lease(body, caller)).rejects.toMatchObject({ reason: "not_ready" });
  });

  test("is told so by another node", async () => {
    const { router, caller } = setup(unreachableLease);
    const call = {
      operation: "lease",
      shard: null,
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
  ["a lease while the shards are opened again", "lease", reopeningFailure],
  ["a produce while the shards are opened again", "produce", reopeningFailure],
] as const)("%s is done where the shards are, within its time", async (_, id, ends) => {
  const { router, caller } = setup(ends, { endsAtOnce: true });
  const call = {
    ...{ operation: id, shard: null },
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
