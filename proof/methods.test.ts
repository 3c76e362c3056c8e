// Methods that crash and restart a server report missing tools, and detect faults. `bun run proof`
// runs them against the server.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryFolder } from "../testing/memory-folder.ts";
import { Faults } from "./result.ts";
import { Expected } from "./storage/expected.ts";
import { effectOf, makeBase } from "./storage/media.ts";
import { readStores } from "./storage/store-contents.ts";

const folder = mkdtempSync(join(memoryFolder(), "holdfast-proof-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Methods that need strace; skipped without it. */
const traced = ["power cuts", "system calls"];

test.each(traced)("%s: without strace it is skipped with that reason", (name) => {
  const main = join(import.meta.dir, "main.ts");
  const file = join(folder, "skipped.json");
  const args = ["--only", name, "--size", "quick", "--json", file];
  const env = { ...process.env, PATH: pathWithout("strace") };
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, main, ...args], { env });
  expect(stdout.toString()).toContain("skipped: strace is not installed");
  expect(stdout.toString()).toContain("0 passed, 0 failed, 1 skipped");
  expect(exitCode).toBe(0);
});

/** A PATH with the programs that a report needs, except one. */
function pathWithout(missing: string): string {
  const programs = mkdtempSync(join(folder, "programs-"));
  for (const name of ["git", "df"].filter((one) => one !== missing)) {
    const found = Bun.which(name);
    if (found !== null) symlinkSync(found, join(programs, name));
  }
  return programs;
}

test("media: a truncated log is accepted by SQLite, and refused by the watermark", async () => {
  const base = await makeBase(join(folder, "base"), 1);
  const log = base.files.get("shard-0.db-wal") ?? new Uint8Array();
  const damage = { kind: "truncate log", size: 100_000 } as const;
  expect(log.length).toBeGreaterThan(2 * damage.size);
  const effect = (files: ReadonlyMap<string, Uint8Array>, faults: Faults) =>
    effectOf({ base: { ...base, files }, damage, directory: join(folder, "trial"), faults });
  expect(await effect(base.files, new Faults())).toBe("refused");
  // Without the mark the damage is undetectable, and the method must report that.
  const unmarked = new Map([...base.files].filter(([name]) => !name.endsWith("-mark")));
  const faults = new Faults();
  expect(await effect(unmarked, faults)).toBe("silent");
  expect(faults.total).toBeGreaterThan(0);
});

test("stores: acknowledged items are found, and an unwritten item is reported as missing", async () => {
  const base = await makeBase(join(folder, "base"), 2);
  const directory = join(folder, "found");
  mkdirSync(directory);
  for (const [name, bytes] of base.files) writeFileSync(join(directory, name), bytes);
  const contents = await readStores({ directory, shards: 1, durability: "full" });
  expect(base.expected.check(contents).list("replay")).toEqual([]);
  expect(base.expected.there).toBeGreaterThan(50);
  const planted = new Expected();
  planted.take({ kind: "called", call: 1, verb: "produce", numbers: [999_999_999] });
  planted.take({ kind: "done", call: 1 });
  expect(planted.check({ ...contents, places: new Map() }).list("replay")).toEqual([
    "I1: an acknowledged item is lost; item 999999999; replay",
  ]);
});
