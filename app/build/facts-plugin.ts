// The modules of `facts/` run while the site is built. Pages have what they export, as JSON, and
// nothing of what they import: the server's schemas, the command line, what reads files.

import { join } from "node:path";
import type { Plugin } from "vite";
import { contentFolder } from "./content.ts";
import { listFiles } from "./site-folder.ts";

const folder = join(import.meta.dirname, "../facts/");

export function factsPlugin(): Plugin {
  return {
    name: "holdfast-facts",
    async load(id) {
      if (!id.startsWith(folder)) return undefined;
      // In development they run anew when the content changes, which Bun would not do unasked.
      for (const file of listFiles(contentFolder)) this.addWatchFile(join(contentFolder, file));
      const exported: object = await import(`${id}?${Date.now()}`);
      return Object.entries(exported)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join("\n");
    },
  };
}
