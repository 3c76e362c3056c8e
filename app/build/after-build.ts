// The steps after rendering: makes the files of build/site from the router's output. They are moved
// into place at the end, so that a failed build keeps the previous site.

import { copyFileSync, cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { consoleFaults } from "../../console/build/console-budget.ts";
import { writeConsole } from "../../console/build/write-console.tsx";
import { ownOrigin } from "../../server/http/site.ts";
import { missingAddresses, siteConfig } from "../site-config.ts";
import { budgetFaults } from "./budgets.ts";
import { writeCards } from "./cards.ts";
import { compressFiles } from "./compress.ts";
import { otherOrigins, pagePolicies } from "./csp.ts";
import { feedsOf } from "./feeds.ts";
import { imageFaults } from "./image-faults.ts";
import { inputsHash } from "./inputs-hash.ts";
import { writeMarkdown } from "./page-markdown.ts";
import { readPages } from "./pages.ts";
import { writeSearchData } from "./search-data.ts";
import { folders, listFiles, write, writeDraft } from "./site-folder.ts";
import { robotFiles, writeIndexes } from "./site-indexes.ts";
import { dropUnusedAssets } from "./unused-assets.ts";

const started = performance.now();
rmSync(folders.draft, { recursive: true, force: true });
cpSync(folders.rendered, folders.draft, { recursive: true });
for (const file of listFiles(folders.draft)) {
  // Loader data, which the site does not use, and an empty page that hides a 404.
  if (/\.data$|__spa-fallback|^\.vite\//.test(file)) rmSync(`${folders.draft}/${file}`);
}

dropUnusedAssets();
const pages = readPages();
const texts = writeMarkdown(pages);
writeSearchData(texts);
writeIndexes(texts);
const origin = siteConfig.url ?? ownOrigin;
const addressed = { ...feedsOf(pages, origin), ...robotFiles(pages, origin) };
for (const [path, text] of Object.entries(addressed)) {
  // Pages link to feeds on any host, so the addresses in these are relative to it.
  const isFeed = path.startsWith(siteConfig.blog.path);
  if (siteConfig.url !== null || isFeed) writeDraft(path, text.replaceAll(ownOrigin, ""));
}
await writeCards(pages);
// After every step that reads the pages, because the console is not one of them.
await writeConsole();
// The path that static hosts use.
copyFileSync(`${folders.draft}/404/index.html`, `${folders.draft}/404.html`);
const manifest = {
  inputs: inputsHash(),
  policies: pagePolicies(),
  connect: otherOrigins(),
  ownOrigin: siteConfig.url === null ? addressed : {},
};
const compressed = await compressFiles();

const faults = [budgetFaults, consoleFaults, imageFaults].flatMap((faultsOf) =>
  faultsOf(folders.draft),
);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);

write(folders.manifest, JSON.stringify(manifest));
if (existsSync(folders.site)) rmSync(folders.site, { recursive: true });
renameSync(folders.draft, folders.site);
const seconds = ((performance.now() - started) / 1_000).toFixed(1);
console.log(
  `build/site: ${pages.length} pages, ${compressed} files compressed, finished in ${seconds} s`,
);
for (const text of missingAddresses(siteConfig)) {
  console.warn(`WARNING  Not set in the environment (app/site-config.ts): ${text}.`);
}
