// The list of docs, for the sidebar and for the drawer.

import { docs } from "virtual:content";
import type { ReactNode } from "react";
import { sidebarDocs } from "../config/validate.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { siteConfig } from "../site-config.ts";
import { placeOf, useVersion } from "./versions.ts";

/** The sidebar of the version that a path belongs to; each doc is in one sidebar. */
export function docsOf(version: string) {
  const [sidebarId = "docs"] = Object.keys(siteConfig.docs.sidebars);
  return sidebarDocs(siteConfig, docs, { sidebarId, version });
}

export function DocsMenu(): ReactNode {
  const pathname = usePathname();
  const version = useVersion(pathname);
  const shown = placeOf(pathname, siteConfig.docs.versions)?.slug ?? version.mainDoc;
  return (
    <ul className="menu">
      {docsOf(version.name).map(({ slug, label }) => (
        <li key={slug}>
          <SiteLink
            to={`${version.path}/${slug}`}
            {...(slug === shown ? { "aria-current": "page" as const } : {})}
          >
            {label}
          </SiteLink>
        </li>
      ))}
    </ul>
  );
}
