// `virtual:content`: the front matter of all content, for sidebars, lists and tags.

import type { Plugin } from "vite";
import { assertLinkable } from "../config/validate.ts";
import { siteConfig } from "../site-config.ts";
import { contentFolder, readContent } from "./content.ts";
import { virtualModule } from "./virtual-module.ts";

const name = "virtual:content";

function contentModule(): object {
  const content = readContent();
  assertLinkable(siteConfig, content.docs);
  return { ...content, docs: content.docs.map(({ description: _, ...doc }) => doc) };
}

export function contentPlugin(): Plugin {
  return {
    ...virtualModule(name, contentModule),
    configureServer(server) {
      server.watcher.add(contentFolder);
      server.watcher.on("all", (_event, file) => {
        if (!file.startsWith(contentFolder)) return;
        const module = server.moduleGraph.getModuleById(`\0${name}`);
        if (module !== undefined) void server.reloadModule(module);
      });
    },
  };
}
