// For tests: combines the engines of all shards into one that routes by queue. The server has its
// own code for this (`server/shards/`), from its table of routes.

import { durabilityOf, openStore, type StoreConfig } from "../../stores/open.ts";
import type { Engine, EngineStatus, ItemExplained, LeasedItem, TaskInfo } from "../model/api.ts";
import { systemClock, TestClock } from "../model/clock.ts";
import { type ErrorCode, QueueError } from "../model/errors.ts";
import { newTag } from "../model/ids.ts";
import { shardOf } from "../model/placement.ts";
import { systemRandom } from "../model/random.ts";
import { openShards } from "../shards.ts";
import { firstQueue } from "../transacts.ts";

/** Like `createEngine`, with several shards. */
export async function createShards({
  store,
  shards,
  testClock = false,
}: {
  readonly store: StoreConfig;
  readonly shards: number;
  readonly testClock?: boolean;
}): Promise<Engine> {
  const clock = testClock ? new TestClock() : systemClock();
  const { engines } = await openShards({
    shardCount: shards,
    openStore: (shard) => openStore({ ...store, testClock }, shard, () => newTag(systemRandom)),
    renderLeased: (items) => items.map((item) => ({ ...item, payload: item.payload.slice() })),
    clock,
    durability: durabilityOf(store),
  });
  return allShards<readonly LeasedItem[]>(engines);
}

/** Methods for one queue, by the field of the request that names it. */
const byField = {
  queue: [
    ...(["produce", "lease", "complete", "retry", "extend", "release", "importItems"] as const),
    ...(["pause", "clients", "clear", "listItems", "listScheduled", "deleteItems"] as const),
    ...(["cancelItems", "findItems", "summarizeItems", "redrive", "repair"] as const),
    ...(["listGroups", "setGroup"] as const),
  ],
  name: ["createQueue", "updateQueue", "deleteQueue"],
} as const;
/** Methods for one queue that take only its name. */
const byName = [
  ...(["queueInfo", "resume", "stats", "inspect", "explain", "reload", "requireQueue"] as const),
];

type Method = keyof Engine<never>;
/** Methods that the shard of one queue does. */
type QueueMethod = (typeof byName)[number] | (typeof byField)[keyof typeof byField][number];
type Call = (...given: unknown[]) => unknown;

export function allShards<Items>(engines: readonly Engine<Items>[]): Engine<Items> {
  const [first] = engines;
  if (first === undefined || engines.length === 1) return first as Engine<Items>;
  const at = (name: string): Engine<Items> =>
    engines[shardOf(name, engines.length)] as Engine<Items>;
  const calling = (name: Method, queueIn: (request: unknown) => string): [Method, Call] => [
    name,
    (...given) => (at(queueIn(given[0]))[name] as Call)(...given),
  ];
  const routed = [
    ...byName.map((name) => calling(name, (queue) => queue as string)),
    ...Object.entries(byField).flatMap(([field, names]) =>
      names.map((name) =>
        calling(name, (request) => (request as Record<string, string>)[field] ?? ""),
      ),
    ),
  ];
  const ofQueues = Object.fromEntries(routed) as unknown as Pick<Engine<Items>, QueueMethod>;
  return { ...ofQueues, ...wholeOf(engines, at) };
}

/** Methods that are not for one queue. */
function wholeOf<Items>(
  engines: readonly Engine<Items>[],
  at: (name: string) => Engine<Items>,
): Omit<Engine<Items>, QueueMethod> {
  const first = engines[0] as Engine<Items>;
  const holder = async <T>(ask: (engine: Engine<Items>) => T | Promise<T>): Promise<T> => {
    for (const engine of engines.slice(0, -1)) {
      try {
        return await ask(engine);
      } catch (cause) {
        if (!isUnknown(cause)) throw cause;
      }
    }
    return ask(engines.at(-1) as Engine<Items>);
  };
  return {
    transact: (request) => at(firstQueue(request) ?? "").transact(request),
    listQueues: ({ pivot, limit }) =>
      engines
        .flatMap((engine) => engine.listQueues({ pivot, limit }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit),
    series: (request) => at(request.queue ?? "").series(request),
    overview: (since, isShown) => first.overview(since, isShown),
    listTasks: (queue) =>
      queue === undefined
        ? engines.flatMap((engine) => engine.listTasks()).sort((a, b) => b.createdAt - a.createdAt)
        : at(queue).listTasks(queue),
    taskInfo: (taskId) => taskIn(engines, taskId),
    cancelTask: (taskId) => holder((engine) => engine.cancelTask(taskId)),
    getItem: (id, range, isShown) => holder((engine) => engine.getItem(id, range, isShown)),
    explainItem: async (id) =>
      fullest(await Promise.all(engines.map((engine) => engine.explainItem(id)))),
    backup: (folder) => first.backup(folder),
    advance: (byMs, options) => first.advance(byMs, options),
    status: () => statusOf(engines),
    close: () => first.close(),
  };
}

function statusOf(engines: readonly Pick<Engine, "status">[]): EngineStatus {
  const all = engines.map((engine) => engine.status());
  return {
    ...(all[0] as EngineStatus),
    waitingLeases: all.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
    shards: all.flatMap(({ shards }) => shards),
    queues: all.flatMap(({ queues }) => queues),
  };
}

function taskIn(engines: readonly Pick<Engine, "taskInfo">[], taskId: string): TaskInfo {
  for (const engine of engines.slice(0, -1)) {
    try {
      return engine.taskInfo(taskId);
    } catch (cause) {
      if (!isUnknown(cause)) throw cause;
    }
  }
  return (engines.at(-1) as Engine).taskInfo(taskId);
}

function isUnknown(cause: unknown): boolean {
  const unknown: readonly ErrorCode[] = ["refused"];
  return cause instanceof QueueError && unknown.includes(cause.code);
}

function fullest(all: readonly ItemExplained[]): ItemExplained {
  // Only the shard that issued the id knows it, or all shards with the epochs of an earlier shard.
  const weight = ({ item, history, historySince }: ItemExplained): number =>
    (item === null ? 0 : 4) + (history.length > 0 ? 2 : 0) + (historySince === null ? 0 : 1);
  return all.reduce((best, one) => (weight(one) > weight(best) ? one : best));
}
