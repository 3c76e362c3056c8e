// Hides the navigation bar on the way down past its own height, and after a link to a place in the
// page. On the way up and near the top it is shown.

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

/** The element that the hash refers to; `null` if there is none, or the hash cannot be decoded. */
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
    // The scroll caused by a link within the page does not show the reader's direction.
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
  // A press on a link to the current place does not change the hash.
  document.addEventListener("click", ({ target }) => {
    const isJump = target instanceof Element && target.closest('a[href^="#"]') !== null;
    if (isJump) setTimeout(arrived);
  });
  window.addEventListener("hashchange", arrived);
  if (location.hash !== "") arrived();
}
