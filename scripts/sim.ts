// `bun run sim`: runs simulated worlds, one per seed. At the first broken promise it prints how to
// replay it and exits with 1.

import { parseArgs } from "node:util";
import { simulate } from "../engine/simulation/simulate.ts";
import {
  nodeSituationNames,
  type Situation,
  Situations,
  situationNames,
} from "../engine/simulation/situations.ts";
import { nodesScenario } from "../server/nodes/simulation/scenario.ts";

const usage =
  "Usage: bun run sim [--seed N] [--seeds N] [--seconds N] [--steps N] [--store memory|sqlite|nodes|going-back] [--forever] [--trace] [--json]";

function wordsOf(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        seed: { type: "string", default: "1" },
        seeds: { type: "string" },
        seconds: { type: "string" },
        steps: { type: "string", default: "300" },
        store: { type: "string", default: "memory" },
        forever: { type: "boolean", default: false },
        trace: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    }).values;
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n${usage}`);
    process.exit(2);
  }
}

const values = wordsOf(process.argv.slice(2));

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} is invalid; expected a whole number, got '${text}'`);
  process.exit(2);
}

if (!["memory", "sqlite", "nodes", "going-back"].includes(values.store)) {
  const expected = "expected memory, sqlite, nodes or going-back";
  console.error(`--store is invalid; ${expected}, got '${values.store}'`);
  process.exit(2);
}
const isOfNodes = values.store === "nodes";
const firstSeed = whole("seed", values.seed);
// A given seed is replayed once; without a seed, many worlds are run.
const seconds = values.seconds === undefined ? null : whole("seconds", values.seconds);
const seeds =
  values.forever || seconds !== null
    ? Number.MAX_SAFE_INTEGER
    : whole("seeds", values.seeds ?? (process.argv.includes("--seed") ? "1" : "1000"));
const namesOf: Readonly<Record<string, readonly Situation[]>> = {
  nodes: nodeSituationNames,
  "going-back": [],
};
const situations = new Situations(namesOf[values.store] ?? situationNames);
const begin = performance.now();
let lastSaid = begin;
const { worlds, sums, found } = await simulate({
  firstSeed,
  seeds,
  steps: whole("steps", values.steps),
  store: values.store === "sqlite" || values.store === "going-back" ? values.store : "memory",
  situations,
  ...(isOfNodes ? { scenario: nodesScenario } : {}),
  ...(values.trace ? { trace: (line: string) => console.log(line) } : {}),
  went: (seed) => {
    const now = performance.now();
    if (!values.json && now - lastSaid > 5_000) {
      lastSaid = now;
      console.log(
        `seed ${seed}, ${(((seed - firstSeed + 1) * 1_000) / (now - begin)).toFixed(0)}/s`,
      );
    }
    return seconds === null || now - begin < seconds * 1_000;
  },
});
const elapsed = (performance.now() - begin) / 1_000;
if (values.json) {
  console.log(JSON.stringify({ worlds, seconds: elapsed, sums, situations, found }));
} else {
  const { missing } = situations;
  console.log(
    `${worlds} worlds from seed ${firstSeed} in ${elapsed.toFixed(1)} s: ${JSON.stringify(sums)}; situations not reached: ${missing.join("; ") || "none"}`,
  );
  if (found !== null) {
    console.error(found.message);
    console.error(
      `again: bun run sim --seed ${found.seed} --steps ${values.steps} --store ${values.store}`,
    );
  }
}
process.exit(found === null ? 0 : 1);
