// `bun run check`: the checks that a change must pass, in minutes. It builds the site and runs the
// tests, then simulated worlds from new seeds. Formatter, linter, types and dead code run beside
// the build. `--all` adds the long tests. After a failed step the others still run. The last lines
// name the failures and count the tests; a failed step counts as failed.

import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { countsText, countTests, failuresIn, type TestCounts } from "./counts.ts";
import { passOn } from "./output.ts";
import { root, setUp } from "./setup.ts";
import { installTools } from "./tools.ts";

/** A longer run is considered hung. */
const testsTimeoutMs = 30 * 60_000;
/** All kinds run at once, so this is a minute of processor time. */
const simulationSeconds = 20;
const seedMax = 2 ** 40;

/** Concurrent test files; most of them wait for processes, pages and clocks. */
const filesAtOnce = 2 * availableParallelism();

/** Tests with Chromium, killed processes and further databases, which take minutes. */
const longTests = "**/*.long.test.ts";
/** The duration of each test file. */
const timings = "scripts/test-timings.json";

const args = process.argv.slice(2);
const unknown = args.find((argument) => argument !== "--all");
if (unknown !== undefined) {
  console.error(`unexpected argument; expected --all or none, got ${JSON.stringify(unknown)}`);
  process.exit(2);
}
const isAll = args.length > 0;

setUp("check");
installTools();

const failedSteps: string[] = [];
let failedTests: readonly string[] = [];
const looks = lookAtSources();
// The site is built before the tests, because several of them would build it at once.
await step("site", async () => {
  if (isAll) return await runBun("scripts/image-build.ts");
  await ensureBuilt();
  return true;
});

let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
await timed("tests", async () => {
  counts = await runTests();
  return counts.failed === 0;
});
await looks;

await Promise.all(
  ["memory", "sqlite", "nodes"].map((store) => {
    const seed = String(randomInt(1, seedMax));
    return step(`simulation, ${store}, from seed ${seed}`, () =>
      runBun(
        "scripts/sim.ts",
        ...["--seed", seed, "--seconds", String(simulationSeconds), "--store", store],
      ),
    );
  }),
);

const failed = counts.failed + failedSteps.length;
for (const fault of [...failedSteps, ...failedTests]) console.log(`failed: ${fault}`);
console.log(countsText({ ...counts, failed }));
process.exit(failed === 0 ? 0 : 1);

/** Sequential: the tests wait for the site, and for none of these steps. */
async function lookAtSources(): Promise<void> {
  // This Bun runs each tool from its own folder: the launchers need Node.
  const tools = {
    biome: ["node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off"],
    tsc: ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."],
    knip: ["node_modules/knip/bin/knip.js"],
  };
  for (const [name, [file = "", ...words]] of Object.entries(tools)) {
    await step(name, () => runBun(file, ...words));
  }
}

/** Prints the output of concurrent steps once each has ended. */
async function runBun(file: string, ...args: readonly string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, join(root, file), ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const passed = (await child.exited) === 0;
  process.stdout.write(said.join(""));
  return passed;
}

async function runTests(): Promise<TestCounts> {
  const child = Bun.spawn(
    [
      ...[process.execPath, "test", `--parallel=${filesAtOnce}`, "--only-failures"],
      // The long files start first, so that none runs alone at the end. Otherwise the order is new
      // each time, and the summary prints the seed that repeats it.
      ...(isAll
        ? [`--timings=${timings}`]
        : ["--randomize", `--path-ignore-patterns=${longTests}`]),
    ],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "pipe"],
      timeout: testsTimeoutMs,
      killSignal: "SIGKILL",
    },
  );
  const output = await passOn(child.stderr, process.stderr, child.exited);
  failedTests = failuresIn(output);
  return countTests({ output, exitCode: await child.exited });
}

async function step(name: string, run: () => Promise<boolean>): Promise<void> {
  const passed = await timed(name, run);
  if (!passed) failedSteps.push(name);
}

async function timed(name: string, run: () => Promise<boolean>): Promise<boolean> {
  console.log(`${name} ...`);
  const started = performance.now();
  const passed = await run().catch((cause: unknown) => {
    console.error(cause);
    return false;
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${name}: ${passed ? "passed" : "FAILED"} in ${seconds} s`);
  return passed;
}
