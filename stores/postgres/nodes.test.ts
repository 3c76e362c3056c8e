// The row of the owner, by which one node takes over from another.

import { expect, test } from "bun:test";
import { Connection } from "./connection.ts";
import { PostgresNodes } from "./nodes.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();

const self = (name: string) => ({
  ...{ url: `http://${name}`, key: name, version: "1", isDraining: false },
});

test("takeOver: where the database's clock was set back, from an owner that is seen to renew nothing", async () => {
  const nodes = await PostgresNodes.open({ url: server.url, schema: "owners", leaseMs: 60_000 });
  const [a, b] = [self("a"), self("b")];
  expect(await nodes.takeOver(a, null)).toBe(1);
  const admin = await Connection.open({ url: server.url });
  // As a clock that was an hour ahead has written it.
  await admin.script("UPDATE owners_nodes.owner SET lease_until = lease_until + 3600000");
  await admin.close();
  const { owner, leaseUntil, now } = await nodes.look(b, null);
  expect(owner).toEqual({ url: a.url, epoch: 1, isLapsed: false });
  expect(leaseUntil).toBeGreaterThan(now + 3_000_000);
  expect(await nodes.takeOver(b, null)).toBe(null);
  expect(await nodes.takeOver(b, leaseUntil - 1)).toBe(null);
  // It was only stopped.
  await nodes.look(a, 1);
  expect(await nodes.takeOver(b, leaseUntil)).toBe(null);
  const renewed = await nodes.look(b, null);
  expect(renewed.leaseUntil).toBeLessThan(leaseUntil);
  expect(await nodes.takeOver(b, renewed.leaseUntil)).toBe(2);
  await nodes.close();
});
