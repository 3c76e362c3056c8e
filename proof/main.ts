// `bun run proof`: runs the methods of proof, prints their results and writes them to a file beside
// the benchmark results. Exits with 1 on a fault; the last line counts the methods.

import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { headOf, writeResults } from "../bench/report/results.ts";
import { countsText } from "../scripts/counts.ts";
import { methods, type Size, sizes } from "./methods.ts";
import { type Report, reportEnding } from "./report.ts";
import type { ProofResult } from "./result.ts";

const usage = `Usage: bun run proof [--only NAME] [--size quick|short|ci|nightly] [--seed N] [--at-once N] [--json FILE]
Methods: ${methods.map(({ name }) => name).join(", ")}`;

interface Options {
  readonly only: string | null;
  readonly size: Size;
  readonly seed: number;
  /** Methods that run concurrently. */
  readonly atOnce: number;
  readonly json: string | null;
}

/** Throws if the arguments are invalid. */
function readOptions(args: readonly string[]): Options {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { only: text, size: text, seed: text, "at-once": text, json: text },
  });
  const size = sizes.find((one) => one === (values.size ?? "ci"));
  if (size === undefined)
    throw new Error(`size is unknown; expected ${sizes.join(", ")}, got ${values.size}`);
  const seed = Number(values.seed ?? 1);
  if (!Number.isSafeInteger(seed))
    throw new Error(`seed is invalid; expected a whole number, got ${values.seed}`);
  const atOnce = Number(values["at-once"] ?? 1);
  if (!Number.isSafeInteger(atOnce) || atOnce < 1)
    throw new Error(`at-once is invalid; expected a whole number from 1, got ${values["at-once"]}`);
  const only = values.only ?? null;
  if (only !== null && !methods.some(({ name }) => name === only)) {
    throw new Error(`method is unknown; got ${only}`);
  }
  return { only, size, seed, atOnce, json: values.json ?? null };
}

async function runAll({ only, size, seed, atOnce }: Options): Promise<ProofResult[]> {
  const chosen = methods.filter(({ name }) => only === null || only === name);
  const results = new Map<string, ProofResult>();
  const left = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { name, run } = next;
      console.error(`${name} ...`);
      const log = (text: string) => console.error(`  ${name}: ${text}`);
      const result = await run(size, { seed, log }).catch((cause) =>
        failedToRun(name, seed, cause),
      );
      results.set(name, result);
      console.log(table(result));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return chosen.flatMap(({ name }) => results.get(name) ?? []);
}

/** The result of a method that threw. The other methods continue, and end their processes. */
function failedToRun(method: string, seed: number, cause: unknown): ProofResult {
  return {
    method,
    seconds: 0,
    seed,
    figures: {},
    faults: [`it failed to run; ${Bun.inspect(cause)}`],
  };
}

function table({ method, seconds, seed, figures, faults, skipped }: ProofResult): string {
  const verdict =
    skipped !== undefined ? `skipped: ${skipped}` : faults.length === 0 ? "passed" : "FAILED";
  const rows = Object.entries(figures).map(
    ([name, value]) => `  ${name.padEnd(34)} ${value.toLocaleString("en").padStart(14)}`,
  );
  const lines = faults.map((fault) => `  fault: ${fault}`);
  return [`${method}: ${verdict} in ${seconds} s, seed ${seed}`, ...rows, ...lines].join("\n");
}

async function main(options: Options): Promise<void> {
  const start = performance.now();
  const results = await runAll(options);
  const { only, size, seed, atOnce } = options;
  const lanes = atOnce === 1 ? "" : ` --at-once ${atOnce}`;
  const chosen = only === null ? "" : ` --only '${only}'`;
  const command = `bun run proof --size ${size} --seed ${seed}${lanes}${chosen}`;
  const report: Report = {
    ...(await headOf(command, tmpdir())),
    size,
    seconds: Math.round((performance.now() - start) / 1_000),
    results,
  };
  const isWhole = only === null && size !== "quick";
  if (options.json !== null || isWhole) {
    const path = writeResults(report, { ending: reportEnding, path: options.json });
    console.log(`written to ${path}`);
  }
  const failed = results.filter(({ faults }) => faults.length > 0).length;
  const skipped = results.filter((one) => one.skipped !== undefined).length;
  console.log(countsText({ passed: results.length - failed - skipped, failed, skipped }));
  process.exitCode = failed === 0 ? 0 : 1;
}

let options: Options | null = null;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
  process.exitCode = 2;
}
if (options !== null) await main(options);
