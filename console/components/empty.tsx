import type { ReactNode } from "react";
import { StateGlyph } from "./glyph/glyph.tsx";
import type { GlyphName } from "./glyph/glyph-paths.ts";

interface EmptyProps {
  readonly glyph: GlyphName;
  /** What is missing, and why. */
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
