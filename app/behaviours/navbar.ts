// When the navigation bar hides: on the way down past its own height, and where a link
// to a place in the page has just led. On the way up and near the top it shows.

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

/** The element that the hash of an address names; `null` when there is none, or it cannot be read. */
function hashTarget(): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return null;
  }
}

export function startNavbar(): void {
  const bar = document.querySelector<HTMLElement>(".navbar[data-hides]");
  if (bar === null) return;
  const navbarHeight = bar.offsetHeight;
  let topBefore = scrollY;
  let jumped = false;
  const show = (isShown: boolean) => {
    bar.dataset["shown"] = String(isShown);
  };
  const arrived = () => {
    jumped = hashTarget() !== null;
    show(!jumped);
  };
  const scrolled = () => {
    const top = Math.max(0, scrollY);
    // The scroll that a link to a place causes says nothing about the reader's direction.
    if (!jumped || top < navbarHeight) {
      show(
        isShownAfter({ top, topBefore, navbarHeight, wasShown: bar.dataset["shown"] === "true" }),
      );
    }
    topBefore = top;
  };
  const settled = () => {
    jumped = false;
  };
  window.addEventListener("scroll", scrolled, { passive: true });
  for (const input of ["wheel", "touchmove", "keydown", "pointerdown"] as const) {
    window.addEventListener(input, settled, { passive: true });
  }
  // A press on a link to the place where the reader is changes no hash.
  document.addEventListener("click", ({ target }) => {
    const isJump = target instanceof Element && target.closest('a[href^="#"]') !== null;
    if (isJump) setTimeout(arrived);
  });
  window.addEventListener("hashchange", arrived);
  if (location.hash !== "") arrived();
}
