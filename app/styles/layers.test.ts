// Checks the sheets against the description in `index.css`: every rule is in a layer, and widths
// have one notation.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const app = join(import.meta.dir, "..");
const index = readFileSync(join(import.meta.dir, "index.css"), "utf8");
const layers = [...index.matchAll(/^@layer ([^;]+);/gm)].flatMap(([, names = ""]) =>
  names.split(", "),
);
/** Sheets whose layer is assigned at their import. */
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

/** The head of each top-level block. */
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

test("styles: outside index.css every rule is in a layer", () => {
  const own = sheets.filter(([file]) => !imported.includes(file));
  const loose = own.flatMap(([file, text]) =>
    outermost(text)
      .filter((opening) => !layers.some((layer) => opening === `@layer ${layer}`))
      .map((opening) => `${file}: ${opening}`),
  );
  // Sheets of elements created by scripts.
  expect(own.map(([file]) => file)).toEqual([
    "reference/api-client.css",
    "search/search-results.css",
  ]);
  expect(loose).toEqual([]);
});

/** `file: condition` of every query of this kind. */
function queries(kind: "media" | "container"): readonly string[] {
  return sheets.flatMap(([file, text]) =>
    [...text.matchAll(new RegExp(`@${kind} ([^{]+)\\{`, "g"))].map(
      ([, query = ""]) => `${file}: ${query.trim()}`,
    ),
  );
}

test.each([
  ["media", /\(width [<>]=? (640|996|1240)px\)$/],
  ["container", /\(width (<|>=) (600|900)px\)$/],
] as const)(
  "styles: widths of a %s are compared, and of those that index.css names",
  (kind, known) => {
    const widths = queries(kind).filter((query) => query.includes("width"));
    expect(widths.length).toBeGreaterThan(3);
    expect(widths.filter((query) => !known.test(query))).toEqual([]);
  },
);

test("styles: a class name begins with its component, not with the project", () => {
  const classes = sheets.flatMap(([file, text]) =>
    [...text.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = ""]) => `${file}: ${name}`),
  );
  expect(classes.length).toBeGreaterThan(100);
  expect(classes.filter((name) => /: (hf|holdfast)-|: [\w-]*[A-Z_]/.test(name))).toEqual([]);
});
