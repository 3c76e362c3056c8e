import { expect, test } from "bun:test";
import type { PeerRow } from "../../bench/peers/peers.ts";
import { type Results, readResults, resultsFolder } from "../../bench/results.ts";
import { reportEnding } from "../../proof/report.ts";
import { benchData, type ResultsFile } from "./bench-data.ts";
import { compact, namesIn } from "./compact.ts";
import { count, number, written } from "./figures.ts";
import { type Goal, goals, judge } from "./goals.ts";
import { chartOf } from "./groups.ts";
import { highestOf, placesOf } from "./scale.ts";

const once = (value: number) => ({ median: value, min: value, max: value, values: [value] });

function results(madeAt: string, figures: Record<string, number>): Results {
  return {
    format: 1,
    madeAt,
    commit: madeAt,
    command: "bun run bench",
    machine: { cpu: "", cores: 2, memoryBytes: 0, kernel: "", fileSystem: "ext4" },
    versions: {},
    settings: { rounds: 5, durability: "full" },
    measurements: Object.entries(figures).map(([name, value]) => ({
      name,
      figures: { rateMs: once(value) },
    })),
  };
}

function peer(name: string, total: number, durabilityClass: PeerRow["durabilityClass"]): PeerRow {
  return {
    peer: name,
    itemsPerCall: 100,
    connections: 1,
    items: [],
    produce: once(total),
    consume: once(total),
    total: once(total),
    durabilityClass,
    settings: "",
    caveat: "",
    version: "",
    partlyCount: 0,
  };
}

const peersFile: ResultsFile = {
  madeAt: "2026-04-01T00:00:00.000Z",
  commit: "abc",
  command: "bun run bench --peers",
  machine: { processor: "", cores: 2, bun: "", syncsPerSecond: 1 },
  rounds: 1,
  failures: [],
  rows: [
    peer("Holdfast", 100, "D2"),
    peer("Redis Streams", 50, "D2"),
    peer("RabbitMQ", 900, "D2 produce"),
  ],
};

test("find: the newest file that has the figure", () => {
  const data = benchData({
    old: results("2026-01", { a: 1, b: 1 }),
    late: results("2026-03", { a: 3 }),
    middle: results("2026-02", { a: 2, b: 2 }),
  });
  expect(data.find("a: rateMs")?.range.median).toBe(3);
  expect(data.find("b: rateMs")?.commit).toBe("2026-02");
  expect(data.find("c: rateMs")).toBe(null);
});

test("require: a figure that no file has is an error that names it", () => {
  expect(() => benchData({}).require("a: rateMs")).toThrow(
    "no file in bench/results has 'a: rateMs'; expected '<measurement>: <figure>' of one of them",
  );
});

test("a measured number has three digits, a count has all of its own", () => {
  expect([number(1_024), count(1_024)]).toEqual(["1,020", "1,024"]);
});

test.each([
  ["produce.itemsPerSecond", 269_514, "270,000", "items/s"],
  ["produce.overS", 0.557, "0.56", "×"],
  ["wake.p99Ms", 6.0656, "6.1", "ms"],
  ["memoryBytes", 75_698_200, "75.7", "MB"],
  ["produce.clientCpuShare", 0.281, "28.1", "%"],
  ["syncsPerSecond", 5_012.66, "5,010", "syncs/s"],
])("written: %s of %d is %s %s", (name, value, text, unit) => {
  expect(written(name, value)).toEqual({ number: text, unit });
});

test("written: a figure without a known unit is an error", () => {
  expect(() => written("colour", 1)).toThrow("the unit of 'colour' is not known");
});

test("number: three digits at most", () => {
  expect([0.1234, 3.18, 17_449.7].map(number)).toEqual(["0.12", "3.2", "17,400"]);
});

test("placesOf: per cent of the highest, from zero", () => {
  const range = { median: 50, min: 25, max: 100 };
  expect(placesOf(range, highestOf([range, { median: 1, min: 1, max: 200 }]))).toEqual({
    median: 25,
    min: 12.5,
    max: 50,
  });
  expect(placesOf(range, 0)).toEqual({ median: 0, min: 0, max: 0 });
});

const goal: Goal = {
  what: "",
  goal: "",
  bound: { atMost: 3 },
  of: "a: rateMs",
  scale: 0.001,
  unit: "s",
};

test.each([
  [3_000, "met"],
  [3_001, "missed"],
] as const)("judge: %d ms of at most 3 s is %s", (value, verdict) => {
  const data = benchData({ one: results("2026-01", { a: value }) });
  expect(judge(goal, data).verdict).toBe(verdict);
});

test("judge: what no file speaks of is open", () => {
  expect(judge(goal, benchData({}))).toMatchObject({ verdict: "open", range: null });
});

test("judge: a peer of another durability class is not compared with", () => {
  const data = benchData({ peers: peersFile });
  const against = { ...goal, bound: { atLeast: 2 }, scale: 1 };
  const all = judge({ ...against, of: { peers: /./, itemsPerCall: 100 } }, data);
  expect(all).toMatchObject({ verdict: "met", range: { median: 2 } });
  const other = judge({ ...against, of: { peers: /^RabbitMQ/, itemsPerCall: 100 } }, data);
  expect(other.verdict).toBe("open");
});

test("chartOf: peers of one durability class, the fastest first; none without a file", () => {
  const chart = chartOf(benchData({ peers: peersFile }), "peers");
  expect(chart?.panels.map(({ bars }) => bars.map(({ name }) => name))).toEqual([
    ["Holdfast", "Redis Streams"],
  ]);
  expect(chartOf(benchData({}), "peers")).toBe(null);
});

test("the results that are checked in: every chart has its panels, and goals name what exists", async () => {
  const files = [...new Bun.Glob("*.json").scanSync({ cwd: resultsFolder })]
    .filter((file) => !file.endsWith(reportEnding))
    .sort();
  const data = benchData(
    Object.fromEntries(files.map((file) => [file, readResults(`${resultsFolder}/${file}`)])),
  );
  for (const group of ["produce", "consume", "all", "backlog"] as const) {
    expect(chartOf(data, group)?.panels.length).toBeGreaterThan(1);
  }
  const verdicts = goals.map((one) => judge(one, data).verdict);
  expect(verdicts.filter((verdict) => verdict !== "open").length).toBeGreaterThanOrEqual(5);
});

test("namesIn: every figure that a text names", () => {
  expect(namesIn('a <BenchFigure name="a: b" /> and <BenchFigure\n name="c: d"/>')).toEqual([
    "a: b",
    "c: d",
  ]);
});

test("compact: what is named stays, without its rounds", () => {
  const file = compact(results("2026-01", { a: 1, b: 2 }), new Set(["b: rateMs"]));
  expect("measurements" in file ? file.measurements : null).toEqual([
    { name: "b", figures: { rateMs: { median: 2, min: 2, max: 2, values: [] } } },
  ]);
});
