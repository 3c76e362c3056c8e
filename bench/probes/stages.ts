// Measures the processor time of each stage of a call, in sequence in one thread, so that no stage
// waits for another: the text of the request, the turn, the commit with and without its sync. The
// figures show which stage is saturated first on another machine.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../engine/model/clock.ts";
import { newItem } from "../../engine/model/items.ts";
import { limits } from "../../engine/model/limits.ts";
import type { NumberedRequest } from "../../engine/operations.ts";
import { History, TurnHistory } from "../../engine/state/history.ts";
import { Lines } from "../../engine/state/lines.ts";
import { Memory } from "../../engine/state/memory.ts";
import type { LogicalQueue } from "../../engine/state/queue.ts";
import { isGrant, sampleLease, sampleQueue } from "../../engine/testing/sample-queue.ts";
import { ChangeSet } from "../../engine/turn/change-set.ts";
import { decide, planReads } from "../../engine/turn/turn.ts";
import type { Turn } from "../../engine/turn/turn-context.ts";
import { compileCheck } from "../../openapi/check.ts";
import { operations, type RequestOf } from "../../openapi/operations.ts";
import { completeRequest, leaseRequest, produceRequest } from "../../server/wire/items.ts";
import { leaseReplyText, renderLeased } from "../../server/wire/leased.ts";
import type { Backend } from "../../stores/backend.ts";
import { openStore } from "../../stores/open.ts";
import { nothingRead } from "../../stores/store.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import type { Figures } from "../report/results.ts";

const hour = 3_600_000;
const never = new AbortController().signal;
const queueName = "stages";
const settings = {
  slot: 0,
  queue: queueName,
  owner: 1,
  leaseTimeoutMs: hour,
  expireTimeoutMs: hour,
  maxAttempts: 0,
  dead: null,
};
const verbs = ["produce", "lease", "complete"] as const;
type Verb = (typeof verbs)[number];

/** Calls that share a turn, about as many as at 64 connections. */
const callsOfTurn = (itemsPerCall: number): number =>
  Math.max(2, Math.round(24 / itemsPerCall ** 0.3));
/** Warm-up turns, and counted turns. */
const turnsToWarmUp = 100;
const turns = 300;

/** Microseconds per call by `<verb>.<stage>`, and `calls` of a turn. */
export async function stages(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  const folder = mkdtempSync(join(directory, "stages-"));
  try {
    const full = await run(await open(join(folder, "full"), "full"), itemsPerCall);
    const normal = await run(await open(join(folder, "normal"), "normal"), itemsPerCall);
    const figures: Figures = { calls: callsOfTurn(itemsPerCall) };
    for (const verb of verbs) {
      for (const stage of ["parse", "turn", "checkpoint", "reply"]) {
        figures[`${verb}.${stage}`] = full[`${verb}.${stage}`] ?? 0;
      }
      const write = normal[`${verb}.commit`] ?? 0;
      figures[`${verb}.write`] = write;
      figures[`${verb}.sync`] = Math.max(0, (full[`${verb}.commit`] ?? 0) - write);
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(directory: string, durability: "full" | "normal"): Promise<Backend> {
  return openStore({ kind: "sqlite", directory, durability }, 0, () => "0123456789Ab");
}

async function run(backend: Backend, itemsPerCall: number): Promise<Figures> {
  const queue = sampleQueue(settings, systemClock());
  const { memory } = await Memory.load(0, backend.store, {
    rules: {
      settingsAt: () => settings,
      ownerAt: () => ({ queue, partition: 0 }),
      homeOf: () => null,
      isLost: () => false,
      targetOf: () => null,
      originsAt: () => [],
      isOpen: () => true,
      pauseOf: () => undefined,
      queueOf: () => queue,
    },
  });
  const bench = new Bench(backend, memory, queue);
  const calls = callsOfTurn(itemsPerCall);
  const items = new Array(itemsPerCall).fill({ utf8: "x".repeat(100) });
  const shared = { queue_name: queueName, request_timeout: "1m" };
  for (let turn = 0; turn < turnsToWarmUp + turns; turn += 1) {
    if (turn === turnsToWarmUp) bench.forget();
    await bench.turn("produce", new Array(calls).fill(JSON.stringify({ ...shared, items })));
    const lease = { ...shared, client_id: "c", batch_size: itemsPerCall };
    const leased = await bench.turn("lease", new Array(calls).fill(JSON.stringify(lease)));
    const bodies = leased.map((text) => {
      const { items: held } = JSON.parse(text) as { items: { id: string }[] };
      return JSON.stringify({ ...shared, partition: 0, ids: held.map(({ id }) => id) });
    });
    await bench.turn("complete", bodies);
  }
  await backend.store.close();
  return bench.perCall(turns * calls);
}

const checks = {
  produce: compileCheck(operations.produce.request),
  lease: compileCheck(operations.lease.request),
  complete: compileCheck(operations.complete.request),
} as const;

function bodyOf<V extends Verb>(verb: V, text: string): RequestOf<V> {
  const body: unknown = JSON.parse(text);
  if (!checks[verb](body)) throw new Error(`the body of a ${verb} is not of the contract`);
  return body as RequestOf<V>;
}

class Bench {
  readonly #backend: Backend;
  readonly #memory: Memory;
  readonly #queue: LogicalQueue;
  readonly #lines = new Lines();
  #micros: Figures = {};
  #op = 0;
  #turn = 0;

  constructor(backend: Backend, memory: Memory, queue: LogicalQueue) {
    this.#backend = backend;
    this.#memory = memory;
    this.#queue = queue;
  }

  forget(): void {
    this.#micros = {};
  }

  perCall(calls: number): Figures {
    return Object.fromEntries(
      Object.entries(this.#micros).map(([name, micros]) => [name, micros / calls]),
    );
  }

  async #timed<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const begin = performance.now();
    const result = await work();
    this.#micros[name] = (this.#micros[name] ?? 0) + (performance.now() - begin) * 1_000;
    return result;
  }

  /** Runs all calls of one verb in one turn; returns the texts of the lease replies. */
  async turn(verb: Verb, bodies: readonly string[]): Promise<string[]> {
    const requests = await this.#timed(`${verb}.parse`, () =>
      bodies.flatMap((body) => this.#request(verb, body) ?? []),
    );
    const { store, maintenance } = this.#backend;
    const now = 1_800_000_000_000;
    const changeSet = new ChangeSet(new TurnHistory(now));
    await this.#timed(`${verb}.turn`, async () => {
      const linesToServe = this.#lines.take(now);
      const scene = { memory: this.#memory, now, machineNow: now, limits, linesToServe };
      const planner = planReads(scene, requests);
      const readResult = planner.plan === null ? nothingRead : await store.read(planner.plan);
      const turn: Turn = {
        shard: 0,
        memory: this.#memory,
        readResult,
        groupHeads: planner.groups,
        named: planner.named,
        history: new History(0, now),
        limits,
        renderLeased,
        changeSet,
        now,
        machineNow: now,
        stamp: now,
        linesToServe,
        lines: this.#lines,
        full: false,
        isStill: false,
        settling: [],
      };
      decide(turn, requests);
      this.#lines.grant(changeSet.granted);
    });
    this.#turn += 1;
    const turn = { turn: this.#turn, at: now, tag: "" };
    await this.#timed(`${verb}.commit`, async () => {
      const { synced } = await store.commit(changeSet.changes(turn, null));
      await synced;
    });
    // A shard does so too: otherwise the log would grow, which makes its syncs more expensive.
    await this.#timed(`${verb}.checkpoint`, () => maintenance.relieve());
    for (const partition of changeSet.tallied) partition.committedSeq = partition.nextSeq;
    return this.#timed(`${verb}.reply`, () =>
      changeSet.granted.map(({ lease, outcome }) => {
        if (!isGrant(outcome)) throw new Error(outcome.message);
        this.#lines.answered(lease);
        const { partition } = outcome;
        const items = String(outcome.items);
        return leaseReplyText({ queue: queueName, partition, maxAttempts: 0, now: 0, items });
      }),
    );
  }

  /** `null` for a lease, which waits instead. */
  #request(verb: Verb, text: string): NumberedRequest | null {
    this.#op += 1;
    const deadline = Number.MAX_SAFE_INTEGER;
    const common = { op: this.#op, slot: 0, deadline };
    switch (verb) {
      case "produce": {
        const { items: given } = produceRequest(bodyOf(verb, text));
        const items = given.map((item) => newItem(item, ""));
        return { kind: "produce", op: this.#op, queueId: this.#queue.queueId, deadline, items };
      }
      case "lease": {
        const { batchSize } = leaseRequest(bodyOf(verb, text), never);
        this.#lines.join(sampleLease(this.#queue, { arrival: this.#op, batchSize }), true);
        return null;
      }
      case "complete":
        return { kind: "complete", ...common, ids: completeRequest(bodyOf(verb, text)).ids };
    }
  }
}
