// The reader's first input on the API's page, and what it was meant for: the text that is
// pressed has no life yet, so a press is done again on its live twin.

const kinds = ["pointerdown", "pointermove", "touchstart", "keydown", "focusin"] as const;

/** Calls back once. Returns what takes the call back. */
export function onFirstInput(called: () => void): () => void {
  const stop = () => {
    for (const kind of kinds) removeEventListener(kind, once, true);
  };
  const once = () => {
    stop();
    called();
  };
  for (const kind of kinds) addEventListener(kind, once, { capture: true, passive: true });
  return stop;
}

/** Of what the text alone has (`static-html.ts`). */
export const anchorClass = "reference-anchor";

/** Where an element is below another: which child of which child. */
export type Path = readonly number[];

export function pathTo(root: Element, element: Element): Path | null {
  const path: number[] = [];
  for (let at = element; at !== root; ) {
    const parent = at.parentElement;
    if (parent === null) return null;
    const siblings = [...parent.children].filter((one) => !one.matches(`.${anchorClass}`));
    path.unshift(siblings.indexOf(at));
    at = parent;
  }
  return path;
}

/** The element at the same place of another tree, if there is one of the same kind and text. */
export function twinOf(root: Element, path: Path, original: Element): HTMLElement | null {
  let at: Element | undefined = root;
  for (const index of path) at = at?.children[index];
  if (!(at instanceof HTMLElement) || at.tagName !== original.tagName) return null;
  return at.textContent === original.textContent ? at : null;
}
