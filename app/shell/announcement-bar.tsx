import type { ReactNode } from "react";
import type { AnnouncementBarConfig } from "../config/types.ts";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";

interface AnnouncementBarProps {
  readonly bar?: AnnouncementBarConfig | null;
}

export function AnnouncementBar({
  bar = siteConfig.announcementBar,
}: AnnouncementBarProps): ReactNode {
  if (bar === null) return null;
  const { id, content, backgroundColor, textColor: color, isCloseable } = bar;
  return (
    <section
      className="announcement"
      aria-label="Announcement"
      data-id={id}
      style={{ backgroundColor, color }}
    >
      <p dangerouslySetInnerHTML={{ __html: content }} />
      {isCloseable && (
        <button type="button" className="icon-button" aria-label="Close announcement">
          <Icon name="close" />
        </button>
      )}
    </section>
  );
}
