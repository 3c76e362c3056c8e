// Dates of the last changes to content files: from one pass over git's history or, without one (an
// archive, a shallow clone), from the file that `bun run site:dates` wrote earlier.

import { join } from "node:path";
import { listMdx } from "./content.ts";
import noted from "./last-changes.json" with { type: "json" };
import { folders, write } from "./site-folder.ts";

let known: ReadonlyMap<string, string> | null = null;

/** `YYYY-MM-DD` by path. */
export function lastChanges(): ReadonlyMap<string, string> {
  known ??= new Map([...Object.entries(noted), ...readHistory()]);
  return known;
}

/** Empty without a complete history. */
function readHistory(): ReadonlyMap<string, string> {
  const changes = new Map<string, string>();
  if (git("rev-parse", "--is-shallow-repository").trim() !== "false") return changes;
  let date = "";
  for (const line of git("log", "--format=@%cs", "--name-only", "--", "content").split("\n")) {
    if (line.startsWith("@")) date = line.slice(1);
    else if (line !== "" && !changes.has(line)) changes.set(line, date);
  }
  return changes;
}

/** The output of git; empty if git fails or is missing. */
function git(...args: readonly string[]): string {
  if (Bun.which("git") === null) return "";
  const { exitCode, stdout } = Bun.spawnSync(["git", ...args], {
    cwd: folders.root,
    stderr: "ignore",
  });
  return exitCode === 0 ? stdout.toString() : "";
}

/** An uncommitted page has today's date. */
function noteDates(): void {
  const history = readHistory();
  if (history.size === 0) throw new Error("there is no history; expected a whole clone");
  const today = new Date().toISOString().slice(0, 10);
  const pages = listMdx(".").map((page) => `content/${page}.mdx`);
  const dates = Object.fromEntries(pages.map((page) => [page, history.get(page) ?? today]));
  write(join(folders.root, "app/build/last-changes.json"), `${JSON.stringify(dates, null, 2)}\n`);
  console.log(`${pages.length} dates noted`);
}

if (import.meta.main) noteDates();
