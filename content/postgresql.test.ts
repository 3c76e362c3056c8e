// The figures of the page about PostgreSQL against the results file that it names.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { number } from "../app/charts/figures.ts";
import { latestResults, readResults } from "../bench/report/results.ts";

interface Range {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

interface Row {
  readonly peer: string;
  readonly itemsPerCall: number;
  readonly connections: number;
  readonly total: Range;
  readonly serverMicros: Range;
  readonly clientMicros: Range;
}

interface Results {
  readonly commit: string;
  readonly command: string;
  readonly rows: readonly Row[];
}

const folder = join(import.meta.dir, "../bench/results");
const file = readdirSync(folder).findLast((name) => name.endsWith("-postgres.json")) ?? "";
const results = JSON.parse(readFileSync(join(folder, file), "utf8")) as Results;
const page = readFileSync(join(import.meta.dir, "docs/postgresql.mdx"), "utf8");

function rowOf(peer: string, itemsPerCall: number): Row {
  const row = results.rows.find((one) => one.peer === peer && one.itemsPerCall === itemsPerCall);
  if (row === undefined) throw new Error(`no row for ${peer} with ${itemsPerCall} a call`);
  return row;
}

function cellOf({ total, serverMicros, clientMicros }: Row): string {
  return `${number(total.median)} (${number(serverMicros.median + clientMicros.median)} µs)`;
}

test("postgresql: its commit and command are those of the latest results", () => {
  expect(page).toContain(`at commit ${results.commit}\n(\`${results.command}\`)`);
});

test("postgresql: its table has the medians of the results", () => {
  const lines = [...new Set(results.rows.map(({ peer }) => peer))].map((peer) => {
    const [one, many] = [rowOf(peer, 1), rowOf(peer, 100)];
    const connections = [...new Set([one.connections, many.connections])].join(" and ");
    const name = peer.startsWith("Holdfast") ? `**${peer}**` : peer;
    return `| ${name}, ${connections} connections | ${cellOf(one)} | ${cellOf(many)} |`;
  });
  expect(lines).toHaveLength(3);
  expect(lines.filter((line) => !page.includes(`${line}\n`))).toEqual([]);
});

test("postgresql: the spread that it tells is that of the results", () => {
  const spread = ({ total }: Row) => `from ${number(total.min)} to ${number(total.max)}`;
  const [own, next] = ["Holdfast on PostgreSQL", "pgmq-style SQL"].map((peer) => rowOf(peer, 100));
  if (own === undefined || next === undefined) throw new Error("two rows are compared");
  expect(page).toContain(`the first two rows spread ${spread(own)} and ${spread(next)}.`);
});

test("postgresql: its table of a held snapshot has the first and the last minute of the results", () => {
  const { commit, command, measurements } = readResults(latestResults("-snapshot.json"));
  const parts = measurements.filter(({ name }) => name.startsWith("Holdfast on PostgreSQL: part"));
  const told = (name: string) => parts.map(({ figures }) => figures[name]?.median ?? 0);
  const cellsOf = (name: string, scale: number) => {
    const [first = 0, last = 0] = [told(name)[0], told(name).at(-1)];
    return [first * scale, last * scale, last / first].map(number).join(" | ");
  };
  const slowest = number(Math.min(...told("itemsPerSecond")));
  expect(parts).toHaveLength(10);
  for (const shown of [
    `at\ncommit ${commit} (\`${command}\`)`,
    `| items/s through all three calls | ${cellsOf("itemsPerSecond", 1)} |\n`,
    `| µs per item, processor time of server and database | ${cellsOf("serverMicros", 1)} |\n`,
    `| MB of tables and indexes | ${cellsOf("tableBytes", 1e-6)} |\n`,
    `| dead rows | ${cellsOf("deadRows", 1)} |\n`,
    `the rate of the slowest minute was ${slowest}.`,
  ]) {
    expect([shown, page.includes(shown)]).toEqual([shown, true]);
  }
});
