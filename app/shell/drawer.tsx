// The menu of small screens. Where the page has a menu of its own (docs, blog), that comes first,
// and a button leads back to the main one; without code the main one stands below it.

import type { ReactNode } from "react";
import { Logo } from "../brand/logo.tsx";
import { Icon } from "./icon.tsx";
import { MainMenu, sectionMenu } from "./menus.tsx";
import { usePathname } from "./use-pathname.ts";

export const drawerId = "drawer";

export function Drawer(): ReactNode {
  const section = sectionMenu(usePathname());
  return (
    <dialog className="drawer" id={drawerId} popover="auto" aria-label="Menu">
      <div className="drawer-head bar">
        <Logo />
        <button
          type="button"
          className="icon-button drawer-close"
          aria-label="Close menu"
          popoverTarget={drawerId}
          popoverTargetAction="hide"
        >
          <Icon name="close" />
        </button>
      </div>
      {section !== null && (
        <nav className="drawer-section" aria-label="Section">
          <button type="button" className="drawer-back bar note">
            <Icon name="back" />
            Back to main menu
          </button>
          {section}
        </nav>
      )}
      <nav className="drawer-main" aria-label="Menu">
        <MainMenu />
      </nav>
    </dialog>
  );
}
