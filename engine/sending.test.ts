// The items that the outbox relay counts as in transit after a store was reopened.

import { expect, test } from "bun:test";
import { limits } from "./model/limits.ts";
import { minute, nameIn, second, setup } from "./simulation/bundle.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

test.each([0, 1, 2, 3])(
  "delete: nothing counts as in transit once all has arrived, even if the sender's store failed after commit %i",
  async (commits) => {
    const bundle = await setup({ shardCount: 2 });
    for (const name of [near, far]) await bundle.createQueue({ name });
    await bundle.produce(near, "input");
    const { queue, partition, items } = await bundle.lease(near);
    bundle.store(0).failAfter(commits, { fault: "failed", applied: true });
    await bundle.begin(() =>
      bundle.engine.transact({
        requestTimeoutMs: minute,
        complete: [{ queue, partition, ids: items.map(({ id }) => id) }],
        produce: [{ queue: far, items: [{ payload: "output" }] }],
      }),
    );
    await bundle.clock.advance(2 * limits.restartMsMax);
    expect(await bundle.listed(far)).toEqual(["output"]);
    expect(bundle.image(0).outbound.values().length).toBe(0);
    const leased = await bundle.lease(far);
    await bundle.complete(leased);
    await bundle.clock.advance(second);
    const deleted = await bundle.begin(() =>
      bundle.engine.deleteQueue({ name: far, force: false }),
    );
    expect(deleted.ending).toMatchObject({ ok: true });
  },
);
