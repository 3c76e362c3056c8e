// Makes the card of each page, which other sites show with a link; cached by content.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Node, Renderer } from "@takumi-rs/core";
import { fromJsx } from "@takumi-rs/helpers/jsx";
import { OgCard, ogCardSize } from "../brand/og-card.tsx";
import { cardPath } from "../shell/card-path.ts";
import { siteConfig } from "../site-config.ts";
import type { SitePage } from "./pages.ts";
import { folders, hashOf, write, writeDraft } from "./site-folder.ts";

const fontFile = createRequire(import.meta.url).resolve(
  "@fontsource/bricolage-grotesque/files/bricolage-grotesque-latin-600-normal.woff2",
);
const designFile = join(folders.root, "app/brand/og-card.tsx");

export async function writeCards(pages: readonly SitePage[]): Promise<void> {
  const design = readFileSync(designFile);
  const renderer = new Renderer();
  await renderer.registerFont(readFileSync(fontFile));
  const own = pages.filter(({ path }) => !path.startsWith("/api/"));
  for (const { path, title, description } of own) {
    const card = { title, description, section: sectionOf(path), site: siteConfig.title };
    const cached = join(folders.cache, "cards", `${hashOf(design, JSON.stringify(card))}.png`);
    if (!existsSync(cached)) {
      const { node } = await fromJsx(OgCard(card) as never);
      write(cached, await renderer.render(node as Node, { ...ogCardSize, format: "png" }));
    }
    writeDraft(cardPath(path), readFileSync(cached));
  }
}

function sectionOf(path: string): string {
  if (path.startsWith("/docs")) return "Docs";
  if (path.startsWith("/blog")) return "Blog";
  return path === "/api" ? "API" : "";
}
