// What stands for Markdown's own elements on every MDX page. Components that a page
// names are in `mdx-modules.ts`.

import type { ComponentProps, ReactNode } from "react";
import { CodeBlock } from "./components/code-block.tsx";
import { SiteLink } from "./shell/site-link.tsx";

function Anchor({ href = "", ...rest }: ComponentProps<"a">): ReactNode {
  return <SiteLink to={href} {...rest} />;
}

/** Wide tables scroll by themselves, also by keyboard. */
function Table(props: ComponentProps<"table">): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <div className="table-frame" tabIndex={0}>
      <table {...props} />
    </div>
  );
}

const components = { a: Anchor, table: Table, CodeBlock };

export function useMDXComponents(): typeof components {
  return components;
}
