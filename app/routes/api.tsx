import type { ReactNode } from "react";
import { Overview } from "../reference/overview.tsx";
import { ReferenceFrame } from "../reference/reference-frame.tsx";
import { PageMeta } from "../shell/page-meta.tsx";

export default function Api(): ReactNode {
  return (
    <ReferenceFrame>
      <PageMeta
        title="API"
        description="Every operation of the Holdfast HTTP API, and what holds for all of them: requests, replies and codes."
        path="/api"
      />
      <Overview />
    </ReferenceFrame>
  );
}
