// The menu of small screens. Where the page has a menu of its own (docs, blog), that
// comes first, and a button leads back to the main one.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Logo } from "../brand/logo.tsx";
import { desktopWidthMin } from "../config/constants.ts";
import { Icon } from "./icon.tsx";
import { MainMenu, sectionMenu } from "./menus.tsx";
import { Modal } from "./modal.tsx";
import { usePathname } from "./use-pathname.ts";

interface DrawerProps {
  readonly isOpen: boolean;
  readonly close: () => void;
}

export function Drawer({ isOpen, close }: DrawerProps): ReactNode {
  const pathname = usePathname();
  const visited = useRef(pathname);

  // A visit ends it; so does a window wide enough for the bar.
  useEffect(() => {
    if (visited.current !== pathname) close();
    visited.current = pathname;
  }, [pathname, close]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const wide = matchMedia(`(min-width: ${desktopWidthMin + 1}px)`);
    wide.addEventListener("change", close);
    return () => wide.removeEventListener("change", close);
  }, [isOpen, close]);

  return (
    <Modal className="drawer" label="Menu" isOpen={isOpen} close={close}>
      {isOpen && <DrawerPanel pathname={pathname} close={close} />}
    </Modal>
  );
}

function DrawerPanel({ pathname, close }: { pathname: string; close: () => void }): ReactNode {
  const [isMain, setMain] = useState(false);
  const secondary = sectionMenu(pathname);
  return (
    <div className="drawer-panel">
      <div className="drawer-head">
        <Logo />
        <button type="button" className="icon-button" aria-label="Close menu" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {secondary !== null && !isMain ? (
        <nav aria-label="Section">
          <button type="button" className="drawer-back" onClick={() => setMain(true)}>
            <Icon name="back" />
            Back to main menu
          </button>
          {secondary}
        </nav>
      ) : (
        <nav aria-label="Main">
          <MainMenu />
        </nav>
      )}
    </div>
  );
}
