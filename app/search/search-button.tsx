import type { ReactNode } from "react";
import { Icon } from "../shell/icon.tsx";

/** Looks like the input that it opens; on small screens only its icon is shown. */
export function SearchButton({ isCompact }: { readonly isCompact: boolean }): ReactNode {
  if (isCompact) {
    return (
      <button type="button" className="icon-button search-open" aria-label="Search" data-search="">
        <Icon name="search" />
      </button>
    );
  }
  return (
    <button
      type="button"
      className="search-button"
      aria-keyshortcuts="Control+K Meta+K /"
      data-search=""
    >
      <Icon name="search" />
      <span>Search</span>
      <kbd className="of-mac">⌘K</kbd>
      <kbd className="of-others">Ctrl K</kbd>
    </button>
  );
}
