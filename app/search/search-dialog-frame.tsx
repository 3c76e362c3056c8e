// The search dialog in every page. It opens before other code is loaded, and typed text stays in
// the native input, so no key is lost. `search-results.ts` fills the list.

import type { ReactNode } from "react";
import { Icon } from "../shell/icon.tsx";

export function SearchDialogFrame(): ReactNode {
  return (
    <>
      <dialog id="search" className="search" aria-label="Search" data-search="">
        <div className="search-panel">
          <div className="search-head bar">
            <Icon name="search" />
            <input
              type="text"
              role="combobox"
              aria-label="Search the site"
              aria-expanded="false"
              aria-controls="search-results"
              aria-autocomplete="list"
              placeholder="Search docs, posts, calls"
              autoComplete="off"
              spellCheck={false}
            />
            <form method="dialog">
              <button type="submit" className="search-close">
                Esc
              </button>
            </form>
          </div>
          <p className="search-state fine" role="status">
            Type to search.
          </p>
          <div role="listbox" id="search-results" className="search-results" aria-label="Results" />
        </div>
      </dialog>
      <script dangerouslySetInnerHTML={{ __html: `(${openOnDemand})()` }} />
    </>
  );
}

/**
 * Runs inline right after the dialog, so it must not use anything outside. The input is cleared on
 * opening: the browser reports the closing later, when the input may contain new text.
 */
function openOnDemand(): void {
  const dialog = document.getElementById("search") as HTMLDialogElement;
  const input = dialog.querySelector("input") as HTMLInputElement;
  const open = () => {
    if (dialog.open) return;
    input.value = "";
    dialog.showModal();
  };
  if (/Mac|iP/.test(navigator.platform)) document.documentElement.dataset["keys"] = "mac";
  document.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
    else if ((target as Element).closest("button[data-search]") !== null) open();
  });
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    const isCombination = (ctrlKey || metaKey) && key.toLowerCase() === "k";
    const isSlash = key === "/" && !(ctrlKey || metaKey || altKey);
    const fields = "input, textarea, select, [contenteditable]";
    const isTyping = target instanceof Element && target.closest(fields) !== null;
    if (!isCombination && (!isSlash || isTyping)) return;
    event.preventDefault();
    open();
  });
}
