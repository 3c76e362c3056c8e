// What the items of the navigation bar come to at an address: links, and lists of
// links. Pure but for the content; a faulty item throws and names itself.

import { docs } from "virtual:content";
import type { DocsVersion, LinkItem, NavbarItem } from "../config/types.ts";
import { requireDoc, requireVersion, sidebarTarget, unknownType } from "../config/validate.ts";
import { pathIn, placeOf } from "../docs/versions.ts";
import { siteConfig } from "../site-config.ts";
import { localePath } from "./locale.ts";

export interface Place {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  /** The version that links to docs lead to. */
  readonly version: DocsVersion;
}

export interface NavLinkView {
  readonly kind: "link";
  readonly label: string;
  readonly to: string;
  readonly isActive: boolean;
  readonly className: string;
  /** The docs version that the link leads to, to be preferred from then on. */
  readonly prefers?: string;
}

export interface NavListView {
  readonly kind: "list";
  readonly label: string;
  readonly icon: "language" | null;
  readonly items: readonly NavItemView[];
  readonly isActive: boolean;
}

export type NavItemView =
  | NavLinkView
  | NavListView
  | { readonly kind: "search" }
  | { readonly kind: "html"; readonly value: string }
  | { readonly kind: "none" };

export class NavbarItemError extends Error {
  override readonly name = "NavbarItemError";
}

/** An error of an item, told with the item's configuration, once. */
export function itemError(item: NavbarItem, cause: unknown): NavbarItemError {
  if (cause instanceof NavbarItemError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NavbarItemError(
    `a navbar item failed to render; ${reason}; check this item of navbar.items in site-config.ts: ${JSON.stringify(item)}`,
    { cause },
  );
}

export function viewOf(item: NavbarItem, place: Place): NavItemView {
  try {
    return view(item, place);
  } catch (error) {
    throw itemError(item, error);
  }
}

function view(item: NavbarItem, place: Place): NavItemView {
  switch (item.type) {
    case undefined:
    case "default":
      return linkView(item, place);
    case "dropdown":
      return listView(
        item.label,
        item.items.map((inner) => viewOf(inner, place)),
      );
    case "search":
      return { kind: "search" };
    case "html":
      return { kind: "html", value: item.value };
    case "doc": {
      const own = docs.filter((doc) => doc.version === place.version.name);
      const doc = requireDoc(own, item.docId);
      return docLink(item.label ?? doc.label, `${place.version.path}/${doc.slug}`, place);
    }
    case "docSidebar": {
      const { name, path } = place.version;
      const doc = sidebarTarget(siteConfig, docs, { sidebarId: item.sidebarId, version: name });
      const link = docLink(item.label ?? doc.label, `${path}/${doc.slug}`, place);
      return { ...link, isActive: placeOf(place.pathname, siteConfig.docs.versions) !== null };
    }
    case "docsVersion": {
      const version =
        item.version === undefined ? place.version : requireVersion(siteConfig, item.version);
      return versionLink(version, item.label ?? version.label, place);
    }
    case "docsVersionDropdown": {
      const names = item.versions ?? siteConfig.docs.versions.map(({ name }) => name);
      const versions = names.map((name) => requireVersion(siteConfig, name));
      // It says something only among docs.
      if (placeOf(place.pathname, siteConfig.docs.versions) === null) return { kind: "none" };
      return listView(
        place.version.label,
        versions.map((version) => versionLink(version, version.label, place)),
      );
    }
    case "localeDropdown":
      return { ...listView(localeLabel(), localeLinks(place)), icon: "language" };
    default:
      throw new Error(unknownType((item as { type: string }).type, item));
  }
}

function linkView(item: LinkItem, { pathname }: Place): NavLinkView {
  const to = item.to ?? item.href;
  if (to === undefined) throw new Error("it has neither 'to' nor 'href'");
  const base = item.activeBasePath ?? item.to;
  const isActive =
    item.activeBaseRegex === undefined
      ? base !== undefined && isBelow(pathname, base)
      : new RegExp(item.activeBaseRegex).test(pathname);
  return { kind: "link", label: item.label, to, isActive, className: item.className ?? "" };
}

function docLink(label: string, to: string, { pathname }: Place): NavLinkView {
  return { kind: "link", label, to, isActive: pathname === to, className: "" };
}

function versionLink(version: DocsVersion, label: string, place: Place): NavLinkView {
  const slug = placeOf(place.pathname, siteConfig.docs.versions)?.slug ?? null;
  return {
    kind: "link",
    label,
    to: pathIn(version, { slug, docs }),
    isActive: version.name === place.version.name,
    className: "",
    prefers: version.name,
  };
}

function localeLabel(): string {
  const { locales, defaultLocale } = siteConfig.i18n;
  return locales[defaultLocale]?.label ?? defaultLocale;
}

function localeLinks(place: Place): readonly NavLinkView[] {
  const { locales, defaultLocale } = siteConfig.i18n;
  return Object.entries(locales).map(([target, { label }]) => ({
    kind: "link",
    label,
    to: localePath(place, { current: defaultLocale, target, standard: defaultLocale }),
    isActive: target === defaultLocale,
    className: "",
  }));
}

function listView(label: string, items: readonly NavItemView[]): NavListView {
  const isActive = items.some((item) => "isActive" in item && item.isActive);
  return { kind: "list", label, icon: null, items, isActive };
}

function isBelow(path: string, base: string): boolean {
  return path === base || (base !== "/" && path.startsWith(`${base}/`));
}
