import type { ReactNode } from "react";
import { useRouteError, useSearchParams } from "react-router";
import { Button } from "../button.tsx";
import { PageHead } from "./page-head.tsx";

/** Replaces a page that has crashed. */
export function Crashed(): ReactNode {
  const error = useRouteError();
  return (
    <div className="login">
      <h1>This page crashed</h1>
      <p className="mono" role="alert">
        {error instanceof Error ? error.message : String(error)}
      </p>
      <p>
        <Button look="go" onClick={() => location.reload()}>
          Load it again
        </Button>
      </p>
    </div>
  );
}

/** A page without content, with the name of the queue that its address contains. */
export function Titled({ title }: { readonly title: string }): ReactNode {
  const name = useSearchParams()[0].get("name");
  return <PageHead title={title}>{name !== null && <bdi className="mono">{name}</bdi>}</PageHead>;
}
