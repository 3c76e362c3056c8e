import type { ReactNode } from "react";
import { ApiReference } from "../reference/api-reference.tsx";
import { PageMeta } from "../shell/page-meta.tsx";

export default function Api(): ReactNode {
  return (
    <>
      <PageMeta
        title="API"
        description="Every operation of the Holdfast HTTP API: requests, replies and codes."
        path="/api"
      />
      <ApiReference />
    </>
  );
}
