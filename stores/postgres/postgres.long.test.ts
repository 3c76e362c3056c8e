import { expect, test } from "bun:test";
import { describeStore } from "../conformance/suite.ts";
import { entry, item, tally } from "../conformance/values.ts";
import { Connection } from "./connection.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore, openNew } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();

describeStore("postgres", () => openNew(newStore(server.url)), [1]);

async function faultOf(work: Promise<unknown>): Promise<string> {
  return (await failureOf(work)).fault;
}

test("open: one server at a time has a shard", async () => {
  const options = newStore(server.url);
  const first = await openPostgresStore(options);
  expect(await faultOf(openPostgresStore(options))).toBe("locked");
  const other = await openPostgresStore({ ...options, shard: 1 });
  await first.store.close();
  const second = await openPostgresStore(options);
  for (const { store } of [other, second]) await store.close();
});

test("open: a store is either for a test clock or not", async () => {
  const options = newStore(server.url);
  await (await openPostgresStore({ ...options, testClock: true })).store.close();
  expect(await faultOf(openPostgresStore(options))).toBe("unusable");
  await (await openPostgresStore({ ...options, testClock: null })).store.close();
});

test("open: an unreachable database may be reachable at the next attempt", async () => {
  const url = "postgres://holdfast@127.0.0.1:1/postgres";
  expect(await faultOf(openPostgresStore(newStore(url)))).toBe("failed");
});

test("commit, load: a former owner can neither write nor load, and reports nothing", async () => {
  const options = newStore(server.url);
  const first = await openPostgresStore(options);
  await commit(first.store, 1, { insert: [item(1, 1)] });
  const database = await Connection.open({ url: server.url });
  // Another server takes over while the first one is suspended.
  await database.script(
    `INSERT INTO ${options.schema}_0.turn SELECT max(position) + 1, 'another' FROM ${options.schema}_0.turn`,
  );
  const changes = { insert: [item(1, 2)], queue: [entry(1, "a")] };
  expect(await faultOf(commit(first.store, 2, changes))).toBe("failed");
  // Otherwise it would take the other server's turns for its own.
  expect(await faultOf(first.store.load())).toBe("failed");
  await first.store.close();
  const second = await openPostgresStore(options);
  const { turns, queues } = await second.store.load();
  expect(turns.map(({ turn }) => turn)).toEqual([1]);
  expect(queues).toEqual([]);
  await commit(second.store, 2, changes);
  await commit(second.store, 3);
  await second.store.close();
  await database.close();
});

test("commit: a session that is cut fails, and its committed writes are stored", async () => {
  const options = newStore(server.url);
  const first = await openPostgresStore(options);
  await commit(first.store, 1);
  const database = await Connection.open({ url: server.url });
  await database.script(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()",
  );
  expect(await faultOf(commit(first.store, 2))).toBe("failed");
  await first.store.close();
  const second = await openPostgresStore(options);
  expect((await second.store.load()).turns.map(({ turn }) => turn)).toEqual([1]);
  await second.store.close();
  await database.close();
});

test.each([["{"], ['{"queueId":1,"definition":{}}']])(
  "load: a queue of another form stops the store; %s",
  async (text) => {
    const options = newStore(server.url);
    const { store } = await openPostgresStore(options);
    await commit(store, 1, { queue: [entry(1, "a")] });
    const database = await Connection.open({ url: server.url });
    await database.script(`UPDATE ${options.schema}_0.queue SET entry = '${text}'`);
    expect(await faultOf(store.load())).toBe("damaged");
    await store.close();
    await database.close();
  },
);

test("tallies: recorded by the turns, and folded before those are removed", async () => {
  const options = newStore(server.url);
  let { store } = await openPostgresStore(options);
  const reopened = async () => {
    await store.close();
    ({ store } = await openPostgresStore(options));
    return await store.load();
  };
  await commit(store, 1, {
    tally: [tally(1, { nextSeq: 7 }), tally(2)],
    receive: [{ sourceShard: 3, outboundSeq: 9 }],
  });
  for (let turn = 2; turn <= 1_500; turn += 1) {
    await commit(store, turn, { tally: [tally(2, { nextSeq: turn })] });
    if (turn === 700) await reopened();
  }
  const image = await reopened();
  expect(image.turns.length).toBeLessThan(1_400);
  expect(image.turns.at(-1)?.turn).toBe(1_500);
  expect(image.tallies.toSorted((a, b) => a.slot - b.slot)).toEqual([
    tally(1, { nextSeq: 7 }),
    tally(2, { nextSeq: 1_500 }),
  ]);
  expect(image.inbound).toEqual([{ sourceShard: 3, outboundSeq: 9 }]);
  await store.close();
});
