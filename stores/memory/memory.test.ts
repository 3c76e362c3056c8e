import { expect, test } from "bun:test";
import { describeStore } from "../conformance.ts";
import { StoreError } from "../store.ts";
import { MemoryImage, type MemoryStore, openMemoryStore } from "./store.ts";

const tag = "0123456789Ab";

describeStore("memory", async () => {
  const image = new MemoryImage(tag);
  let store: MemoryStore = openMemoryStore({ tag, image });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = openMemoryStore({ tag, image });
      return store;
    },
    dispose: () => store.close(),
  };
});

test("openMemoryStore: without an image nothing is kept, with one its tag is", async () => {
  const image = new MemoryImage("kept");
  expect((await openMemoryStore({ tag, image }).load()).tag).toBe("kept");
  expect((await openMemoryStore({ tag }).load()).tag).toBe(tag);
});

test("close: a closed store answers nothing more", async () => {
  const store = openMemoryStore({ tag });
  await store.close();
  expect(await store.load().catch((error: unknown) => error)).toBeInstanceOf(StoreError);
});
