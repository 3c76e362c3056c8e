// A database with several hosts, the first of which stops answering.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Cluster, queueOf, settings } from "../../testing/cluster.ts";
import { Wire } from "../../testing/wire.ts";

const cluster = new Cluster({ shards: 1 });

beforeAll(() => cluster.startDatabase());
afterAll(() => cluster.end());

test("a node whose first database host no longer answers continues at the next one", async () => {
  const first = Wire.to(cluster.databasePort);
  const node = await cluster.start({ database: [first.port, cluster.databasePort], lease: "5s" });
  const queue = queueOf(node, "plain");
  await queue.create(settings);
  await queue.produce({ utf8: "while both hosts answer" });
  // The host accepts connections and does not answer.
  first.cut();
  await queue.produce({ utf8: "by the other host" }, { key: "silent", timeoutMs: 120_000 });
  while ((await fetch(`${node.url}/readyz`)).status !== 200) await Bun.sleep(100);
  expect(await cluster.owner()).toBe(node);
});
