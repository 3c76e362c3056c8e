// What stands for Markdown's own elements on every MDX page. Components that a page
// names are in `mdx-modules.ts`.

import type { ComponentProps, ReactNode } from "react";
import { CodeBlock } from "./components/code-block.tsx";
import { Table } from "./components/table.tsx";
import { SiteLink } from "./shell/site-link.tsx";

function Anchor({ href = "", ...rest }: ComponentProps<"a">): ReactNode {
  return <SiteLink to={href} {...rest} />;
}

const components = { a: Anchor, table: Table, CodeBlock };

export function useMDXComponents(): typeof components {
  return components;
}
