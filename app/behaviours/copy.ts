// Copy buttons: for a block of code as shown, without lines that a diff removes; for a text stored
// in the button; for the page as Markdown.

import { copiedMs } from "../config/constants.ts";

const buttons = ".code-copy, [data-copy], [data-copy-file]";

export function startCopying(): void {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>(buttons) : null;
    if (button !== null) void copy(button);
  });
}

async function copy(button: HTMLElement): Promise<void> {
  const { textContent, ariaLabel } = button;
  // Pressed again, the button still shows the confirmation.
  if (button.dataset["said"] !== undefined) return;
  const isCopied = await textFor(button)
    .then((text) => navigator.clipboard.writeText(text))
    .then(() => true)
    .catch(() => false);
  button.dataset["said"] = "";
  button.textContent = isCopied ? "Copied" : "Not copied";
  if (ariaLabel !== null) button.ariaLabel = button.textContent;
  setTimeout(() => {
    delete button.dataset["said"];
    button.textContent = textContent;
    button.ariaLabel = ariaLabel;
  }, copiedMs);
}

async function textFor(button: HTMLElement): Promise<string> {
  const { copy: text, copyFile } = button.dataset;
  if (text !== undefined) return text;
  if (copyFile !== undefined) {
    const response = await fetch(copyFile);
    if (!response.ok) throw new Error(`expected the page as Markdown, got ${response.status}`);
    return await response.text();
  }
  const lines = button.closest(".code")?.querySelectorAll("pre .line:not(.diff.remove)") ?? [];
  return [...lines].map((line) => line.textContent).join("\n");
}
