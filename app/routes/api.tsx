import { type ReactNode, useEffect } from "react";
import { StillParts } from "../page-text/still-parts.tsx";
import { startSampleTabs } from "../reference/sample-tabs.ts";
import { startTestRequests } from "../reference/test-request.ts";
import { PageMeta } from "../shell/page-meta.tsx";
import "../styles/docs.css";
import "../components/code-block.css";
import "../components/tabs.css";
import "../reference/reference.css";

/** It stands in the document; in the browser there is nothing to add to it. */
const html = import.meta.env.SSR
  ? (await import("../reference/api-reference.tsx")).apiReferenceHtml()
  : "";

export default function Api(): ReactNode {
  useEffect(startSampleTabs, []);
  useEffect(startTestRequests, []);
  return (
    <>
      <PageMeta
        title="API"
        description="Every operation of the Holdfast HTTP API: requests, replies and codes."
        path="/api"
      />
      <div
        className="docs reference"
        dangerouslySetInnerHTML={{ __html: html }}
        suppressHydrationWarning
      />
      <StillParts />
    </>
  );
}
