// The navigation bar's items as listed in the drawer, and the menu of the current section.

import type { ReactNode } from "react";
import { BlogMenu } from "../blog/blog-menu.tsx";
import type { NavbarItem } from "../config/types.ts";
import { DocsMenu } from "../docs/docs-menu.tsx";
import { docsAddressOf } from "../docs/versions.ts";
import { ReferenceMenu } from "../reference/reference-menu.tsx";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";
import { Entries, Entry, keyOf } from "./navbar-item.tsx";
import { isBelow, type NavList, viewOf } from "./navbar-links.ts";
import { usePathname } from "./use-pathname.ts";

export function MainMenu({
  items = siteConfig.navbar.items,
}: {
  readonly items?: readonly NavbarItem[];
}): ReactNode {
  const pathname = usePathname();
  return (
    <ul className="drawer-items">
      {items.map((item) => (
        <Entry
          key={keyOf(item)}
          view={viewOf(item, pathname)}
          listOf={(list) => <Folded list={list} />}
        />
      ))}
    </ul>
  );
}

/** `null` if the page has no menu of its own. */
export function sectionMenu(pathname: string): ReactNode {
  if (docsAddressOf(pathname, siteConfig.docs.versions) !== null) return <DocsMenu />;
  if (isBelow(pathname, "/api")) return <ReferenceMenu />;
  return isBelow(pathname, siteConfig.blog.path) ? <BlogMenu /> : null;
}

function Folded({ list }: { readonly list: NavList }): ReactNode {
  return (
    <details open={list.isActive}>
      <summary>
        {list.menuLabel}
        <Icon name="down" />
      </summary>
      <ul>
        <Entries list={list} />
      </ul>
    </details>
  );
}
