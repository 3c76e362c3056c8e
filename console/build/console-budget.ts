// The bytes that the console may take, compressed.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { over } from "../../app/build/budgets.ts";
import { listFiles } from "../../app/build/site-folder.ts";

const kilo = 1_000;

const consoleBudget = {
  htmlBytesMax: 8 * kilo,
  stylesBytesMax: 10.5 * kilo,
  /** The largest page's own code, with the charts and the libraries that only the console uses. */
  ownBytesMax: 83 * kilo,
  /** All code of that page, React too. */
  scriptBytesMax: 168 * kilo,
} as const;

/** The sizes of the console's files, by kind. */
function consoleSizes(folder: string) {
  const files = listFiles(join(folder, "console")).map((file) => `console/${file}`);
  const size = (file: string) => {
    const path = join(folder, file);
    return { file, bytes: statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size };
  };
  const ending = (end: string) => files.filter((file) => file.endsWith(end)).map(size);
  return { pages: ending(".html"), styles: ending(".css"), scripts: ending(".js") };
}

const sumOf = (sizes: readonly { readonly bytes: number }[]) =>
  sizes.reduce((sum, { bytes }) => sum + bytes, 0);

export function consoleFaults(folder: string): readonly string[] {
  const { pages, styles, scripts } = consoleSizes(folder);
  const own = scripts.filter(({ file }) => !/\/(react|rolldown-runtime)-[^/]+$/.test(file));
  const isPage = ({ file }: { readonly file: string }) => /-page-[^/]+\.js$/.test(file);
  const lightest = own
    .filter(isPage)
    .toSorted((a, b) => a.bytes - b.bytes)
    .slice(0, -1);
  const ofOtherPages = sumOf(lightest);
  const { htmlBytesMax, stylesBytesMax, ownBytesMax, scriptBytesMax } = consoleBudget;
  return [
    ...pages.flatMap(({ file, bytes }) => over(file, bytes, htmlBytesMax)),
    ...over("the styles of the console", sumOf(styles), stylesBytesMax),
    ...over("the console's own code", sumOf(own) - ofOtherPages, ownBytesMax),
    ...over("all code of the console", sumOf(scripts) - ofOtherPages, scriptBytesMax),
  ];
}
