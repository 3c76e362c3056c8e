// Finds texts of a page that look alike, so that colour checks need only one of them.

export const textMark = "data-look";

export type Texts = "all" | "one of each look";

interface Marking {
  readonly mark: string;
  readonly texts: Texts;
  /** Looks of other pages, which are not marked again. */
  readonly known: readonly string[];
}

/**
 * Runs in the page: marks all elements with text, or one for each look, and returns the new looks.
 * Texts look alike if everything that affects their contrast is equal, and they are in the same
 * displaced box, so that any overlay covers both.
 */
export function markTexts({ mark, texts, known }: Marking): readonly string[] {
  for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
  const boxes = new Map<Element, number>();
  const grounds = new Map<Element, string>();
  const controls = "a, button, input, select, textarea, label";

  /** Whether the element may cover unrelated ones. */
  const isMoved = ({ position, inset, transform }: CSSStyleDeclaration) =>
    (position !== "static" && (position !== "relative" || /[1-9]/.test(inset))) ||
    transform !== "none";

  /** The background of the element: colours and pictures of all its ancestors. */
  const groundOf = (element: Element): string => {
    const known = grounds.get(element);
    if (known !== undefined) return known;
    const { parentElement } = element;
    const style = getComputedStyle(element);
    const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } = style;
    let own = "";
    if (backgroundColor !== "rgba(0, 0, 0, 0)") own += backgroundColor;
    if (backgroundImage !== "none") own += backgroundImage;
    if (opacity !== "1") own += `opacity ${opacity}`;
    if (filter !== "none") own += filter;
    if (mixBlendMode !== "normal") own += mixBlendMode;
    if (isMoved(style)) {
      boxes.set(element, boxes.size);
      own += `box ${boxes.get(element)}`;
    }
    const inner = parentElement === null ? "" : groundOf(parentElement);
    const ground = own === "" ? inner : `${inner}/${own}`;
    grounds.set(element, ground);
    return ground;
  };

  const textLookOf = (element: Element): string => {
    const style = getComputedStyle(element);
    return [
      element.localName,
      style.color,
      style.fontSize,
      style.fontWeight,
      style.textShadow,
      style.textDecorationLine,
      style.borderBottom,
      style.webkitTextStroke,
    ].join();
  };

  const hasText = (element: Element) =>
    element.matches(controls) ||
    [...element.childNodes].some(
      (node) => node instanceof Text && (node.textContent ?? "").trim() !== "",
    );

  const marked: Element[] = [];
  const looks = new Set(known);
  for (const element of document.querySelectorAll("body *")) {
    if (!hasText(element) || !element.checkVisibility()) continue;
    if (texts === "one of each look") {
      const { parentElement } = element;
      // A link must be distinguishable from the surrounding text.
      const around = parentElement === null ? "" : textLookOf(parentElement);
      const look = [innerWidth, groundOf(element), around, textLookOf(element)].join("|");
      if (looks.has(look)) continue;
      looks.add(look);
    }
    marked.push(element);
  }
  for (const element of marked) element.setAttribute(mark, "");
  return [...looks].slice(known.length);
}
