// Tests the command as a process: its output, its file and its exit code.

import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

async function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const command = [process.execPath, join(import.meta.dir, "main.ts"), ...args];
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}

test.each([
  [["--only", "nothing"], "method is unknown; got nothing"],
  [["--size", "huge"], "size is unknown; expected quick, short, ci, nightly, got huge"],
  [["--seed", "x"], "seed is invalid; expected a whole number, got x"],
  [["--other"], "--other"],
])("proof %p: the refusal names what was expected", async (args, said) => {
  const { code, err } = await run(args);
  expect(code).toBe(2);
  expect(err).toContain(said);
  expect(err).toContain("Usage: bun run proof");
});

test("proof: the report of one method has its figures, its options and its machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-proof-"));
  const file = join(folder, "proof.json");
  const { code, out } = await run([
    "--only",
    "media",
    "--size",
    "quick",
    "--seed",
    "9",
    "--json",
    file,
  ]);
  expect(out).toContain("1 passed, 0 failed");
  expect(code).toBe(0);
  const report = JSON.parse(readFileSync(file, "utf8"));
  expect(report).toMatchObject({
    format: 1,
    size: "quick",
    command: "bun run proof --size quick --seed 9 --only 'media'",
    machine: { cores: expect.any(Number) },
    versions: { bun: Bun.version },
    results: [{ method: "media", seed: 9, faults: [], figures: { truncations: 100, flips: 100 } }],
  });
  rmSync(folder, { recursive: true, force: true });
});
