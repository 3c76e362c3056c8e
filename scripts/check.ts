// `bun run check`: every check there is, one after the other; a failed one does
// not keep the others from running. The last line counts the tests, a failed
// step being one of the failed. `--quick` leaves out the long tests and the proof.

import { join } from "node:path";
import { root, setUp } from "./setup.ts";
import { countTests, type TestCounts } from "./test-counts.ts";
import { installTools } from "./tools.ts";

const quickFlag = "--quick";
/** A run that takes longer hangs. */
const testsTimeoutMs = 60 * 60_000;
const proofTimeoutMs = 60 * 60_000;
/** Some of the methods mostly wait, so more of them than there are cores go side by side. */
const proofAtOnce = 3;
const testTimeoutMs = 120_000;
const leftoverTimeoutMs = 2_000;

const unknown = process.argv.slice(2).filter((argument) => argument !== quickFlag);
if (unknown.length > 0) {
  console.error(`unknown argument; expected ${quickFlag}, got ${JSON.stringify(unknown[0])}`);
  process.exit(2);
}
const quick = process.argv.includes(quickFlag);

setUp();
if (!quick) {
  installTools();
}

// Each tool is run by this Bun from its own folder: the launchers ask for Node.
const steps = [
  { name: "biome", args: ["@biomejs/biome/bin/biome", "ci"] },
  { name: "tsc", args: ["typescript/bin/tsc", "--noEmit", "-p", "."] },
  { name: "knip", args: ["knip/bin/knip.js"] },
];

let failedSteps = 0;
for (const { name, args } of steps) {
  const [tool = "", ...rest] = args;
  const passed = await timed(name, async () => {
    const command = [process.execPath, join(root, "node_modules", tool), ...rest];
    const child = Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    return (await child.exited) === 0;
  });
  failedSteps += passed ? 0 : 1;
}

let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
await timed("bun test", async () => {
  counts = await runTests();
  return counts.failed === 0;
});

if (!quick) {
  const passed = await timed("proof", runProof);
  failedSteps += passed ? 0 : 1;
}

const failed = counts.failed + failedSteps;
const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
console.log(`${counts.passed} passed, ${failed} failed${skipped}`);
process.exit(failed === 0 ? 0 : 1);

async function runTests(): Promise<TestCounts> {
  // The order is new each time; the summary names the seed that brings it back.
  // Of one test; a slow machine may take its time, only one that hangs is ended.
  const timeout = ["--timeout", String(testTimeoutMs)];
  const command = [process.execPath, "test", "--randomize", "--only-failures", ...timeout];
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, ...(quick ? { HOLDFAST_QUICK: "1" } : {}) },
    stdio: ["ignore", "inherit", "pipe"],
    timeout: testsTimeoutMs,
    killSignal: "SIGKILL",
  });
  const decoder = new TextDecoder();
  let output = "";
  const read = async () => {
    for await (const chunk of child.stderr) {
      process.stderr.write(chunk);
      output += decoder.decode(chunk, { stream: true });
    }
  };
  // A process that a test left behind may hold the pipe open for ever.
  await Promise.race([read(), child.exited.then(() => Bun.sleep(leftoverTimeoutMs))]);
  return countTests({ output, exitCode: await child.exited });
}

/** All methods, at the sizes that ten minutes allow. */
async function runProof(): Promise<boolean> {
  const sizes = ["--size", "short", "--at-once", String(proofAtOnce)];
  const report = ["--json", join(root, "build", "proof.json")];
  const child = Bun.spawn([process.execPath, "proof/main.ts", ...sizes, ...report], {
    cwd: root,
    stdio: ["ignore", "inherit", "ignore"],
    timeout: proofTimeoutMs,
    killSignal: "SIGKILL",
  });
  return (await child.exited) === 0;
}

async function timed(name: string, run: () => Promise<boolean>): Promise<boolean> {
  console.log(`${name} ...`);
  const started = performance.now();
  const passed = await run();
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${name}: ${passed ? "passed" : "FAILED"} in ${seconds} s`);
  return passed;
}
