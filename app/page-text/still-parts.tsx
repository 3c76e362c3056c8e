// What the parts of a page's text do: its links, tabs and copy buttons. One listener on
// the document stands for one on each part, so that the text need not be hydrated.

import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import { PrefetchPageLinks, useLocation, useNavigate } from "react-router";
import { copyCode } from "../components/copy-code.ts";
import { moveTab, selectTab, showRememberedTabs } from "../components/tab-groups.ts";
import { mayPrefetch } from "../shell/connection.ts";
import { isRoute } from "../shell/site-link.tsx";
import { isPlainClick } from "../shell/visit-note.ts";

/** As long as the router waits with a link that it has rendered. */
const intentMs = 100;

export function StillParts(): ReactNode {
  const { key } = useLocation();
  // With the page itself, or the first tab would show for a moment.
  useLayoutEffect(showRememberedTabs, [key]);
  useEffect(() => {
    document.addEventListener("click", pressed);
    document.addEventListener("keydown", moved);
    return () => {
      document.removeEventListener("click", pressed);
      document.removeEventListener("keydown", moved);
    };
  }, []);
  useStillLinks();
  const ahead = useIntent();
  return ahead === null ? null : <PrefetchPageLinks page={ahead} />;
}

function at({ target }: Event, selector: string): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}

function pressed(event: MouseEvent): void {
  const copy = at(event, ".code-copy");
  if (copy !== null) void copyCode(copy);
  const tab = at(event, ".tabs-list > button");
  if (tab !== null) selectTab(tab);
}

function moved(event: KeyboardEvent): void {
  const tab = at(event, ".tabs-list > button");
  if (tab !== null) moveTab(tab, event);
}

/** The path of a page of this site that the event is about. */
function pathAt(event: Event): string | null {
  const path = at(event, "[data-still] a")?.getAttribute("href") ?? "";
  return isRoute(path) ? path : null;
}

function useStillLinks(): void {
  const navigate = useNavigate();
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      const path = pathAt(event);
      if (path === null || event.defaultPrevented || !isPlainClick(event)) return;
      event.preventDefault();
      const isHere = path === location.pathname + location.search + location.hash;
      void navigate(path, { replace: isHere });
    };
    document.addEventListener("click", follow);
    return () => document.removeEventListener("click", follow);
  }, [navigate]);
}

/** The page that the reader is about to go to. */
function useIntent(): string | null {
  const [ahead, setAhead] = useState<string | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const turned = (event: Event) => {
      clearTimeout(timer);
      const path = pathAt(event);
      if (path !== null && mayPrefetch()) timer = setTimeout(() => setAhead(path), intentMs);
    };
    const kinds = ["pointerover", "focusin"] as const;
    for (const kind of kinds) document.addEventListener(kind, turned, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const kind of kinds) document.removeEventListener(kind, turned);
    };
  }, []);
  return ahead;
}
