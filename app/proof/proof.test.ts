import { expect, test } from "bun:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import faults from "../../proof/faults.json" with { type: "json" };
import { methods } from "../../proof/methods.ts";
import type { Report } from "../../proof/report.ts";
import type { ProofResult } from "../../proof/result.ts";
import { readResults } from "../charts/bench-results.ts";
import { figureNames } from "./figure-names.ts";
import { type ProofData, proofData } from "./proof-data.ts";
import { FaultsFound, PlantedBugs, ProofMethod, ProofSummary } from "./proof-views.tsx";

function result(method: string, figures: Record<string, number>): ProofResult {
  return { method, seconds: 90, seed: 7, figures, faults: [] };
}

function report(madeAt: string, results: readonly ProofResult[]): Report {
  return {
    format: 1,
    madeAt,
    commit: "abc1234",
    command: "bun run proof --size ci --seed 7",
    machine: {
      cpu: "A processor",
      cores: 2,
      memoryBytes: 8 * 2 ** 30,
      kernel: "6.1",
      fileSystem: "ext4",
    },
    versions: { bun: "1.4.5", sqlite: "3.50.0" },
    size: "ci",
    seconds: 1_260,
    results,
  };
}

const planted = result("planted bugs", {
  planted: 3,
  found: 2,
  foundByTheFirstSeed: 1,
  seedsAtMost: 12,
  "seeds until an answer too soon": 1,
  "seeds until a lost half": 12,
  "seeds until a shy one": -1,
});
const soak = result("soak", {
  loadSeconds: 120,
  itemsCompleted: 40_000,
  lost: 1,
  waitingLeases: 1_000,
  waitingSeconds: 300,
  wakeMsP99: 20,
  descriptorsLeft: 0,
});
const media = result("media", {
  truncations: 5_000,
  flips: 4_000,
  "flip in log: refused": 2,
  "flip in file: refused": 3,
});

function made(...results: readonly ProofResult[]): ProofData {
  return proofData([report("2026-11-21T10:00:00.000Z", results)]);
}

const html = (element: Parameters<typeof renderToStaticMarkup>[0]): string =>
  renderToStaticMarkup(element);

test("proofData: the newest report is used; without a report it fails", () => {
  const reports = [report("2026-11-20", []), report("2026-11-22", []), report("2026-11-21", [])];
  expect(proofData(reports).madeAt).toBe("2026-11-22");
  expect(() => proofData([])).toThrow("no file in bench/results is a report of proof");
});

test("proofData: figures by name; a count of nothing is 0, a missing figure is an error", () => {
  const lines = made(media).methods["media"]?.lines ?? [];
  expect(lines[0]).toEqual(["truncations of the log", "5,000"]);
  expect(lines.map(([, amount]) => amount).join(" ")).toBe("5,000 0 0 4,000 5 0 0 0 0");
  expect(() => made(result("soak", { loadSeconds: 1 }))).toThrow(
    "a report of proof lacks a figure; expected 'itemsCompleted' in 'soak'",
  );
});

test("proofData: planted bugs by the number of worlds until they were found, the unfound ones last", () => {
  expect(made(planted).planted).toEqual([
    ["In the first world", ["an answer too soon"]],
    ["In world 12", ["a lost half"]],
    ["Not found", ["a shy one"]],
  ]);
});

test("summary: acknowledged and lost items are added up over all methods", () => {
  const calls = result("system calls", { runs: 9, reached: 9, acknowledged: 500, lost: 2 });
  const { summary } = made(soak, calls);
  expect(summary.slice(-2)).toEqual([
    ["acknowledged items checked", "500"],
    ["acknowledged items lost", "3"],
  ]);
});

test("figureNames: every method has its names, each once", () => {
  for (const [method, named] of Object.entries(figureNames)) {
    const labels = named.map(({ label }) => label);
    expect([method, new Set(labels).size]).toEqual([method, labels.length]);
  }
  expect(Object.keys(figureNames).toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
});

test("checked-in reports: every method has its figures", () => {
  for (const one of readResults<Report>("proof")) {
    const data = proofData([one]);
    expect(Object.keys(data.methods)).toEqual(one.results.map(({ method }) => method));
  }
});

test("views: with a report they contain its figures, its source and its verdicts", () => {
  const data = made(planted, { ...soak, faults: ["a waiting lease was dropped"] });
  const summary = html(createElement(ProofSummary, { data }));
  expect(summary).toContain("<dt>planted bugs found</dt><dd>2 of 3</dd>");
  expect(summary).toContain("<code>abc1234</code>, 2026-11-21, in 21 min");
  expect(summary).toContain("A processor, 2 cores, 8 GiB, Linux 6.1; Bun 1.4.5, SQLite 3.50.0.");
  const figures = html(createElement(ProofMethod, { name: "soak", data }));
  expect(figures).toContain('<th scope="col">1 fault</th><th scope="col">seed 7, 90 s</th>');
  expect(figures).toContain("<td>items completed</td><td>40,000</td>");
  const bugs = html(createElement(PlantedBugs, { data }));
  expect(bugs).toContain("<dt>In world 12</dt>");
  expect(bugs).toContain("<dt>Not found</dt><dd><ul><li>a shy one</li></ul></dd>");
});

test("views: a skipped method has its reason; one that did not run is not measured", () => {
  const skipped = { ...result("power cuts", {}), skipped: "strace is not installed" };
  const data = made(skipped);
  expect(html(createElement(ProofMethod, { name: "power cuts", data }))).toContain(
    "Skipped in this run: strace is not installed.",
  );
  expect(html(createElement(ProofMethod, { name: "kills", data }))).toContain("Not measured yet.");
});

test("views: a fault has its reproduction and the test that prevents it", () => {
  const [fault] = faults;
  const text = html(createElement(FaultsFound));
  expect(text).toContain(`<b>${fault?.what}</b>`);
  expect(text).toContain(`Kept away by <code>${fault?.test.file}</code>.`);
});
