// A block of code, highlighted at build time. `behaviours/copy.ts` implements its button.

import type { ReactNode } from "react";

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
  return (
    <CodeFrame name={title ?? languageNames[lang] ?? lang} lang={lang}>
      <div className="code-body" dangerouslySetInnerHTML={{ __html: html }} />
    </CodeFrame>
  );
}

interface CodeFrameProps {
  readonly name: string;
  readonly lang?: string;
  readonly children: ReactNode;
}

export function CodeFrame({ name, lang, children }: CodeFrameProps): ReactNode {
  return (
    <figure className={name === "" ? "code code-bare" : "code"} data-lang={lang}>
      <figcaption className="code-head bar">
        <span className="code-title figure fine">{name}</span>
        <button type="button" className="code-copy fine" aria-label="Copy code">
          Copy
        </button>
      </figcaption>
      {children}
    </figure>
  );
}
