import type { ReactNode } from "react";
import { PageMeta } from "../shell/page-meta.tsx";

interface PageHeadProps {
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly eyebrow?: string;
}

/** The title of a page of lists, on the page and in the document. */
export function PageHead({ title, description, path, eyebrow }: PageHeadProps): ReactNode {
  return (
    <header className="page-head">
      <PageMeta title={title} description={description} path={path} />
      {eyebrow !== undefined && <p className="eyebrow">{eyebrow}</p>}
      <h1>{title}</h1>
      <p className="lead">{description}</p>
    </header>
  );
}
