// Makes one system call of the real server fail: the Nth sync fails with an I/O error, every write
// from the Nth on fails for lack of space, or the process is killed at its Nth sync or write.
// strace injects the failures; N is swept over a load. Every answer must still be true after a
// restart.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../checkers/check-order.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import { Address, createQueues } from "../clients/clients.ts";
import { Load } from "../clients/load.ts";
import { History } from "../histories/history.ts";
import { Faults, type Log, type ProofResult, skippedResult, stopwatch } from "../result.ts";
import { type ServerChild, spawnServer } from "./server-child.ts";
import { whyUntraceable } from "./strace.ts";

export interface SystemCallOptions {
  readonly runs: number;
  readonly seed: number;
  readonly log: Log;
}

interface Injection {
  readonly name: string;
  readonly calls: string;
  readonly what: string;
  /** Every call from the Nth on. */
  readonly sticky: boolean;
  /** The sweep covers the calls of each thread up to this one. */
  readonly last: number;
}

const syncCalls = "fsync,fdatasync";
const injections: readonly Injection[] = [
  { name: "a sync fails", calls: syncCalls, what: "error=EIO", sticky: false, last: 60 },
  { name: "no space", calls: "pwrite64", what: "error=ENOSPC", sticky: true, last: 240 },
  { name: "a write fails", calls: "pwrite64", what: "error=EIO", sticky: false, last: 240 },
  { name: "killed at a sync", calls: syncCalls, what: "signal=SIGKILL", sticky: false, last: 60 },
  {
    name: "killed at a write",
    calls: "pwrite64",
    what: "signal=SIGKILL",
    sticky: false,
    last: 240,
  },
];

const method = "system calls";
const rules = { leaseTimeoutMs: 400, maxAttempts: 30, shardsFail: true } as const;
const shape = { partitions: 4, ...rules };
const flags = ["--shards", "2", "--threads", "2"];
/** The server's own exit codes; the last one is a kill, by us or by the tracer. */
const exitCodes = new Set([0, 2, 3, 70, 74, 137]);
const statuses = new Set([0, 200, 429, 453, 454, 500, 503, 504]);
/** Concurrent runs; most of a run is waiting. */
const runsAtOnce = 3;
const itemsPerRun = 500;
const loadMsMax = 4_000;
const startMsMax = 30_000;

export async function proveSystemCalls({
  runs,
  seed,
  log,
}: SystemCallOptions): Promise<ProofResult> {
  const elapsed = stopwatch();
  const skipped = whyUntraceable();
  if (skipped !== null) return skippedResult(method, seed, skipped);
  const figures: Record<string, number> = {
    runs,
    reached: 0,
    acknowledged: 0,
    unknownCalls: 0,
    refusedStarts: 0,
  };
  const faults: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let run = next; run < runs; run = next) {
      next += 1;
      const outcome = await runOne(run, runs, seed);
      for (const [name, value] of Object.entries(outcome.figures)) {
        figures[name] = (figures[name] ?? 0) + value;
      }
      faults.push(...outcome.faults);
      if (run % 25 === 24) log(`${run + 1} of ${runs} runs, ${figures["reached"]} calls failed`);
    }
  };
  await Promise.all(Array.from({ length: runsAtOnce }, work));
  return { method, seconds: elapsed(), seed, figures, faults };
}

interface RunOutcome {
  readonly figures: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

interface Planned {
  readonly injection: Injection;
  readonly at: number;
}

function planOf(run: number, runs: number): Planned {
  const injection = injections[run % injections.length] as Injection;
  const rounds = Math.ceil(runs / injections.length);
  const round = Math.floor(run / injections.length);
  return { injection, at: 1 + Math.floor(((round + 0.5) * injection.last) / rounds) };
}

async function runOne(run: number, runs: number, seed: number): Promise<RunOutcome> {
  const { injection, at } = planOf(run, runs);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-calls-"));
  const data = join(folder, "data");
  const trace = join(folder, "trace");
  const when = `${at}${injection.sticky ? "+" : ""}`;
  const replay = `${injection.name}, ${injection.calls} ${injection.what} when=${when}, seed ${seed + run}`;
  const tracer = [
    ...["strace", "-f", "--seccomp-bpf", "-qq", "-s", "0", "-o", trace],
    ...["-e", `trace=${injection.calls}`],
    ...["-e", `inject=${injection.calls}:${injection.what}:when=${when}`],
  ];
  const faults = new Faults();
  const history = new History(join(folder, "history.log"));
  const address = new Address();
  let refusedStarts = 0;
  let server = spawnServer({ data, flags, tracer });
  try {
    const port = await portOf(server);
    let load: Load | null = null;
    if (port !== null && port >= 0) {
      address.up(port);
      const { exited } = server;
      void exited.then(() => address.down());
      if (await Promise.race([tryCreate(address), exited.then(() => false)])) {
        load = newLoad(address, history, seed + run);
        await loaded(history, server.exited);
      }
    } else if (port === null) {
      refusedStarts += 1;
    } else {
      faults.add("the server neither listens nor ends", server.log().slice(0, 300));
    }
    address.down();
    server.kill("SIGKILL");
    const code = await server.exited;
    if (!exitCodes.has(code)) faults.add("an exit code that is not documented", String(code));

    server = spawnServer({ data, flags });
    address.up(await server.listening());
    if (load === null) {
      await createQueues(address, shape);
      load = newLoad(address, history, seed + run);
      await loaded(history, server.exited);
    }
    const ending = await load.drain();
    await history.close();
    for (const { verb, status } of history.entries) {
      if (!statuses.has(status))
        faults.add("a status that is not documented", `${verb}, ${status}`);
    }
    const checked = checkQueue(history.entries, ending, rules);
    const order = checkOrder(history.entries);
    const found = [checked.faults, order.faults, faults].flatMap((one) => one.list(replay));
    const isReached = readFileSync(trace, "latin1").includes("INJECTED") || code === 137;
    return {
      figures: {
        reached: isReached ? 1 : 0,
        [injection.name]: 1,
        acknowledged: checked.figures["acknowledged"] ?? 0,
        unknownCalls: checked.figures["unknownCalls"] ?? 0,
        refusedCalls: history.entries.filter(({ status }) => status === 500).length,
        lost: checked.figures["lost"] ?? 0,
        refusedStarts,
      },
      faults: found,
    };
  } catch (cause) {
    throw new Error(`a run failed; ${replay}; the server's log: ${server.log()}`, { cause });
  } finally {
    server.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `null` when it has ended, -1 when it neither ends nor listens. */
async function portOf(server: ServerChild): Promise<number | null> {
  let timer: Timer | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(() => resolve(-1), startMsMax);
  });
  const port = await Promise.race([server.port, late]);
  clearTimeout(timer);
  return port;
}

function newLoad(address: Address, history: History, seed: number): Load {
  return new Load({
    address,
    history,
    random: seededRandom(seed),
    producers: 2,
    consumers: 3,
    batchMax: 20,
    backlogMax: 300,
  });
}

/** Waits until the load is done, the server has ended, or it has refused calls for long enough. */
async function loaded(history: History, exited: Promise<number>): Promise<void> {
  const until = performance.now() + loadMsMax;
  let gone = false;
  void exited.then(() => {
    gone = true;
  });
  const before = history.acknowledged;
  while (!gone && history.acknowledged - before < itemsPerRun && performance.now() < until) {
    await Bun.sleep(5);
    const last = history.entries.at(-1);
    if (last?.status === 500 && history.entries.filter(({ status }) => status === 500).length > 40)
      return;
  }
}

/** Whether both queues exist; with a failing call they may not. */
async function tryCreate(address: Address): Promise<boolean> {
  return createQueues(address, shape).then(
    () => true,
    () => false,
  );
}
