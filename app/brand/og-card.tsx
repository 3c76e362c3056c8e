// The card that other sites show for a page: 1200 by 630 pixels, in the dark colours. It uses only
// flex boxes and inline styles, because its renderer does not read CSS files.

import type { CSSProperties, ReactNode } from "react";
import { Mark } from "./mark.tsx";

export const ogCardSize = { width: 1200, height: 630 } as const;

interface OgCardProps {
  readonly title: string;
  /** The section: `Docs`, `Blog`, `API`; empty on the home page. */
  readonly section: string;
  readonly description: string;
  readonly site: string;
}

export const cardColors = {
  ground: "#0b0e13",
  line: "#344050",
  text: "#e6ebf2",
  muted: "#9aa7b6",
  accent: "#5b9dff",
} as const;

const frame: CSSProperties = {
  display: "flex",
  flexDirection: "column",
  justifyContent: "space-between",
  width: ogCardSize.width,
  height: ogCardSize.height,
  padding: 72,
  background: cardColors.ground,
  color: cardColors.text,
  fontFamily: "Bricolage Grotesque",
};

export function OgCard({ title, section, description, site }: OgCardProps): ReactNode {
  return (
    <div style={frame}>
      <div style={{ display: "flex", alignItems: "center", gap: 24, fontSize: 34 }}>
        <Mark size={56} itemColor={cardColors.accent} />
        <span>{site}</span>
        {section !== "" && <span style={{ color: cardColors.muted }}>{section}</span>}
      </div>
      <div style={{ display: "flex", flexDirection: "column", gap: 28 }}>
        <div
          style={{ fontSize: title.length > 32 ? 76 : 104, lineHeight: 1.05, letterSpacing: -2 }}
        >
          {title}
        </div>
        <div
          style={{
            display: "flex",
            paddingTop: 28,
            borderTop: `2px solid ${cardColors.line}`,
            color: cardColors.muted,
            fontSize: 32,
            lineHeight: 1.4,
          }}
        >
          {description}
        </div>
      </div>
    </div>
  );
}
