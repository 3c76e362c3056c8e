import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endingOf, resultsFolder, resultsText } from "./results.ts";

const files = readdirSync(resultsFolder).filter((file) => file.endsWith(".json"));

test("resultsText: a line for each member, and for each entry of a list", () => {
  const results = {
    format: 1,
    machine: { cores: 2 },
    gone: undefined,
    none: [],
    rows: [[1, 2], {}],
  };
  const text = '{\n"format":1,\n"machine":{"cores":2},\n"none":[],\n"rows":[\n[1,2],\n{}\n]\n}\n';
  expect(resultsText(results)).toBe(text);
});

test.each([
  ["2026-11-22-b0b53d9.json", ".json"],
  ["2026-11-22-b0b53d9-changed.json", ".json"],
  ["2026-11-22-b0b53d9-changed-peers.json", "-peers.json"],
  ["notes.md", null],
  ["peers.json", null],
])("endingOf: %s is %p", (file, ending) => {
  expect(endingOf(file)).toBe(ending);
});

test("checked-in results: only the latest of each kind, formatted as written", () => {
  const endings = files.map(endingOf);
  expect(endings).not.toContain(null);
  expect(endings.toSorted()).toEqual([...new Set(endings)].toSorted());
  for (const file of files) {
    const text = readFileSync(join(resultsFolder, file), "utf8");
    expect([file, resultsText(JSON.parse(text)) === text]).toEqual([file, true]);
  }
});
