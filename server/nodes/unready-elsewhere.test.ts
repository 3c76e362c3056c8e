// A call is forwarded to the owner of its queue's shard, and needs another shard that no node owns.

import { expect, test } from "bun:test";
import { steadyClock } from "../../engine/model/clock.ts";
import { QueueError, unknownShardFailure } from "../../engine/model/errors.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import { CallServer } from "../calls/call-server.ts";
import { Caller } from "../routes/route.ts";
import { silentLog } from "../testing/memory-engine.ts";
import type { Membership } from "./membership.ts";
import { ping, pong } from "./peer.ts";
import { Router } from "./router.ts";
import { Watchers } from "./watchers.ts";

const node: NodeRow = {
  ...{ url: "http://b", key: "b", version: "", startedAt: 0, seenAt: 0 },
  ...{ isDraining: false, isDrainRequested: false, isLive: true },
};
const common: Partial<Membership> = {
  ...{ watchers: new Watchers(steadyClock()), isLast: false, isStale: false },
  ...{ poll: async () => undefined, ownerNode: () => node },
  ...{ isChanging: () => false, stepDown: () => undefined, discover: () => undefined },
};

test("a forwarded call that needs an unreachable second shard fails with that reason", async () => {
  const clock = steadyClock();
  const shared = { localShard: () => null, clock, log: silentLog };
  const unused = (): never => {
    throw new Error("no other node is there");
  };
  const has = { isTrusted: () => true, isOwner: () => true, others: () => [] };
  const owner = new Router({
    ...{ ...shared, memberships: [{ ...common, ...has } as Partial<Membership> as Membership] },
    connect: unused,
  });
  const route = async (): Promise<never> => {
    throw QueueError.from(unknownShardFailure);
  };
  owner.around({ transact: route }, 0);
  const hasNot = { isTrusted: () => false, isOwner: () => false, others: () => [node] };
  const asker = new Router({
    ...{ ...shared, memberships: [{ ...common, ...hasNot } as Partial<Membership> as Membership] },
    connect: (_, events) => {
      const server = new CallServer({
        answer: (call, caller) => owner.serve(call, caller),
        send: (frame) => events.received(frame),
        log: silentLog,
      });
      setTimeout(events.opened, 0);
      return {
        send: (text) => (text === ping ? events.received(pong) : server.receive(text)),
        close: () => server.end(),
      };
    },
  });
  const { transact } = asker.around({ transact: unused }, 0) as unknown as {
    transact: (body: object, caller: Caller) => Promise<unknown>;
  };
  const caller = new Caller({ client: new AbortController(), requestKey: null });
  const told = await transact({ request_timeout: "600ms" }, caller).catch((error) => error);
  asker.close();
  expect(told).toMatchObject({ reason: "not_ready", message: unknownShardFailure.message });
});
