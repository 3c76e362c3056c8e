// After a visit within the site: moves the focus to the new content, or to the part of it that
// was asked for, and says its title, as a browser does when it loads a document.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { hashTarget } from "./hash-target.ts";
import { usePathname } from "./use-pathname.ts";

export function RouteAnnouncer(): ReactNode {
  const pathname = usePathname();
  const [title, setTitle] = useState("");
  const visited = useRef(pathname);
  useEffect(() => {
    if (visited.current === pathname) return;
    visited.current = pathname;
    const place = hashTarget(location.hash) ?? document.getElementById("main");
    // A heading takes the focus only from code; what a key reaches stays within its reach.
    if (place !== null && place.tabIndex < 0) place.tabIndex = -1;
    place?.focus({ preventScroll: true });
    setTitle(document.title);
  }, [pathname]);
  return (
    <p className="visually-hidden" aria-live="polite">
      {title}
    </p>
  );
}
