// Shown until its reader closes it; closed, it stays so until it has another id.

import type { ReactNode } from "react";
import type { AnnouncementBarConfig } from "../config/types.ts";
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

interface AnnouncementBarProps {
  readonly bar?: AnnouncementBarConfig | null;
}

export function AnnouncementBar({
  bar = siteConfig.announcementBar,
}: AnnouncementBarProps): ReactNode {
  if (bar === null) return null;
  const { backgroundColor, textColor: color } = bar;
  return (
    <section className="announcement" aria-label="Announcement" style={{ backgroundColor, color }}>
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
