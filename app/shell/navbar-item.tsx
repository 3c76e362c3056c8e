// Items as the bar shows them. An item that fails fails the build, and says which part of the
// configuration it is.

import type { ReactNode } from "react";
import type { NavbarItem } from "../config/types.ts";
import { SearchButton } from "../search/search-button.tsx";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";
import { type NavHtmlView, type NavLinkView, type NavListView, viewOf } from "./navbar-links.ts";
import { SiteLink } from "./site-link.tsx";
import { usePathname } from "./use-pathname.ts";

export function keyOf(item: NavbarItem): string {
  return JSON.stringify(item);
}

export function BarItem({ item }: { readonly item: NavbarItem }): ReactNode {
  const view = viewOf(item, usePathname());
  switch (view.kind) {
    case "none":
      return null;
    case "html":
      return <HtmlEntry html={view} />;
    case "search":
      return (
        <li>
          <SearchButton isCompact={false} />
        </li>
      );
    case "link":
      return (
        <li>
          <NavLink link={view} />
        </li>
      );
    case "list":
      return (
        <li>
          <Dropdown list={view} />
        </li>
      );
  }
}

export function NavLink({ link }: { readonly link: NavLinkView }): ReactNode {
  const { label, to, isActive, className, version, versions, keepsPlace } = link;
  const isOfDocs = version !== undefined || versions !== undefined;
  return (
    <SiteLink
      to={to}
      className={className ?? "navbar-link"}
      aria-current={isActive ? "true" : undefined}
      data-docs={isOfDocs ? `docs.version.${siteConfig.docs.pluginId}` : undefined}
      data-version={version}
      data-versions={versions === undefined ? undefined : JSON.stringify(versions)}
      data-keeps-place={keepsPlace === true ? "" : undefined}
    >
      {label}
      {/^[a-z]+:/.test(to) && <Icon name="out" />}
    </SiteLink>
  );
}

export function HtmlEntry({ html }: { readonly html: NavHtmlView }): ReactNode {
  const { value, className } = html;
  return <li className={className} dangerouslySetInnerHTML={{ __html: value }} />;
}

function Dropdown({ list }: { readonly list: NavListView }): ReactNode {
  return (
    <details className="dropdown">
      <summary className={list.className ?? "navbar-link"}>
        {list.icon !== null && <Icon name={list.icon} />}
        {list.label}
        <Icon name="down" />
      </summary>
      <ul className="dropdown-menu">
        {list.items.map((item) =>
          item.kind === "link" ? (
            <li key={item.label}>
              <NavLink link={item} />
            </li>
          ) : (
            <HtmlEntry key={item.value} html={item} />
          ),
        )}
      </ul>
    </details>
  );
}
