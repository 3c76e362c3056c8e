// Kills `holdfast reshard` at each of its steps: afterwards either the old stores or the new ones
// are the data, completely.

import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, LeasedItem } from "../engine/model/api.ts";
import { createShards } from "../engine/simulation/all-shards.ts";
import { minute, produceOf, queueDefaults } from "../engine/simulation/bundle.ts";
import { whyUntraceable } from "../proof/processes/strace.ts";
import { countStores } from "../stores/open.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-reshard-kills-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const names = ["one", "two", "three", "four", "five"];
const base = join(folder, "base");
const data = join(folder, "data");

type Shards = Engine<readonly LeasedItem[]>;

async function opened<T>(
  directory: string,
  shards: number,
  use: (engine: Shards) => Promise<T>,
): Promise<T> {
  const engine = await createShards({ store: { kind: "sqlite", directory }, shards });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

async function fill(engine: Shards): Promise<void> {
  for (const queue of names) {
    await engine.createQueue({ ...queueDefaults, name: queue, leaseTimeoutMs: 60 * minute });
    const texts = Array.from({ length: 500 }, (_, index) => `${queue} ${index}`);
    await engine.produce(produceOf(queue, texts));
    await engine.lease({ queue, clientId: "worker", batchSize: 10, requestTimeoutMs: minute });
  }
}

function seen(engine: Shards): Promise<unknown[]> {
  return Promise.all(
    names.map((queue) => engine.listItems({ queue, partition: 0, pivot: "", limit: 10_000 })),
  );
}

/** The exit code: 0, or 137 if strace killed it. */
async function reshard(...under: readonly string[]): Promise<number> {
  const command = [process.execPath, join(import.meta.dir, "main.ts"), "reshard"];
  const child = Bun.spawn([...under, ...command, "--data", data, "--shards", "3"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return child.exited;
}

const untraceable = whyUntraceable();

describe.skipIf(untraceable !== null)(`reshard: killed; ${untraceable ?? "by strace"}`, () => {
  test.each([
    // System calls that create, remove, rename or sync files.
    ["mkdir,rename,unlink,rmdir,fsync", 1, 1],
    ["pwrite64", 10, 40],
  ])(
    "reshard: killed at a call of %s, leaves the old data or the new data whole",
    async (calls, first, step) => {
      rmSync(base, { recursive: true, force: true });
      await opened(base, 2, fill);
      const before = await opened(base, 2, seen);
      const after: number[] = [];
      for (let at = first, code = -1; code !== 0; at += step) {
        rmSync(data, { recursive: true, force: true });
        cpSync(base, data, { recursive: true });
        const inject = `inject=${calls}:signal=KILL:when=${at}`;
        const strace = ["strace", "-f", "-qq", "-o", "/dev/null"];
        code = await reshard(...strace, "-e", `trace=${calls}`, "-e", inject);
        const shards = countStores(data);
        expect([2, 3]).toContain(shards);
        after.push(shards);
        expect(await opened(data, shards, seen)).toEqual(before);
        expect(readdirSync(data).filter((name) => name.startsWith("reshard"))).toEqual([]);
        // A second run succeeds.
        if (shards === 2) expect(await reshard()).toBe(0);
        expect(await opened(data, 3, seen)).toEqual(before);
      }
      expect(after.toSorted()).toEqual(after);
      expect(after.filter((shards) => shards === 2).length).toBeGreaterThan(3);
    },
    600_000,
  );
});
