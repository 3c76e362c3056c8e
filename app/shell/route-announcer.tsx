// After a visit within the site: moves the focus to the new content and says its title,
// as a browser does when it loads a document.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { usePathname } from "./use-pathname.ts";

export function RouteAnnouncer(): ReactNode {
  const pathname = usePathname();
  const [title, setTitle] = useState("");
  const visited = useRef(pathname);
  useEffect(() => {
    if (visited.current === pathname) return;
    visited.current = pathname;
    document.getElementById("main")?.focus({ preventScroll: true });
    setTitle(document.title);
  }, [pathname]);
  return (
    <p className="visually-hidden" aria-live="polite">
      {title}
    </p>
  );
}
