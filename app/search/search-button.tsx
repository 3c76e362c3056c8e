import type { ReactNode } from "react";
import { Icon } from "../shell/icon.tsx";

/** Looks like the box it opens; on small screens only its sign is left. */
export function SearchButton({ isCompact }: { readonly isCompact: boolean }): ReactNode {
  if (isCompact) {
    return (
      <button type="button" className="icon-button search-open" aria-label="Search">
        <Icon name="search" />
      </button>
    );
  }
  return (
    <button type="button" className="search-button" aria-keyshortcuts="Control+K Meta+K /">
      <Icon name="search" />
      <span>Search</span>
      <kbd>Ctrl K</kbd>
    </button>
  );
}
