import type { ReactNode } from "react";
import { StateGlyph } from "./glyph.tsx";
import type { GlyphName } from "./glyph-paths.ts";

interface EmptyProps {
  readonly glyph: GlyphName;
  /** Says what is not there, and how it comes to be. */
  readonly children: ReactNode;
}

export function Empty({ glyph, children }: EmptyProps): ReactNode {
  return (
    <p className="calm">
      <StateGlyph name={glyph} />
      <span>{children}</span>
    </p>
  );
}
