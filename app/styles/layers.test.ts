// The sheets against what `index.css` says of them: every rule in a layer, and the widths
// written one way.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const app = join(import.meta.dir, "..");
const index = readFileSync(join(import.meta.dir, "index.css"), "utf8");
const layers = [...index.matchAll(/^@layer ([^;]+);/gm)].flatMap(([, names = ""]) =>
  names.split(", "),
);
/** Their layer stands beside their import. */
const imported = [...index.matchAll(/@import "([^"]+)" layer\(\w+\);/g)].map(([, file = ""]) =>
  join("styles", file),
);
const sheets = [...new Bun.Glob("**/*.css").scanSync({ cwd: app })]
  .filter((file) => file !== "styles/index.css")
  .sort()
  .map((file) => {
    const text = readFileSync(join(app, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    return [file, text] as const;
  });

/** What opens each block that lies in no other. */
function outermost(text: string): readonly string[] {
  let depth = 0;
  let opening = "";
  const found: string[] = [];
  for (const letter of text) {
    if (letter === "}") depth -= 1;
    else if (letter === "{") {
      if (depth === 0) found.push(opening.trim());
      depth += 1;
      opening = "";
    } else if (depth === 0) opening += letter;
  }
  return found;
}

test("styles: a sheet that is not part of index.css has all its rules in a layer", () => {
  const own = sheets.filter(([file]) => !imported.includes(file));
  const loose = own.flatMap(([file, text]) =>
    outermost(text)
      .filter((opening) => !layers.some((layer) => opening === `@layer ${layer}`))
      .map((opening) => `${file}: ${opening}`),
  );
  expect(own.length).toBeGreaterThan(10);
  expect(loose).toEqual([]);
});

test("styles: widths of the window are compared, and of the three that index.css names", () => {
  const queries = sheets.flatMap(([file, text]) =>
    [...text.matchAll(/@media ([^{]+)\{/g)].map(([, query = ""]) => `${file}: ${query.trim()}`),
  );
  const widths = queries.filter((query) => query.includes("width"));
  expect(widths.length).toBeGreaterThan(10);
  expect(widths.filter((query) => !/\(width [<>]=? (640|996|1240)px\)$/.test(query))).toEqual([]);
});
