import type { ReactNode } from "react";
import { PageMeta } from "../shell/page-meta.tsx";
import { SiteLink } from "../shell/site-link.tsx";

/** Rendered once, at /404, and served for every unknown address. */
export default function NotFound(): ReactNode {
  return (
    <main id="main" tabIndex={-1} className="not-found frame">
      <PageMeta
        title="Page not found"
        description="There is no page at this address."
        path="/404"
        isIndexed={false}
      />
      <svg viewBox="0 0 240 120" aria-hidden="true">
        <path d="M52 18H22v84h30M188 18h30v84h-30" />
        <rect x="98" y="38" width="44" height="44" />
      </svg>
      <p className="eyebrow">404</p>
      <h1>Nothing is held here.</h1>
      <p className="lead">There is no page at this address. It may have moved, or never was.</p>
      <ul className="cluster">
        <li>
          <SiteLink to="/docs/intro">Read the documentation</SiteLink>
        </li>
        <li>
          <SiteLink to="/api">Look up a call</SiteLink>
        </li>
        <li>
          <SiteLink to="/">Go to the home page</SiteLink>
        </li>
      </ul>
    </main>
  );
}
