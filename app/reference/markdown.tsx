// Renders the contract's Markdown to elements at build time.

import { evaluateSync } from "@mdx-js/mdx";
import { type ComponentProps, Fragment, isValidElement, type ReactNode } from "react";
import * as runtime from "react/jsx-runtime";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import { rehypeCellLabels } from "../build/rehype-cell-labels.ts";
import { Table } from "../components/table.tsx";
import { Code } from "./code.tsx";

interface MarkdownProps {
  readonly text: string;
  /** It is within a paragraph, and contains only plain text and code. */
  readonly isInline?: boolean;
}

export function Markdown({ text, isInline = false }: MarkdownProps): ReactNode {
  const { default: Content } = evaluateSync(text, {
    ...runtime,
    format: "md",
    remarkPlugins: [remarkGfm],
    rehypePlugins: [rehypeSlug, rehypeCellLabels],
  });
  const plain = { p: Fragment, strong: Fragment };
  return <Content components={isInline ? plain : { pre: Block, table: Table }} />;
}

function Block({ children }: ComponentProps<"pre">): ReactNode {
  return isValidElement<ComponentProps<"code">>(children) ? (
    <Code title="Shell">{String(children.props.children).trimEnd()}</Code>
  ) : null;
}
