// The machine's clock was changed between two starts of a server. Queue time continues from its
// last stored value, hours ahead of the machine, and clients count from queue time.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../testing/child-server.ts";
import { startServer } from "../testing/server-process.ts";
import { createClient } from "./client.ts";

const hasFaketime = Bun.which("faketime") !== null;
const names = ["a", "b", "c", "d"];

function ahead(hours: number): string[] {
  const library = "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1";
  return ["env", library, `FAKETIME=+${hours}h`, "FAKETIME_DONT_FAKE_MONOTONIC=1"];
}

test.skipIf(!hasFaketime)(
  "lease: lasts as long as requested in each shard, after a start with the clock ahead",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-clocks-"));
    const common = { data: join(folder, "data"), port: freePort(), flags: ["--shards", "2"] };
    const client = createClient({ url: `http://127.0.0.1:${common.port}` });
    const startedWith = async (under: string[], work: () => Promise<void>): Promise<void> => {
      const server = await startServer({ ...common, under });
      try {
        await work();
      } finally {
        await server.stop();
      }
    };
    try {
      await startedWith([], async () => {
        for (const name of names) {
          await client.queue(name).create({ lease_timeout: "1m", expire_timeout: "1d" });
          await client.queue(name).produce("first");
        }
      });
      await startedWith(ahead(2), () =>
        client
          .queue("a")
          .produce("second")
          .then(() => undefined),
      );
      await startedWith([], async () => {
        for (const name of names) {
          const lease = await client.queue(name).lease({ leaseTimeout: "30s" });
          const leftMs = (lease?.lapsesAt ?? 0) - performance.now();
          expect(leftMs).toBeGreaterThan(0);
          expect(leftMs).toBeLessThan(60_000);
          expect(await lease?.complete()).toEqual({});
        }
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
