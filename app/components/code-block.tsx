// A block of code, highlighted at build time. The copy button reads the text from the
// page, without lines that a diff removes.

import { type ReactNode, useRef, useState } from "react";
import { copiedMs } from "../config/constants.ts";
import "./code-block.css";

interface CodeBlockProps {
  readonly html: string;
  readonly lang: string;
  readonly title?: string;
}

const languageNames: Readonly<Record<string, string>> = {
  sh: "Shell",
  bash: "Shell",
  ts: "TypeScript",
  tsx: "TypeScript",
  js: "JavaScript",
  json: "JSON",
  py: "Python",
  python: "Python",
  go: "Go",
  sql: "SQL",
  yaml: "YAML",
  text: "",
};

export function CodeBlock({ html, lang, title }: CodeBlockProps): ReactNode {
  const frame = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(codeOf(frame.current));
    setCopied(true);
    setTimeout(() => setCopied(false), copiedMs);
  };
  const name = title ?? languageNames[lang] ?? lang;
  return (
    <figure className={name === "" ? "code code-bare" : "code"} data-lang={lang} ref={frame}>
      <figcaption className="code-head">
        <span className="code-title">{name}</span>
        <button
          type="button"
          className="code-copy"
          aria-label={copied ? "Copied" : "Copy code"}
          onClick={() => void copy()}
        >
          {copied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      <div className="code-body" dangerouslySetInnerHTML={{ __html: html }} />
    </figure>
  );
}

function codeOf(frame: HTMLElement | null): string {
  const lines = frame?.querySelectorAll("pre .line:not(.diff.remove)") ?? [];
  return [...lines].map((line) => line.textContent).join("\n");
}
