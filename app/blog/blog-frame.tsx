// The frame of every blog page: sidebar by year, and the content.

import type { ReactNode } from "react";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { BlogMenu } from "./blog-menu.tsx";

interface BlogFrameProps {
  readonly children: ReactNode;
  /**
   * Content beside the main content if there is space. It is last in the document, but its space is
   * reserved first.
   */
  readonly aside?: ReactNode;
}

export function BlogFrame({ children, aside }: BlogFrameProps): ReactNode {
  return (
    <div className={aside === undefined ? "docs" : "docs docs-beside"}>
      <div className="docs-sidebar">
        <nav aria-label="Blog posts">
          <BlogMenu />
        </nav>
      </div>
      <main id="main" tabIndex={-1} className="docs-main">
        {children}
      </main>
      {aside}
    </div>
  );
}

interface BlogPageProps {
  readonly title: string;
  readonly description: string;
  readonly eyebrow?: string;
  readonly children: ReactNode;
}

/** A list page, with its title on the page and in the document. */
export function BlogPage({ children, eyebrow, ...meta }: BlogPageProps): ReactNode {
  return (
    <BlogFrame>
      <header className="docs-head">
        <PageMeta {...meta} path={usePathname()} />
        {eyebrow !== undefined && <p className="eyebrow">{eyebrow}</p>}
        <h1>{meta.title}</h1>
        <p className="lead">{meta.description}</p>
      </header>
      {children}
    </BlogFrame>
  );
}
