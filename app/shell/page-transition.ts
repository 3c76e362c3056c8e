/** How one page gives way to another: at once for those who asked for less motion. */
export function pageTransition(): "page" | "none" {
  const isStill =
    typeof matchMedia === "undefined" || matchMedia("(prefers-reduced-motion: reduce)").matches;
  return isStill ? "none" : "page";
}
