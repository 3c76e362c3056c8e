// Which part of a page's code the reader who arrives at it does without.

import type { EntryContext } from "react-router";
import { isStill } from "../shell/still-page.ts";
import type { StillRoute } from "./late-boot.ts";

export function stillRoute(context: EntryContext): StillRoute | null {
  const { manifest, routeModules, staticHandlerContext } = context;
  const ids = staticHandlerContext.matches.map(({ route }) => route.id);
  const id = ids.pop() ?? "";
  const handle = routeModules[id]?.handle;
  const own = manifest.routes[id];
  if (!isStill(handle) || own === undefined) return null;
  const scriptsOf = (module: string, imports: readonly string[] = []) => [module, ...imports];
  const shared = ids.flatMap((other) => {
    const route = manifest.routes[other];
    return route === undefined ? [] : scriptsOf(route.module, route.imports);
  });
  const needed = new Set([...scriptsOf(manifest.entry.module, manifest.entry.imports), ...shared]);
  const { source, updated, frontmatter } = handle;
  const { title, description } = frontmatter;
  return {
    id,
    handle: { source, updated, frontmatter: { title, description } },
    scripts: scriptsOf(own.module, own.imports).filter((script) => !needed.has(script)),
  };
}
