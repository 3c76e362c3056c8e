// The menu of small screens. If the page has its own menu (docs, blog), that is first, and a button
// leads to the main menu; without JavaScript the main menu is below it.

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
