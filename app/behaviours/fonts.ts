// On a phone the first page uses the phone's own typefaces: those of the site would delay its text,
// or change it while it is read. They are fetched for later pages.

import { mayPrefetch } from "./links.ts";
import { onceMoved } from "./moved.ts";
import { storageKeys, store } from "./storage.ts";

export function startFonts(): void {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[as="font"]')];
  const isSet = links.every(({ media }) => matchMedia(media).matches);
  if (isSet || "fonts" in document.documentElement.dataset || !mayPrefetch()) return;
  onceMoved(() => void keep(links).catch(() => undefined));
}

async function keep(links: readonly HTMLLinkElement[]): Promise<void> {
  const fonts = links.map(async ({ href }) => {
    const response = await fetch(href, { priority: "low" });
    if (!response.ok) throw new Error(`expected a typeface, got ${response.status}`);
    await response.arrayBuffer();
  });
  await Promise.all(fonts);
  store(storageKeys.fonts, "");
}
