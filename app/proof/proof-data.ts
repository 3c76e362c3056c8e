// Texts of the page "How Holdfast is tested" from a report of `bun run proof`. Pure. Every number
// on the page comes from the report.

import type { Report } from "../../proof/report.ts";
import type { ProofResult } from "../../proof/result.ts";
import { count } from "../charts/figures.ts";
import { figureNames, type Named } from "./figure-names.ts";

/** A count with its label. */
export type Line = readonly [label: string, amount: string];

export type ProofData = ReturnType<typeof proofData>;

/** Data of the newest report. */
export function proofData(reports: readonly Report[]) {
  const [report] = reports.toSorted((a, b) => b.madeAt.localeCompare(a.madeAt));
  if (report === undefined) throw new Error("no file in bench/results is a report of proof");
  const { commit, command, machine, versions, results } = report;
  const { bun = "?", sqlite = "?" } = versions;
  return {
    commit,
    command,
    /** `YYYY-MM-DD`. */
    madeAt: report.madeAt.slice(0, 10),
    took: duration(report.seconds),
    machine: `${machine.cpu}, ${machine.cores} cores, ${Math.round(machine.memoryBytes / 2 ** 30)} GiB, Linux ${machine.kernel}; Bun ${bun}, SQLite ${sqlite}`,
    summary: summaryOf(results),
    /** By name, in execution order. */
    methods: Object.fromEntries(results.map((result) => [result.method, methodOf(result)])),
    /** Planted bugs, by the number of worlds needed to find them. */
    planted: plantedOf(results.find(({ method }) => method === "planted bugs")),
  };
}

function duration(seconds: number): string {
  return seconds < 120 ? `${count(seconds)} s` : `${count(Math.round(seconds / 60))} min`;
}

/** Adds up figures that several methods share. */
function summaryOf(results: readonly ProofResult[]): readonly Line[] {
  const sum = (key: string, ...methods: string[]): string =>
    count(
      results
        .filter(({ method }) => methods.length === 0 || methods.includes(method))
        .reduce((total, { figures }) => total + (figures[key] ?? 0), 0),
    );
  const planted = (key: string): string => sum(key, "planted bugs");
  return [
    [
      "simulated worlds",
      sum("worlds", "simulation", "simulation over SQLite", "simulation of nodes"),
    ],
    ["real kills", sum("kills", "kills")],
    ["power cuts", sum("cuts", "power cuts")],
    ["planted bugs found", `${planted("found")} of ${planted("planted")}`],
    ["acknowledged items checked", sum("acknowledged")],
    ["acknowledged items lost", sum("lost")],
  ];
}

function methodOf(result: ProofResult) {
  const { method, seed, seconds, faults: found, skipped } = result;
  const named = skipped === undefined ? (figureNames[method] ?? []) : [];
  return {
    verdict: `${found.length === 0 ? "no" : found.length} fault${found.length > 1 ? "s" : ""}`,
    run: `seed ${seed}, ${duration(seconds)}`,
    lines: named.map((figure) => lineOf(figure, result)),
    /** Why it was skipped; `null` = it was run. */
    skipped: skipped ?? null,
  };
}

function lineOf({ label, keys, of, isTally }: Named, { method, figures }: ProofResult): Line {
  const amountOf = (key: string): number => {
    const value = figures[key] ?? (isTally ? 0 : undefined);
    if (value !== undefined) return value;
    throw new Error(`a report of proof lacks a figure; expected '${key}' in '${method}'`);
  };
  const sum = (names: readonly string[]) =>
    count(names.reduce((total, key) => total + amountOf(key), 0));
  return [label, of === undefined ? sum(keys) : `${sum(keys)} of ${sum(of)}`];
}

function plantedOf(result: ProofResult | undefined) {
  const untilFound = "seeds until ";
  const bugs = Object.entries(result?.figures ?? {}).flatMap(([key, worlds]) =>
    key.startsWith(untilFound) ? [{ name: key.slice(untilFound.length), worlds }] : [],
  );
  const groups = Map.groupBy(bugs, ({ worlds }) => (worlds < 0 ? Infinity : worlds));
  return [...groups]
    .toSorted(([a], [b]) => a - b)
    .map(([worlds, found]) => {
      const names = found.map(({ name }) => name).toSorted();
      return [worldsText(worlds), names] as const;
    });
}

function worldsText(worlds: number): string {
  if (worlds === Infinity) return "Not found";
  return worlds === 1 ? "In the first world" : `In world ${count(worlds)}`;
}
