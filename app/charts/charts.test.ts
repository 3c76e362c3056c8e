import { expect, test } from "bun:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { PeerRow } from "../../bench/peers/peers.ts";
import type { Results } from "../../bench/report/results.ts";
import { benchData, type ResultsFile } from "./bench-data.ts";
import { readBenchData } from "./bench-results.ts";
import { ChartFigure } from "./chart-figure.tsx";
import { count, namesIn, number, shownFigure, shownRatios, written } from "./figures.ts";
import { type Goal, goals, judge } from "./goals.ts";
import { type Chart, chartOf, groups } from "./groups.ts";
import { axisOf } from "./scale.ts";

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
  failures: [
    {
      peer: "pg-boss",
      durabilityClass: "D2",
      itemsPerCall: 100,
      round: 0,
      reason: "lease and complete took more than 13 s",
    },
  ],
  rows: [
    peer("Holdfast", 100, "D2"),
    peer("Redis Streams", 50, "D2"),
    { ...peer("pg-boss", 3, "D2"), itemsPerCall: 1 },
    { ...peer("RabbitMQ", 900, "D2 produce"), caveat: "it never confirms" },
  ],
};
const withPeers = benchData([peersFile]);

function chartFrom(figures: Record<string, number>): Chart {
  const chart = chartOf(withPeers, "peers");
  if (chart === null) throw new Error("expected a chart of peers");
  const bars = Object.entries(figures).map(([name, value]) => ({
    name,
    look: "peer" as const,
    range: once(value),
  }));
  return { ...chart, panels: bars.map((bar) => ({ title: bar.name, detail: "", bars: [bar] })) };
}

test("find: the newest file that has the figure", () => {
  const data = benchData([
    results("2026-01", { a: 1, b: 1 }),
    results("2026-03", { a: 3 }),
    results("2026-02", { a: 2, b: 2 }),
  ]);
  expect(data.find("a: rateMs")?.range.median).toBe(3);
  expect(data.find("b: rateMs")?.commit).toBe("2026-02");
  expect(data.find("c: rateMs")).toBe(null);
});

test("find: a figure that no file contains is an error that names it", () => {
  expect(() => shownFigure(benchData([]), "a: rateMs")).toThrow(
    "no file in bench/results has 'a: rateMs'; expected '<measurement>: <figure>' of one of them",
  );
});

test("number: a measurement has at most three significant digits, a count has all digits", () => {
  expect([number(1_024), count(1_024)]).toEqual(["1,020", "1,024"]);
  expect([0.1234, 3.18, 17_449.7].map(number)).toEqual(["0.12", "3.2", "17,400"]);
});

test.each([
  ["produce.itemsPerSecond", 269_514, "270,000", "items/s"],
  ["produce.overS", 0.557, "0.56", "×"],
  ["wake.p99Ms", 6.0656, "6.1", "ms"],
  ["memoryBytes", 75_698_200, "75.7", "MB"],
  ["produce.clientCpuShare", 0.281, "28.1", "%"],
  ["syncsPerSecond", 5_012.66, "5,010", "syncs/s"],
])("written: %s of %d is %s %s", (name, value, text, unit) => {
  expect(written(name, value)).toBe(`${text}\u00a0${unit}`);
});

test("written: a figure without a known unit is an error", () => {
  expect(() => written("colour", 1)).toThrow("the unit of 'colour' is not known");
});

test("axis: linear from zero to a round value if the values are close", () => {
  const { isLogarithmic, place, ticks } = axisOf([once(370), once(35)]);
  expect([isLogarithmic, ticks]).toEqual([false, [0, 100, 200, 300, 400]]);
  expect([0, 100, 400].map(place)).toEqual([0, 25, 100]);
});

test("axis: logarithmic if they differ by more than a factor of twenty", () => {
  const { isLogarithmic, place, ticks } = axisOf([once(120), once(9_000)]);
  expect([isLogarithmic, ticks]).toEqual([true, [100, 1_000, 10_000]]);
  expect([100, 1_000, 10_000].map(place)).toEqual([0, 50, 100]);
});

test("chart: all panels share an axis, which is labelled if it is logarithmic", () => {
  const html = (figures: Record<string, number>) =>
    renderToStaticMarkup(createElement(ChartFigure, { chart: chartFrom(figures) }));
  const near = html({ a: 200, b: 100 });
  expect(near).toContain("items/s</span>");
  expect([...near.matchAll(/--median:([\d.]+)%/g)].map(([, at]) => at)).toEqual(["100", "50"]);
  expect(html({ a: 10_000, b: 100 })).toContain("items/s, logarithmic</span>");
});

const goal: Goal = { what: "", goal: "≤ 3 s", of: "a: rateMs", scale: 0.001 };

test.each([
  [3_000, "met"],
  [3_001, "missed"],
] as const)("judge: %d ms of at most 3 s is %s", (value, verdict) => {
  const data = benchData([results("2026-01", { a: value })]);
  expect(judge(goal, data)).toMatchObject({ verdict, unit: "s" });
});

test("judge: a goal without a measurement is open", () => {
  expect(judge(goal, benchData([]))).toMatchObject({ verdict: "open", range: null });
});

test("judge: a peer that does not sync before each answer is not compared", () => {
  const against = (among: RegExp): Goal => ({
    what: "",
    goal: "≥ 2 ×",
    of: { among, itemsPerCall: 100 },
  });
  expect(judge(against(/./), withPeers)).toMatchObject({ verdict: "met", range: { median: 2 } });
  expect(judge(against(/^RabbitMQ/), withPeers).verdict).toBe("open");
});

test("ratios: Holdfast over the fastest of the others, by items per call", () => {
  expect(shownRatios(withPeers)).toMatchObject({ 100: { text: "2.00\u00a0× Redis Streams" } });
});

test("chart of peers: peers that sync, the fastest first; no chart without a file", () => {
  const chart = chartOf(withPeers, "peers");
  expect(chart?.panels.map(({ bars }) => bars.map(({ name }) => name))).toEqual([
    ["pg-boss"],
    ["Holdfast", "Redis Streams"],
  ]);
  expect(chartOf(benchData([]), "peers")).toBe(null);
});

test("chart of peers: a missing bar is listed with the reason from the results file", () => {
  expect(chartOf(withPeers, "peers")?.absent).toEqual([
    "RabbitMQ is not in the chart: only produce is synced before its answer; it never confirms.",
    "Holdfast is missing at 1 item per call: not measured.",
    "Redis Streams is missing at 1 item per call: not measured.",
    "pg-boss is missing at 100 items per call: lease and complete took more than 13 s.",
  ]);
});

test("checked-in results: every chart has its panels, in the readers' words", () => {
  const data = readBenchData();
  for (const group of groups) {
    const chart = chartOf(data, group);
    expect(chart?.panels.length).toBeGreaterThan(1);
    expect(JSON.stringify(chart)).not.toMatch(/\bD2\b|\bfloor [A-Z]\b|\(built\)/);
  }
  const verdicts = goals.map((one) => judge(one, data).verdict);
  expect(verdicts.filter((verdict) => verdict !== "open").length).toBeGreaterThanOrEqual(5);
});

test("namesIn: every figure named in a text", () => {
  expect(namesIn('a <BenchFigure name="a: b" /> and <BenchFigure\n name="c: d"/>')).toEqual([
    "a: b",
    "c: d",
  ]);
});
