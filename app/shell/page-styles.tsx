// Stylesheets of the routes that are shown. Those of the first page are in its HTML
// (`build/inline-styles.ts`); the ones of pages visited later are loaded before the
// page shows, which React does for a link with a precedence.

import { type ReactNode, useContext } from "react";
import { Links, UNSAFE_FrameworkContext, useMatches } from "react-router";

function inlined(): ReadonlySet<string> {
  if (typeof document === "undefined") return new Set();
  const styles = document.querySelectorAll<HTMLElement>("style[data-from]");
  return new Set([...styles].map(({ dataset }) => dataset["from"] ?? ""));
}

export function PageStyles(): ReactNode {
  return import.meta.env.DEV ? <Links /> : <RouteStyles />;
}

function RouteStyles(): ReactNode {
  const routes = useContext(UNSAFE_FrameworkContext)?.manifest.routes ?? {};
  const known = inlined();
  const ids = ["root", ...useMatches().map(({ id }) => id)];
  const hrefs = new Set(ids.flatMap((id) => routes[id]?.css ?? []));
  return [...hrefs]
    .filter((href) => !known.has(href))
    .map((href) => <link key={href} rel="stylesheet" href={href} precedence="page" />);
}
