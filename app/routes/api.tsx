import type { ReactNode } from "react";
import { Island } from "../islands/island.tsx";
import { PageMeta } from "../shell/page-meta.tsx";
import "virtual:api-reference.css";
import "../reference/reference.css";

export default function Api(): ReactNode {
  return (
    <>
      <PageMeta
        title="API"
        description="Every operation of the Holdfast HTTP API: requests, replies and codes."
        path="/api"
      />
      <Island name="reference" />
    </>
  );
}
