// One shard has met the others and another has not.

import { expect, test } from "bun:test";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  hour,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

/** The second shard reopens after a loss, and stalls or fails while it starts. */
async function setupHalfBegun(how: "stalls" | "fails" = "stalls") {
  const images = [new MemoryImage("0123456789Ab"), new MemoryImage("0123456789Ac")];
  let isOpeningAgain = false;
  const bundle: Bundle = await setup({
    shardCount: 2,
    openStore: async (shard) => {
      if (shard === 1 && isOpeningAgain) {
        bundle.clock.advanceTo(start + hour);
        if (how === "stalls") bundle.store(1).hold();
        else bundle.store(1).fail({ fault: "failed" });
      }
      return openMemoryStore({ tag: "", image: images[shard] as MemoryImage });
    },
  });
  for (const name of [near, far]) await bundle.createQueue({ name });
  // Due when the shard reopens, so it starts with a commit.
  await bundle.run(() => bundle.engine.produce(produceOf(far, ["later"], start + hour)));
  isOpeningAgain = true;
  bundle.store(1).fail({ fault: "lost" });
  await bundle.begin(() => bundle.engine.produce(produceOf(far, ["lost"])));
  await bundle.clock.settle();
  return bundle;
}

test("backup: refused while one shard has not started, and holds no other shard", async () => {
  const bundle = await setupHalfBegun();
  const backup = await bundle.begin(() => bundle.engine.backup("/nowhere"));
  expect(backup.ending).toMatchObject({ ok: false, code: "closing" });
  const created = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: nameIn(0, 2, "letters") }),
  );
  expect(created.ending).toEqual({ ok: true, value: undefined });
  bundle.store(1).release();
  await bundle.clock.advance(minute);
  const elsewhere = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: nameIn(1, 2, "letters") }),
  );
  expect(elsewhere.ending).toEqual({ ok: true, value: undefined });
});

/** A first start: the first shard has started when its store reports a loss; the second stalls. */
test("start: a store that loses commits before the other shard has started leaves no shard dead", async () => {
  const bundle: Bundle = await setup({ shardCount: 2 });
  for (const name of [near, far]) await bundle.createQueue({ name });
  await bundle.run(() => bundle.engine.produce(produceOf(near, ["later"], start + hour + second)));
  await bundle.run(() => bundle.engine.produce(produceOf(far, ["later"], start + hour)));
  bundle.kill();
  bundle.store(1).hold();
  const opening = bundle.opening({ now: start + hour });
  await bundle.clock.settle();
  bundle.store(0).fail({ fault: "lost" });
  await bundle.clock.advance(minute);
  bundle.store(1).release();
  await opening;
  await bundle.clock.advance(minute);
  await bundle.clock.advance(hour);
  const endings = [];
  for (const name of [near, far]) {
    const produced = await bundle.begin(() => bundle.engine.produce(produceOf(name, ["a"])));
    await bundle.clock.advance(minute);
    endings.push(produced.ending);
  }
  expect(endings).toMatchObject([{ ok: true }, { ok: true }]);
});

test("backup: refused while one shard has not started, without an unhandled rejection", async () => {
  const bundle = await setupHalfBegun();
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => unhandled.push(cause);
  process.on("unhandledRejection", note);
  try {
    bundle.store(0).hold();
    await bundle.begin(() => bundle.engine.updateQueue({ name: near, maxAttempts: 3 }));
    const backup = await bundle.begin(() => bundle.engine.backup("/nowhere"));
    await bundle.clock.advance(2 * limits.holdMsMax);
    expect(backup.ending).toMatchObject({ ok: false });
    await new Promise((resolve) => setTimeout(resolve, 10));
  } finally {
    process.off("unhandledRejection", note);
  }
  expect(unhandled).toEqual([]);
});

test("reopen: the notice of a shard that fails to start names that shard", async () => {
  const bundle = await setupHalfBegun("fails");
  const downs = bundle.notices.filter(({ kind }) => kind === "shard_down");
  expect(downs.map(({ shard }) => shard)).toEqual([1, 1]);
});
