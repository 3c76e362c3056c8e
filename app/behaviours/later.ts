// Lays out what `styles/later.css` leaves out of the first paint, a little per frame, once the
// reader moves. From then on, every position on the page is final.

import { onceMoved } from "./moved.ts";

/** Elements that may be left out, in layout order. */
const candidates = ".prose > *, .settings > *, .home-section > *, .footer";
const perFrame = 4;

export function startLater(): void {
  const { dataset } = document.documentElement;
  if (!("fresh" in dataset)) return;
  onceMoved(() => {
    const parts = [...document.querySelectorAll<HTMLElement>(candidates)];
    const next = () => {
      for (const { style } of parts.splice(0, perFrame)) style.contentVisibility = "visible";
      if (parts.length > 0) requestAnimationFrame(next);
      else delete dataset["fresh"];
    };
    next();
  });
}
