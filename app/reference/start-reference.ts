// What moves on the API's page: its samples are written in the language that is chosen, and Test
// Request opens a client. The code of either comes when it is wanted, that of the client, most of
// all that the site has, no sooner than a button is pressed.

import { tabShown } from "../behaviours/tabs.ts";
import type { Call } from "./samples.ts";

const failure = "Not loaded. Try again";

/** Before tabs start, so that it hears which of them are remembered. */
export function startReference(): void {
  document.addEventListener(tabShown, ({ target, detail }: CustomEventInit<string> & Event) => {
    const call = target instanceof HTMLElement ? target.dataset["call"] : undefined;
    if (target instanceof HTMLElement && call !== undefined) {
      void writeSample(target, JSON.parse(call) as Call, detail ?? "");
    }
  });
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-test-request]") : null;
    if (button instanceof HTMLButtonElement) void openClient(button);
  });
}

/** The document has it in curl, which says all that the other languages say too. */
async function writeSample(frame: HTMLElement, call: Call, language: string): Promise<void> {
  const { samples } = await import("./samples.ts");
  const sample = Object.entries(samples).find(([name]) => name === language)?.[1];
  const code = frame.querySelector("pre > code");
  if (sample !== undefined && code !== null) code.textContent = sample(call);
}

async function openClient(button: HTMLButtonElement): Promise<void> {
  button.setAttribute("aria-busy", "true");
  try {
    const client = await import("./api-client.ts");
    await client.openClient(button.dataset["testRequest"] ?? "");
  } catch {
    button.textContent = failure;
  }
  button.removeAttribute("aria-busy");
}
