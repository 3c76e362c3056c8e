// What the counters of queues have to be, by the calls of one process and their answers: no less
// than was told to be done, no more than was asked for. And what came into a queue, less what left
// it, is what it holds. A shard that dies takes the count of a turn with it, so only the most that
// there may be is sure then.

import type { Engine, EngineStatus, QueueGauges } from "../api.ts";
import { QueueError } from "../errors.ts";
import type { CounterName } from "../queue-counters.ts";
import { Violation } from "./auditor.ts";

type Verb = "produce" | "complete" | "retry" | "extend" | "release" | "lease";
type Counted = Partial<Record<CounterName, number>>;

const counterOf: Readonly<Record<Verb, CounterName>> = {
  produce: "produced",
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
  /** By a queue's name and when it was made: one that is made anew counts from nothing. */
  #accounts = new Map<string, Account>();

  /** The engine of a process that starts, with its calls watched. */
  watching(engine: Engine): Engine {
    const accounts = new Map<string, Account>();
    this.#accounts = accounts;
    return new Proxy(engine, {
      get: (target, name: string) => {
        const method = target[name as keyof Engine] as (...given: unknown[]) => unknown;
        const call = method.bind(target);
        if (!(name in counterOf)) return call;
        return (request: Request) =>
          watched(accountOf(accounts, target, request.queue), name as Verb, request, () =>
            call(request),
          );
      },
    });
  }

  /** At rest. `isWhole`: no shard has died, and no item was damaged, since the process started. */
  check(engine: Engine, { queues }: EngineStatus, isWhole: boolean): void {
    for (const gauges of queues) {
      const { queue: name, counters } = gauges;
      const account = accountOf(this.#accounts, engine, name);
      for (const counter of Object.values(counterOf)) {
        const { [counter]: counted } = counters;
        const least = isWhole ? (account.told[counter] ?? 0) : 0;
        const most = account.asked[counter] ?? 0;
        if (counted >= least && (counted <= most || unbounded.includes(counter))) continue;
        const told = `${name} counts ${counted} ${counter}, expected ${least} to ${most}`;
        throw new Violation("I12", told);
      }
      // What others send to a dead queue is no event of its own.
      if (!isWhole || name === "dead") continue;
      const before = itemsIn(gauges) - netOf(gauges);
      account.before ??= before;
      if (account.before === before) continue;
      const told = `${name} holds ${itemsIn(gauges)} items, and counts ${JSON.stringify(counters)}`;
      throw new Violation("I12", `${told}; ${account.before} were there before, or ${before}`);
    }
  }
}

function itemsIn({ queued, leased, scheduled, retried }: QueueGauges): number {
  return queued + leased + scheduled + retried;
}

/** What came, less what left. */
function netOf({ counters }: QueueGauges): number {
  const { produced, completed, dead, discarded, removed } = counters;
  return produced - completed - dead - discarded - removed;
}

function accountOf(accounts: Map<string, Account>, engine: Engine, name: string): Account {
  let createdAt = 0;
  try {
    ({ createdAt } = engine.queueInfo(name));
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
  }
  return accounts.getOrInsertComputed(`${name} ${createdAt}`, () => {
    return { asked: {}, told: {}, before: null };
  });
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
