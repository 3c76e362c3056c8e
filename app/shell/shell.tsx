// Everything around a page's content, in its order.

import { type ReactNode, useEffect } from "react";
import { useLocation } from "react-router";
import { SearchDialogFrame } from "../search/search-dialog-frame.tsx";
import { AnnouncementBar } from "./announcement-bar.tsx";
import { replayEarlyPress } from "./early-press.ts";
import { Footer } from "./footer.tsx";
import { Navbar } from "./navbar.tsx";
import { ProgressBar } from "./progress-bar.tsx";
import { RouteAnnouncer } from "./route-announcer.tsx";
import { forgetVisit, noteClick } from "./visit-note.ts";

export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  useMountedMark();
  useVisitNotes();
  return (
    <>
      <SearchDialogFrame />
      <a className="skip-link" href="#main">
        Skip to main content
      </a>
      <ProgressBar />
      <AnnouncementBar />
      <Navbar />
      {children}
      <Footer />
      <RouteAnnouncer />
    </>
  );
}

/** Tests and styles can tell that the page has come to life. */
function useMountedMark(): void {
  useEffect(() => {
    document.documentElement.dataset["mounted"] = "";
    replayEarlyPress();
  }, []);
}

function useVisitNotes(): void {
  const { key } = useLocation();
  useEffect(forgetVisit, [key]);
  useEffect(() => {
    document.addEventListener("click", noteClick, true);
    return () => document.removeEventListener("click", noteClick, true);
  }, []);
}
