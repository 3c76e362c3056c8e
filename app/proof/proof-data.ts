// What the page "How Holdfast is tested" shows of a report of `bun run proof`. Pure.
// Every number of the page comes from there.

import faults from "../../proof/faults.json" with { type: "json" };
import type { Report } from "../../proof/report.ts";
import type { ProofResult } from "../../proof/result.ts";
import { readResults } from "../charts/bench-results.ts";
import { figureNames, type Named } from "./figure-names.ts";

export interface ProofFigure {
  readonly label: string;
  readonly value: number;
  /** What it is a part of; `null` = it stands for itself. */
  readonly of: number | null;
}

export interface MethodData {
  readonly name: string;
  readonly seed: number;
  readonly seconds: number;
  readonly figures: readonly ProofFigure[];
  readonly faultCount: number;
  /** Why it was not run; `null` = it was. */
  readonly skipped: string | null;
}

/** Planted bugs that took the same number of worlds. */
export interface PlantedGroup {
  /** `null`: not found. */
  readonly worlds: number | null;
  readonly names: readonly string[];
}

export interface ProofData {
  readonly commit: string;
  readonly command: string;
  /** `YYYY-MM-DD`. */
  readonly madeAt: string;
  readonly seconds: number;
  readonly machine: string;
  readonly versions: string;
  readonly summary: readonly ProofFigure[];
  readonly methods: readonly MethodData[];
  readonly planted: readonly PlantedGroup[];
}

const gibibyte = 2 ** 30;
const untilFound = "seeds until ";

/** `virtual:proof`: the newest report that is checked in, and the faults found so far. */
export function proofModule(): object {
  return { proof: proofData(readResults<Report>("proof")), faults };
}

/** Of the newest report; `null` = there is none. */
export function proofData(reports: readonly Report[]): ProofData | null {
  const [report] = reports.toSorted((a, b) => b.madeAt.localeCompare(a.madeAt));
  if (report === undefined) return null;
  const { machine, versions, results } = report;
  const { bun = "?", sqlite = "?" } = versions;
  return {
    commit: report.commit,
    command: report.command,
    madeAt: report.madeAt.slice(0, 10),
    seconds: report.seconds,
    machine: `${machine.cpu}, ${machine.cores} cores, ${Math.round(machine.memoryBytes / gibibyte)} GiB, Linux ${machine.kernel}`,
    versions: `Bun ${bun}, SQLite ${sqlite}`,
    summary: summaryOf(results),
    methods: results.map(methodOf),
    planted: plantedOf(results.find(({ method }) => method === "planted bugs")),
  };
}

/** Figures that more than one method has are added up. */
function summaryOf(results: readonly ProofResult[]): readonly ProofFigure[] {
  const sumOf = (key: string, ...methods: string[]): number =>
    results
      .filter(({ method }) => methods.length === 0 || methods.includes(method))
      .reduce((sum, { figures }) => sum + (figures[key] ?? 0), 0);
  const simulations = ["simulation", "simulation over SQLite"];
  const shown = (label: string, value: number, of: number | null = null) => ({ label, value, of });
  return [
    shown("simulated worlds", sumOf("worlds", ...simulations)),
    shown("real kills", sumOf("kills", "kills")),
    shown("power cuts", sumOf("cuts", "power cuts")),
    shown("planted bugs found", sumOf("found", "planted bugs"), sumOf("planted", "planted bugs")),
    shown("acknowledged items checked", sumOf("acknowledged")),
    shown("acknowledged items lost", sumOf("lost")),
  ];
}

function methodOf(result: ProofResult): MethodData {
  const { method, seed, seconds, faults, skipped } = result;
  return {
    name: method,
    seed,
    seconds,
    figures:
      skipped === undefined
        ? (figureNames[method] ?? []).map((named) => figureOf(named, result))
        : [],
    faultCount: faults.length,
    skipped: skipped ?? null,
  };
}

function figureOf({ label, keys, of, isTally }: Named, { method, figures }: ProofResult) {
  const amountOf = (key: string): number => {
    const value = figures[key] ?? (isTally ? 0 : undefined);
    if (value !== undefined) return value;
    throw new Error(`a report of proof lacks a figure; expected '${key}' in '${method}'`);
  };
  const sum = (names: readonly string[]) => names.reduce((all, key) => all + amountOf(key), 0);
  return { label, value: sum(keys), of: of === undefined ? null : sum(of) };
}

function plantedOf(result: ProofResult | undefined): readonly PlantedGroup[] {
  const bugs = Object.entries(result?.figures ?? {}).flatMap(([key, seeds]) =>
    key.startsWith(untilFound) ? [{ name: key.slice(untilFound.length), seeds }] : [],
  );
  const groups = Map.groupBy(bugs, ({ seeds }) => (seeds < 0 ? Number.POSITIVE_INFINITY : seeds));
  return [...groups]
    .toSorted(([a], [b]) => a - b)
    .map(([seeds, found]) => ({
      worlds: Number.isFinite(seeds) ? seeds : null,
      names: found.map(({ name }) => name).toSorted(),
    }));
}
