// What `styles/later.css` leaves out of the first paint is laid out once the reader moves, a little
// with each frame. From then on every place of the page is where it stays.

import { onceMoved } from "./moved.ts";

/** What may be left out, in the order in which it is laid out. */
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
