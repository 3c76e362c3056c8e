// The list of docs for the sidebar and the drawer.

import type { ReactNode } from "react";
import { sidebarGroups } from "../config/lookup.ts";
import { docs } from "../facts/content.ts";
import { SectionMenu } from "../shell/section-menu.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { siteConfig } from "../site-config.ts";
import { docsAddressOf, versionAt } from "./versions.ts";

/** The sidebars of a version; each doc is in exactly one. */
function groupsOf(version: string) {
  const [sidebarId = "docs"] = Object.keys(siteConfig.docs.sidebars);
  return sidebarGroups(siteConfig, docs, { sidebarId, version });
}

/** The docs of a version, in reading order. */
export function docsOf(version: string) {
  return groupsOf(version).flatMap((group) => group.docs);
}

export function DocsMenu(): ReactNode {
  const pathname = usePathname();
  const { name, path, mainDoc } = versionAt(pathname, siteConfig.docs.versions);
  const shown = docsAddressOf(pathname, siteConfig.docs.versions)?.slug ?? mainDoc;
  const groups = groupsOf(name).map((group) => ({
    label: group.label,
    links: group.docs.map(({ slug, label }) => ({ to: `${path}/${slug}`, label })),
  }));
  return <SectionMenu groups={groups} current={`${path}/${shown}`} />;
}
