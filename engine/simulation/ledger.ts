// What the counters of queues have to be, by the calls of one process and their answers: no less
// than was told to be done, no more than was asked for. And what came into a queue, less what left
// it, is what it holds. A shard that dies takes the count of a turn with it, so only the most that
// there may be is sure then.

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

type Verb = "produce" | "importItems" | "complete" | "retry" | "extend" | "release" | "lease";
type Counted = Partial<Record<CounterName, number>>;

const counterOf: Readonly<Record<Verb, CounterName>> = {
  produce: "produced",
  importItems: "produced",
  complete: "completed",
  retry: "retried",
  extend: "extended",
  release: "released",
  lease: "leased",
};

/** What is given back because its client has left is released as well, and nobody is told. */
const unbounded: readonly CounterName[] = ["released"];

interface Account {
  /** Items of calls that may have been done, or may yet be. */
  readonly asked: Counted;
  /** Items of calls that were told to be done now, not before. */
  readonly told: Counted;
  /** What the queue holds beyond what came and has not left, which is what was there before. */
  before: number | null;
}

/** As much of a request and of its reply as says how many items it is of. */
interface Request {
  readonly queue: string;
  readonly items?: readonly unknown[];
  readonly ids?: readonly unknown[];
  readonly batchSize?: number;
}
interface Reply {
  readonly replayed: boolean;
  readonly duplicates?: readonly unknown[];
  readonly items?: readonly unknown[];
}

export class Ledger {
  #accounts = new Map<string, Account>();
  /** Queues of which a clear may not be through: what it takes is no longer held, and not counted yet. */
  readonly #clearing = new Map<string, number>();
  /** Of transacts and tasks of all processes: what one began may come to its queue in the next. */
  readonly #outputs = new Map<string, Counted>();
  /** Queues that somebody deletes: which one of a name a call was of is not known any more. */
  #deleted = new Set<string>();

  /** The engine of a process that starts, with its calls watched. */
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
              const { asked } = accounts.getOrInsertComputed(queue, noAccount);
              const sums = counter === "produced" ? this.#outputsOf(queue) : asked;
              sums[counter] = (sums[counter] ?? 0) + items.length;
            }
            return call(request);
          };
        }
        if (name === "repair") {
          return (request: RepairRequest) => {
            // How many it takes back is told by the task.
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

  /** At rest. `isWhole`: no shard has died, and no item was damaged, since the process started. */
  check({ queues }: EngineStatus, isWhole: boolean): void {
    for (const gauges of queues) {
      const { queue: name, counters } = gauges;
      if (this.#deleted.has(name)) continue;
      const account = this.#accounts.getOrInsertComputed(name, noAccount);
      for (const counter of Object.values(counterOf)) {
        const { [counter]: counted } = counters;
        const least = isWhole ? (account.told[counter] ?? 0) : 0;
        // What a store that failed granted before a pause goes back, and its lease is granted more.
        const isAgain = counter === "leased" && !isWhole;
        const asked = isAgain ? Number.POSITIVE_INFINITY : (account.asked[counter] ?? 0);
        const most = asked + (this.#outputsOf(name)[counter] ?? 0);
        if (counted >= least && (counted <= most || unbounded.includes(counter))) continue;
        const told = `${name} counts ${counted} ${counter}, expected ${least} to ${most}`;
        throw new Violation("I12", told);
      }
      if (!isWhole || (this.#clearing.get(name) ?? 0) > 0) continue;
      const before = itemsIn(gauges) - netOf(gauges);
      account.before ??= before;
      if (account.before === before) continue;
      const told = `${name} holds ${itemsIn(gauges)} items, and counts ${JSON.stringify(counters)}`;
      throw new Violation("I12", `${told}; ${account.before} were there before, or ${before}`);
    }
  }
}

/** What a transact adds to, at most: what goes to another shard is counted when it has come there. */
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

/** What came, less what left. */
function netOf({ counters }: QueueGauges): number {
  const { produced, arrived, completed, dead, discarded, removed, redriven } = counters;
  return produced + arrived - completed - dead - discarded - removed - redriven;
}

function noAccount(): Account {
  return { asked: {}, told: {}, before: null };
}

async function watched(
  { asked, told }: Account,
  verb: Verb,
  request: Request,
  call: () => unknown,
): Promise<unknown> {
  const counter = counterOf[verb];
  const items = request.items?.length ?? request.ids?.length ?? request.batchSize ?? 0;
  const add = (to: Counted, count: number) => {
    to[counter] = (to[counter] ?? 0) + count;
  };
  add(asked, items);
  try {
    const reply = (await call()) as Reply;
    const done = verb === "lease" ? (reply.items?.length ?? 0) : items;
    const count = reply.replayed ? 0 : done - (reply.duplicates?.length ?? 0);
    add(told, count);
    // A lease may have been granted more than once: what nobody waited for any more went back.
    if (verb !== "lease") add(asked, count - items);
    return reply;
  } catch (error) {
    // What was refused was not done.
    if (error instanceof QueueError && error.code !== "unknown" && verb !== "lease") {
      add(asked, -items);
    }
    throw error;
  }
}
