// An operation of the API, by the address.

import type { ReactNode } from "react";
import { Operation } from "../reference/operation.tsx";
import { firstSentence, operationPath, operations } from "../reference/operations.ts";
import { ReferenceFrame } from "../reference/reference-frame.tsx";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePathname } from "../shell/use-pathname.ts";

export default function ApiOperation(): ReactNode {
  const pathname = usePathname();
  const operation = operations.find((one) => operationPath(one) === pathname);
  if (operation === undefined) throw new Error(`there is no operation at '${pathname}'`);
  return (
    <ReferenceFrame>
      <PageMeta
        title={`${operation.summary}: ${operation.path.replace("/v1/", "")}`}
        description={firstSentence(operation).replaceAll("`", "")}
        path={pathname}
      />
      <Operation operation={operation} />
    </ReferenceFrame>
  );
}
