// The operators' page against what it speaks of: the metrics that a server exports, the
// alerts that are deployed, and the lines that are logged.

import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { run } from "../server/specification/running-app.ts";
import { fencesOf } from "./samples.ts";

const root = join(import.meta.dir, "..");
const page = readFileSync(join(import.meta.dir, "docs/operations.mdx"), "utf8");

/** The rows of the table under a heading, cell by cell. */
function tableUnder(heading: string): string[][] {
  const [, section = ""] = page.split(`# ${heading}\n`);
  const lines = section.split("\n#")[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("|")).slice(2);
  return rows.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

test("operations: its metrics are those that a server exports, all of them", async () => {
  await using app = await run();
  const families = (await app.metrics()).flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []);
  const told = tableUnder("The metrics").flatMap(([names]) => codesIn(names));
  expect(families.length).toBeGreaterThan(20);
  expect(told.toSorted()).toEqual(families.toSorted());
});

test("operations: its alerts are those that are deployed, each with its severity", () => {
  const alerts = parse(readFileSync(join(root, "deploy/prometheus/alerts.yml"), "utf8"));
  const deployed = alerts.groups.flatMap(
    (group: { rules: { alert: string; labels: { severity: string } }[] }) =>
      group.rules.map(({ alert, labels }) => [alert, labels.severity]),
  );
  const told = tableUnder("The alerts").map(([name, severity]) => [codesIn(name)[0], severity]);
  expect(told.toSorted()).toEqual(deployed.toSorted());
});

test("operations: its log lines are those that the server logs, each with its level", () => {
  const sources = readdirSync(join(root, "server"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(root, "server", file), "utf8"))
    .join("\n");
  const named = [...sources.matchAll(/log\.(info|warn|error|fatal)\("([^"]+)"/g)].map(
    ([, level, event]) => [event, level],
  );
  const [, notices = ""] = /const noticeTexts[^{]+\{([^}]+)\}/.exec(sources) ?? [];
  const warned = [...notices.matchAll(/: "([^"]+)"/g)].map(([, event]) => [event, "warn"]);
  expect(warned).toHaveLength(4);
  const logged = [...new Map([...named, ...warned].map((line) => [line.join(), line])).values()];
  const told = tableUnder("What the log asks of you").map(([event, level]) => [
    codesIn(event)[0],
    level,
  ]);
  expect(told.toSorted()).toEqual(logged.toSorted());
});

test("operations: what it points to is there", () => {
  const paths = codesIn(page).filter((code) => /^deploy\//.test(code));
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
});

test("operations: each command is a sample, or is run by the test of the executable", () => {
  const shown = [...page.matchAll(/^```bash[^\n]*\n([\s\S]*?)^```$/gm)].map(
    ([, code = ""]) => code,
  );
  const sampled = fencesOf(page).map(({ code }) => code);
  const others = shown
    .filter((code) => !sampled.includes(code))
    .flatMap((code) => code.split("\n"));
  expect(others.filter((line) => line !== "")).toEqual([
    "bun run compile --outfile ./holdfast",
    "./holdfast --port 9090 --data ./data",
  ]);
  const ran = readFileSync(join(root, "scripts/compile.test.ts"), "utf8");
  for (const word of ['"--outfile"', '"--port"', '"healthcheck"']) expect(ran).toContain(word);
});
