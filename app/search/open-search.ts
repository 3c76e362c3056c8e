// Opens the search: by its buttons, and by two keys. Its code and data come with the first time.

import { partFailed } from "../behaviours/part-failure.ts";

export function startSearch(): void {
  const open = () =>
    void import("./search-dialog.tsx")
      .then(({ openDialog }) => openDialog())
      .catch(() => partFailed("the search"));
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".search-button, .search-open") !== null)
      open();
  });
  document.addEventListener("keydown", (event) => {
    const isCombination = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isCombination && !(isSlash && !isTyping(event.target))) return;
    event.preventDefault();
    open();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
