// `bun bench/search.ts [--rounds 20]`: the latency of the site's search for newcomers' questions,
// with the index of the built site. The goal is 10 ms per query, here and in a browser.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { folders } from "../app/build/site-folder.ts";
import { createSearch } from "../app/search/engine.ts";
import lists from "../content/search-queries.json" with { type: "json" };
import { median } from "./report/statistics.ts";

const { rounds } = parseArgs({ options: { rounds: { type: "string", default: "20" } } }).values;

await ensureBuilt();
const search = await createSearch(
  JSON.parse(readFileSync(join(folders.site, "search.json"), "utf8")),
);
const spent = lists.newcomers.map(({ query }) => {
  const times = Array.from({ length: Number(rounds) }, () => {
    const begun = performance.now();
    search(query);
    return performance.now() - begun;
  });
  return { query, ms: median(times) };
});
spent.sort((a, b) => b.ms - a.ms);
const middle = median(spent.map(({ ms }) => ms));
console.log(`${spent.length} queries, ${middle.toFixed(1)} ms in the middle; the slowest:`);
for (const { query, ms } of spent.slice(0, 3)) console.log(`${ms.toFixed(1)} ms  ${query}`);
