// `holdfast nodes` as it is typed, against servers that answer as nodes do.

import { expect, test } from "bun:test";
import { join } from "node:path";
import type { NodeInfo, NodesListReply } from "../openapi/schemas.ts";

/** Paths and bodies of the calls. */
const asked: unknown[] = [];

async function runWith(reply: NodesListReply | NodeInfo, ...words: string[]) {
  await using server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      asked.push([new URL(request.url).pathname, await request.json()]);
      return Response.json(reply);
    },
  });
  const command = [process.execPath, join(import.meta.dir, "main.ts"), "nodes", ...words];
  const child = Bun.spawn(command, {
    env: { ...process.env, HOLDFAST_URL: `http://127.0.0.1:${server.port}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ code: await child.exited, error }).toEqual({ code: 0, error: "" });
  return out;
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
    { ...node, url: first, shards: [0, 1, 2, 3, 9] },
    { ...node, url: second, shards: [4] },
  ],
  shards: [0, 1, 2, 3, 4, 9].map((shard) => ({
    ...{ shard, node: shard === 4 ? second : first, epoch: shard + 1, taken_at: joined },
  })),
};

test("nodes: each with its state, and how many shards it owns and which", async () => {
  expect(linesOf(await runWith(cluster))).toEqual([
    ["node", "version", "state", "shards", "joined", "seen"],
    [first, "1.0.0", "up", "5: 0-3, 9", joined, seen],
    [second, "1.0.0", "up", "1: 4", joined, seen],
  ]);
});

test("nodes --shards: the owner of each shard, and its epoch", async () => {
  const [head, ...rows] = linesOf(await runWith(cluster, "--shards"));
  expect(head).toEqual(["shard", "node", "epoch", "taken over"]);
  expect(rows).toEqual(
    [0, 1, 2, 3, 4, 9].map((shard) => [
      ...[`${shard}`, shard === 4 ? second : first, `${shard + 1}`, joined],
    ]),
  );
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
  const line = "shards 3-4 have no live owner: their calls wait for one";
  const lines = linesOf(await runWith(reply));
  expect(lines.map(([, , state]) => state)).toEqual(["state", "draining", "gone", undefined]);
  expect(lines.at(-1)).toEqual([line]);
  const owners = linesOf(await runWith(reply, "--shards"));
  expect(owners[4]).toEqual(["3", "none", "4", "never"]);
  expect(owners.at(-1)).toEqual([line]);
  const one = { ...reply, items: [{ ...up, shards: [] }, gone] };
  const single = linesOf(await runWith(one));
  expect(single[1]?.[3]).toBe("none");
  expect(single.at(-1)).toEqual(["shard 3 has no live owner: its calls wait for one"]);
});

test("nodes --json: the reply as it is; a server that is alone says so", async () => {
  expect(JSON.parse(await runWith(cluster, "--json"))).toEqual(cluster);
  const alone = { items: [], shards: [] };
  expect(await runWith(alone)).toBe("one server, and no nodes; --node-url makes it one\n");
});

test("nodes drain: asks for it, and says how many shards the node still has; --undo takes it back", async () => {
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
