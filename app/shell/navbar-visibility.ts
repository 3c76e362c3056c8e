// When the navigation bar hides: on the way down past its own height, and where a link
// to a place in the page has just led. On the way up and near the top it shows.

import { useEffect, useRef, useState } from "react";
import { useLocation } from "react-router";
import { siteConfig } from "../site-config.ts";
import { hashTarget } from "./hash-target.ts";

export interface ScrollStep {
  readonly top: number;
  readonly topBefore: number;
  readonly navbarHeight: number;
  readonly wasShown: boolean;
}

export function isShownAfter({ top, topBefore, navbarHeight, wasShown }: ScrollStep): boolean {
  if (top < navbarHeight || top < topBefore) return true;
  return top > topBefore ? false : wasShown;
}

/** Also tells where the visible page begins, for what sticks below the bar. */
export function useNavbarShown(height: number): boolean {
  const [isShown, setShown] = useState(true);
  const jumped = useRef(false);
  const { key, hash } = useLocation();

  useEffect(() => {
    if (!siteConfig.navbar.hideOnScroll) return undefined;
    let topBefore = scrollY;
    const scrolled = () => {
      const top = Math.max(0, scrollY);
      const step = { top, topBefore, navbarHeight: height };
      // The scroll that a link to a place causes says nothing about the reader's direction.
      if (!jumped.current || top < height)
        setShown((wasShown) => isShownAfter({ ...step, wasShown }));
      topBefore = top;
    };
    const settled = () => {
      jumped.current = false;
    };
    const inputs = ["wheel", "touchmove", "keydown", "pointerdown"] as const;
    addEventListener("scroll", scrolled, { passive: true });
    for (const input of inputs) addEventListener(input, settled, { passive: true });
    return () => {
      removeEventListener("scroll", scrolled);
      for (const input of inputs) removeEventListener(input, settled);
    };
  }, [height]);

  // The key too, which changes with each visit, also of the same place.
  useEffect(() => {
    if (!siteConfig.navbar.hideOnScroll) return;
    jumped.current = hashTarget(hash) !== null;
    setShown(!jumped.current);
  }, [key, hash]);

  return isShown;
}
