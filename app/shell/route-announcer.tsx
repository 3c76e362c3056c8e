// After a visit within the site: moves the focus to the new content, or to the part of it that
// was asked for, and says its title, as a browser does when it loads a document.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { usePathname } from "./use-pathname.ts";

export function RouteAnnouncer(): ReactNode {
  const pathname = usePathname();
  const [title, setTitle] = useState("");
  const visited = useRef(pathname);
  useEffect(() => {
    if (visited.current === pathname) return;
    visited.current = pathname;
    const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const place = asked ?? document.getElementById("main");
    // A heading takes the focus only from code.
    place?.setAttribute("tabindex", "-1");
    place?.focus({ preventScroll: true });
    setTitle(document.title);
  }, [pathname]);
  return (
    <p className="visually-hidden" aria-live="polite">
      {title}
    </p>
  );
}
