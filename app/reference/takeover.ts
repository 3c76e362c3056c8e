// What a reader has before them in the text, and how the live reference is brought to the
// same: the same lines in view, the focus where it was, and the pressed control pressed.

import { type Path, pathTo, twinOf } from "./first-input.ts";

interface Twin {
  readonly path: Path;
  readonly original: Element;
}

export interface Moment {
  /** The first place in the window that has an address, by its fragment, and where it is. */
  readonly place: { readonly fragment: string; readonly top: number } | null;
  readonly focused: Twin | null;
  readonly pressed: Twin | null;
}

export function momentOf(text: HTMLElement, pressed: Element | null): Moment {
  return {
    place: placeInView(text),
    focused: twin(text, document.activeElement),
    pressed: twin(text, pressed),
  };
}

function twin(root: HTMLElement, original: Element | null): Twin | null {
  if (original === null || original === root || !root.contains(original)) return null;
  const app = root.querySelector(".scalar-app");
  const path = app?.contains(original) === true ? pathTo(app, original) : null;
  return path === null ? null : { path, original };
}

/**
 * The section that begins in the window or, where none does, the first field in it of the
 * section that fills it. What is inside of a section out of view is not where it says it is.
 */
function placeInView(text: HTMLElement): Moment["place"] {
  const sections = placesOf(text, "section[id]");
  const begun = sections.find(isInWindow);
  if (begun !== undefined) return begun;
  const around = sections.findLast(({ top }) => top < 0);
  if (around === undefined) return null;
  return placesOf(around.element, '[id*="/"]').find(isInWindow) ?? around;
}

function placesOf(root: Element, selector: string) {
  return [...root.querySelectorAll(selector)].map((element) => ({
    element,
    fragment: element.id,
    top: element.getBoundingClientRect().top,
  }));
}

function isInWindow({ top }: { readonly top: number }): boolean {
  return top >= 0 && top < innerHeight;
}

export function restore(live: HTMLElement, { place, focused, pressed }: Moment): void {
  const same = place && live.querySelector(`[id$="/${CSS.escape(place.fragment)}"]`);
  if (place !== null && same !== null) {
    const moved = same.getBoundingClientRect().top - place.top;
    if (moved !== 0) scrollBy({ top: moved, behavior: "instant" });
  }
  const app = live.querySelector(".scalar-app");
  if (app === null) return;
  const focus = focused && twinOf(app, focused.path, focused.original);
  focus?.focus({ preventScroll: true });
  if (pressed !== null) twinOf(app, pressed.path, pressed.original)?.click();
}

/** Gives each section that Scalar has not drawn yet the height that it has in the text. */
export function boxStylesOf(text: HTMLElement): string {
  return [...text.querySelectorAll<HTMLElement>("[data-placeholder]")]
    .map((box) => {
      const id = box.querySelector("section[id]")?.id;
      const height = box.getBoundingClientRect().height;
      return id === undefined
        ? ""
        : `[data-placeholder="true"][id$="/${id}"]{height:${height}px!important}`;
    })
    .join("");
}

/**
 * Removes the text, which is hidden by now, bit by bit: to take ten thousand elements away
 * at once would hold up the reader.
 */
export function clearAway(text: HTMLElement): void {
  text.querySelector("#main")?.removeAttribute("id");
  const pieces = [...text.querySelectorAll("[data-placeholder]")];
  const later = globalThis.requestIdleCallback ?? ((called: () => void) => setTimeout(called, 50));
  const step = () => {
    // From the end, so that what is within another goes first.
    const piece = pieces.pop();
    if (piece === undefined) {
      text.replaceChildren();
      return;
    }
    piece.remove();
    later(step);
  };
  later(step);
}
