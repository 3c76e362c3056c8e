// Three nodes behind HAProxy, as in `deploy/`: clients know one address, and retries make up for
// the calls that fail while nodes stop.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import { Cluster, settings } from "../../testing/cluster.ts";
import { haproxyPath, startBalancer } from "./testing/balancer.ts";
import { underLoad } from "./testing/load.ts";

const cluster = new Cluster();
const folder = mkdtempSync(join(tmpdir(), "holdfast-balancer-"));
let balancer: Awaited<ReturnType<typeof startBalancer>>;

beforeAll(async () => {
  if (haproxyPath === null) return;
  await cluster.startDatabase();
  const nodes = await Promise.all([cluster.start(), cluster.start(), cluster.start()]);
  balancer = await startBalancer(
    folder,
    nodes.map(({ port }) => port),
  );
});
afterAll(async () => {
  if (haproxyPath !== null) await balancer.stop();
  await cluster.end();
  rmSync(folder, { recursive: true, force: true });
});

const pairs = 4;

/** Longer than a takeover on a very slow machine. */
const timeoutMs = 120_000;

/** The project's client works until it is stopped; after retries, no call may fail. */
async function clientsAtWork(port: number) {
  const queue = createClient({ url: `http://127.0.0.1:${port}` }).queue("one");
  await queue.ensure(settings, { timeoutMs });
  const leaving = new AbortController();
  const produced: string[] = [];
  const completed: string[] = [];
  let goesOn = true;
  const producing = Array.from({ length: pairs }, async (_, name) => {
    for (let number = 0; goesOn; number += 1) {
      await queue.produce(`${name} ${number}`, { timeoutMs });
      produced.push(`${name} ${number}`);
    }
  });
  const consuming = Array.from({ length: pairs }, async () => {
    while (!leaving.signal.aborted) {
      const options = { batch: 10, timeoutMs, signal: leaving.signal };
      const lease = await queue.lease(options).catch((error: unknown) => {
        if (!leaving.signal.aborted) throw error;
        return null;
      });
      await lease?.complete();
      completed.push(...(lease?.items.map((item) => item.text()) ?? []));
    }
  });
  return async () => {
    goesOn = false;
    await Promise.all(producing);
    while (completed.length < produced.length) await Bun.sleep(20);
    leaving.abort();
    await Promise.all(consuming);
    return { produced, completed };
  };
}

test.skipIf(haproxyPath === null)(
  "one address: the owner is killed and another node is drained; every call succeeds, if need be when it is repeated",
  async () => {
    const address = { port: Promise.resolve(balancer.port) };
    const { faults } = await underLoad(
      cluster,
      async (progress) => {
        const end = await clientsAtWork(balancer.port);
        const killed = await cluster.owner();
        await killed.stop("SIGKILL");
        const drained = await cluster.takenFrom(killed);
        await progress(200);
        await cluster.start({ port: killed.port });
        expect(await drained.stop()).toBe(0);
        await cluster.takenFrom(drained);
        await progress(200);
        const { produced, completed } = await end();
        expect(produced.length).toBeGreaterThan(pairs);
        expect(completed.toSorted()).toEqual(produced.toSorted());
      },
      address,
    );
    expect(faults).toEqual([]);
  },
);
