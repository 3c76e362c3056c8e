// Checks the list of faults on the site: each can be reproduced, and has an existing test.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import failedOnce from "../engine/simulation/seeds.json" with { type: "json" };
import faults from "./faults.json" with { type: "json" };
import { methods } from "./methods.ts";

const root = join(import.meta.dir, "..");
const names = methods.map(({ name }) => name);

test.each(faults)("fault: $what", (fault) => {
  expect(Object.keys(fault).toSorted()).toEqual(["by", "effect", "shownBy", "test", "what"]);
  for (const text of [fault.what, fault.effect]) expect(text).toMatch(/^[A-Z].{20,140}\.$/);
  expect(names).toContain(fault.by);
  expect(fault.shownBy).toMatch(/seed \d+|\\r\\n|^UPDATE /);
  const file = join(root, fault.test.file);
  expect([fault.test.file, existsSync(file)]).toEqual([fault.test.file, true]);
  expect(readFileSync(file, "utf8")).toContain(fault.test.name);
});

test("faults: no duplicates, and every failed seed is listed", () => {
  expect(new Set(faults.map(({ what }) => what)).size).toBe(faults.length);
  const commands = faults.map(({ shownBy }) => shownBy);
  for (const { seed, steps, store, whose } of failedOnce) {
    if (whose !== "engine") continue;
    const flag = store === "memory" ? "" : ` --store ${store}`;
    expect(commands).toContain(`bun run sim --seed ${seed} --steps ${steps}${flag}`);
  }
});
