// Runs the modules of `facts/` during the build. Pages contain their exports as JSON, but none of
// their imports, such as the server's schemas, the command line and file readers.

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
      // In development they run again when the content changes, which Bun does not do by default.
      for (const file of listFiles(contentFolder)) this.addWatchFile(join(contentFolder, file));
      const exported: object = await import(`${id}?${Date.now()}`);
      return Object.entries(exported)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join("\n");
    },
  };
}
