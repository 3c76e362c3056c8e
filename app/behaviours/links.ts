// Behaviour of links: those to the page in another language keep its query and hash, those to a
// version of the docs store it as the preference, and links within the site are prefetched when the
// reader points at them.

import { speculationRules } from "./speculation-rules.ts";
import { read, store } from "./storage.ts";

interface Connected {
  readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string };
}

/** Nothing is prefetched on 2g, or when the reader saves data. */
export function mayPrefetch(connection = (navigator as Connected).connection): boolean {
  if (connection === undefined) return true;
  return connection.saveData !== true && !(connection.effectiveType ?? "").includes("2g");
}

export function startLinks(): void {
  for (const kind of ["click", "auxclick"] as const) document.addEventListener(kind, pressed);
  leadToPreferredVersion();
  if (!mayPrefetch()) return;
  const rules = document.createElement("script");
  rules.type = "speculationrules";
  rules.textContent = speculationRules;
  document.head.append(rules);
}

function pressed({ target }: MouseEvent): void {
  const link = target instanceof Element ? target.closest("a") : null;
  if (link === null) return;
  const { keepsPlace, docs, version } = link.dataset;
  if (keepsPlace !== undefined) {
    link.search = location.search;
    link.hash = location.hash;
  }
  if (docs !== undefined && version !== undefined) store(docs, version);
}

/** If the address contains no version, links to the docs lead to the preferred one. */
function leadToPreferredVersion(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-versions]")) {
    const { docs = "", versions = "{}" } = link.dataset;
    const paths = JSON.parse(versions) as Readonly<Record<string, string>>;
    link.href = paths[read(docs) ?? ""] ?? link.href;
  }
}
