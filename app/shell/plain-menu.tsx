// The menu of small screens as long as nothing can open the drawer: before the page has
// come to life, and without JavaScript.

import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Icon } from "./icon.tsx";
import { MainMenu, sectionMenu } from "./menus.tsx";
import { usePathname } from "./use-pathname.ts";

/** `leave` is called when it gives way while it is open: the drawer takes over. */
export function PlainMenu({ leave }: { readonly leave: () => void }): ReactNode {
  const frame = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    const details = frame.current;
    return () => {
      if (details?.open === true) leave();
    };
  }, [leave]);
  return (
    <details className="plain-menu" ref={frame}>
      <summary className="icon-button" aria-label="Menu">
        <Icon name="menu" />
      </summary>
      <nav aria-label="Menu">
        {sectionMenu(usePathname())}
        <MainMenu />
      </nav>
    </details>
  );
}
