// Resharding of a database.

import { expect, test } from "bun:test";
import type { Engine, LeasedItem } from "../../engine/model/api.ts";
import { createShards } from "../../engine/simulation/all-shards.ts";
import { minute, produceOf, queueDefaults } from "../../engine/simulation/bundle.ts";
import { openForReshard } from "../../stores/open.ts";
import { Connection } from "../../stores/postgres/connection.ts";
import { testServer } from "../../stores/postgres/testing/server.ts";
import { countShards, reshardData } from "./reshard.ts";

const server = testServer();
const names = ["one", "two", "three", "four", "five"];
type Shards = Engine<readonly LeasedItem[]>;

async function opened<T>(
  schema: string,
  shards: number,
  use: (engine: Shards) => Promise<T>,
): Promise<T> {
  const engine = await createShards({ store: storeOf(schema), shards });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

function storeOf(schema: string) {
  return { kind: "postgres", url: server.url, schema } as const;
}

const unique = { requestTimeoutMs: minute, items: [{ payload: "x", uniqueKey: "x" }] };

async function fill(engine: Shards): Promise<void> {
  for (const queue of names) {
    const rules = { leaseTimeoutMs: 60 * minute, uniqueForMs: 60 * minute };
    await engine.createQueue({ ...queueDefaults, ...rules, name: queue, requestedPartitions: 2 });
    const texts = Array.from({ length: 300 }, (_, index) => `${queue} ${index}`);
    await engine.produce({ ...produceOf(queue, texts), requestKey: "key" });
    await engine.produce(produceOf(queue, ["later"], Date.now() + 60 * minute));
    await engine.produce({ queue, ...unique });
    await engine.lease({ queue, clientId: "worker", batchSize: 10, requestTimeoutMs: minute });
  }
}

async function seen(engine: Shards): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const queue of names) {
    for (const partition of [0, 1]) {
      const page = { queue, partition, pivot: "", limit: 10_000 };
      all.push(await engine.listItems(page), await engine.listScheduled(page));
    }
  }
  return all;
}

/** Ends all sessions, as the kill of a process does. */
async function killSessions(): Promise<void> {
  const connection = await Connection.open({ url: server.url });
  await connection.script(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()",
  );
  await connection.close();
}

function reshard(schema: string, shards: number) {
  const { signal } = new AbortController();
  return reshardData({ store: storeOf(schema), shards, signal, progress: () => undefined });
}

test("reshard: a database has the same items under the same ids, in other schemas", async () => {
  expect(await countShards(storeOf("moved"))).toBe(0);
  await opened("moved", 2, fill);
  const before = await opened("moved", 2, seen);
  // Leftovers of a killed reshard do not block the next one.
  const left = await openForReshard(storeOf("moved"), 4, () => "0".repeat(12));
  await killSessions();
  await Promise.all([...left.from, ...left.to].map(({ store }) => store.close()));
  for (const shards of [5, 1, 3]) {
    expect(await reshard("moved", shards)).toEqual({
      queues: 5,
      items: 1510,
      delivered: 0,
      damaged: 0,
    });
    expect(await countShards(storeOf("moved"))).toBe(shards);
    await opened("moved", shards, async (engine) => {
      expect(await seen(engine)).toEqual(before);
      for (const queue of names) {
        const texts = Array.from({ length: 300 }, (_, index) => `${queue} ${index}`);
        const again = { ...produceOf(queue, texts), requestKey: "key" };
        expect(await engine.produce(again)).toEqual({ replayed: true, duplicates: [] });
        expect(await engine.produce({ queue, ...unique })).toMatchObject({ duplicates: [0] });
      }
    });
  }
});

test("reshard: refused while a server has the shards", async () => {
  await opened("used", 3, async () => {
    await expect(reshard("used", 2)).rejects.toThrow("the database is in use by another server");
  });
  expect(await countShards(storeOf("used"))).toBe(3);
});
