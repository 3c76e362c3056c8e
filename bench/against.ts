// `bun bench/against.ts [--turns 20] [--only <regex>] <script> [argument]`: the canonical cells against another
// checkout's server, such as `../before/cli/main.ts serve`. Both run at once and are loaded in turn,
// for part of a second each, so that a machine that slows down slows both. With HOLDFAST_SYNC set, both
// sync in the same way; each measures the disk for itself otherwise, and the two may differ.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Phase } from "./orders.ts";
import { usageOf } from "./process-usage.ts";
import { workOf } from "./run-cell.ts";
import { type ServerProcess, startListening, startServer } from "./server-process.ts";
import { median } from "./statistics.ts";
import { type Cell, canonicalCells } from "./workload.ts";

const { values: words, positionals: other } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: "string", default: "20" },
    only: { type: "string", default: "" },
  },
});
if (other.length === 0) throw new Error("expected the script of another checkout's server");
const turns = Number(words.turns);
/** Of the cell's items, in one turn of one server. */
const turnShare = 1 / 6;
/** Turns before the first that counts; what a server does first is mostly compiling. */
const warmUps = 8;

interface Side {
  readonly server: ServerProcess;
  readonly load: LoadProcess;
  /** Of each turn that counts. */
  readonly turns: Turn[];
}

/** By phase. */
type Turn = Partial<Record<Phase, { readonly rate: number; readonly cpu: number }>>;

const directory = mkdtempSync(join(tmpdir(), "holdfast-against-"));
try {
  for (const cell of canonicalCells.filter(({ name }) => new RegExp(words.only).test(name))) {
    if (cell.backlog === 0) await compare(cell);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function compare(cell: Cell): Promise<void> {
  const flags = ["--log-level", "error"];
  const data = (name: string): string => join(directory, cell.name.replaceAll("/", "-"), name);
  const theirs = [...other, "--port", "0", "--data", data("theirs"), ...flags];
  const ours = await sideOf(await startServer({ data: data("ours"), flags }));
  const before = await sideOf(await startListening(theirs));
  try {
    for (let turn = -warmUps; turn < turns; turn += 1) {
      for (const side of turn % 2 === 0 ? [ours, before] : [before, ours]) {
        const found = await takeTurn(cell, side, turn + warmUps);
        if (turn >= 0) side.turns.push(found);
      }
    }
  } finally {
    for (const { server, load } of [ours, before]) {
      await load.stop();
      await server.stop();
    }
  }
  for (const phase of phasesOf(cell)) console.log(textOf(cell, phase, ours.turns, before.turns));
}

async function sideOf(server: ServerProcess): Promise<Side> {
  return { server, load: await LoadProcess.start(), turns: [] };
}

function phasesOf({ flow }: Cell): Phase[] {
  return flow === "together" ? ["together"] : ["produce", "consume"];
}

async function takeTurn(cell: Cell, { server, load }: Side, turn: number): Promise<Turn> {
  const { work } = workOf(cell);
  const calls = Math.ceil((cell.items * turnShare) / cell.itemsPerCall);
  const ofTurn = { ...work, queue: `turn-${turn}`, items: calls * cell.itemsPerCall };
  const connection = await Connection.open(server.port);
  await createQueue(connection, { queue: ofTurn.queue, partitions: cell.partitions });
  connection.close();
  await load.prepare(server.port, ofTurn);
  const found: Turn = {};
  for (const phase of phasesOf(cell)) {
    const before = usageOf(server.pid).cpuSeconds;
    const { seconds } = await load.run(phase);
    const cpu = usageOf(server.pid).cpuSeconds - before;
    found[phase] = { rate: ofTurn.items / seconds, cpu: cpu / ofTurn.items };
  }
  return found;
}

function textOf(cell: Cell, phase: Phase, ours: readonly Turn[], before: readonly Turn[]): string {
  const ratio = (of: "rate" | "cpu"): string => {
    const ratios = ours
      .map((turn, index) => (turn[phase]?.[of] ?? 0) / (before[index]?.[phase]?.[of] ?? 1))
      .toSorted((a, b) => a - b);
    const [low, high] = [0.25, 0.75].map((share) => ratios[Math.floor(share * ratios.length)]);
    return `${median(ratios).toFixed(3)} (half of the turns ${low?.toFixed(2)} to ${high?.toFixed(2)})`;
  };
  return `${cell.name} ${phase}: ${ratio("rate")} of the rate, ${ratio("cpu")} of the processor time`;
}
