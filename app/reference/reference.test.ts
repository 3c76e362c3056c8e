// The API's page: as text, and what its code weighs. In Chromium it is tried by
// `testing/reference.ts`.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildTimeoutMs, ensureBuilt } from "../build/ensure-built.ts";
import { folders } from "../build/site-folder.ts";
import { apiMarkdown } from "./api-markdown.ts";
import { operations } from "./operations.ts";
import { fieldsOf, type Schema } from "./schema-fields.ts";
import { readable } from "./static-html.ts";
import { usedStyles } from "./used-styles.ts";

describe("Markdown", () => {
  const text = apiMarkdown();

  test("names every operation with its method and path, and every code it answers", () => {
    for (const { method, path, operationId, summary, responses } of operations) {
      const start = text.indexOf(
        `### ${summary}\n\n\`${method} ${path}\` (operation \`${operationId}\`)`,
      );
      expect([path, start > 0]).toEqual([path, true]);
      const next = text.indexOf("\n### ", start + 1);
      const own = text.slice(start, next === -1 ? undefined : next);
      for (const code of Object.keys(responses)) {
        expect([path, own.includes(code === "200" ? "200: " : `\n- ${code}: `)]).toEqual([
          path,
          true,
        ]);
      }
    }
  });

  test("has a row for every field that an operation takes or gives, nested ones by their path", () => {
    for (const { requestBody, responses } of operations) {
      const contents = [requestBody?.content, responses["200"]?.content];
      const schemas = contents.flatMap((content) =>
        Object.values(content ?? {}).map((media) => media.schema as Schema),
      );
      for (const { path } of schemas.flatMap((schema) => fieldsOf(schema))) {
        expect(text).toContain(`| \`${path}\` | `);
      }
    }
    expect(text).toContain("| `items[].utf8` | string or null | no |");
  });
});

describe("the text", () => {
  test("fragments are Scalar's without the document's name; operations have short ones too", () => {
    const rendered =
      '<main class="m"><section id="api-1/tag/items/produce" class="s"><!--[--><a href="#tag/items/produce">P</a><!--]--></section></main>';
    const place = { operationId: "produce", fragment: "tag/items/produce" };
    expect(readable(rendered, [place])).toBe(
      '<main id="main" tabindex="-1" class="m"><section id="tag/items/produce" class="s"><span id="produce" class="reference-anchor"></span><a href="#tag/items/produce">P</a></section></main>',
    );
  });

  test("styles: rules whose classes and marks are all there, in their groups and order", () => {
    const css =
      "@layer a{.x{color:red}.gone{color:red}}@media (width<9px){.gone .x{top:0}}.x:not(.gone):is(.p,.q){left:0}.w-\\[1\\,2\\]{width:1px}.x[data-v-1]{a:b}.x[data-v-2]{a:b}@keyframes k{from{top:0}}:root{--c:1}";
    expect(usedStyles(css, '<p class="x w-[1,2]" data-v-1>')).toBe(
      "@layer a{.x{color:red}}.x:not(.gone):is(.p,.q){left:0}.w-\\[1\\,2\\]{width:1px}.x[data-v-1]{a:b}@keyframes k{from{top:0}}:root{--c:1}",
    );
  });
});

test(
  "the live reference is within its weight",
  async () => {
    await ensureBuilt();
    const assets = join(folders.site, "assets");
    // What every page has loaded by then.
    const page = readFileSync(join(folders.site, "api/index.html"), "utf8");
    const seen = new Set([...page.matchAll(/\/assets\/([^"]+\.js)/g)].map(([, name = ""]) => name));
    const follow = (file: string): number => {
      if (seen.has(file)) return 0;
      seen.add(file);
      const code = readFileSync(join(assets, file), "utf8");
      const imports = [...code.matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)];
      const inner = imports.reduce((sum, [, name = ""]) => sum + follow(name), 0);
      const compressed = join(assets, `${file}.br`);
      return inner + statSync(existsSync(compressed) ? compressed : join(assets, file)).size;
    };
    const [start] = [...new Bun.Glob("live-reference-*.js").scanSync(assets)];
    expect(follow(start ?? "")).toBeLessThanOrEqual(870_000);
  },
  buildTimeoutMs,
);
