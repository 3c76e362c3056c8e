// The elements around a page's content, in order.

import type { ReactNode } from "react";
import { failureId } from "../behaviours/storage.ts";
import { SearchDialogFrame } from "../search/search-dialog-frame.tsx";
import { AnnouncementBar } from "./announcement-bar.tsx";
import { Drawer } from "./drawer.tsx";
import { Footer } from "./footer.tsx";
import { Navbar } from "./navbar.tsx";

export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to main content
      </a>
      <SearchDialogFrame />
      <AnnouncementBar />
      <Navbar />
      {children}
      <Footer />
      <Drawer />
      <FailureNotice />
    </>
  );
}

/** Shown when code of the page fails to load. */
function FailureNotice(): ReactNode {
  return (
    <div className="chunk-failure cluster" id={failureId} role="alert" hidden>
      <p>The code of this page could not be loaded.</p>
      {/* biome-ignore lint/a11y/useValidAnchor: the empty address is the page's own */}
      <a className="button" href="">
        Retry
      </a>
    </div>
  );
}
