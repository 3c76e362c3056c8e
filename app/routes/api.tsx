// The API reference: the operation of the address, or the list of all.

import type { ReactNode } from "react";
import { Operation } from "../reference/operation.tsx";
import { firstSentence, operationPath, operations } from "../reference/operations.ts";
import { Overview } from "../reference/overview.tsx";
import { ReferenceFrame } from "../reference/reference-frame.tsx";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePathname } from "../shell/use-pathname.ts";

export default function Api(): ReactNode {
  const path = usePathname();
  const operation = operations.find((one) => operationPath(one) === path);
  if (operation !== undefined) {
    return (
      <ReferenceFrame>
        <PageMeta
          title={`${operation.summary}: ${operation.path.replace("/v1/", "")}`}
          description={firstSentence(operation).replaceAll("`", "")}
          path={path}
        />
        <Operation operation={operation} />
      </ReferenceFrame>
    );
  }
  return (
    <ReferenceFrame>
      <PageMeta
        title="API"
        description="Every operation of the Holdfast HTTP API, and what holds for all of them: requests, replies and codes."
        path={path}
      />
      <Overview />
    </ReferenceFrame>
  );
}
