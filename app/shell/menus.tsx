// The items of the navigation bar as the drawer lists them, and the menu of the section that the
// page is in.

import type { ReactNode } from "react";
import { BlogMenu } from "../blog/blog-menu.tsx";
import type { NavbarItem } from "../config/types.ts";
import { DocsMenu } from "../docs/docs-menu.tsx";
import { placeOf } from "../docs/versions.ts";
import { ReferenceMenu } from "../reference/reference-menu.tsx";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";
import { HtmlEntry, keyOf, NavLink } from "./navbar-item.tsx";
import { isBelow, type NavItemView, viewOf } from "./navbar-links.ts";
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
        <DrawerItem key={keyOf(item)} view={viewOf(item, pathname)} />
      ))}
    </ul>
  );
}

/** `null` where the page has no menu of its own. */
export function sectionMenu(pathname: string): ReactNode {
  if (placeOf(pathname, siteConfig.docs.versions) !== null) return <DocsMenu />;
  if (isBelow(pathname, "/api")) return <ReferenceMenu />;
  return isBelow(pathname, siteConfig.blog.path) ? <BlogMenu /> : null;
}

function DrawerItem({ view }: { readonly view: NavItemView }): ReactNode {
  switch (view.kind) {
    case "none":
    case "search":
      return null;
    case "html":
      return <HtmlEntry html={view} />;
    case "link":
      return (
        <li>
          <NavLink link={view} />
        </li>
      );
    case "list":
      return (
        <li>
          <details open={view.isActive}>
            <summary>
              {view.menuLabel}
              <Icon name="down" />
            </summary>
            <ul>
              {view.items.map((inner) => (
                <DrawerItem key={inner.kind === "link" ? inner.label : inner.value} view={inner} />
              ))}
            </ul>
          </details>
        </li>
      );
  }
}
