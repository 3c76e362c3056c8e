import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantedBugs } from "./bugs.ts";
import { huntAll, plant } from "./hunt.ts";

const root = join(import.meta.dir, "..", "..", "..");

/**
 * One bug of each kind of check: black box, memory against store, and the program itself. All of
 * them are hunted by `bun run proof`.
 */
const hunted = [
  "answers are sent before the commit",
  "answers are sent before the sync",
  "a turn is committed before the previous one is synced",
];

test("there are at least 30 planted bugs, each in a file of its name", () => {
  expect(plantedBugs.length).toBeGreaterThanOrEqual(30);
  const fileOf = (name: string) => `${name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}.patch`;
  for (const { name, patch } of plantedBugs) expect(patch).toEndWith(`/${fileOf(name)}`);
});

test.each(plantedBugs)("planted bug: $name: its patch applies cleanly to the tree", (bug) => {
  const check = Bun.spawnSync(["git", "apply", "--check", bug.patch], { cwd: root });
  expect(check.stderr.toString()).toBe("");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-planted-"));
  try {
    const changed = readFileSync(plant(bug, folder), "utf8");
    expect(changed).not.toBe(readFileSync(join(root, bug.file), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the simulation finds a planted bug of each kind", async () => {
  const bugs = plantedBugs.filter(({ name }) => hunted.includes(name));
  const results = await huntAll(bugs, { atOnce: 2, hunted: () => undefined });
  expect(results.length).toBe(hunted.length);
  expect(results.filter(({ seed }) => seed === null)).toEqual([]);
});
