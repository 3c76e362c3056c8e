// Restricted keys on several nodes: the node that accepts a call checks its key, and the node that
// performs it knows the caller.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import { Cluster, type NodeProcess, settings, wholeReply } from "../../testing/cluster.ts";
import { newApiKey } from "../auth/api-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-node-keys-"));
const cluster = new Cluster({ shards: 1 });
const anna = newApiKey("anna");
const viewer = newApiKey("viewer", { roles: ["read"], queues: ["orders*"] });
let owner: NodeProcess;
let other: NodeProcess;

beforeAll(async () => {
  const path = join(folder, "keys");
  writeFileSync(path, `${anna.line}\n${viewer.line}\n`);
  await cluster.startDatabase();
  // Long enough that the owner stays the same when the machine stalls for seconds.
  const options = { flags: ["--api-keys-file", path], lease: "30s" };
  const nodes = await Promise.all([cluster.start(options), cluster.start(options)]);
  owner = await cluster.owner();
  other = nodes.find((node) => node !== owner) ?? owner;
});
afterAll(async () => {
  await cluster.end();
  rmSync(folder, { recursive: true, force: true });
});

const as = ({ key: apiKey }: { readonly key: string }, { url }: NodeProcess) =>
  createClient({ url, apiKey });

const audited = ({ log }: NodeProcess) =>
  log()
    .split("\n")
    .filter((line) => line.includes('"audit":true'))
    .map((line) => JSON.parse(line))
    .map(({ key, operation, queue, code }) => ({ key, operation, queue, code }));

test("a forwarded call is authorized by the first node, recorded with its key, and filtered by the key's queues", async () => {
  expect(other.url).not.toBe(owner.url);
  for (const name of ["orders", "billing"]) await as(anna, other).queue(name).create(settings);
  const created = { key: "anna", operation: "createQueue", code: 200 };
  const expected = [
    { ...created, queue: "orders" },
    { ...created, queue: "billing" },
  ];
  while (audited(owner).length < expected.length) await Bun.sleep(10);
  expect(audited(owner)).toEqual(expected);
  expect(audited(other)).toEqual([]);
  for (const node of [owner, other]) {
    const { items: queues } = await wholeReply(() =>
      as(viewer, node).listQueues({ pivot: "", limit: 10 }),
    );
    expect(queues.map(({ queue_name }) => queue_name)).toEqual(["orders"]);
    const { items: actions } = await wholeReply(() => as(viewer, node).listActions({ limit: 10 }));
    expect(actions).toMatchObject([{ key_name: "anna", queue_name: "orders" }]);
    const all = await wholeReply(() => as(anna, node).listActions({ limit: 10 }));
    expect(all.items).toHaveLength(2);
    expect((await as(viewer, node).whoAmI({})).name).toBe("viewer");
    const refused = as(viewer, node).queue("orders").clear({ queue: true });
    expect(await refused.catch((error: unknown) => error)).toMatchObject({
      status: 403,
      reason: "not_allowed",
    });
    // Each node counts its own denied calls.
    const { items: keys } = await as(anna, node).listKeys({});
    expect(keys.map(({ name, denied_calls }) => [name, denied_calls])).toEqual([
      ["anna", 0],
      ["viewer", 1],
    ]);
  }
});
