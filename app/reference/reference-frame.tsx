// The frame of all reference pages: the list of operations beside the text.

import type { ReactNode } from "react";
import { ReferenceMenu } from "./reference-menu.tsx";

export function ReferenceFrame({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="docs reference">
      <div className="docs-sidebar">
        <nav aria-label="API">
          <ReferenceMenu />
        </nav>
      </div>
      <main id="main" tabIndex={-1} className="docs-main reference-main prose">
        {children}
      </main>
    </div>
  );
}
