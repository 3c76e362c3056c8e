// The frame of every blog page: sidebar by year, and the content.

import type { ReactNode } from "react";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { BlogMenu } from "./blog-menu.tsx";

interface BlogFrameProps {
  readonly children: ReactNode;
  /** What stands beside the content where there is room; it comes last, and its room first. */
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

/** A page of lists, with its title on the page and in the document. */
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
