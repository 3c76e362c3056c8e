// Copies a block of code as it stands on the page, without lines that a diff removes.

import { copiedMs } from "../config/constants.ts";

export async function copyCode(button: HTMLElement): Promise<void> {
  const lines = button.closest(".code")?.querySelectorAll("pre .line:not(.diff.remove)") ?? [];
  await navigator.clipboard.writeText([...lines].map((line) => line.textContent).join("\n"));
  say(button, { text: "Copied", label: "Copied" });
  setTimeout(() => say(button, { text: "Copy", label: "Copy code" }), copiedMs);
}

interface Said {
  readonly text: string;
  readonly label: string;
}

function say(button: HTMLElement, { text, label }: Said): void {
  button.textContent = text;
  button.setAttribute("aria-label", label);
}
