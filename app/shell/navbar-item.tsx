// Items as the bar shows them. An item that fails takes the page down, and says which
// part of the configuration it is.

import { type ReactNode, useCallback, useId, useRef, useState } from "react";
import type { NavbarItem } from "../config/types.ts";
import { preferVersion } from "../docs/versions.ts";
import { SearchButton } from "../search/search-button.tsx";
import { ErrorFrame } from "./error-frame.tsx";
import { Icon } from "./icon.tsx";
import {
  itemError,
  type NavHtmlView,
  type NavLinkView,
  type NavListView,
  viewOf,
} from "./navbar-links.ts";
import { SiteLink } from "./site-link.tsx";
import { useOutside } from "./use-outside.ts";
import { usePlace } from "./use-place.ts";

/** Names the item in an error that its rendering throws. */
export function ItemFrame(props: { item: NavbarItem; children: ReactNode }): ReactNode {
  const rethrow = (error: Error): never => {
    throw itemError(props.item, error);
  };
  return <ErrorFrame fallback={rethrow}>{props.children}</ErrorFrame>;
}

export function BarItem({ item }: { readonly item: NavbarItem }): ReactNode {
  return (
    <ItemFrame item={item}>
      <BarItemView item={item} />
    </ItemFrame>
  );
}

function BarItemView({ item }: { readonly item: NavbarItem }): ReactNode {
  const view = viewOf(item, usePlace());
  switch (view.kind) {
    case "none":
      return null;
    case "search":
      return (
        <li>
          <SearchButton isCompact={false} />
        </li>
      );
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
          <Dropdown list={view} />
        </li>
      );
  }
}

export function NavLink({ link }: { readonly link: NavLinkView }): ReactNode {
  const { label, to, isActive, className, prefers } = link;
  return (
    <SiteLink
      to={to}
      className={className ?? "navbar-link"}
      {...(isActive ? { "aria-current": "true" as const } : {})}
      {...(prefers === undefined ? {} : { onClick: () => preferVersion(prefers) })}
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
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const leave = useCallback(() => setOpen(false), []);
  useOutside(frame, { isOpen, leave });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from any link within
    <div
      className="dropdown"
      ref={frame}
      onKeyDown={({ key }) => {
        if (key !== "Escape" || !isOpen) return;
        setOpen(false);
        opener.current?.focus();
      }}
    >
      <button
        type="button"
        className={list.className ?? "navbar-link"}
        ref={opener}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {list.icon !== null && <Icon name={list.icon} />}
        {list.label}
        <Icon name="down" />
      </button>
      <ul className="dropdown-menu" id={id} hidden={!isOpen}>
        {list.items.map((item) =>
          item.kind === "link" ? (
            // biome-ignore lint/a11y/useKeyWithClickEvents: a key press on a link is a click too
            <li key={item.label} onClick={leave}>
              <NavLink link={item} />
            </li>
          ) : (
            <HtmlEntry key={item.value} html={item} />
          ),
        )}
      </ul>
    </div>
  );
}
