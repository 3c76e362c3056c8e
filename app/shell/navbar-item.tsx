// Items as the bar shows them. An item that fails fails the build, and says which part of the
// configuration it is.

import type { ReactNode } from "react";
import type { NavbarItem } from "../config/types.ts";
import { SearchButton } from "../search/search-button.tsx";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";
import { type NavItemView, type NavLinkView, type NavListView, viewOf } from "./navbar-links.ts";
import { SiteLink } from "./site-link.tsx";
import { usePathname } from "./use-pathname.ts";

export function keyOf(item: NavbarItem): string {
  return JSON.stringify(item);
}

export function BarItem({ item }: { readonly item: NavbarItem }): ReactNode {
  const view = viewOf(item, usePathname());
  if (view.kind === "search") {
    return (
      <li>
        <SearchButton isCompact={false} />
      </li>
    );
  }
  return <Entry view={view} listOf={(list) => <Dropdown list={list} />} />;
}

interface EntryProps {
  readonly view: NavItemView;
  readonly listOf: (list: NavListView) => ReactNode;
}

/** What bar and drawer show alike, but for lists, which each shows in its own way. */
export function Entry({ view, listOf }: EntryProps): ReactNode {
  switch (view.kind) {
    case "none":
    case "search":
      return null;
    case "html":
      return <li className={view.className} dangerouslySetInnerHTML={{ __html: view.value }} />;
    case "link":
      return (
        <li>
          <NavLink link={view} />
        </li>
      );
    case "list":
      return <li>{listOf(view)}</li>;
  }
}

function NavLink({ link }: { readonly link: NavLinkView }): ReactNode {
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

function Dropdown({ list }: { readonly list: NavListView }): ReactNode {
  return (
    <details className="dropdown">
      <summary className={list.className ?? "navbar-link"}>
        {list.icon !== null && <Icon name={list.icon} />}
        {list.label}
        <Icon name="down" />
      </summary>
      <ul className="dropdown-menu">
        <Entries list={list} />
      </ul>
    </details>
  );
}

/** A list has no lists in it. */
export function Entries({ list }: { readonly list: NavListView }): ReactNode {
  return list.items.map((view) => (
    <Entry key={view.kind === "link" ? view.label : view.value} view={view} listOf={() => null} />
  ));
}
