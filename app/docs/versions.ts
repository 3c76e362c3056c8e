// Versions of the docs: which one an address belongs to, where the same doc is in
// another, and which one the reader prefers.

import { useSyncExternalStore } from "react";
import { routeMatchesMax } from "../config/constants.ts";
import type { DocsVersion } from "../config/types.ts";
import type { DocData } from "../content-types.ts";
import { siteConfig } from "../site-config.ts";

interface Place {
  readonly version: DocsVersion;
  /** `null` = the version's root. */
  readonly slug: string | null;
}

const places = new WeakMap<readonly DocsVersion[], Map<string, Place | null>>();

/** The version and doc of a path; `null` = no docs there. Asked many times for each page. */
export function placeOf(path: string, versions: readonly DocsVersion[]): Place | null {
  const known = places.get(versions) ?? new Map<string, Place | null>();
  places.set(versions, known);
  let place = known.get(path);
  if (place === undefined) {
    if (known.size >= routeMatchesMax) known.clear();
    place = matched(path, versions);
    known.set(path, place);
  }
  return place;
}

function matched(path: string, versions: readonly DocsVersion[]): Place | null {
  // The longest path first, because the one of the current version begins all others.
  const sorted = [...versions].sort((a, b) => b.path.length - a.path.length);
  for (const version of sorted) {
    if (path === version.path) return { version, slug: null };
    if (path.startsWith(`${version.path}/`)) {
      return { version, slug: path.slice(version.path.length + 1) };
    }
  }
  return null;
}

/** Path of the doc that is shown, in another version, or of that version's main doc. */
export function pathIn(
  version: DocsVersion,
  { slug, docs }: { readonly slug: string | null; readonly docs: readonly DocData[] },
): string {
  const hasDoc = docs.some((doc) => doc.version === version.name && doc.slug === slug);
  return `${version.path}/${hasDoc ? slug : version.mainDoc}`;
}

const storageKey = `docs.version.${siteConfig.docs.pluginId}`;
const listeners = new Set<() => void>();

export function preferVersion(name: string): void {
  try {
    localStorage.setItem(storageKey, name);
  } catch {
    // The address still tells the version.
  }
  for (const listener of listeners) listener();
}

function preferred(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The version of the address, else the preferred one, else the first. */
export function useVersion(path: string): DocsVersion {
  const { versions } = siteConfig.docs;
  const name = useSyncExternalStore(subscribe, preferred, () => null);
  const [first] = versions;
  const version =
    placeOf(path, versions)?.version ?? versions.find((known) => known.name === name) ?? first;
  if (version === undefined) throw new Error("there is no docs version");
  return version;
}
