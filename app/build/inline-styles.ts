// Puts the stylesheets of each page into its HTML: nothing is left to wait for before
// the first paint. `shell/page-styles.tsx` reads which ones are there.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folders, listFiles, writeDraft } from "./site-folder.ts";

const link = /<link rel="stylesheet" href="([^"]+)" data-precedence="page"\/?>/g;

export function inlineStyles(): void {
  for (const file of listFiles(folders.draft)) {
    if (!file.endsWith(".html")) continue;
    const html = readFileSync(join(folders.draft, file), "utf8");
    const inlined = html.replace(link, (_, href: string) => {
      // The router tells stylesheets of one route apart by a fragment.
      const css = readFileSync(join(folders.draft, href.replace(/#.*$/, "")), "utf8").trim();
      return `<style data-precedence="page" data-from="${href}">${css}</style>`;
    });
    writeDraft(file, inlined);
  }
}
