// Nodes whose database refuses every connection at once, as during a restart.

import { expect, test } from "bun:test";
import { steadyClock } from "../../engine/model/clock.ts";
import type { ClusterView, NodeRow, NodeTable, Self } from "../../stores/nodes.ts";
import { StoreError } from "../../stores/store.ts";
import { CallServer } from "../calls/call-server.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Membership } from "./membership.ts";
import { ping, pong, type WireEvents } from "./peer.ts";
import { Router } from "./router.ts";

const leaseMs = 1_000;
const shards = Array.from({ length: 6 }, (_, shard) => shard);

test("nodes whose database refuses connections retry at their poll interval, not in a loop", async () => {
  const clock = steadyClock();
  let isUnreachable = false;
  const tries = new Map<string, number>();
  const urls = ["http://a", "http://b", "http://c"];
  const nodeOf = (url: string): NodeRow => ({
    ...{ url, key: url, version: "", startedAt: 0, seenAt: clock.precise() },
    ...{ isDraining: false, isDrainRequested: false, isLive: true },
  });
  const rows = shards.map((shard) => ({
    ...{
      shard,
      url: urls[shard % 3] as string,
      epoch: 1,
      isLapsed: false,
      reservedFor: null,
      takenAt: null,
    },
  }));
  const tableOf = (): NodeTable => ({
    heartbeat: async (_: Self): Promise<ClusterView> => {
      if (isUnreachable) throw new StoreError("failed", "the connection was refused");
      const leaseUntil = clock.precise() + leaseMs;
      const seen = rows.map((row) => ({ ...row, leaseUntil }));
      return { shards: seen, isContested: false, nodes: urls.map(nodeOf), now: clock.precise() };
    },
    takeOver: async ({ url }, shard) => {
      const row = rows[shard];
      if (row?.url !== url) return null;
      row.epoch += 1;
      return row.epoch;
    },
    release: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  });
  const routers = new Map<string, Router>();
  const memberships: Membership[] = [];
  let calls = 0;
  const connectTo = (url: string, events: WireEvents) => {
    const server = new CallServer({
      answer: (call, caller) => {
        calls += 1;
        return (routers.get(url) as Router).serve(call, caller);
      },
      send: (frame) => void setTimeout(() => events.received(frame), 1),
      log: silentLog,
    });
    setTimeout(events.opened, 1);
    return {
      send: (text: string) => {
        if (text === ping) setTimeout(() => events.received(pong), 1);
        else setTimeout(() => server.receive(text), 1);
      },
      close: () => server.end(),
    };
  };
  for (const url of urls) {
    const membership: Membership = new Membership({
      self: { url, key: url, version: "", isDraining: false },
      ...{ shards, leaseMs, clock, log: silentLog },
      openNodes: async () => {
        if (!isUnreachable) return tableOf();
        tries.set(url, (tries.get(url) ?? 0) + 1);
        throw new StoreError("failed", "the connection was refused");
      },
      open: async () => undefined,
      abandon: () => undefined,
      close: async () => undefined,
    });
    memberships.push(membership);
    const router = new Router({
      ...{ memberships: [membership], localShard: () => null, clock, log: silentLog },
      connect: (node, events) => connectTo(node.url, events),
    });
    routers.set(url, router);
    router.around({ listQueues: async () => ({ items: [] }) }, 0);
    await membership.join();
  }
  await Bun.sleep(300);
  expect(memberships.map(({ openShards }) => openShards.length)).toEqual([2, 2, 2]);
  isUnreachable = true;
  // After a lease, no node trusts its ownership.
  await Bun.sleep(leaseMs);
  tries.clear();
  calls = 0;
  await Bun.sleep(1_000);
  for (const router of routers.values()) router.close();
  await Promise.all(memberships.map((one) => one.leave()));
  // Each node polls ten times per lease.
  for (const count of tries.values()) expect(count).toBeLessThan(40);
  expect(calls).toBeLessThan(400);
}, 20_000);
