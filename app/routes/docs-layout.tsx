import type { ReactNode } from "react";
import { Outlet } from "react-router";
import { DocsMenu, docsOf } from "../docs/docs-menu.tsx";
import { PageActions } from "../docs/page-actions.tsx";
import { Paging } from "../docs/paging.tsx";
import { Toc } from "../docs/toc.tsx";
import { docsAddressOf, versionAt } from "../docs/versions.ts";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePage } from "../shell/use-page.ts";
import { usePathname } from "../shell/use-pathname.ts";
import { siteConfig } from "../site-config.ts";

export default function DocsLayout(): ReactNode {
  const pathname = usePathname();
  const { frontmatter, toc, source, updated } = usePage();
  const version = versionAt(pathname, siteConfig.docs.versions);
  const slug = docsAddressOf(pathname, siteConfig.docs.versions)?.slug ?? version.mainDoc;
  const path = `${version.path}/${slug}`;
  const pages = docsOf(version.name).map((doc) => ({
    label: doc.label,
    to: `${version.path}/${doc.slug}`,
  }));
  return (
    <div className="docs docs-beside">
      <PageMeta {...frontmatter} path={path} kind="article" />
      <div className="docs-sidebar">
        <nav aria-label="Docs">
          <DocsMenu />
        </nav>
      </div>
      <main id="main" tabIndex={-1} className="docs-main">
        <article>
          <header className="docs-head">
            <p className="eyebrow">Documentation</p>
            <h1>{frontmatter.title}</h1>
            <p className="lead">{frontmatter.description}</p>
            <PageActions path={path} />
          </header>
          <Toc toc={toc} kind="inline" />
          <div className="prose">
            <Outlet />
          </div>
          <footer className="docs-foot note cluster">
            {siteConfig.editUrl !== null && (
              <a href={`${siteConfig.editUrl}/${source}`} rel="noopener">
                Edit this page
              </a>
            )}
            {updated !== null && (
              <span>
                Last updated <time dateTime={updated}>{updated}</time>
              </span>
            )}
          </footer>
          <Paging label="Docs pages" pages={pages} current={path} />
        </article>
      </main>
      <Toc toc={toc} kind="side" />
    </div>
  );
}
