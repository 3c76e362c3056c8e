// What CI runs: the check with the long tests, then every method of the proof at its short size.
// Each step ends with its counts, and the last line is their sum.

import { join } from "node:path";
import { countsAtEnd, countsText } from "./counts.ts";
import { passOn } from "./output.ts";
import { root } from "./setup.ts";

/** Some methods mostly wait, so more of them than cores run concurrently. */
const proofAtOnce = 4;
/** A longer run is considered hung. */
const timeoutMs = 60 * 60_000;

const runs = [
  ["scripts/check.ts", "--all"],
  [
    ...["proof/main.ts", "--size", "short", "--at-once", String(proofAtOnce)],
    // The same worlds each time, so that only the change differs. The check runs new ones.
    ...["--seed", "1", "--json", join(root, "build/proof.json")],
  ],
];

const failures: string[] = [];
const sums = { passed: 0, failed: 0, skipped: 0 };
for (const command of runs) {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const output = await passOn(child.stdout, process.stdout, child.exited);
  const { passed, failed, skipped } = countsAtEnd({ output, exitCode: await child.exited });
  sums.passed += passed;
  sums.failed += failed;
  sums.skipped += skipped;
  failures.push(...output.split("\n").filter((line) => line.startsWith("failed: ")));
}
for (const failure of failures) console.log(failure);
console.log(countsText(sums));
process.exit(sums.failed === 0 ? 0 : 1);
