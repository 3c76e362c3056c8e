import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { chartFile } from "../../scripts/readme.ts";
import { allCells, canonicalCells } from "../cells/cells.ts";
import { latestResults, type Results, readResults, summarize } from "./results.ts";
import { renderResults } from "./tables.ts";
import { compact, throughputChart } from "./throughput-chart.ts";

/** Results whose figures are derived from the size of the cell. */
function sampleResults(): Results {
  return {
    format: 1,
    madeAt: "2026-01-02T03:04:05.000Z",
    commit: "abc1234",
    command: "bun run bench",
    machine: { cpu: "A <fast> one", cores: 2, memoryBytes: 1, kernel: "6", fileSystem: "ext4" },
    versions: {},
    settings: { rounds: 3, durability: "full" },
    measurements: canonicalCells.map((cell) => ({
      name: cell.name,
      cell,
      figures: summarize(
        [0.9, 1, 1.2].map((noise) => ({
          "produce.itemsPerSecond": 30_000 * cell.itemsPerCall ** 0.5 * noise,
          "consume.itemsPerSecond": 15_000 * cell.itemsPerCall ** 0.5 * noise,
          "E.produce.itemsPerSecond": 60_000 * cell.itemsPerCall ** 0.5 * noise,
          "S.produce.itemsPerSecond": 90_000 * cell.itemsPerCall ** 0.5 * noise,
        })),
      ),
    })),
  };
}

test("throughputChart: names every line with its last value, and every place on the axis", () => {
  const chart = throughputChart(sampleResults());
  for (const label of ["HTTP alone 1.9M", "SQLite alone 2.85M", "produce 949k", ">1,000<"]) {
    expect(chart).toContain(label);
  }
});

test("throughputChart: is well-formed, whatever the machine is called", () => {
  const chart = throughputChart(sampleResults());
  expect(chart).toContain("A &lt;fast&gt; one");
  const open: string[] = [];
  for (const [, close, name = "", self] of chart.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
    if (self === "/") continue;
    if (close === "/") expect(open.pop()).toBe(name);
    else open.push(name);
  }
  expect(open).toEqual([]);
});

test("throughputChart: draws nothing outside of its frame and no number that is none", () => {
  const chart = throughputChart(sampleResults());
  expect(chart).not.toMatch(/NaN|Infinity|undefined/);
  for (const [, y] of chart.matchAll(/\by[12]?="([-\d.]+)"/g)) {
    expect(Number(y)).toBeGreaterThanOrEqual(0);
    expect(Number(y)).toBeLessThanOrEqual(440);
  }
});

test("throughput.svg: is the chart of the latest results; bun run readme draws it", () => {
  const drawn = readFileSync(chartFile, "utf8");
  expect(drawn).toBe(throughputChart(readResults(latestResults())));
});

test("throughputChart: results without cells are refused", () => {
  const results = { ...sampleResults(), measurements: [] };
  expect(() => throughputChart(results)).toThrow("no cells without a backlog");
});

test.each([
  [0.1234, "0.123"],
  [9.5, "9.5"],
  [950, "950"],
  [30_400, "30.4k"],
  [1_000_000, "1M"],
])("compact: %p is %p", (value, text) => {
  expect(compact(value)).toBe(text);
});

test("renderResults: shows medians with their spread, and a dash for what was not measured", () => {
  const text = renderResults(sampleResults());
  expect(text).toContain("30,000 (27,000–36,000)");
  expect(text).toContain("–");
  expect(text).not.toMatch(/NaN|undefined/);
});

test("cells: names are different, and items are whole calls", () => {
  expect(new Set(allCells.map(({ name }) => name)).size).toBe(allCells.length);
  for (const { items, itemsPerCall } of allCells) expect(items % itemsPerCall).toBe(0);
});
