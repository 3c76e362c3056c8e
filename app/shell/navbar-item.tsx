// Items of the navigation bar. A failing item fails the build with its place in the configuration.

import type { ReactNode } from "react";
import type { NavbarItem } from "../config/types.ts";
import { SearchButton } from "../search/search-button.tsx";
import { Icon } from "./icon.tsx";
import { type NavList, type NavView, viewOf } from "./navbar-links.ts";
import { SiteLink } from "./site-link.tsx";
import { usePathname } from "./use-pathname.ts";

export function keyOf(item: NavbarItem): string {
  return JSON.stringify(item);
}

export function BarItem({ item }: { readonly item: NavbarItem }): ReactNode {
  const view = viewOf(item, usePathname());
  if (view !== "search") return <Entry view={view} listOf={(list) => <Dropdown list={list} />} />;
  return (
    <li>
      <SearchButton isCompact={false} />
    </li>
  );
}

interface EntryProps {
  readonly view: NavView;
  readonly listOf: (list: NavList) => ReactNode;
}

/** Entries that bar and drawer show alike; each shows lists in its own way. */
export function Entry({ view, listOf }: EntryProps): ReactNode {
  if (view === null || view === "search") return null;
  if ("html" in view) {
    return <li className={view.className} dangerouslySetInnerHTML={{ __html: view.html }} />;
  }
  if ("entries" in view) return <li>{listOf(view)}</li>;
  const { label, to, isActive, className = "navbar-link", data } = view;
  return (
    <li>
      <SiteLink
        to={to}
        className={className}
        aria-current={isActive ? "true" : undefined}
        {...data}
      >
        {label}
        {/^[a-z]+:/.test(to) && <Icon name="out" />}
      </SiteLink>
    </li>
  );
}

function Dropdown({ list }: { readonly list: NavList }): ReactNode {
  return (
    <details className="dropdown">
      <summary className={list.className ?? "navbar-link"}>
        {list.menuLabel === "Languages" && <Icon name="language" />}
        {list.label}
        <Icon name="down" />
      </summary>
      <ul className="dropdown-menu">
        <Entries list={list} />
      </ul>
    </details>
  );
}

/** A list does not contain lists. */
export function Entries({ list }: { readonly list: NavList }): ReactNode {
  return list.entries.map((view) => (
    <Entry key={"to" in view ? view.label : view.html} view={view} listOf={() => null} />
  ));
}
