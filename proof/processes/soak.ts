// Runs a steady load for a given time and samples what could leak: memory, file descriptors, bytes
// of log and files, waiting leases. Meanwhile a thousand clients wait for items that arrive only at
// the end, and each must receive one.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../../bench/report/statistics.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import { Address, Client, createQueues, lease } from "../clients/clients.ts";
import { proofItem } from "../clients/items.ts";
import { Load } from "../clients/load.ts";
import { History } from "../histories/history.ts";
import { Faults, type Log, type ProofResult, stopwatch } from "../result.ts";
import { spawnServer } from "./server-child.ts";

export interface SoakOptions {
  readonly loadSeconds: number;
  readonly waitingLeases: number;
  readonly waitingSeconds: number;
  readonly seed: number;
  readonly log: Log;
}

const mebibyte = 1_048_576;
const rules = { leaseTimeoutMs: 2_000, maxAttempts: 20 };
const shape = { partitions: 4, ...rules };
const waitingQueue = "waiting";
/** Item numbers for the waiting clients, separate from those of the load. */
const waitingNumbersFrom = 500_000_000;
const samplesMin = 8;
const sampleMsMax = 10_000;

/** The limits, with their reasons. */
const bounds = {
  /** Under load, resident memory follows the garbage collector, so its slope cannot show a leak. */
  residentBytes: 512 * mebibyte,
  /** Growth between two idle phases, however long the load between them was. */
  residentLeftBytes: 64 * mebibyte,
  logBytes: 64 * mebibyte,
  descriptorsLeft: 2,
  /** Per waiting lease of a thousand, each with its connection. */
  waitingBytesPerLease: 25 * 1_024 * 2,
  /** A drained and compacted file is almost empty. */
  drainedFileBytes: 8 * mebibyte,
};

interface Sample {
  readonly seconds: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  readonly logBytes: number;
  readonly fileBytes: number;
}

export async function proveSoak(options: SoakOptions): Promise<ProofResult> {
  const { loadSeconds, waitingLeases, waitingSeconds, seed, log } = options;
  const elapsed = stopwatch();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-soak-"));
  const data = join(folder, "data");
  const faults = new Faults();
  // Answers to calls with keys are kept for minutes. Here they must be kept until the call is
  // repeated, which takes long on a busy machine.
  const flags = ["--shards", "2", "--threads", "2", "--receipts-window", "1m"];
  const server = spawnServer({ data, flags });
  const take = (): Sample => sampleOf(server.pid, data, performance.now() / 1_000);
  try {
    const address = new Address();
    address.up(await server.listening());
    await createQueues(address, shape);
    const before = take();

    const waiting = await holdWaiting(address, {
      waitingLeases,
      waitingSeconds,
      take,
      faults,
      log,
    });
    const [waited, { figures, residentBytes }] = await Promise.all([
      waiting.serve(),
      steadyLoad(address, { loadSeconds, seed, take, faults, log }),
    ]);
    await Bun.sleep(restMs);
    const rested = { ...before, residentBytes };
    await settled(() => leftFaults(rested, take()).length === 0);
    const after = take();
    for (const [kind, detail] of leftFaults(rested, after)) faults.add(kind, detail);
    return {
      method: "soak",
      seconds: elapsed(),
      seed,
      figures: {
        ...waited,
        ...figures,
        residentLeftBytes: after.residentBytes - residentBytes,
        descriptorsLeft: after.descriptors - before.descriptors,
        fileBytesAfter: after.fileBytes,
      },
      faults: faults.list(`--only soak --seed ${seed}`),
    };
  } finally {
    server.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

function sampleOf(pid: number, data: string, seconds: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (suffix: string): number =>
    readdirSync(data)
      .filter((name) => name.endsWith(suffix))
      .reduce((sum, name) => sum + Bun.file(join(data, name)).size, 0);
  return {
    seconds,
    residentBytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    logBytes: bytes(".db-wal"),
    fileBytes: bytes(".db"),
  };
}

type HeldResources = Pick<Sample, "residentBytes" | "descriptors" | "fileBytes">;

/** What an idle server still holds: `[kind, detail]` of each fault. */
export function leftFaults(
  before: HeldResources,
  after: HeldResources,
): [kind: string, detail: string][] {
  const faults: [string, string][] = [];
  const resident = after.residentBytes - before.residentBytes;
  if (resident > bounds.residentLeftBytes)
    faults.push(["memory is left", `${resident} bytes more than before`]);
  const descriptors = after.descriptors - before.descriptors;
  if (descriptors > bounds.descriptorsLeft)
    faults.push(["descriptors are left", `${descriptors} more than before`]);
  if (after.fileBytes > bounds.drainedFileBytes)
    faults.push(["the files stay large after the queues are drained", `${after.fileBytes} bytes`]);
  return faults;
}

/** The longest time that a lease may wait. */
const requestSecondsMax = 900;
/** Time to collect what a load leaves behind. */
const restMs = 5_000;
/** Time for the server to become idle: connections close, files shrink. */
const restMsMax = 20_000;

async function settled(isSettled: () => boolean): Promise<void> {
  const until = performance.now() + restMsMax;
  while (!isSettled() && performance.now() < until) await Bun.sleep(100);
}

interface WaitingOptions {
  readonly waitingLeases: number;
  readonly waitingSeconds: number;
  readonly take: () => Sample;
  readonly faults: Faults;
  readonly log: Log;
}

interface Waiting {
  /** Waits until the time is over, produces an item for each, and returns how soon it arrived. */
  serve(): Promise<Record<string, number>>;
}

/** Resolves once all of them wait; they keep waiting beside later load. */
async function holdWaiting(
  address: Address,
  { waitingLeases, waitingSeconds, take, faults, log }: WaitingOptions,
): Promise<Waiting> {
  const owner = new Client("owner", address, { queue: waitingQueue });
  await owner.connect();
  await owner.call("/v1/queues.create", {
    queue_name: waitingQueue,
    lease_timeout: "60m",
    expire_timeout: "24h",
  });
  const before = take();
  const history = new History();
  const timeout = `${Math.min(requestSecondsMax, Math.ceil(waitingSeconds) + 300)}s`;
  const answeredAt: number[] = [];
  const numbers: number[] = [];
  const answers = Array.from({ length: waitingLeases }, async (_, index) => {
    const client = new Client(`waiting-${index}`, address, { queue: waitingQueue });
    const { outcome, offers } = await lease(client, history, { batchSize: 1, timeout });
    answeredAt.push(performance.now());
    if (outcome !== "ok") faults.add("a waiting lease was dropped", `${client.name}, ${outcome}`);
    for (const { number } of offers) numbers.push(number);
    client.close();
  });
  while ((await waitingIn(owner)) < waitingLeases) await Bun.sleep(20);
  const held = take();
  const start = performance.now();
  return { serve };

  async function serve(): Promise<Record<string, number>> {
    while (performance.now() - start < waitingSeconds * 1_000) {
      await Bun.sleep(Math.min(sampleMsMax, waitingSeconds * 1_000));
      const waiting = await waitingIn(owner);
      if (waiting !== waitingLeases) faults.add("a waiting lease was dropped", `${waiting} wait`);
      log(`${waiting} leases wait`);
    }
    const producedAt = performance.now();
    for (let from = 0; from < waitingLeases; from += 1_000) {
      const count = Math.min(1_000, waitingLeases - from);
      const items = Array.from({ length: count }, (_, index) => {
        const { payload, ...described } = proofItem(waitingNumbersFrom + from + index);
        return { bytes: payload.toBase64(), ...described };
      });
      await owner.call("/v1/queue.produce", {
        queue_name: waitingQueue,
        request_timeout: "1m",
        items,
      });
    }
    await Promise.all(answers);
    if (new Set(numbers).size !== waitingLeases) {
      faults.add(
        "waiting clients did not get one item each",
        `${new Set(numbers).size} of ${waitingLeases}`,
      );
    }
    owner.close();
    const wakeMs = answeredAt.map((at) => at - producedAt).sort((a, b) => a - b);
    const bytes = held.residentBytes - before.residentBytes;
    if (bytes > waitingLeases * bounds.waitingBytesPerLease + 16 * mebibyte) {
      faults.add("waiting leases take too much memory", `${bytes} bytes for ${waitingLeases}`);
    }
    return {
      waitingLeases,
      waitingSeconds,
      waitingBytes: bytes,
      wakeMsP99: Math.round(percentile(wakeMs, 0.99)),
    };
  }
}

async function waitingIn(client: Client): Promise<number> {
  const reply = await client.call("/v1/queue.stats", { queue_name: client.queue });
  const { logical_queues: lines } = (reply?.body ?? { logical_queues: [] }) as {
    logical_queues: { lease_waiting: number }[];
  };
  return lines[0]?.lease_waiting ?? 0;
}

/** Figures of a load, and what the server held when idle. */
interface Loaded {
  readonly figures: Record<string, number>;
  readonly residentBytes: number;
}

interface LoadRun {
  readonly loadSeconds: number;
  readonly seed: number;
  readonly take: () => Sample;
  readonly faults: Faults;
  readonly log: Log;
}

async function steadyLoad(
  address: Address,
  { loadSeconds, seed, take, faults, log }: LoadRun,
): Promise<Loaded> {
  const history = new History();
  const load = new Load({
    address,
    history,
    random: seededRandom(seed),
    producers: 4,
    consumers: 8,
    batchMax: 40,
    backlogMax: 2_000,
    pauseMs: 8,
  });
  const samples: Sample[] = [];
  const everyMs = Math.min(sampleMsMax, (loadSeconds * 1_000) / samplesMin);
  await Bun.sleep((loadSeconds * 1_000) / 4);
  await load.rest(restMs);
  const { residentBytes } = take();
  const start = performance.now();
  while (performance.now() - start < loadSeconds * 1_000) {
    await Bun.sleep(everyMs);
    const sample = take();
    samples.push(sample);
    if (sample.logBytes > bounds.logBytes) faults.add("the log grows", `${sample.logBytes} bytes`);
    const mebibytes = Math.round(sample.residentBytes / mebibyte);
    log(
      `${mebibytes} MiB, ${sample.descriptors} descriptors, ${history.completed} items completed`,
    );
  }
  const ending = await load.drain();
  const checked = checkQueue(history.entries, ending, rules);
  for (const fault of checked.faults.list("")) faults.add("steady load", fault);
  const most = (of: (sample: Sample) => number): number => Math.max(...samples.map(of));
  const residentBytesMax = most(({ residentBytes }) => residentBytes);
  if (residentBytesMax > bounds.residentBytes)
    faults.add("memory grows", `to ${residentBytesMax} bytes`);
  const figures = {
    loadSeconds,
    samples: samples.length,
    itemsCompleted: history.completed,
    lost: checked.figures["lost"] ?? 0,
    residentBytesMax,
    logBytesMax: most(({ logBytes }) => logBytes),
    fileBytesMax: most(({ fileBytes }) => fileBytes),
    descriptorsMax: most(({ descriptors }) => descriptors),
  };
  return { figures, residentBytes };
}
