// What readers meet reads like English: phrases that were carried over from another language
// word by word are refused, in the pages, the README, the contract and the flags.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { configReference } from "../server/config/settings.ts";

const root = join(import.meta.dir, "..");

/** Each with what to write instead. */
const calques: readonly (readonly [RegExp, string])[] = [
  [/\bfor want of\b/i, "because there is no"],
  [/\bas (they|it) comes?\b/i, "unchanged, or in the order of arrival"],
  [/\banew\b/i, "again"],
  [/\b(brings?|brought) (it |them )?along\b/i, "includes"],
  [/\bgo(es)? along with\b/i, "travels with"],
  [/\b(stand|go|goes) (before or )?behind the (command|flag)/i, "after"],
  [/\b(in|on) a PostgreSQL\b(?! \d| database)/, "in PostgreSQL, or in a PostgreSQL database"],
  [/\bwho(so)?ever\b/i, "anyone who"],
  [/\bso long as\b/i, "as long as"],
  [/\bgoes by (the|its)\b/i, "depends on, or uses"],
  [/\bbe it (a|an|the)\b/i, "whether"],
  [/\b(save|but) for\b/i, "except"],
  [/\bcomes there\b/i, "arrives"],
  [/\bwhat is asked\b/i, "the request"],
  [/\b(died|failed|dies) of\b/i, "why it died"],
  [/\bfor ever\b/i, "forever"],
  [/\bnames nothing\b/i, "is no longer valid"],
  [/\bin the place of\b/i, "instead of"],
  [/\bsee to it\b/i, "make sure"],
  [/\bhas not the\b/i, "lacks the"],
  [/\bnode (that has|with) the shards\b/i, "owner"],
  [/\b(unknown|absent|optional|required) key\b/i, "field"],
];

const pages = [
  ...new Bun.Glob("content/**/*.mdx").scanSync({ cwd: root }),
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
];
const texts: readonly (readonly [string, string])[] = [
  ...[...pages, "openapi/openapi.json"].map(
    (file) => [file, readFileSync(join(root, file), "utf8")] as const,
  ),
  [
    "server/config/settings.ts",
    configReference()
      .map(({ meaning }) => meaning)
      .join("\n"),
  ],
];

test.each(texts)("%s: no phrase of it is a calque", (_, text) => {
  const plain = text.replaceAll(/\s+/g, " ");
  const found = calques.flatMap(([calque, better]) => {
    const [phrase] = calque.exec(plain) ?? [];
    return phrase === undefined ? [] : [`"${phrase}": write ${better}`];
  });
  expect(found).toEqual([]);
});

test.each(pages)("%s: no JSON that it shows names a key twice", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const shown = [...text.matchAll(/^```json[^\n]*\n([\s\S]*?)^```$/gm)];
  const repeated = shown.flatMap(([, json = ""]) =>
    parseDocument(json).errors.filter(({ code }) => code === "DUPLICATE_KEY"),
  );
  expect(repeated.map(({ message }) => message)).toEqual([]);
});
