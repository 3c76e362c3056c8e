// Two shards, each with its own engine, and control over the calls between them.

import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { ShardEngine } from "../engine.ts";
import type { Notice } from "../model/api.ts";
import { failure, QueueError } from "../model/errors.ts";
import type { OtherShard } from "../relay/other-shard.ts";
import { minute, nameIn, queueDefaults, second, start } from "../simulation/bundle.ts";
import { seededRandom } from "../simulation/seeded-random.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";

export const away = QueueError.from(failure("not_ready", "nobody reaches it"));
const unused = async (): Promise<never> => {
  throw new Error("nothing of the server as a whole is asked");
};

/** Carries a call to `shard`; `deliver` makes it on the engine that has the shard at that time. */
export type Way = (
  asked: { readonly shard: number; readonly name: keyof OtherShard },
  deliver: () => Promise<unknown>,
) => Promise<unknown>;

export function setupPair() {
  const clock = new VirtualClock(start);
  const images = [new MemoryImage("0123456789Ab"), new MemoryImage("0123456789Ac")];
  const engines: ShardEngine<unknown>[] = [];
  const notices: Notice[] = [];
  const on: { way: Way } = { way: (_, deliver) => deliver() };
  const reach = (shard: number): OtherShard =>
    new Proxy({} as OtherShard, {
      get:
        (_, name: keyof OtherShard) =>
        (...given: never[]) =>
          on.way({ shard, name }, async () => {
            const other = engines[shard]?.other;
            if (other === undefined) throw away;
            return await (other[name] as (...given: never[]) => unknown)(...given);
          }),
    });
  const done = async <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    await clock.advance(3 * second);
    return await work;
  };
  let openings = 0;
  const store: { opens: Promise<void>; commits: Promise<void> } = {
    ...{ opens: Promise.resolve(), commits: Promise.resolve() },
  };
  return {
    ...{ clock, notices, images, done, on, store },
    /** `true` = neither shard reaches the other. */
    cut: (isCut: boolean) => {
      on.way = async (_, deliver) => {
        if (isCut) throw away;
        return await deliver();
      };
    },
    engine: (shard: number) => engines[shard] as ShardEngine<unknown>,
    /**
     * Opens the shard as another node does after a hand-over or a takeover. `isBegun`: does not
     * wait until its store is open.
     */
    open: async (shard: number, { isBegun = false } = {}) => {
      openings += 1;
      engines[shard]?.abandon();
      const engine = new ShardEngine<unknown>({
        ...{ shard, shardCount: 2, clock, durability: "none", reach },
        random: seededRandom(openings),
        openStore: async () => {
          await store.opens;
          const backend = await openMemoryStore({ tag: "", image: images[shard] as MemoryImage });
          const { commit } = backend.store;
          backend.store.commit = async (...given) => {
            await store.commits;
            return await commit.apply(backend.store, given);
          };
          return backend;
        },
        renderLeased: (items) => items,
        notice: (notice) => notices.push(notice),
        whole: { backup: unused, advance: unused, close: unused },
      });
      engines[shard] = engine;
      if (isBegun) {
        void engine.load().catch(() => undefined);
        return;
      }
      await done(engine.load());
      await done(engine.meet());
      engine.start();
    },
  };
}

/** Names of a queue in the first shard and of its dead queue in the second. */
export const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

export async function setupQueues() {
  const pair = setupPair();
  for (const shard of [0, 1]) await pair.open(shard);
  await pair.clock.advance(5 * second);
  const { done, engine } = pair;
  await done(engine(1).createQueue({ ...queueDefaults, name: far }));
  const settings = { ...queueDefaults, name: near, deadQueue: far, expireTimeoutMs: minute };
  await done(engine(0).createQueue(settings));
  return pair;
}
