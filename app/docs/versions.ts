// Versions of the docs: finds the version of an address, and the same doc in another version.

import type { DocData } from "../build/content.ts";
import { routeMatchesMax } from "../config/constants.ts";
import type { DocsVersion } from "../config/types.ts";

interface DocsAddress {
  readonly version: DocsVersion;
  /** `null` = the version's root. */
  readonly slug: string | null;
}

const addresses = new WeakMap<readonly DocsVersion[], Map<string, DocsAddress | null>>();

/** The version and doc of a path; `null` = no docs. Called many times per page. */
export function docsAddressOf(path: string, versions: readonly DocsVersion[]): DocsAddress | null {
  const known = addresses.get(versions) ?? new Map<string, DocsAddress | null>();
  addresses.set(versions, known);
  let address = known.get(path);
  if (address === undefined) {
    if (known.size >= routeMatchesMax) known.clear();
    address = matched(path, versions);
    known.set(path, address);
  }
  return address;
}

function matched(path: string, versions: readonly DocsVersion[]): DocsAddress | null {
  // Longest path first, because the current version's path is a prefix of all others.
  const sorted = [...versions].sort((a, b) => b.path.length - a.path.length);
  for (const version of sorted) {
    if (path === version.path) return { version, slug: null };
    if (path.startsWith(`${version.path}/`)) {
      return { version, slug: path.slice(version.path.length + 1) };
    }
  }
  return null;
}

/** Path of the current doc in another version, or of that version's main doc. */
export function pathIn(
  version: DocsVersion,
  { slug, docs }: { readonly slug: string | null; readonly docs: readonly DocData[] },
): string {
  const hasDoc = docs.some((doc) => doc.version === version.name && doc.slug === slug);
  return `${version.path}/${hasDoc ? slug : version.mainDoc}`;
}

/** The version of the address; otherwise the first. */
export function versionAt(path: string, versions: readonly DocsVersion[]): DocsVersion {
  const version = docsAddressOf(path, versions)?.version ?? versions[0];
  if (version === undefined) throw new Error("there is no docs version");
  return version;
}
