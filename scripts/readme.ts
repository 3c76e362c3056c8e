// `bun run readme`: writes the table of flags into README.md, from the schema of
// the configuration. A test fails while the two differ.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configReference } from "../server/config.ts";

const path = join(import.meta.dir, "../README.md");

/** The README with its generated part as it should be. */
export function withFlags(readme: string): string {
  const rows = configReference().map(
    ({ flag, meaning, default: value }) =>
      `| \`${flag}\` | ${value === "" ? "" : `\`${value}\``} | ${meaning} |`,
  );
  const table = ["| flag | default | meaning |", "|---|---|---|", ...rows].join("\n");
  return readme.replace(
    /(<!-- flags -->\n)[\s\S]*?(<!-- \/flags -->)/,
    (_, start, end) => `${start}${table}\n${end}`,
  );
}

if (import.meta.main) writeFileSync(path, withFlags(readFileSync(path, "utf8")));
