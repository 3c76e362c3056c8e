// `bun run site:dates`: notes when each page of the content was changed last, for builds
// without a history. A page that is in no commit yet is of today.

import { join, relative } from "node:path";
import { contentFolder } from "./content.ts";
import { readHistory } from "./last-changes.ts";
import { folders, listFiles, write } from "./site-folder.ts";

const history = readHistory();
if (history.size === 0) {
  console.error("there is no history to take dates from; expected a whole clone");
  process.exit(1);
}
const today = new Date().toISOString().slice(0, 10);
const prefix = relative(folders.root, contentFolder);
const pages = listFiles(contentFolder).filter((file) => file.endsWith(".mdx"));
const dates = pages
  .map((file) => `${prefix}/${file}`)
  .map((path) => [path, history.get(path) ?? today]);
const file = join(import.meta.dir, "last-changes.json");
write(file, `${JSON.stringify(Object.fromEntries(dates), null, 2)}\n`);
console.log(`${dates.length} dates in ${relative(folders.root, file)}`);
