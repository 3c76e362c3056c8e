// Replies of a shard to another one while it ends and one of its commits is in progress.

import { expect, test } from "bun:test";
import { hour, minute, nameIn, queueDefaults, second } from "../simulation/bundle.ts";
import { setupPair } from "../testing/pair.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

test.each([false, true])(
  "delete: without force, a queue is not deleted while a commit adds an item for it; the other shard ends: %p",
  async (ends) => {
    const pair = setupPair();
    for (const shard of [0, 1]) await pair.open(shard);
    const { clock, done, engine, notices, on, store } = pair;
    await clock.advance(5 * second);
    await done(engine(1).createQueue({ ...queueDefaults, name: far }));
    await done(engine(0).createQueue({ ...queueDefaults, name: near }));
    const gate = Promise.withResolvers<void>();
    store.commits = gate.promise;
    const produce = [near, far].map((queue) => ({
      ...{ queue, items: [{ payload: new Uint8Array(1) }] },
    }));
    const told = { transact: "", remove: "" };
    const telling = (name: keyof typeof told, work: Promise<unknown>): void =>
      void work.then(
        () => {
          told[name] = "done";
        },
        ({ reason }) => {
          told[name] = reason;
        },
      );
    telling("transact", engine(0).transact({ produce, requestTimeoutMs: minute }));
    await clock.advance(100);
    // The commits of the other shard are not delayed.
    store.commits = Promise.resolve();
    const before = engine(0);
    if (ends) void before.end();
    await clock.advance(100);
    telling("remove", engine(1).deleteQueue({ name: far, force: false }));
    await clock.advance(100);
    gate.resolve();
    await clock.advance(second);
    on.way = (_, deliver) => deliver();
    if (ends) await pair.open(0);
    await clock.advance(hour);
    expect(told).toEqual({ transact: "done", remove: ends ? "not_ready" : "queue_not_empty" });
    expect(notices.filter(({ kind }) => kind === "items_discarded")).toEqual([]);
  },
);
