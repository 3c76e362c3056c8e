// The stores of a simulated process in SQLite, from one start to the next.

import { expect, test } from "bun:test";
import { openWorldStores } from "./disk.ts";

test("a store whose process is killed while it closes is copied for the next start", async () => {
  const stores = openWorldStores(1);
  try {
    const { store } = await stores.open(0);
    const { tags } = await store.load();
    const closing = store.close();
    const next = await stores.open(0);
    expect(stores.images).toBe(1);
    expect((await next.store.load()).tags).toEqual(tags);
    await closing;
  } finally {
    await stores.remove();
  }
});

test("a store that has been closed is opened in place", async () => {
  const stores = openWorldStores(1);
  try {
    const { store } = await stores.open(0);
    const { tags } = await store.load();
    await store.close();
    const next = await stores.open(0);
    expect(stores.images).toBe(0);
    expect((await next.store.load()).tags).toEqual(tags);
  } finally {
    await stores.remove();
  }
});
