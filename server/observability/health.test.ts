// Probes of a node that lacks shards: in one of several databases, or in all.

import { expect, test } from "bun:test";
import type { EngineStatus } from "../../engine/model/api.ts";
import { type HealthOptions, healthResponse, readyResponse, type Unserved } from "./health.ts";

/** A node with shards 0 and 1; shard 1 is down because its database is. */
function nodeWith(unserved: Unserved | null): HealthOptions {
  const shards = [0, 1].map((shard) => ({ shard, up: shard === 0, full: false }));
  return {
    status: () => ({ durability: "full", shards }) as unknown as EngineStatus,
    ...{ version: "1.2.3", config: { store: "postgres" }, isClosing: () => false },
    unserved: () => unserved,
  };
}

const away = { why: "database 2 does not answer", shards: [1, 3] };

test("a node that serves all of one database is ready, and its health names the other's shards", async () => {
  const node = nodeWith({ ...away, isEverywhere: false });
  expect((await readyResponse(node)).status).toBe(200);
  expect(await (await healthResponse(node)).json()).toMatchObject({
    ...{ status: "degraded", shards: 2, shards_up: 1, shards_without_owner: [1, 3] },
  });
});

test("a node that serves all of no database is neither ready nor healthy", async () => {
  const node = nodeWith({ ...away, isEverywhere: true });
  const message = "database 2 does not answer; nothing was changed";
  for (const response of [readyResponse, healthResponse]) {
    expect(await response(node).catch((error: unknown) => error)).toMatchObject({ message });
  }
});

test("a shard that is down keeps a node out if its database answers", async () => {
  expect(await readyResponse(nodeWith(null)).catch((error: unknown) => error)).toMatchObject({
    message: "not every shard is up; expected 2, got 1",
  });
});
