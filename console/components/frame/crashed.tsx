import type { ReactNode } from "react";
import { useRouteError } from "react-router";
import { Button } from "../button.tsx";

/** In the place of a page that has a fault. */
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
