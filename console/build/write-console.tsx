// Writes the HTML files of the seven addresses. Each links its assets relatively, so that it works below
// any prefix, and contains the skeleton of its page until the script has run.

import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { QueryClientProvider } from "@tanstack/react-query";
import { renderToString } from "react-dom/server";
import { createMemoryRouter, RouterProvider } from "react-router";
import type { Manifest, ManifestChunk } from "vite";
import { folders, writeDraft } from "../../app/build/site-folder.ts";
import { pagePaths } from "../addresses.ts";
import { queryClient } from "../api/query-client.ts";
import { ready } from "../router-ready.ts";
import { routes } from "../routes.tsx";
import { headScript } from "../state/theme.ts";

const entry = "entry.tsx";
/** The code of each page besides. */
const pageFiles: Readonly<Record<(typeof pagePaths)[number], string>> = {
  "": "pages/overview/overview-page.tsx",
  "/queue": "pages/queue/queue-page.tsx",
  "/items": "pages/items/items-page.tsx",
  "/groups": "pages/groups/groups-page.tsx",
  "/dead": "pages/dead-letters/dead-page.tsx",
  "/shards": "pages/shards/shards-page.tsx",
  "/keys": "pages/access/access-page.tsx",
};

export async function writeConsole(): Promise<void> {
  const manifest = JSON.parse(
    readFileSync(join(folders.console, ".vite/manifest.json"), "utf8"),
  ) as Manifest;
  const target = join(folders.draft, "console");
  cpSync(folders.console, target, { recursive: true });
  cpSync(join(folders.root, "app/public/favicon.svg"), join(target, "favicon.svg"));
  rmSync(join(target, ".vite"), { recursive: true });
  for (const path of pagePaths) {
    writeDraft(`console${path}/index.html`, await pageOf(path, manifest));
  }
}

async function pageOf(path: keyof typeof pageFiles, manifest: Manifest): Promise<string> {
  const chunk = chunkOf(entry, manifest);
  const page = chunkOf(pageFiles[path], manifest);
  // From `/console` the files are one level down, from `/console/queue` on the same level.
  const [below, top] = path === "" ? ["console/", "console"] : ["", "../console"];
  const needed = new Set([...importsOf(chunk, manifest), page, ...importsOf(page, manifest)]);
  needed.delete(chunk);
  const imported = Array.from(
    needed,
    ({ file }) => `<link rel="modulepreload" href="${below}${file}">`,
  );
  const sheets = (chunk.css ?? []).map((file) => `<link rel="stylesheet" href="${below}${file}">`);
  return `<!doctype html>
<html lang="en" data-theme="dark">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="referrer" content="same-origin">
<title>Holdfast console</title>
<link rel="icon" href="${below}favicon.svg" type="image/svg+xml">
<script>${headScript}</script>
${sheets.join("\n")}
<script type="module" src="${below}${chunk.file}"></script>
${imported.join("\n")}
</head>
<body>
<div id="root">${await skeletonsOf(path, { below, top })}</div>
<noscript>The console needs JavaScript. The API needs none.</noscript>
</body>
</html>
`;
}

function chunkOf(file: string, manifest: Manifest): ManifestChunk {
  const chunk = manifest[file];
  if (chunk === undefined) throw new Error(`the console's build has no ${file}`);
  return chunk;
}

function importsOf(chunk: ManifestChunk, manifest: Manifest): readonly ManifestChunk[] {
  const found = new Set<ManifestChunk>();
  const open = [...(chunk.imports ?? [])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const next = manifest[name];
    if (next === undefined || found.has(next)) continue;
    found.add(next);
    open.push(...(next.imports ?? []));
  }
  return [...found];
}

interface Steps {
  readonly below: string;
  readonly top: string;
}

/** Only the browser knows the name in the address. */
async function skeletonsOf(path: string, steps: Steps): Promise<string> {
  const named = () => skeletonOf(`${path}?name=…`, steps);
  switch (path) {
    case "/queue":
    case "/items":
    case "/groups":
      return await named();
    case "/dead":
      return `<div class="of-all">${await skeletonOf(path, steps)}</div><div class="of-one">${await named()}</div>`;
    default:
      return await skeletonOf(path, steps);
  }
}

/** The page before it has any data. */
async function skeletonOf(path: string, { below, top }: Steps): Promise<string> {
  const router = createMemoryRouter(routes, {
    basename: "/console",
    initialEntries: [`/console${path}`],
  });
  await ready(router);
  const html = renderToString(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  // The title of the tab is in <head> already.
  return html
    .replace(/<title>[^<]*<\/title>/g, "")
    .replaceAll('href="/console/', `href="${below}`)
    .replaceAll('href="/console"', `href="${top}"`);
}
