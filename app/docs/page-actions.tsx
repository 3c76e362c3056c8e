// A page as Markdown: to copy, or to look at. Useful to who works with a text tool.

import { type ReactNode, useState } from "react";
import { copiedMs } from "../config/constants.ts";

export function PageActions({ path }: { readonly path: string }): ReactNode {
  const [said, setSaid] = useState("Copy page");
  const file = `${path}.md`;
  const copy = async () => {
    const response = await fetch(file);
    if (response.ok) await navigator.clipboard.writeText(await response.text());
    setSaid(response.ok ? "Copied" : "Not copied");
    setTimeout(() => setSaid("Copy page"), copiedMs);
  };
  return (
    <p className="page-actions">
      <button type="button" aria-live="polite" onClick={() => void copy()}>
        {said}
      </button>
      <a href={file}>View as Markdown</a>
    </p>
  );
}
