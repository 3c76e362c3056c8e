// After a visit from within the site the page's text is not there: it is in the HTML of the
// page's own address, and is taken from it.

export function fetchText(place: HTMLElement | null): (() => void) | undefined {
  if (place === null || place.querySelector(".scalar-app") !== null) return undefined;
  const controller = new AbortController();
  void insertText(place, controller.signal);
  return () => controller.abort();
}

async function insertText(place: HTMLElement, signal: AbortSignal): Promise<void> {
  try {
    const reply = await fetch("/api", { headers: { accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const text = page.querySelector(".reference-text");
    if (text === null || !place.isConnected) return;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...text.children);
    if (hadFocus) place.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
  } catch {
    // The live reference comes all the same, with the first input.
  }
}
