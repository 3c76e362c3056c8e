// Two servers without nodes that have one store by turns: whoever gets it back goes by what is stored.

import { expect, test } from "bun:test";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { StoreError } from "../stores/store.ts";
import { limits } from "./model/limits.ts";
import { type Bundle, produceOf, setup } from "./simulation/bundle.ts";

const cut = (): StoreError => new StoreError("failed", "the connection is cut");

/** One server, whose connection can be cut, and the store that another one gets meanwhile. */
async function setupFirst() {
  const image = new MemoryImage("0123456789Ab");
  let state: "up" | "cut" | "cut after a commit" = "up";
  const openStore = async (): Promise<Backend> => {
    if (state === "cut") throw cut();
    const { store, upkeep } = openMemoryStore({ tag: "", image });
    return {
      upkeep,
      store: {
        load: (what) => store.load(what),
        read: (wants) => store.read(wants),
        close: () => store.close(),
        async commit(changes) {
          if (state === "cut") throw cut();
          const written = await store.commit(changes);
          if (state === "up") return written;
          state = "cut";
          throw cut();
        },
      },
    };
  };
  const first = await setup({ openStore });
  await first.createQueue({ name: "common" });
  return {
    first,
    /** The call of which the first server has no answer; `work` is done by the second server. */
    async between(how: "cut" | "cut after a commit", work: (second: Bundle) => Promise<unknown>) {
      state = how;
      const lost = await first.begin(() => first.engine.produce(produceOf("common", ["first"])));
      const second = await setup({
        openStore: async () => openMemoryStore({ tag: "", image }),
      });
      await work(second);
      await second.run(() => second.engine.close());
      state = "up";
      await first.clock.advance(2 * limits.restartMsMax);
      return lost;
    },
  };
}

test("a queue that the other server created is there, and no other gets its items", async () => {
  const { first, between } = await setupFirst();
  await between("cut", async (second) => {
    await second.createQueue({ name: "of-second" });
    await second.produce("of-second", "secret");
  });
  await first.createQueue({ name: "of-first" });
  expect(await first.listed("of-first")).toEqual([]);
  expect(await first.listed("of-second")).toEqual(["secret"]);
});

test("a queue that the other server deleted is gone", async () => {
  const { first, between } = await setupFirst();
  await between("cut", (second) =>
    second.run(() => second.engine.deleteQueue({ name: "common", force: true })),
  );
  expect(await first.ending(() => first.engine.produce(produceOf("common", ["a"])))).toMatchObject({
    code: "invalid",
  });
});

test.each([1, 70])(
  "a call whose answer was lost is not done again behind %i turns of the other server",
  async (count) => {
    const { first, between } = await setupFirst();
    const lost = await between("cut after a commit", async (second) => {
      for (let index = 0; index < count; index += 1) await second.produce("common", "second");
    });
    expect(lost.ending).toMatchObject({ ok: false, code: "unknown" });
    const texts = await first.listed("common");
    expect(texts.filter((text) => text === "first")).toEqual(["first"]);
  },
);
