// Code from the contract or generated from it, without highlighting.

import { Fragment, type ReactNode } from "react";
import { CodeFrame } from "../components/code-block.tsx";

interface CodeProps {
  readonly title: string;
  readonly children: string;
}

export function Code({ title, children }: CodeProps): ReactNode {
  return (
    <CodeFrame name={title}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          {children.split("\n").map((line, index) => (
            <Fragment key={index}>
              <span className="line">{line}</span>
              {"\n"}
            </Fragment>
          ))}
        </code>
      </pre>
    </CodeFrame>
  );
}
