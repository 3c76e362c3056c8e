// Where the text of an MDX page stands.

import type { ReactNode } from "react";
import { Outlet, useMatches } from "react-router";
import { isStill, stillHtml } from "../shell/still-page.ts";
import { StillParts } from "./still-parts.tsx";

/** While the page is built; in development every page is hydrated whole. */
const isPrerendered = import.meta.env.SSR && !import.meta.env.DEV;

export function PageBody(): ReactNode {
  return (
    <>
      <Text />
      <StillParts />
    </>
  );
}

function Text(): ReactNode {
  const page = useMatches().at(-1);
  const html = stillHtml(page?.id ?? "");
  if (html !== null) {
    return (
      <div key="still" className="prose" data-still="" dangerouslySetInnerHTML={{ __html: html }} />
    );
  }
  const mark = isPrerendered && isStill(page?.handle) ? { "data-still": "" } : {};
  return (
    <div className="prose" {...mark}>
      <Outlet />
    </div>
  );
}
