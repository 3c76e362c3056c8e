// Answers for the search data while developing, where no finished page exists yet: the
// sections come from the sources.

import type { Plugin } from "vite";
import { sourceSections } from "./source-sections.ts";

export function searchPlugin(): Plugin {
  return {
    name: "holdfast-search",
    apply: "serve",
    configureServer(server) {
      server.middlewares.use("/search.json", (_request, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(sourceSections()));
      });
    },
  };
}
