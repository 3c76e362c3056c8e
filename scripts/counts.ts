// Parses the counts from the output of `bun test`, and formats the last line of a check or a proof.

import { root } from "./setup.ts";

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** `3 passed, 0 failed`, followed by the skipped count if it is not 0. */
export function countsText({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/**
 * The counts in the last line of a run. A run without that line, or with an exit code that the
 * counts do not explain, adds one failure.
 */
export function countsAtEnd(run: {
  readonly output: string;
  readonly exitCode: number;
}): TestCounts {
  const last = run.output.trimEnd().split("\n").at(-1) ?? "";
  const found = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(last);
  const [passed = 0, failed = 0, skipped = 0] = (found ?? [])
    .slice(1)
    .map((text) => Number(text ?? 0));
  const sound = found !== null && (run.exitCode === 0) === (failed === 0);
  return { passed, failed: sound ? failed : failed + 1, skipped };
}

/**
 * The counts of a `bun test` run. The run failed if its summary is missing (a test that ends the
 * process with exit code 0 removes it), if it counts fewer tests than were run, or if no test was
 * run.
 */
export function countTests(run: {
  readonly output: string;
  readonly exitCode: number;
}): TestCounts {
  const summary = /^Ran (\d+) tests? across \d+ files?\./m;
  const lines = run.output.split("\n");
  const end = lines.findLastIndex((line) => summary.test(line));
  const ran = Number(summary.exec(lines[end] ?? "")?.[1] ?? 0);
  // Only the lines just above the last one: a test may print a summary of its own.
  const above = lines.slice(0, Math.max(0, end));
  const counts = above.slice(above.findLastIndex((line) => !/^ (--seed=)?\d+/.test(line)) + 1);
  const count = (word: string): number => {
    const found = counts.find((line) => new RegExp(`^ \\d+ ${word}$`).test(line));
    return Number.parseInt(found ?? "0", 10);
  };
  const passed = count("pass");
  const failed = count("fail");
  const skipped = count("skip") + count("todo");
  const sound = ran > 0 && passed + failed + skipped === ran && (run.exitCode === 0 || failed > 0);
  return { passed, failed: sound ? failed : failed + 1, skipped };
}

/**
 * The failed tests of a `bun test` run, one line each with the file, the error's first line and its
 * position in this repository: a long run is often read from its end.
 */
export function failuresIn(output: string): string[] {
  const failures: string[] = [];
  let file = "";
  let error = "";
  let from = "";
  for (const line of output.split("\n")) {
    if (/^\S+\.test\.tsx?:$/.test(line)) [file, error, from] = [line, "", ""];
    if (/^\w*error: /i.test(line) && error === "") error = line;
    if (error !== "" && from === "") from = placeIn(line);
    if (!line.startsWith("(fail) ")) continue;
    failures.push(`${file} ${line.slice("(fail) ".length)} ${error}${from}`.trimEnd());
    [error, from] = ["", ""];
  }
  return [...new Set(failures)];
}

/** The position in a line of a stack trace. */
function placeIn(line: string): string {
  const [, path = ""] = /^ +at .*?\(?(\/[^\s()]+:\d+):\d+\)?$/.exec(line) ?? [];
  const isOurs = path.startsWith(`${root}/`) && !path.includes("/node_modules/");
  return isOurs ? ` at ${path.slice(root.length + 1)}` : "";
}
