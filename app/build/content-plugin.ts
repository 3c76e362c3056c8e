// `virtual:content`: the front matter of all content, for sidebars, lists and tags.

import type { Plugin } from "vite";
import { assertLinkable } from "../config/validate.ts";
import { siteConfig } from "../site-config.ts";
import { contentFolder, readContent } from "./content.ts";

const name = "virtual:content";
const id = `\0${name}`;

export function contentPlugin(): Plugin {
  return {
    name: "holdfast-content",
    resolveId: (source) => (source === name ? id : undefined),
    load(source) {
      if (source !== id) return undefined;
      const content = readContent();
      assertLinkable(siteConfig, content.docs);
      const docs = content.docs.map(({ description: _, ...doc }) => doc);
      return Object.entries({ ...content, docs })
        .map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`)
        .join("\n");
    },
    configureServer(server) {
      server.watcher.add(contentFolder);
      server.watcher.on("all", (_event, file) => {
        if (!file.startsWith(contentFolder)) return;
        const module = server.moduleGraph.getModuleById(id);
        if (module !== undefined) void server.reloadModule(module);
      });
    },
  };
}
