// Finds broken images in the pages of a built site: without a source, or with a missing file.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "./site-folder.ts";

export function imageFaults(folder: string): readonly string[] {
  return listFiles(folder)
    .filter((file) => file.endsWith(".html"))
    .flatMap((file) => {
      const html = readFileSync(join(folder, file), "utf8");
      return imageFaultsIn(html, (path) => existsSync(join(folder, path))).map(
        (fault) => `${file}: ${fault}`,
      );
    });
}

/** `isThere`: whether the site contains a file at this path, which begins with `/`. */
export function imageFaultsIn(html: string, isThere: (path: string) => boolean): readonly string[] {
  return Array.from(html.matchAll(/<img\b[^>]*>/g), ([tag]) => {
    const [, source = ""] = /\ssrc="([^"]*)"/.exec(tag) ?? [];
    if (source === "") return `an image without a source; expected src="…", got ${tag}`;
    const isOwn = source.startsWith("/") && !source.startsWith("//");
    if (isOwn && !isThere(source)) return `an image whose file is missing: ${source}`;
    return [];
  }).flat();
}
