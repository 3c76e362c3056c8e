// Refuses a configuration that cannot work, in words that name the faulty part.
// Pure, so that the build, the browser and tests judge alike.

import type { DocData } from "../content-types.ts";
import type {
  DocsVersion,
  DropdownEntry,
  NavbarItem,
  NavbarItemType,
  Sidebar,
  SiteConfig,
} from "./types.ts";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Every type, and whether it fits into a dropdown. */
const itemTypes: Readonly<Record<NavbarItemType, boolean>> = {
  default: true,
  dropdown: false,
  localeDropdown: false,
  search: false,
  html: true,
  doc: true,
  docSidebar: true,
  docsVersion: true,
  docsVersionDropdown: false,
};

function check(isRight: boolean, field: string, rule: { expected: string; got: unknown }): void {
  if (isRight) return;
  throw new ConfigError(`${field} is invalid; expected ${rule.expected}, got '${rule.got}'`);
}

/** Returns the configuration as it came, or throws the first fault in it. */
export function defineSite(config: SiteConfig): SiteConfig {
  const { baseUrl, url, repository, docs, navbar, i18n, analytics } = config;
  const { minHeadingLevel: low, maxHeadingLevel: high } = config.tableOfContents;
  const address = /^https?:\/\/.*[^/]$/;
  const addressRule = "an address without a slash at its end";
  check(baseUrl === "/", "baseUrl", { expected: "'/'", got: baseUrl });
  check(url === null || /^https?:\/\/[^/]+$/.test(url), "url", {
    expected: "an origin without a slash at its end",
    got: url,
  });
  check(repository === null || address.test(repository), "repository", {
    expected: addressRule,
    got: repository,
  });
  check(docs.versions.length > 0, "docs.versions", { expected: "at least one", got: "none" });
  check(i18n.locales[i18n.defaultLocale] !== undefined, "i18n.defaultLocale", {
    expected: "one of i18n.locales",
    got: i18n.defaultLocale,
  });
  check(low >= 2 && high <= 6 && low <= high, "tableOfContents", {
    expected: "levels within 2 to 6",
    got: `${low} to ${high}`,
  });
  check(analytics === null || address.test(analytics.apiUrl), "analytics.apiUrl", {
    expected: addressRule,
    got: analytics?.apiUrl,
  });
  for (const item of navbar.items) checkItem(config, item);
  return config;
}

function checkItem(config: SiteConfig, item: NavbarItem): void {
  const type = item.type ?? "default";
  if (!Object.hasOwn(itemTypes, type)) throw new ConfigError(unknownType(type, item));
  if (item.type === "dropdown") for (const entry of item.items) checkEntry(config, entry);
  if (item.type === "docsVersion" && item.version !== undefined) {
    requireVersion(config, item.version);
  }
  if (item.type === "docsVersionDropdown") {
    for (const name of item.versions ?? []) requireVersion(config, name);
  }
  if (item.type === "docSidebar") requireSidebar(config, item.sidebarId);
}

function checkEntry(config: SiteConfig, entry: DropdownEntry): void {
  checkItem(config, entry);
  const type = entry.type ?? "default";
  if (itemTypes[type]) return;
  const expected = Object.entries(itemTypes).flatMap(([name, fits]) => (fits ? [name] : []));
  throw new ConfigError(
    `navbar item does not fit into a dropdown; expected ${expected.join(", ")}, got '${type}' in ${JSON.stringify(entry)}`,
  );
}

/** An item whose type is none: also what is thrown where it would be rendered. */
export function unknownType(type: string, item: unknown): string {
  const expected = Object.keys(itemTypes).join(", ");
  return `unknown navbar item type; expected ${expected}, got '${type}' in ${JSON.stringify(item)}`;
}

function required<Value>(
  what: string,
  known: Readonly<Record<string, Value>>,
  name: string,
): Value {
  const value = Object.hasOwn(known, name) ? known[name] : undefined;
  if (value !== undefined) return value;
  const names = Object.keys(known).join(", ");
  throw new ConfigError(`${what} does not exist; expected one of ${names}, got '${name}'`);
}

export function requireVersion({ docs }: SiteConfig, name: string): DocsVersion {
  const known = Object.fromEntries(docs.versions.map((version) => [version.name, version]));
  return required("docs version", known, name);
}

function requireSidebar({ docs }: SiteConfig, id: string): Sidebar {
  return required("docs sidebar", docs.sidebars, id);
}

interface SidebarPlace {
  readonly sidebarId: string;
  readonly version: string;
}

/** The headings of a sidebar and the docs below each; a list without a heading has the label "". */
export function sidebarGroups(
  config: SiteConfig,
  docs: readonly DocData[],
  { sidebarId, version }: SidebarPlace,
): readonly { readonly label: string; readonly docs: readonly DocData[] }[] {
  const own = docs.filter((doc) => doc.version === version);
  const groups = requireSidebar(config, sidebarId);
  if (groups === "all") return [{ label: "", docs: own }];
  return groups.map(({ label, docs: slugs }) => ({
    label,
    docs: slugs.map((slug) => requireDoc(own, slug)),
  }));
}

/** The docs of a sidebar, in its order. */
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
  throw new ConfigError(`doc does not exist; got '${slug}'`);
}

/** The doc that a `docSidebar` item links to. */
export function sidebarTarget(
  config: SiteConfig,
  docs: readonly DocData[],
  at: SidebarPlace,
): DocData {
  const [first] = sidebarDocs(config, docs, at);
  if (first !== undefined) return first;
  throw new ConfigError(`docs sidebar has no link; expected at least one doc in '${at.sidebarId}'`);
}

/** The faults that show only once the content is known: the build stops at them. */
export function assertLinkable(config: SiteConfig, docs: readonly DocData[]): void {
  for (const { name, mainDoc } of config.docs.versions) {
    const own = docs.filter((doc) => doc.version === name);
    requireDoc(own, mainDoc);
    for (const item of flat(config.navbar.items)) {
      if (item.type === "doc") requireDoc(own, item.docId);
      if (item.type === "docSidebar") {
        sidebarTarget(config, docs, { sidebarId: item.sidebarId, version: name });
      }
    }
  }
}

function flat(items: readonly NavbarItem[]): readonly NavbarItem[] {
  return items.flatMap((item) => [item, ...(item.type === "dropdown" ? flat(item.items) : [])]);
}

/** What a build lacks for an address that it was not told; `null`: nothing. */
export function missingAddresses({
  url,
  repository,
}: Pick<SiteConfig, "url" | "repository">): string | null {
  const missing = [
    ...(url === null
      ? [
          "SITE_URL is not set: no canonical links, no cards; sitemap and robots.txt only from `bun start`",
        ]
      : []),
    ...(repository === null
      ? ["SITE_REPOSITORY is not set: no edit links, and GitHub leads to its front page"]
      : []),
  ];
  return missing.length === 0 ? null : `WARNING  ${missing.join(". ")}. See app/site-config.ts.`;
}
