// The navigation bar: brand and left items, right items, the colour mode, and on small
// screens the button of the drawer.

import { type ReactNode, useCallback, useState } from "react";
import { Link } from "react-router";
import { Logo } from "../brand/logo.tsx";
import type { NavbarItem } from "../config/types.ts";
import { SearchButton } from "../search/search-button.tsx";
import { siteConfig } from "../site-config.ts";
import { ColorModeToggle } from "./color-mode-toggle.tsx";
import { Drawer } from "./drawer.tsx";
import { Icon } from "./icon.tsx";
import { BarItem } from "./navbar-item.tsx";
import { useNavbarShown } from "./navbar-visibility.ts";
import { PlainMenu } from "./plain-menu.tsx";
import { useMounted } from "./use-mounted.ts";

const navbarHeight = 60;
const { items } = siteConfig.navbar;
const left = items.filter(({ position }) => position === "left");
const right = items.filter(({ position }) => position !== "left");
const isSearch = ({ type }: NavbarItem) => type === "search";

export function Navbar(): ReactNode {
  const isShown = useNavbarShown(navbarHeight);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const openDrawer = useCallback(() => setDrawerOpen(true), []);
  return (
    <header className="navbar" data-shown={isShown || isDrawerOpen}>
      <nav className="navbar-inner" aria-label="Main">
        <Link to="/" discover="none" className="navbar-brand">
          <Logo />
        </Link>
        <ul className="navbar-items">
          {left.map((item) => (
            <BarItem key={keyOf(item)} item={item} />
          ))}
        </ul>
        <ul className="navbar-items navbar-right">
          {right.map((item) => (
            <BarItem key={keyOf(item)} item={item} />
          ))}
          <li>
            <ColorModeToggle />
          </li>
        </ul>
        <div className="navbar-small">
          {items.some(isSearch) && <SearchButton isCompact={true} />}
          <ColorModeToggle />
          <MenuButton isOpen={isDrawerOpen} open={openDrawer} />
        </div>
      </nav>
      <Drawer isOpen={isDrawerOpen} close={() => setDrawerOpen(false)} />
    </header>
  );
}

interface MenuButtonProps {
  readonly isOpen: boolean;
  readonly open: () => void;
}

function MenuButton({ isOpen, open }: MenuButtonProps): ReactNode {
  if (!useMounted()) return <PlainMenu leave={open} />;
  return (
    <button
      type="button"
      className="icon-button menu-button"
      aria-label="Menu"
      aria-expanded={isOpen}
      onClick={open}
    >
      <Icon name="menu" />
    </button>
  );
}

function keyOf(item: NavbarItem): string {
  return JSON.stringify(item);
}
