// Shown until its reader closes it; closed, it stays so until it has another id.

import type { CSSProperties, ReactNode } from "react";
import { siteConfig } from "../site-config.ts";
import { storageKeys } from "./head-script.ts";
import { Icon } from "./icon.tsx";

function dismiss(id: string): void {
  document.documentElement.dataset["announcement"] = "dismissed";
  try {
    localStorage.setItem(storageKeys.announcement, id);
  } catch {
    // It comes back with the next page.
  }
}

export function AnnouncementBar(): ReactNode {
  const bar = siteConfig.announcementBar;
  if (bar === null) return null;
  const style: CSSProperties = {
    ...(bar.backgroundColor === undefined ? {} : { backgroundColor: bar.backgroundColor }),
    ...(bar.textColor === undefined ? {} : { color: bar.textColor }),
  };
  return (
    <section className="announcement" aria-label="Announcement" style={style}>
      <p dangerouslySetInnerHTML={{ __html: bar.content }} />
      {bar.isCloseable && (
        <button
          type="button"
          className="icon-button"
          aria-label="Close announcement"
          onClick={() => dismiss(bar.id)}
        >
          <Icon name="close" />
        </button>
      )}
    </section>
  );
}
