// The page about testing against what it speaks of: the promises, the methods, and the
// commands.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { methods, sizes } from "../proof/methods.ts";

const page = readFileSync(join(import.meta.dir, "docs/testing.mdx"), "utf8");

test("testing: it promises I1 to I29, each once and in order", () => {
  const promised = [...page.matchAll(/^\| I(\d+) /gm)].map(([, number]) => Number(number));
  expect(promised).toEqual(Array.from({ length: 29 }, (_, index) => index + 1));
});

test("testing: it shows every method of proof, in the order in which they run", () => {
  const shown = [...page.matchAll(/<ProofMethod name="([^"]+)"/g)].map(([, name]) => name);
  expect(shown).toEqual(methods.map(({ name }) => name));
});

test("testing: its commands are there, and name methods and sizes that are", () => {
  const commands = [...page.matchAll(/^bun run (\w+)(.*)$/gm)];
  expect(commands.length).toBeGreaterThan(2);
  for (const [line, script = "", flags = ""] of commands) {
    expect(Object.keys(manifest.scripts)).toContain(script);
    const only = /--only (\w+)/.exec(flags)?.[1];
    if (only !== undefined) expect([line, ...methods.map(({ name }) => name)]).toContain(only);
    const size = /--size (\w+)/.exec(flags)?.[1];
    if (size !== undefined) expect<readonly string[]>(sizes).toContain(size);
  }
});

test("testing: it has no figures of its own", () => {
  const [, text = ""] = page.split("## The methods");
  const prose = text.split("## Play it again")[0]?.replaceAll(/`[^`]*`|I\d+/g, "") ?? "";
  // How soon a planted bug has to be found is a rule, and the answer that none may be a code.
  expect(prose.match(/\d+/g)).toEqual(["300", "500"]);
});
