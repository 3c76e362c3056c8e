// The navigation bar: brand and left items, right items, the colour mode, and the drawer's button
// on small screens.

import type { ReactNode } from "react";
import { Logo } from "../brand/logo.tsx";
import { SearchButton } from "../search/search-button.tsx";
import { siteConfig } from "../site-config.ts";
import { ColorModeToggle } from "./color-mode-toggle.tsx";
import { drawerId } from "./drawer.tsx";
import { Icon } from "./icon.tsx";
import { BarItem, keyOf } from "./navbar-item.tsx";
import { SiteLink } from "./site-link.tsx";

const { items, hideOnScroll } = siteConfig.navbar;
const left = items.filter(({ position }) => position === "left");
const right = items.filter(({ position }) => position !== "left");

export function Navbar(): ReactNode {
  return (
    <header className="navbar" data-hides={hideOnScroll ? "" : undefined} data-shown="true">
      <nav className="navbar-inner frame bar" aria-label="Main">
        <SiteLink to="/" className="navbar-brand bar">
          <Logo />
        </SiteLink>
        <ul className="navbar-items note">
          {left.map((item) => (
            <BarItem key={keyOf(item)} item={item} />
          ))}
        </ul>
        <ul className="navbar-items navbar-right note">
          {right.map((item) => (
            <BarItem key={keyOf(item)} item={item} />
          ))}
          <li>
            <ColorModeToggle />
          </li>
        </ul>
        <div className="navbar-small">
          {items.some(({ type }) => type === "search") && <SearchButton isCompact={true} />}
          <ColorModeToggle />
          <button
            type="button"
            className="icon-button menu-button"
            aria-label="Menu"
            popoverTarget={drawerId}
          >
            <Icon name="menu" />
          </button>
        </div>
      </nav>
    </header>
  );
}
