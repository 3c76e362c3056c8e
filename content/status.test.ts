// What pages say is missing against what there is: the calls of the contract, the pages of the
// docs, and the promises that are tested.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { operations } from "../openapi/operations.ts";
import { roles } from "../openapi/roles.ts";

const docs = join(import.meta.dir, "docs");
const page = (name: string) => readFileSync(join(docs, `${name}.mdx`), "utf8");
const status = page("status");
const comparison = readFileSync(join(import.meta.dir, "parts/comparison.mdx"), "utf8");

/** The text below a heading, up to the next one. */
function sectionOf(text: string, heading: string): string {
  const [, section = ""] = text.split(`## ${heading}\n`);
  return section.split(/^## /m)[0] ?? "";
}

const paths = Object.values(operations).map(({ path }) => path.slice("/v1/".length));
const isPage = (name: string) => existsSync(join(docs, `${name}.mdx`));

/** What is there, with the words by which it would be called absent. */
const present: readonly (readonly [string, boolean, RegExp])[] = [
  ["transact", paths.includes("queue.transact"), /\btransact\b|several queues/i],
  ["redrive", paths.includes("queue.redrive"), /redriv|sen[dt] back|put back/i],
  ["pause", paths.includes("queue.pause"), /paus/i],
  ["the console", isPage("console"), /dashboard|console|web ui|user interface/i],
  ["traces", isPage("guides/traces"), /trac(e|ing)/i],
  ["roles", Object.keys(roles).length > 0, /rights|permissions/i],
];

const lists: readonly (readonly [string, string])[] = [
  ["status", sectionOf(status, "What is not there")],
  ...["bullmq", "celery", "pg-boss", "sqs"].map((queue): readonly [string, string] => {
    const name = `moving-from-${queue}`;
    return [name, sectionOf(page(name), "What is missing here")];
  }),
];

test.each(lists)("%s: what is there is not listed as missing", (_, section) => {
  expect(section).not.toBe("");
  // A sentence with a link tells what there is in its place.
  const missing = section.replaceAll(/[^.;(]*\]\([^)]*\)[^.;)]*/g, "");
  const wrong = present.filter(([, isThere, words]) => isThere && words.test(missing));
  expect(present.filter(([, isThere]) => !isThere)).toEqual([]);
  expect(wrong.map(([name]) => name)).toEqual([]);
});

test.each(lists.slice(1))("%s: the whole list is named, not repeated", (_, section) => {
  expect(section).toContain("(/docs/status#what-is-not-there)");
});

test("status: it counts the promises as the page about testing does", () => {
  const count = page("testing").match(/^\| I\d+ /gm)?.length ?? 0;
  expect(status).toContain(`All ${count} promises are tested`);
});

test("one machine: a paragraph that says so tells what PostgreSQL is there for", () => {
  const texts = ["docs", "blog"].flatMap((folder) => {
    const path = join(import.meta.dir, folder);
    return [...new Bun.Glob("**/*.mdx").scanSync(path)].map((name) =>
      readFileSync(join(path, name), "utf8"),
    );
  });
  const paragraphs = texts.flatMap((text) => text.split(/\n\n|\n(?=- )/));
  const told = paragraphs.filter((text) =>
    /runs on one machine|is one machine|one machine and|no second copy/i.test(text),
  );
  expect(told.length).toBeGreaterThan(4);
  expect(told.filter((text) => !text.includes("PostgreSQL"))).toEqual([]);
  const [row = ""] = comparison.match(/^\| \*\*Holdfast\*\* .*/m) ?? [];
  expect(row).toContain("(/docs/nodes)");
});

test("comparison: of the other queues' features, it has those that its contract has", () => {
  const rows = comparison.match(/^\| (Dead items sent back by one call|Dashboard) \| yes/gm);
  expect(rows).toHaveLength(2);
});

test("glossary: it has the words that the contract and the pages use as terms", () => {
  const terms = [...page("glossary").matchAll(/^\*\*([^*]+)\.\*\*/gm)].map(([, term]) => term);
  for (const term of [
    ...["Headers", "Unique key", "Idempotency key", "Origin id", "History", "Role", "Pause"],
    ...["Pack", "Owner"],
  ]) {
    expect(terms).toContain(term);
  }
});
