// Runs `holdfast nodes` against fake nodes.

import { expect, test } from "bun:test";
import { operations } from "../openapi/operations.ts";
import type { NodeInfo, NodesListReply } from "../openapi/schemas.ts";
import { runInProcess } from "./testing/in-process.ts";

/** Paths and bodies of the calls. */
const asked: unknown[] = [];

/** Shards 0 to 3, each with ten times the load of the previous one. */
const loaded = [1, 10, 100, 1_000].map((items_per_second, shard) => ({ shard, items_per_second }));
const overview = { ...operations.overview.replies[200].example, shards: loaded };

interface Run {
  readonly out: string;
  readonly error: string;
}

async function runWith(reply: NodesListReply | NodeInfo, ...words: string[]): Promise<string> {
  const { out, error } = await runAt(() => Response.json(overview), reply, ...words);
  expect(error).toBe("");
  return out;
}

/** `overviewOf`: how the server answers `server.overview`. */
async function runAt(
  overviewOf: () => Response,
  reply: NodesListReply | NodeInfo,
  ...words: string[]
): Promise<Run> {
  await using server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      asked.push([pathname, await request.json()]);
      return pathname === operations.overview.path ? overviewOf() : Response.json(reply);
    },
  });
  const { code, out, error } = await runInProcess(["nodes", ...words], {
    env: { HOLDFAST_URL: `http://127.0.0.1:${server.port}` },
  });
  expect({ code, error }).toMatchObject({ code: 0 });
  return { out, error };
}

const linesOf = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/));

const [first, second] = ["http://10.0.0.7:9090", "http://10.0.0.8:9090"] as const;
const [joined, seen] = ["2026-03-01T12:00:00.000Z", "2026-03-01T13:05:00.000Z"] as const;
const node = { version: "1.0.0", started_at: joined, seen_at: seen, draining: false, live: true };
const cluster: NodesListReply = {
  items: [
    { ...node, url: first, shards: [0, 1, 3] },
    { ...node, url: second, shards: [2] },
  ],
  shards: [0, 1, 2, 3].map((shard) => ({
    ...{ shard, node: shard === 2 ? second : first, epoch: shard + 1, taken_at: joined },
  })),
};

test("nodes: prints each with its state, and how many shards it owns and which", async () => {
  expect(linesOf(await runWith(cluster))).toEqual([
    ["node", "version", "state", "shards", "joined", "seen"],
    [first, "1.0.0", "up", "3: 0-1, 3", joined, seen],
    [second, "1.0.0", "up", "1: 2", joined, seen],
  ]);
});

test("nodes --shards: prints the owner of each shard, its epoch and its load", async () => {
  expect(linesOf(await runWith(cluster, "--shards"))).toEqual([
    ["shard", "node", "epoch", "taken over", "items/s"],
    ["0", first, "1", joined, "1"],
    ["1", first, "2", joined, "10"],
    ["2", second, "3", joined, "100"],
    ["3", first, "4", joined, "1000"],
  ]);
  const { shards } = JSON.parse(await runWith(cluster, "--shards", "--json"));
  expect(shards).toEqual(cluster.shards.map((one, at) => ({ ...one, ...loaded[at] })));
});

test("nodes --shards: unreachable shards have no load, and are named", async () => {
  const some = { ...overview, shards: loaded.slice(0, 3), unreached: [3] };
  const lacking = await runAt(() => Response.json(some), cluster, "--shards");
  expect(linesOf(lacking.out).map((line) => line.at(-1))).toEqual([
    "items/s",
    "1",
    "10",
    "100",
    "-",
  ]);
  expect(lacking.error).toBe("shard 3 could not be reached; its figures are missing\n");
  const message = "the owner of the shard is unreachable; nothing was changed, try again";
  const body = { code: 503, code_text: "Service Unavailable", message, reason: "not_ready" };
  const none = await runAt(() => Response.json(body, { status: 503 }), cluster, "--shards");
  expect(linesOf(none.out).map((line) => line.at(-1))).toEqual(["items/s", "-", "-", "-", "-"]);
  expect(none.error).toBe("shards 0, 1, 2, 3 could not be reached; their figures are missing\n");
});

test("nodes: shards that are free, or whose owner is gone, are named under the table", async () => {
  const [up, gone] = cluster.items as [NodesListReply["items"][0], NodesListReply["items"][0]];
  const reply = {
    items: [
      { ...up, draining: true },
      { ...gone, live: false },
    ],
    shards: cluster.shards.map((one) =>
      one.shard === 3 ? { ...one, node: "", taken_at: null } : one,
    ),
  };
  const line = "shards 2-3 have no live owner: their calls wait for one";
  const lines = linesOf(await runWith(reply));
  expect(lines.map(([, , state]) => state)).toEqual(["state", "draining", "gone", undefined]);
  expect(lines.at(-1)).toEqual([line]);
  const owners = linesOf(await runWith(reply, "--shards"));
  expect(owners[4]).toEqual(["3", "none", "4", "never", "1000"]);
  expect(owners.at(-1)).toEqual([line]);
  const one = { ...reply, items: [{ ...up, shards: [] }, gone] };
  const single = linesOf(await runWith(one));
  expect(single[1]?.[3]).toBe("none");
  expect(single.at(-1)).toEqual(["shard 3 has no live owner: its calls wait for one"]);
});

test("nodes --json: prints the reply unchanged, also that of a single server", async () => {
  expect(JSON.parse(await runWith(cluster, "--json"))).toEqual(cluster);
  const alone = { items: [], shards: [] };
  expect(await runWith(alone)).toBe("this server is not a node; --node-url makes it one\n");
});

test("nodes drain: starts a drain, and prints how many shards are left; --undo cancels it", async () => {
  const reply = { ...node, url: first, draining: true };
  const of = (shards: number[], ...words: string[]) =>
    runWith({ ...reply, shards }, "drain", first, ...words);
  const rest = "`holdfast nodes` shows how many it still has\n";
  asked.length = 0;
  expect(await of([0, 3])).toBe(`${first} hands its 2 shards over; ${rest}`);
  expect(await of([4])).toBe(`${first} hands its shard over; ${rest}`);
  expect(await of([])).toBe(`${first} has no shards, and takes none\n`);
  expect(await of([], "--undo")).toBe(`${first} takes its share of the shards again\n`);
  expect(JSON.parse(await of([4], "--json"))).toEqual({ ...reply, shards: [4] });
  const call = (draining: boolean) => ["/v1/nodes.drain", { url: first, draining }];
  expect(asked).toEqual([true, true, true, false, true].map(call));
});
