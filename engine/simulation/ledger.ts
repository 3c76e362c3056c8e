// Checks the counters of queues against the calls of one process: at least the acknowledged items,
// at most the requested ones. Also, the items in a queue equal those that arrived less those that
// left. A dead shard may lose the counts of a turn, so then only the upper bounds are certain.

import type {
  ClearRequest,
  DeleteQueueRequest,
  Engine,
  EngineStatus,
  QueueGauges,
  RepairRequest,
  TransactRequest,
} from "../model/api.ts";
import { QueueError } from "../model/errors.ts";
import type { CounterName } from "../model/queue-counters.ts";
import { Violation } from "./auditor.ts";

type Verb =
  | ("produce" | "importItems" | "complete" | "retry")
  | ("extend" | "release" | "lease" | "cancelItems");
type Counted = Partial<Record<CounterName, number>>;

const counterOf: Readonly<Record<Verb, CounterName>> = {
  produce: "produced",
  importItems: "produced",
  complete: "completed",
  retry: "retried",
  extend: "extended",
  release: "released",
  lease: "leased",
  cancelItems: "removed",
};

/**
 * Items withdrawn from disconnected clients count as released too, without an answer, and those of
 * clears and tasks as removed.
 */
const unbounded: readonly CounterName[] = ["released", "removed"];

interface Account {
  /** Items of calls that may have been done, or may still be. */
  readonly requested: Counted;
  /** Items of acknowledged calls, without replayed ones. */
  readonly acknowledged: Counted;
  /** Items in the queue at the start: its content without those that arrived and have not left. */
  before: number | null;
}

/** The fields of requests and replies that determine the number of items. */
interface Request {
  readonly queue: string;
  readonly items?: readonly unknown[];
  readonly ids?: readonly unknown[];
  readonly batchSize?: number;
}
interface Reply {
  readonly replayed: boolean;
  readonly duplicates?: readonly unknown[];
  readonly items?: readonly { readonly was?: string }[];
}

export class Ledger {
  #accounts = new Map<string, Account>();
  /** Unfinished clears by queue; their items may be gone from the queue and not counted yet. */
  readonly #clearing = new Map<string, number>();
  /** For transacts and tasks of all processes: an item may reach its queue in the next process. */
  readonly #outputs = new Map<string, Counted>();
  /** Deleted queues: a call may have been for the old or the new queue of the name. */
  #deleted = new Set<string>();

  /** Wraps the engine of a new process to count its calls. */
  watching(engine: Engine): Engine {
    const accounts = new Map<string, Account>();
    const deleted = new Set<string>();
    this.#accounts = accounts;
    this.#deleted = deleted;
    return new Proxy(engine, {
      get: (target, name: string) => {
        const method = target[name as keyof Engine] as (...given: unknown[]) => unknown;
        const call = method.bind(target);
        if (name === "deleteQueue") {
          return (request: DeleteQueueRequest) => {
            deleted.add(request.name);
            return call(request);
          };
        }
        if (name === "clear") {
          return async (request: ClearRequest) => {
            const count = (by: number) => {
              this.#clearing.set(request.queue, (this.#clearing.get(request.queue) ?? 0) + by);
            };
            count(1);
            const cleared = await call(request);
            count(-1);
            return cleared;
          };
        }
        if (name === "transact") {
          return (request: TransactRequest) => {
            for (const [queue, counter, items] of partsOf(request)) {
              const { requested } = accounts.getOrInsertComputed(queue, noAccount);
              const sums = counter === "produced" ? this.#outputsOf(queue) : requested;
              sums[counter] = (sums[counter] ?? 0) + items.length;
            }
            return call(request);
          };
        }
        if (name === "repair") {
          return (request: RepairRequest) => {
            // The number of items is known only to the task.
            const { queue, action } = request;
            if (action === "retry") this.#outputsOf(queue).retried = Number.POSITIVE_INFINITY;
            return call(request);
          };
        }
        if (!(name in counterOf)) return call;
        return (request: Request) => {
          const account = accounts.getOrInsertComputed(request.queue, noAccount);
          return watched(account, name as Verb, request, () => call(request));
        };
      },
    });
  }

  #outputsOf(queue: string): Counted {
    return this.#outputs.getOrInsertComputed(queue, () => ({}));
  }

  /** Call at rest. `isWhole`: no shard died and no item was damaged since the process started. */
  check({ queues }: EngineStatus, isWhole: boolean): void {
    for (const gauges of queues) {
      const { queue: name, counters } = gauges;
      if (this.#deleted.has(name)) continue;
      const account = this.#accounts.getOrInsertComputed(name, noAccount);
      for (const counter of Object.values(counterOf)) {
        const { [counter]: counted } = counters;
        const least = isWhole ? (account.acknowledged[counter] ?? 0) : 0;
        // A grant of a failed store is requeued after a pause, and its lease is granted more items.
        const isAgain = counter === "leased" && !isWhole;
        const requested = isAgain ? Number.POSITIVE_INFINITY : (account.requested[counter] ?? 0);
        const most = requested + (this.#outputsOf(name)[counter] ?? 0);
        if (counted >= least && (counted <= most || unbounded.includes(counter))) continue;
        const text = `${name} counts ${counted} ${counter}, expected ${least} to ${most}`;
        throw new Violation("I12", text);
      }
      if (!isWhole || (this.#clearing.get(name) ?? 0) > 0) continue;
      const before = itemsIn(gauges) - netOf(gauges);
      account.before ??= before;
      if (account.before === before) continue;
      const text = `${name} holds ${itemsIn(gauges)} items, and counts ${JSON.stringify(counters)}`;
      throw new Violation("I12", `${text}; ${account.before} were there before, or ${before}`);
    }
  }
}

/** The most that a transact counts; items for another shard count when they arrive there. */
function partsOf({ complete = [], retry = [], produce = [] }: TransactRequest) {
  return [
    ...complete.map(({ queue, ids }) => [queue, "completed", ids] as const),
    ...retry.map(({ queue, items }) => [queue, "retried", items] as const),
    ...produce.map(({ queue, items }) => [queue, "produced", items] as const),
  ];
}

function itemsIn({ queued, leased, scheduled, retried }: QueueGauges): number {
  return queued + leased + scheduled + retried;
}

/** Arrivals less departures. */
function netOf({ counters }: QueueGauges): number {
  const { produced, arrived, completed, dead, discarded, removed, redriven } = counters;
  return produced + arrived - completed - dead - discarded - removed - redriven;
}

function noAccount(): Account {
  return { requested: {}, acknowledged: {}, before: null };
}

async function watched(
  { requested, acknowledged }: Account,
  verb: Verb,
  request: Request,
  call: () => unknown,
): Promise<unknown> {
  const counter = counterOf[verb];
  const items = request.items?.length ?? request.ids?.length ?? request.batchSize ?? 0;
  const add = (to: Counted, count: number) => {
    to[counter] = (to[counter] ?? 0) + count;
  };
  add(requested, items);
  try {
    const reply = (await call()) as Reply;
    const affected = reply.items?.filter(({ was }) => was !== "not_found").length ?? 0;
    const done = verb === "lease" || verb === "cancelItems" ? affected : items;
    const count = reply.replayed ? 0 : done - (reply.duplicates?.length ?? 0);
    add(acknowledged, count);
    // A lease may have been granted several times, with all grants but one withdrawn.
    if (verb !== "lease") add(requested, count - items);
    return reply;
  } catch (error) {
    // A refused call was not done.
    if (error instanceof QueueError && error.code !== "unknown" && verb !== "lease") {
      add(requested, -items);
    }
    throw error;
  }
}
