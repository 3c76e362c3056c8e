// The samples of calls in the language that is chosen. The document has them in curl, which
// holds all that the other languages say too.

import { tabShown } from "../components/tab-groups.ts";
import { type Call, samples } from "./samples.ts";

export function startSampleTabs(): () => void {
  document.addEventListener(tabShown, shown);
  // One that was remembered may have been shown before.
  for (const frame of document.querySelectorAll("[data-call]")) {
    write(frame, frame.querySelector("[aria-selected=true]")?.textContent ?? "");
  }
  return () => document.removeEventListener(tabShown, shown);
}

function shown({ target, detail }: CustomEventInit<string> & Event): void {
  if (target instanceof Element) write(target, detail ?? "");
}

function write(frame: Element, language: string): void {
  const call = frame.getAttribute("data-call");
  const sample = Object.entries(samples).find(([name]) => name === language)?.[1];
  const code = frame.querySelector(":scope > pre > code");
  if (call === null || sample === undefined || code === null) return;
  code.textContent = sample(JSON.parse(call) as Call);
}
