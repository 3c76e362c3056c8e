// `bun run bench`: produce, lease and complete over HTTP against a server in a
// process of its own, with full durability, and in the same run what the machine
// can do without a queue. Prints tables and writes a results file.
//
//   rounds → cells, in turn → a fresh server, its load, its floors (run-cell.ts)

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresVersion } from "../scripts/postgres.ts";
import { Backlogs } from "./backlogs.ts";
import { chartsOf } from "./charts.ts";
import { withComparisons } from "./comparisons.ts";
import { diskFloor } from "./floors.ts";
import { type Options, readOptions, roundsDefault, usage } from "./options.ts";
import { type Probe, probes } from "./probes.ts";
import {
  headOf,
  latestResults,
  type Measurement,
  type Results,
  readResults,
  resultsFolder,
  summarize,
  wholeEnding,
  writeResults,
} from "./results.ts";
import { type Figures, type RunOptions, runCell } from "./run-cell.ts";
import { renderResults } from "./table.ts";
import { allCells, type Cell, canonicalCells } from "./workload.ts";

/** Something that is measured once a round. */
interface Entry {
  readonly name: string;
  readonly cell?: Cell;
  readonly store?: Probe["store"];
  readonly run: (options: RunOptions) => Promise<Figures>;
}

function entriesOf({ full, only }: Options): Entry[] {
  const isAll = full || only !== null;
  const ofCell = (cell: Cell): Entry => ({
    name: cell.name,
    cell,
    run: (options) => runCell(cell, options),
  });
  const ofProbe = ({ name, run, store }: Probe): Entry => ({ name, run, ...(store && { store }) });
  const entries = [
    ...probes.filter(({ canonical }) => isAll || canonical).map(ofProbe),
    ...(isAll ? allCells : canonicalCells).map(ofCell),
  ];
  return entries.filter(({ name }) => only === null || only.test(name));
}

/** The second round goes backwards, and so on: what comes first in one comes last in the next. */
async function measure(options: Options, directory: string): Promise<Measurement[]> {
  const entries = entriesOf(options);
  if (entries.length === 0) throw new Error("nothing to measure; --list names all there is");
  const backlogs = new Backlogs(options.backlogs ?? join(directory, "backlogs"));
  const figures = new Map<string, Figures[]>(entries.map(({ name }) => [name, []]));
  const disk: Figures[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const { syncsPerSecond, ...times } = diskFloor(directory);
    disk.push({ syncsPerSecond, ...times });
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      const begin = performance.now();
      const run = await entry.run({ directory, backlogs, diskSyncsPerSecond: syncsPerSecond });
      figures.get(entry.name)?.push(run);
      const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
      console.error(`round ${round + 1} of ${options.rounds}: ${entry.name}, ${seconds} s`);
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
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const removeDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  // A terminal interrupts the servers as well; without this, gigabytes would stay behind.
  process.once("SIGINT", () => {
    removeDirectory();
    process.exit(130);
  });
  const stores = new Set(entriesOf(options).map(({ store = "sqlite" }) => store));
  try {
    if (options.backlogs !== null) mkdirSync(options.backlogs, { recursive: true });
    const head = await headOf(commandOf(options), directory);
    const postgres = stores.has("postgres") && { postgres: postgresVersion };
    const results: Results = {
      ...head,
      versions: { ...head.versions, ...postgres },
      settings: {
        rounds: options.rounds,
        store: [...stores].join(", "),
        durability: "full",
        client: "bench/load.ts, one process",
      },
      measurements: withComparisons(await measure(options, directory)),
    };
    console.log(renderResults(results));
    const isWhole = options.only === null && options.rounds >= roundsDefault;
    if (options.out !== null || isWhole) {
      console.log(
        `\nwritten to ${writeResults(results, { ending: wholeEnding, path: options.out })}`,
      );
    }
  } finally {
    removeDirectory();
  }
}

/** What makes the same figures again. */
function commandOf({ full, only, rounds }: Options): string {
  const which = [
    ...(full ? ["--full"] : []),
    ...(only === null ? [] : [`--only '${only.source}'`]),
  ];
  return ["bun run bench", ...which, `--rounds ${rounds}`].join(" ");
}

function drawCharts(file: string): void {
  const path = file === "" ? latestResults() : file;
  for (const [name, svg] of Object.entries(chartsOf(readResults(path)))) {
    const target = join(resultsFolder, `${name}.svg`);
    writeFileSync(target, svg);
    console.log(`written to ${target}`);
  }
}

/** A program of its own, because it installs what it measures. */
async function runPeers(): Promise<void> {
  const script = join(import.meta.dir, "peers/peers.ts");
  const rest = process.argv.slice(2).filter((argument) => argument !== "--peers");
  const child = Bun.spawn([process.execPath, script, ...rest], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  process.exitCode = await child.exited;
}

function optionsOrUsage(): Options | null {
  const argv = process.argv.slice(2);
  // What follows is for the peers' own command line.
  if (argv.includes("--peers")) return { ...readOptions([]), peers: true };
  try {
    return readOptions(argv);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
    process.exitCode = 2;
    return null;
  }
}

const options = optionsOrUsage();
if (options?.peers) await runPeers();
else if (options?.list) {
  for (const { name } of entriesOf({ ...options, full: true })) console.log(name);
} else if (options?.charts != null) drawCharts(options.charts);
else if (options != null) await bench(options);
