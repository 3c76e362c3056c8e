// The frame of every blog page: sidebar by year, and the content.

import type { ReactNode } from "react";
import { BlogMenu } from "./blog-menu.tsx";
import "../styles/docs.css";
import "../styles/blog.css";

interface BlogFrameProps {
  readonly children: ReactNode;
  /** What stands beside the content where there is room; it comes last, and its room first. */
  readonly aside?: ReactNode;
}

export function BlogFrame({ children, aside }: BlogFrameProps): ReactNode {
  return (
    <div className={aside === undefined ? "blog" : "blog blog-beside"}>
      <div className="blog-sidebar">
        <nav aria-label="Blog posts">
          <BlogMenu />
        </nav>
      </div>
      <main id="main" tabIndex={-1} className="blog-main">
        {children}
      </main>
      {aside}
    </div>
  );
}
