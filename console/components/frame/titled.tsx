import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { PageTitle } from "../page-title.tsx";

/** The heading of a page, and of which queue it is. */
export function Titled({ title }: { readonly title: string }): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name");
  return (
    <>
      <PageTitle of={name === null ? title : `${name} · ${title}`} />
      <header className="head">
        <h1>{title}</h1>
        {name !== null && <bdi className="mono">{name}</bdi>}
      </header>
    </>
  );
}
