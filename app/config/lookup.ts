// Looks up names in the configuration: versions and sidebars of docs, docs, types of items. Every
// page uses it when rendered, so an unknown name fails the build.

import type { DocData } from "../build/content.ts";
import type { DocsVersion, NavbarItemType, SiteConfig } from "./types.ts";

const itemTypes: readonly NavbarItemType[] = [
  "default",
  "dropdown",
  "localeDropdown",
  "search",
  "html",
  "doc",
  "docSidebar",
  "docsVersion",
  "docsVersionDropdown",
];

/** The error text for an item of unknown type. */
export function unknownType(type: string, item: unknown): string {
  return `unknown navbar item type; expected ${itemTypes.join(", ")}, got '${type}' in ${JSON.stringify(item)}`;
}

export function requireVersion({ docs }: SiteConfig, name: string): DocsVersion {
  const version = docs.versions.find((known) => known.name === name);
  if (version !== undefined) return version;
  const names = docs.versions.map((known) => known.name).join(", ");
  throw new Error(`docs version does not exist; expected one of ${names}, got '${name}'`);
}

interface SidebarPlace {
  readonly sidebarId: string;
  readonly version: string;
}

/** The headings of a sidebar with their docs. */
export function sidebarGroups(
  config: SiteConfig,
  docs: readonly DocData[],
  { sidebarId, version }: SidebarPlace,
): readonly { readonly label: string; readonly docs: readonly DocData[] }[] {
  const { sidebars } = config.docs;
  const groups = sidebars[sidebarId];
  if (groups === undefined) {
    const names = Object.keys(sidebars).join(", ");
    throw new Error(`docs sidebar does not exist; expected one of ${names}, got '${sidebarId}'`);
  }
  const own = docs.filter((doc) => doc.version === version);
  return groups.map(({ label, docs: slugs }) => ({
    label,
    docs: slugs.map((slug) => requireDoc(own, slug)),
  }));
}

/** The docs of a sidebar, in order. */
export function sidebarDocs(
  config: SiteConfig,
  docs: readonly DocData[],
  place: SidebarPlace,
): readonly DocData[] {
  return sidebarGroups(config, docs, place).flatMap((group) => group.docs);
}

export function requireDoc(docs: readonly DocData[], slug: string): DocData {
  const doc = docs.find((candidate) => candidate.slug === slug);
  if (doc !== undefined) return doc;
  throw new Error(`doc does not exist; got '${slug}'`);
}

/** The target doc of a `docSidebar` item. */
export function sidebarTarget(
  config: SiteConfig,
  docs: readonly DocData[],
  at: SidebarPlace,
): DocData {
  const [first] = sidebarDocs(config, docs, at);
  if (first !== undefined) return first;
  throw new Error(`docs sidebar has no link; expected at least one doc in '${at.sidebarId}'`);
}
