// Resolves the navigation bar's items at an address to links and lists of links. Pure except for
// the content; an invalid item throws with its own description.

import { requireDoc, requireVersion, sidebarTarget, unknownType } from "../config/lookup.ts";
import type {
  DocsVersion,
  DropdownEntry,
  DropdownItem,
  LinkItem,
  NavbarItem,
} from "../config/types.ts";
import { docsAddressOf, pathIn, versionAt } from "../docs/versions.ts";
import { docs } from "../facts/content.ts";
import { siteConfig } from "../site-config.ts";
import { localePath } from "./locale.ts";

const { i18n, docs: docsConfig } = siteConfig;
const { versions } = docsConfig;

interface LinkContext {
  readonly pathname: string;
  /** The target version of links to docs. */
  readonly version: DocsVersion;
}

/** Properties that an item may set on its link. */
interface LinkProps {
  readonly label?: string;
  readonly className?: string;
}

export interface NavLink {
  readonly label: string;
  readonly to: string;
  readonly isActive: boolean;
  readonly className?: string | undefined;
  /** Data for `behaviours/links.ts`, such as the version to store as preferred. */
  readonly data?: Readonly<Record<`data-${string}`, string>>;
}

export interface NavHtml {
  readonly html: string;
  readonly className?: string | undefined;
}

export interface NavList {
  readonly label: string;
  /** Its label above its entries, which include the selected one. */
  readonly menuLabel: string;
  readonly entries: readonly (NavLink | NavHtml)[];
  readonly isActive: boolean;
  readonly className?: string | undefined;
}

/** `null` = not shown at this address. */
export type NavView = NavLink | NavHtml | NavList | "search" | null;

export function viewOf(item: NavbarItem, pathname: string): NavView {
  try {
    return view(item, { pathname, version: versionAt(pathname, versions) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `a navbar item failed to render; ${reason}; check this item of navbar.items in site-config.ts: ${JSON.stringify(item)}`,
      { cause },
    );
  }
}

function view(item: DropdownEntry, context: LinkContext): NavLink | NavHtml;
function view(item: NavbarItem, context: LinkContext): NavView;
function view(item: NavbarItem, context: LinkContext): NavView {
  const { pathname, version } = context;
  const isInDocs = docsAddressOf(pathname, versions) !== null;
  switch (item.type) {
    case "search":
      return "search";
    case "html":
      return { html: item.value, className: item.className };
    case undefined:
    case "default":
      return linkOf(item, pathname);
    case "dropdown":
      return dropdownOf(item, context);
    case "localeDropdown":
      return listOf(
        { ...item, label: labelOf(i18n.defaultLocale) },
        "Languages",
        locales(pathname),
      );
    case "doc": {
      const own = docs.filter((doc) => doc.version === version.name);
      return docLink(requireDoc(own, item.docId), item, context);
    }
    case "docSidebar": {
      const at = { sidebarId: item.sidebarId, version: version.name };
      return { ...docLink(sidebarTarget(siteConfig, docs, at), item, context), isActive: isInDocs };
    }
    case "docsVersion":
      return versionLink(requireVersion(siteConfig, item.version ?? version.name), item, context);
    case "docsVersionDropdown": {
      const names = item.versions ?? versions.map(({ name }) => name);
      const links = names.map((name) => versionLink(requireVersion(siteConfig, name), {}, context));
      // Meaningful only within the docs.
      return isInDocs ? listOf({ ...item, label: version.label }, "Versions", links) : null;
    }
    default:
      throw new Error(unknownType((item as { type: string }).type, item));
  }
}

function linkOf(item: LinkItem, pathname: string): NavLink {
  const { label, className } = item;
  const to = item.to ?? item.href;
  if (to === undefined) throw new Error("it has neither 'to' nor 'href'");
  return { label, to, isActive: isActiveAt(item, pathname), className };
}

function dropdownOf(item: DropdownItem, context: LinkContext): NavList {
  const { label, to, items } = item;
  const own = to === undefined ? [] : [linkOf({ label, to }, context.pathname)];
  const list = listOf(item, label, [...own, ...items.map((entry) => view(entry, context))]);
  return { ...list, isActive: list.isActive || isActiveAt(item, context.pathname) };
}

function listOf(
  { label, className }: Pick<DropdownItem, "label" | "className">,
  menuLabel: string,
  entries: NavList["entries"],
): NavList {
  const isActive = entries.some((entry) => "to" in entry && entry.isActive);
  return { label, menuLabel, entries, isActive, className };
}

function isActiveAt(item: LinkItem | DropdownItem, pathname: string): boolean {
  if (item.activeBaseRegex !== undefined) return new RegExp(item.activeBaseRegex).test(pathname);
  const base = item.activeBasePath ?? item.to;
  return base !== undefined && isBelow(pathname, base);
}

const docsKey = `docs.version.${docsConfig.pluginId}`;

/** If there are several versions, the reader's preference applies outside the docs. */
function docLink(
  { slug, label }: (typeof docs)[number],
  item: LinkProps,
  { pathname, version }: LinkContext,
): NavLink {
  const to = `${version.path}/${slug}`;
  const { className } = item;
  const link = { label: item.label ?? label, to, isActive: pathname === to, className };
  if (versions.length === 1 || docsAddressOf(pathname, versions) !== null) return link;
  const paths = versions.map((one) => [one.name, pathIn(one, { slug, docs })]);
  const data = { "data-versions": JSON.stringify(Object.fromEntries(paths)) };
  return { ...link, data: { "data-docs": docsKey, ...data } };
}

function versionLink(
  version: DocsVersion,
  item: LinkProps,
  { pathname, ...at }: LinkContext,
): NavLink {
  const slug = docsAddressOf(pathname, versions)?.slug ?? null;
  return {
    label: item.label ?? version.label,
    to: pathIn(version, { slug, docs }),
    isActive: version.name === at.version.name,
    className: item.className,
    data: { "data-docs": docsKey, "data-version": version.name },
  };
}

function labelOf(locale: string): string {
  return i18n.locales[locale]?.label ?? locale;
}

/** The same page in each locale; `data-keeps-place` preserves query and hash. */
function locales(pathname: string): readonly NavLink[] {
  const current = i18n.defaultLocale;
  return Object.keys(i18n.locales).map((target) => ({
    label: labelOf(target),
    to: localePath(pathname, { current, target, standard: current }),
    isActive: target === current,
    data: { "data-keeps-place": "" },
  }));
}

export function isBelow(path: string, base: string): boolean {
  return path === base || (base !== "/" && path.startsWith(`${base}/`));
}
