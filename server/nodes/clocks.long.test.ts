// Nodes whose clocks are hours apart: leases granted by one node lapse on time at the next.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Cluster, queueOf, settings } from "../../testing/cluster.ts";

const cluster = new Cluster({ shards: 1 });
const hasFaketime = Bun.which("faketime") !== null;

/** Like `faketime`, but without a parent process; timeouts use the real clock. */
function ahead(hours: number): string[] {
  const library = "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1";
  const offset = `FAKETIME=${hours < 0 ? "" : "+"}${hours}h`;
  return ["env", library, offset, "FAKETIME_DONT_FAKE_MONOTONIC=1"];
}

beforeAll(async () => {
  if (hasFaketime) await cluster.startDatabase();
});
afterAll(() => cluster.end());

test.skipIf(!hasFaketime)(
  "leases lapse on time at nodes whose clocks are hours apart",
  async () => {
    let owner = await cluster.start();
    await queueOf(owner, "long").create({ ...settings, lease_timeout: "30m" });
    for (const hours of [1, -1, 0]) {
      const next = await cluster.start({ under: ahead(hours) });
      const [long, short] = [queueOf(next, "long"), queueOf(next, `short${hours}`)];
      await short.create({ ...settings, lease_timeout: "1s" });
      await long.produce("held");
      await short.produce("forgotten");
      const held = await long.lease({ batch: 1 });
      const forgotten = await short.lease({ batch: 1 });
      await owner.stop("SIGKILL");
      const again = await short.lease({ batch: 1, timeoutMs: 60_000 });
      expect([forgotten, again].map((batch) => batch?.items[0]?.attempts)).toEqual([1, 2]);
      await again?.complete();
      // The call would be refused if the lease had lapsed.
      await held?.complete();
      expect(await long.inspect()).toMatchObject({ queued: 0 });
      owner = next;
    }
  },
);
