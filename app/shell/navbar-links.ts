// What the items of the navigation bar come to at an address: links, and lists of
// links. Pure but for the content; a faulty item throws and names itself.

import { docs } from "virtual:content";
import type {
  DocsVersion,
  DropdownEntry,
  DropdownItem,
  LinkItem,
  NavbarItem,
} from "../config/types.ts";
import { requireDoc, requireVersion, sidebarTarget, unknownType } from "../config/validate.ts";
import type { DocData } from "../content-types.ts";
import { pathIn, placeOf, versionAt } from "../docs/versions.ts";
import { siteConfig } from "../site-config.ts";
import { localePath } from "./locale.ts";

interface Place {
  readonly pathname: string;
  /** The version that links to docs lead to. */
  readonly version: DocsVersion;
}

export interface NavLinkView {
  readonly kind: "link";
  readonly label: string;
  readonly to: string;
  readonly isActive: boolean;
  readonly className?: string | undefined;
  /** The docs version that the link leads to, to be preferred from then on. */
  readonly version?: string;
  /** Outside of the docs: where it leads in each version, by the reader's preference. */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  /** Whether it leads to the same page, with the query and the hash that it has. */
  readonly keepsPlace?: boolean;
}

export interface NavHtmlView {
  readonly kind: "html";
  readonly value: string;
  readonly className?: string | undefined;
}

export interface NavListView {
  readonly kind: "list";
  readonly label: string;
  /** What it is called above its own items: the chosen one is among them. */
  readonly menuLabel: string;
  readonly icon: "language" | null;
  readonly items: readonly (NavLinkView | NavHtmlView)[];
  readonly isActive: boolean;
  readonly className?: string | undefined;
}

export type NavItemView =
  | NavLinkView
  | NavListView
  | { readonly kind: "search" }
  | NavHtmlView
  | { readonly kind: "none" };

export class NavbarItemError extends Error {
  override readonly name = "NavbarItemError";
}

/** An error of an item, told with the item's configuration, once. */
function itemError(item: NavbarItem, cause: unknown): NavbarItemError {
  if (cause instanceof NavbarItemError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NavbarItemError(
    `a navbar item failed to render; ${reason}; check this item of navbar.items in site-config.ts: ${JSON.stringify(item)}`,
    { cause },
  );
}

export function viewOf(item: DropdownEntry, pathname: string): NavLinkView | NavHtmlView;
export function viewOf(item: NavbarItem, pathname: string): NavItemView;
export function viewOf(item: NavbarItem, pathname: string): NavItemView {
  try {
    return view(item, { pathname, version: versionAt(pathname, siteConfig.docs.versions) });
  } catch (error) {
    throw itemError(item, error);
  }
}

function view(item: NavbarItem, place: Place): NavItemView {
  switch (item.type) {
    case "dropdown":
      return dropdownView(item, place);
    case "search":
      return { kind: "search" };
    case "localeDropdown":
      return {
        ...listView(localeLabel(), localeLinks(place), item),
        menuLabel: "Languages",
        icon: "language",
      };
    case "docsVersionDropdown": {
      const names = item.versions ?? siteConfig.docs.versions.map(({ name }) => name);
      const versions = names.map((name) => requireVersion(siteConfig, name));
      // It says something only among docs.
      if (placeOf(place.pathname, siteConfig.docs.versions) === null) return { kind: "none" };
      const links = versions.map((version) => versionLink(version, { item: {}, place }));
      return { ...listView(place.version.label, links, item), menuLabel: "Versions" };
    }
    case undefined:
    case "default":
      return linkView(item, place);
    case "html":
      return { kind: "html", value: item.value, className: item.className };
    case "doc": {
      const own = docs.filter((doc) => doc.version === place.version.name);
      return docLink(requireDoc(own, item.docId), { item, place });
    }
    case "docSidebar": {
      const at = { sidebarId: item.sidebarId, version: place.version.name };
      const link = docLink(sidebarTarget(siteConfig, docs, at), { item, place });
      return { ...link, isActive: placeOf(place.pathname, siteConfig.docs.versions) !== null };
    }
    case "docsVersion": {
      const version =
        item.version === undefined ? place.version : requireVersion(siteConfig, item.version);
      return versionLink(version, { item, place });
    }
    default:
      throw new Error(unknownType((item as { type: string }).type, item));
  }
}

function dropdownView(item: DropdownItem, place: Place): NavListView {
  const { label, to, items } = item;
  const own = to === undefined ? [] : [linkView({ label, to }, place)];
  const list = listView(
    label,
    [...own, ...items.map((entry) => viewOf(entry, place.pathname))],
    item,
  );
  return { ...list, isActive: list.isActive || isActiveAt(item, place) };
}

function linkView(item: LinkItem, place: Place): NavLinkView {
  const { label, className } = item;
  const to = item.to ?? item.href;
  if (to === undefined) throw new Error("it has neither 'to' nor 'href'");
  return { kind: "link", label, to, isActive: isActiveAt(item, place), className };
}

function isActiveAt(item: LinkItem | DropdownItem, { pathname }: Place): boolean {
  if (item.activeBaseRegex !== undefined) return new RegExp(item.activeBaseRegex).test(pathname);
  const base = item.activeBasePath ?? item.to;
  return base !== undefined && isBelow(pathname, base);
}

/** What an item may say of the link that it comes to. */
interface Linked {
  readonly item: { readonly label?: string; readonly className?: string };
  readonly place: Place;
}

function docLink(doc: DocData, { item, place }: Linked): NavLinkView {
  const to = `${place.version.path}/${doc.slug}`;
  const { label = doc.label, className } = item;
  const { versions } = siteConfig.docs;
  const isChoice = versions.length > 1 && placeOf(place.pathname, versions) === null;
  const paths = versions.map((one) => [one.name, pathIn(one, { slug: doc.slug, docs })]);
  return {
    kind: "link",
    label,
    to,
    isActive: place.pathname === to,
    className,
    versions: isChoice ? Object.fromEntries(paths) : undefined,
  };
}

function versionLink(version: DocsVersion, { item, place }: Linked): NavLinkView {
  const slug = placeOf(place.pathname, siteConfig.docs.versions)?.slug ?? null;
  return {
    kind: "link",
    label: item.label ?? version.label,
    to: pathIn(version, { slug, docs }),
    isActive: version.name === place.version.name,
    className: item.className,
    version: version.name,
  };
}

function localeLabel(): string {
  const { locales, defaultLocale } = siteConfig.i18n;
  return locales[defaultLocale]?.label ?? defaultLocale;
}

function localeLinks({ pathname }: Place): readonly NavLinkView[] {
  const { locales, defaultLocale } = siteConfig.i18n;
  return Object.entries(locales).map(([target, { label }]) => ({
    kind: "link",
    label,
    to: localePath(pathname, { current: defaultLocale, target, standard: defaultLocale }),
    isActive: target === defaultLocale,
    keepsPlace: true,
  }));
}

function listView(
  label: string,
  items: NavListView["items"],
  { className }: { readonly className?: string },
): NavListView {
  const isActive = items.some((item) => item.kind === "link" && item.isActive);
  return { kind: "list", label, menuLabel: label, icon: null, items, isActive, className };
}

export function isBelow(path: string, base: string): boolean {
  return path === base || (base !== "/" && path.startsWith(`${base}/`));
}
