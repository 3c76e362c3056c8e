import { expect, test } from "bun:test";
import type { OpenedStore } from "../conformance/bench.ts";
import { describeStore } from "../conformance/suite.ts";
import { MemoryImage, openMemoryStore } from "./store.ts";

const tag = "0123456789Ab";

describeStore("memory", opened, [1, 2, 3, 4]);

async function opened(): Promise<OpenedStore> {
  const image = new MemoryImage(tag);
  let backend = openMemoryStore({ tag, image });
  return {
    backend,
    reopen: async () => {
      await backend.store.close();
      backend = openMemoryStore({ tag, image });
      return backend;
    },
    dispose: () => backend.store.close(),
  };
}

test("openMemoryStore: keeps nothing without an image, and the tag with one", async () => {
  const image = new MemoryImage("kept");
  expect((await openMemoryStore({ tag, image }).store.load()).tags).toBe("kept");
  expect((await openMemoryStore({ tag }).store.load()).tags).toBe(tag);
});
