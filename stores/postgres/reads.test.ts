// How often the head of a partition is read from the database.

import { expect, test } from "bun:test";
import { item } from "../conformance/values.ts";
import { noReads } from "../store.ts";
import { Database } from "./database.ts";
import { Reads } from "./reads.ts";
import { openPostgresStore } from "./store.ts";
import { commit, newStore } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();

test("heads: a backlog is read from the end of its cached part, and no part of it twice", async () => {
  const options = newStore(server.url);
  const { store } = await openPostgresStore(options);
  const before = 6_001;
  const insert = Array.from({ length: 6_000 }, (_, index) => item(1, 1 + index));
  await commit(store, 1, { insert });
  await store.close();
  const database = await Database.open(options);
  let asked = 0;
  const reads = new Reads((text, values) => {
    asked += 1;
    return database.promptRows(text, values);
  });
  const head = async (from: number, items: number) => {
    const heads = [{ slot: 1, from, before, items }];
    const found = (await reads.read({ ...noReads, heads, headBytes: 8_000_000 })).heads.get(
      1,
    )?.found;
    return [found?.[0]?.seq, found?.length];
  };
  expect(await head(1, 100)).toEqual([1, 100]);
  const once = asked;
  expect(await head(4_001, 90)).toEqual([4_001, 90]);
  expect(asked).toBe(once);
  expect(await head(4_091, 100)).toEqual([4_091, 100]);
  expect(asked).toBe(2 * once);
  expect(await head(4_191, 1_810)).toEqual([4_191, 1_810]);
  expect(asked).toBe(2 * once);
  await database.close();
});
