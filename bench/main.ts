// `bun run bench`: produce, lease and complete over HTTP against a server in its own process, with
// full durability, and in the same run the floors of the machine without a queue. Prints tables and
// writes a results file.
//
//   rounds → cells, in turn → a fresh server, its load, its floors (cells/run-cell.ts)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { postgresVersion } from "../scripts/postgres.ts";
import { allCells, type Cell, canonicalCells } from "./cells/cells.ts";
import { diskFloor } from "./cells/floors.ts";
import { type RunOptions, runCell } from "./cells/run-cell.ts";
import { type Probe, probes } from "./probes/probes.ts";
import { withComparisons } from "./report/comparisons.ts";
import {
  type Figures,
  headOf,
  type Measurement,
  type Results,
  summarize,
  writeResults,
} from "./report/results.ts";
import { renderResults } from "./report/tables.ts";

interface Options {
  /** Runs the cells and probes whose name matches; `null` = the canonical ones. */
  readonly only: RegExp | null;
  readonly rounds: number;
  /** The results file; `null` = the default path, if the run is complete. */
  readonly out: string | null;
}

const roundsDefault = 5;

const usage = `bun run bench [options]
  --only <regex>    cells and probes whose name matches, of all there are
  --rounds <n>      rounds; default ${roundsDefault}
  --list            name all cells and probes
  --out <file>      where to write the results; without it a whole run writes bench/results/
  --peers           the same work on other queues; see bench/peers/peers.ts`;

/** A measurement made once per round. */
interface Entry extends Pick<Probe, "name" | "store" | "run"> {
  readonly cell?: Cell;
}

function entriesOf(only: RegExp | null): Entry[] {
  const ofCell = (cell: Cell): Entry => ({
    name: cell.name,
    cell,
    run: (options) => runCell(cell, options),
  });
  const entries: Entry[] = [
    ...(only === null ? probes.filter(({ canonical }) => canonical) : probes),
    ...(only === null ? canonicalCells : allCells).map(ofCell),
  ];
  return entries.filter(({ name }) => only === null || only.test(name));
}

/** Every second round is in reverse order, so the first entry of one is the last of the next. */
async function measure({ only, rounds }: Options, directory: string): Promise<Measurement[]> {
  const entries = entriesOf(only);
  if (entries.length === 0) throw new Error("nothing to measure; --list names all there is");
  const figures = new Map<string, Figures[]>(entries.map(({ name }) => [name, []]));
  const disk: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const floor = diskFloor(directory);
    disk.push(floor);
    const options: RunOptions = { directory, diskSyncsPerSecond: floor.syncsPerSecond };
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      const begin = performance.now();
      figures.get(entry.name)?.push(await entry.run(options));
      const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
      console.error(`round ${round + 1} of ${rounds}: ${entry.name}, ${seconds} s`);
    }
  }
  return [
    { name: "disk (floor D)", figures: summarize(disk) },
    ...entries.map(({ name, cell }) => ({
      name,
      ...(cell === undefined ? {} : { cell }),
      figures: summarize(figures.get(name) ?? []),
    })),
  ];
}

async function bench(options: Options): Promise<void> {
  const { only, rounds, out } = options;
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const removeDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  // A terminal interrupts the servers as well; otherwise, gigabytes would be left behind.
  process.once("SIGINT", () => {
    removeDirectory();
    process.exit(130);
  });
  const stores = new Set(entriesOf(only).map(({ store = "sqlite" }) => store));
  const which = only === null ? "" : ` --only '${only.source}'`;
  try {
    const head = await headOf(`bun run bench${which} --rounds ${rounds}`, directory);
    const postgres = stores.has("postgres") && { postgres: postgresVersion };
    const results: Results = {
      ...head,
      versions: { ...head.versions, ...postgres },
      settings: {
        rounds,
        store: [...stores].join(", "),
        durability: "full",
        client: "bench/load/generator.ts, one process",
      },
      measurements: withComparisons(await measure(options, directory)),
    };
    console.log(renderResults(results));
    if (out !== null || (only === null && rounds >= roundsDefault)) {
      console.log(`\nwritten to ${writeResults(results, { ending: ".json", path: out })}`);
    }
  } finally {
    removeDirectory();
  }
}

/** The peers are a separate program, because it installs what it measures. */
async function runPeers(argv: readonly string[]): Promise<void> {
  const script = join(import.meta.dir, "peers/peers.ts");
  const rest = argv.filter((argument) => argument !== "--peers");
  const child = Bun.spawn([process.execPath, script, ...rest], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  process.exitCode = await child.exited;
}

function readOptions(argv: readonly string[]): Options & { readonly isList: boolean } {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: String(roundsDefault) },
      out: { type: "string" },
      list: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds is invalid; expected a number from 1, got '${values.rounds}'`);
  }
  const only = values.only === undefined ? null : new RegExp(values.only);
  return { only, rounds, out: values.out ?? null, isList: values.list };
}

async function main(argv: readonly string[]): Promise<void> {
  // The peers have a command line of their own.
  if (argv.includes("--peers")) return await runPeers(argv);
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(argv);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
    process.exitCode = 2;
    return;
  }
  if (!options.isList) return await bench(options);
  for (const { name } of entriesOf(/./)) console.log(name);
}

await main(process.argv.slice(2));
