import { expect, test } from "bun:test";
import { countsAtEnd, countsText, countTests, failuresIn } from "./counts.ts";
import { root } from "./setup.ts";

const failing = `bun test v1.4.5
(pass) a
 --seed=5
 3 pass
 1 skip
 1 todo
 2 fail
 1 error
 1 expect() calls
Ran 7 tests across 2 files. [9.00ms]
`;
const passing = `
 48 pass
 0 fail
 89 expect() calls
Ran 48 tests across 2 files. [75.00ms]
`;

test.each([
  ["a failing run", failing, 1, { passed: 3, failed: 2, skipped: 2 }],
  ["a passing run", passing, 0, { passed: 48, failed: 0, skipped: 0 }],
  [
    "one test",
    " 1 pass\n 0 fail\nRan 1 test across 1 file. [1.00ms]",
    0,
    { passed: 1, failed: 0, skipped: 0 },
  ],
  ["no summary", "a.test.ts:\n", 0, { passed: 0, failed: 1, skipped: 0 }],
  ["a crash after tests passed", "(pass) a\n(pass) b\n", 139, { passed: 0, failed: 1, skipped: 0 }],
  ["a failure outside tests", passing, 1, { passed: 48, failed: 1, skipped: 0 }],
  [
    "no test",
    " 0 pass\n 0 fail\nRan 0 tests across 0 files. [1.00ms]",
    0,
    { passed: 0, failed: 1, skipped: 0 },
  ],
  ["lost tests", passing.replace("Ran 48", "Ran 49"), 0, { passed: 48, failed: 1, skipped: 0 }],
  ["a summary printed by a test", `${failing}${passing}`, 0, { passed: 48, failed: 0, skipped: 0 }],
])("countTests: %s", (_, output, exitCode, counts) => {
  expect(countTests({ output, exitCode })).toEqual(counts);
});

test("countTests: understands what this version of bun test prints", async () => {
  const run = Bun.spawn([process.execPath, "test", "./scripts/setup.test.ts"], {
    cwd: `${import.meta.dir}/..`,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const output = await new Response(run.stderr).text();
  const { passed, failed } = countTests({ output, exitCode: await run.exited });
  expect(passed).toBeGreaterThan(0);
  expect(failed).toBe(0);
});

test.each([
  [{ passed: 1, failed: 0, skipped: 0 }, "1 passed, 0 failed"],
  [{ passed: 2_000, failed: 3, skipped: 4 }, "2000 passed, 3 failed, 4 skipped"],
])("countsText and back: %j is %s", (counts, text) => {
  expect(countsText(counts)).toBe(text);
  const exitCode = counts.failed === 0 ? 0 : 1;
  expect(countsAtEnd({ output: `9 passed, 9 failed\n${text}\n`, exitCode })).toEqual(counts);
});

test.each([
  ["nothing", "", 0, { passed: 0, failed: 1, skipped: 0 }],
  [
    "something after the counts",
    "3 passed, 0 failed\nmore\n",
    0,
    { passed: 0, failed: 1, skipped: 0 },
  ],
  [
    "a code that no failure explains",
    "3 passed, 0 failed\n",
    1,
    { passed: 3, failed: 1, skipped: 0 },
  ],
  ["failures that no code tells", "3 passed, 1 failed\n", 0, { passed: 3, failed: 2, skipped: 0 }],
])("countsAtEnd: %s is a failure", (_, output, exitCode, counts) => {
  expect(countsAtEnd({ output, exitCode })).toEqual(counts);
});

test("failed tests are named with their file, the first line of their error, and where it came from", () => {
  const output = `engine/a.test.ts:
(pass) one
12 | expect(1).toBe(2)
error: expect(received).toBe(expected)
Expected: 2
      at isOf (${root}/node_modules/some/thing.js:3:1)
      at <anonymous> (${root}/engine/testing/some.ts:12:34)
      at ${root}/engine/a.test.ts:8:19
(fail) two > three [1.20ms]
(fail) four [0.10ms]

server/b.test.ts:
TypeError: undefined is not an object
(fail) (unnamed) [0.20ms]
 1 pass
`;
  expect(failuresIn(output)).toEqual([
    "engine/a.test.ts: two > three [1.20ms] error: expect(received).toBe(expected) at engine/testing/some.ts:12",
    "engine/a.test.ts: four [0.10ms]",
    "server/b.test.ts: (unnamed) [0.20ms] TypeError: undefined is not an object",
  ]);
});
