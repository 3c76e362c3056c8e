// `bun bench/against.ts [--turns 20] [--only <regex>] <script> [argument]`: runs the canonical
// cells against another checkout's server, such as `../before/cli/main.ts serve`, and this one.
// Both servers run at once and are loaded in turn, for a fraction of a second each, so a slowdown
// of the machine affects both. With HOLDFAST_SYNC set, both sync in the same way. Otherwise each
// measures the disk for itself, and the two may differ.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { usageOf } from "../testing/process-usage.ts";
import { type ServerProcess, startListening, startServer } from "../testing/server-process.ts";
import { type Cell, canonicalCells } from "./cells/cells.ts";
import { phasesOf, workOf } from "./cells/run-cell.ts";
import { createQueue } from "./load/calls.ts";
import type { Phase } from "./load/commands.ts";
import { inTurn, ratiosOf } from "./load/in-turn.ts";
import { LoadProcess } from "./load/load-process.ts";
import { median, percentile } from "./report/statistics.ts";

const { values: words, positionals: other } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: "string", default: "20" },
    only: { type: "string", default: "" },
  },
});
if (other.length === 0) throw new Error("expected the script of another checkout's server");
/** The first turns of a server mostly measure compilation. */
const turns = { warmUps: 8, turns: Number(words.turns) };
/** Share of the cell's items in one turn of one server. */
const turnShare = 1 / 6;

/** Results by phase. */
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
  const ours = await startServer({ data: data("ours"), flags });
  const before = await startListening(theirs);
  try {
    await using ourLoad = await LoadProcess.start();
    await using theirLoad = await LoadProcess.start();
    const found = await inTurn(["ours", "before"], turns, (side, turn) =>
      side === "ours"
        ? takeTurn(cell, { server: ours, load: ourLoad }, turn)
        : takeTurn(cell, { server: before, load: theirLoad }, turn),
    );
    for (const phase of phasesOf(cell)) console.log(textOf(cell, phase, found));
  } finally {
    await ours.stop();
    await before.stop();
  }
}

async function takeTurn(
  cell: Cell,
  { server, load }: { readonly server: ServerProcess; readonly load: LoadProcess },
  turn: number,
): Promise<Turn> {
  const queue = `turn-${turn}`;
  const items = Math.ceil((cell.items * turnShare) / cell.itemsPerCall) * cell.itemsPerCall;
  await createQueue(server.port, queue, { requested_partitions: cell.partitions });
  await load.prepare(server.port, { ...workOf(cell).work, queue, items });
  const found: Turn = {};
  for (const phase of phasesOf(cell)) {
    const before = usageOf(server.pid).cpuSeconds;
    const { seconds } = await load.run(phase);
    const cpu = usageOf(server.pid).cpuSeconds - before;
    found[phase] = { rate: items / seconds, cpu: cpu / items };
  }
  return found;
}

function textOf(
  cell: Cell,
  phase: Phase,
  { ours, before }: Readonly<Record<"ours" | "before", readonly Turn[]>>,
): string {
  const ratio = (of: "rate" | "cpu"): string => {
    const values = (found: readonly Turn[]) => found.map((turn) => turn[phase]?.[of] ?? Number.NaN);
    const ratios = ratiosOf(values(ours), values(before)).toSorted((a, b) => a - b);
    const [low, high] = [0.25, 0.75].map((share) => percentile(ratios, share).toFixed(2));
    return `${median(ratios).toFixed(3)} (half of the turns ${low} to ${high})`;
  };
  return `${cell.name} ${phase}: ${ratio("rate")} of the rate, ${ratio("cpu")} of the processor time`;
}
