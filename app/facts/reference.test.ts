import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reasons as replyReasons } from "../../openapi/reasons.ts";
import { contentFolder } from "../build/content.ts";
import { commands, limits, reasons } from "./reference.ts";

test("reasons: each with its codes", () => {
  expect(reasons).toContainEqual({
    reason: "too_large",
    codes: "413, 453",
    meaning: replyReasons.too_large.meaning,
  });
  expect(reasons.map(({ reason }) => reason)).toEqual(Object.keys(replyReasons));
});

test.each([
  ["produce-body", "5 MB"],
  ["import-body", "64 MB"],
  ["body", "256 kB"],
  ["storage-bytes", "32 MiB"],
  ["queue-name", "512 bytes"],
  ["reference", "2 kB"],
])("limits: %s is written as %s", (id, value) => {
  expect(limits.find((limit) => limit.id === id)?.value).toBe(value);
});

test("commands: the page lists each once, in the order of `--help`", () => {
  const page = readFileSync(join(contentFolder, "docs/command-reference.mdx"), "utf8");
  const told = [...page.matchAll(/^## holdfast (.+)\n\n<Cmd name="(.+)" \/>$/gm)];
  const names = commands.map(({ name }) => name);
  expect(names).toContain("queues create");
  expect(told.map(([, heading, name]) => [heading, name])).toEqual(
    names.map((name) => [name, name]),
  );
});

test("commands: arguments and flags are those of `--help`", () => {
  const lease = commands.find(({ name }) => name === "lease");
  expect(lease?.usage).toBe("holdfast lease [options] <queue>");
  expect(lease?.words.map(({ word }) => word)).toEqual([
    "<queue>",
    "-n, --batch <count>",
    "--wait <duration>",
    "--client-id <name>",
    "-t, --lease-timeout <duration>",
    "--priority-min <number>",
    "--group-runs",
    "--complete",
  ]);
});
