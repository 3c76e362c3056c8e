// Transacts of a world: each finishes leased items, of one lease or several, and produces others.
// The auditor checks that a transact is done as a whole or not at all.

import type {
  Engine,
  RetryItem,
  Transacted,
  TransactProduce,
  TransactRequest,
} from "../model/api.ts";
import type { Auditor, TransactCall, TransactPlan } from "./auditor.ts";
import type { Ending } from "./bundle.ts";
import type { Chance } from "./chance.ts";
import { minute, type Parameters, second } from "./parameters.ts";
import type { RepeatedCall } from "./repeats.ts";
import type { Situations } from "./situations.ts";
import { handedIn, type ItemText } from "./tracked.ts";

/** Ids of one partition that a client has leased. */
interface Batch {
  readonly held: { readonly queue: string; readonly partition: number };
  readonly ids: string[];
}

export interface TransactsOptions {
  readonly parameters: Parameters;
  readonly chance: Chance;
  readonly auditor: Auditor;
  readonly situations: Situations;
  readonly engine: () => Engine;
  readonly now: () => number;
  /** No engine has an earlier time. */
  readonly earliest: () => number;
  readonly log: (event: string) => void;
  readonly batch: () => Batch | undefined;
  readonly text: (mayBeUnique: boolean) => ItemText;
  readonly queueName: () => string;
  readonly repeatable: (call: RepeatedCall<Transacted>) => void;
  readonly endingText: (ending: Ending<unknown> | null) => string;
}

export class Transacts {
  readonly #options: TransactsOptions;

  constructor(options: TransactsOptions) {
    this.#options = options;
  }

  start(): void {
    const { auditor, now, earliest, log, repeatable, engine, parameters, endingText } =
      this.#options;
    const plan = this.#plan();
    if (plan.finishes.length + plan.outputs.length === 0) return;
    const call = auditor.transactBegun(plan, earliest());
    const { requestTimeoutMs } = parameters;
    const request = { requestTimeoutMs, ...requestOf(plan) };
    const name = call.outputs[0]?.items[0]?.key ?? call.finishes[0]?.items[0]?.key;
    const finished = plan.finishes.map(({ verb, queue, where }) => {
      return `${verb} ${where.ids.length} of ${queue}/${where.partition}`;
    });
    const written = plan.outputs.map(({ queue, texts }) => `produce ${texts.length} to ${queue}`);
    log(`transact ${name}: ${[...finished, ...written].join(", ")}`);
    repeatable({
      // A transact that only produces gets another place after the partitions change, as a produce
      // does.
      what: plan.finishes.length > 0 ? "transact" : "produce",
      queue: isOfPlain(plan) ? "plain" : "orders",
      timeoutMs: requestTimeoutMs,
      send: (key) => {
        for (const output of call.outputs) output.begunAt = Math.min(output.begunAt, earliest());
        return engine().transact({ ...request, ...key });
      },
      sendOther: (key) => engine().transact({ ...otherThan(request), ...key }),
      doubted: () => auditor.transactDoubted(call),
      ended: (ending, wasLost) => {
        log(`  transacted ${name}: ${endingText(ending)}`);
        auditor.transactEnded(call, ending, { now: now(), wasLost });
        this.#watch(call, ending);
      },
    });
  }

  #plan(): TransactPlan {
    const { chance, batch, queueName, text, parameters, now } = this.#options;
    const finishes: TransactPlan["finishes"][number][] = [];
    for (let count = chance.one([0, 1, 1, 1, 2]); count > 0; count -= 1) {
      const taken = batch();
      if (taken === undefined) break;
      const { held, ids } = taken;
      const { queue, partition } = held;
      const where = { partition, ids };
      const isRetry = chance.hits(250);
      const how = isRetry ? ids.map((id) => this.#retryOf(id, now())) : [];
      finishes.push({ verb: isRetry ? "retry" : "complete", queue, where, how });
    }
    const outputs = Array.from({ length: chance.one([0, 1, 1, 2]) }, () => {
      const [input] = finishes;
      const isElsewhere = input !== undefined && chance.hits(500);
      const queue = isElsewhere ? (input.queue === "orders" ? "plain" : "orders") : queueName();
      const { uniqueForMs = 0 } = parameters.queues.find(({ name }) => name === queue) ?? {};
      // With several shards, the queue may be in another shard than the inputs, which is refused.
      const mayBeUnique = uniqueForMs > 0 && parameters.shardCount === 1;
      const count = chance.between(1, parameters.batchMax);
      return { queue, texts: Array.from({ length: count }, () => text(mayBeUnique)) };
    });
    return { finishes, outputs };
  }

  #retryOf(id: string, now: number): RetryItem {
    const { chance } = this.#options;
    const retryAt = chance.hits(400) ? now + chance.one([1, second, 5 * minute]) : null;
    return { id, retryAt, dead: chance.hits(150) };
  }

  #watch(call: TransactCall, ending: Ending<Transacted> | null): void {
    const { situations } = this.#options;
    if (ending === null) return;
    if (!ending.ok) {
      const { message, details } = ending;
      if (message.includes("different shards")) {
        situations.reached("a transact of items in several shards is refused");
      } else if (message.includes("is paused")) {
        situations.reached("a transact is refused, because the queue of an output is paused");
      } else if (message.includes("is full")) {
        situations.reached("a transact is refused, because the queue of an output is full");
      } else if (details !== undefined && call.outputs.length > 0) {
        situations.reached("a transact is refused because of one id");
      }
      return;
    }
    situations.reached("a transact is answered");
    if (call.finishes.length > 1) situations.reached("a transact finishes items of several leases");
    for (const { delivered } of ending.value.produced) {
      situations.reached(
        delivered ? "an output is delivered with its transact" : "an output goes to another shard",
      );
    }
  }
}

function isOfPlain({ finishes, outputs }: TransactPlan): boolean {
  return [...finishes, ...outputs].some(({ queue }) => queue === "plain");
}

function requestOf({ finishes, outputs }: TransactPlan) {
  const parts = finishes.map(({ verb, queue, where, how }) => ({ verb, queue, ...where, how }));
  return {
    complete: parts.flatMap(({ verb, queue, partition, ids }) =>
      verb === "complete" ? [{ queue, partition, ids }] : [],
    ),
    retry: parts.flatMap(({ verb, queue, partition, how }) =>
      verb === "retry" ? [{ queue, partition, items: how }] : [],
    ),
    produce: outputs.map(
      ({ queue, texts }): TransactProduce => ({
        queue,
        items: texts.map(handedIn),
      }),
    ),
  };
}

/** Another request with the same first queue, so that the same shard decides it. */
function otherThan(request: TransactRequest): TransactRequest {
  const { produce = [] } = request;
  const other = { queue: "orders", items: [{ payload: "of another request" }] };
  return { ...request, produce: [...produce, other] };
}
