import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plantedBugs } from "./bugs.ts";
import { huntAll } from "./hunt.ts";

/**
 * One bug of each kind of check: black box, memory against store, and the program itself. All of
 * them are hunted by `bun run proof`.
 */
const huntedCount = 3;

test("there are at least 30 planted bugs, each a change of one place of the sources", () => {
  expect(plantedBugs.length).toBeGreaterThanOrEqual(30);
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
  for (const { file, from, name } of plantedBugs) {
    const source = readFileSync(join(import.meta.dir, "..", "..", file), "utf8");
    expect([name, source.split(from).length - 1]).toEqual([name, 1]);
  }
});

test("the simulation finds a planted bug of each kind", async () => {
  const bugs = plantedBugs.slice(0, huntedCount);
  const caught = await huntAll(bugs, { atOnce: 2, caught: () => undefined });
  expect(caught.length).toBe(bugs.length);
  expect(caught.filter(({ seed }) => seed === null)).toEqual([]);
});
