// The search dialog as it stands in every page. It opens before any other code is there, and
// what is typed stays in the browser's own input, so no key is lost. `search-results.ts` fills
// the list.

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
 * Runs within the page, right after the dialog, so it uses nothing from around it. The input is
 * emptied on opening: the browser tells of a closed dialog later, when new text may be there.
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
