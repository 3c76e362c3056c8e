import { expect, test } from "bun:test";
import { contentFolder } from "./content.ts";
import noted from "./last-changes.json" with { type: "json" };
import { lastChanges } from "./last-changes.ts";
import { listFiles } from "./site-folder.ts";

const pages = listFiles(contentFolder)
  .filter((file) => file.endsWith(".mdx"))
  .map((file) => `content/${file}`);

test("every page has a recorded date, for builds without git; `bun run site:dates` writes them", () => {
  expect(Object.keys(noted).sort()).toEqual([...pages].sort());
});

test("every page has a date", () => {
  for (const page of pages) expect(lastChanges().get(page)).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});
