// Holds the place of the search dialog, whose code and data come when it is first
// opened.

import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { lazyDelayMs } from "../config/constants.ts";
import { ErrorFrame } from "../shell/error-frame.tsx";
import { closeSearch, useSearchKeys, useSearchOpen } from "./search-state.ts";

const SearchDialog = lazy(() =>
  import("./search-dialog.tsx").then(({ SearchDialog: Dialog }) => ({ default: Dialog })),
);

export function SearchBox(): ReactNode {
  useSearchKeys();
  if (!useSearchOpen()) return null;
  return (
    <ErrorFrame fallback={() => <SearchFailure />}>
      <Suspense fallback={<Later />}>
        <SearchDialog />
      </Suspense>
    </ErrorFrame>
  );
}

/** Says that something is coming once it has been asked for a moment ago. */
function Later(): ReactNode {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), lazyDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? (
    <div className="progress" role="progressbar" aria-label="Loading search" />
  ) : null;
}

function SearchFailure(): ReactNode {
  return (
    <div className="chunk-failure" role="alert">
      <p>The search could not be loaded.</p>
      <button type="button" onClick={() => location.reload()}>
        Retry
      </button>
      <button type="button" onClick={closeSearch}>
        Close
      </button>
    </div>
  );
}
