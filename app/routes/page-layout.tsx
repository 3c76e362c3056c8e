import type { ReactNode } from "react";
import { Outlet } from "react-router";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePage } from "../shell/use-page.ts";
import { usePathname } from "../shell/use-pathname.ts";

export default function PageLayout(): ReactNode {
  const pathname = usePathname();
  const { frontmatter } = usePage();
  return (
    <main id="main" tabIndex={-1} className="page-narrow">
      <PageMeta {...frontmatter} path={pathname} />
      <header className="docs-head">
        <h1>{frontmatter.title}</h1>
        <p className="lead">{frontmatter.description}</p>
      </header>
      <div className="prose">
        <Outlet />
      </div>
    </main>
  );
}
