import type { ReactNode } from "react";
import { type GlyphName, type GlyphPaths, glyphs, type IconName, icons } from "./glyph-paths.ts";

interface GlyphProps {
  readonly name: GlyphName;
  /** Unless a word beside it means the same. */
  readonly label?: string;
}

/** The state of an item, or of a queue. */
export function StateGlyph({ name, label }: GlyphProps): ReactNode {
  const { lines, dashed, filled, shaded }: GlyphPaths = glyphs[name];
  return (
    <svg className="g" viewBox="0 0 20 14" role="img" aria-label={label} aria-hidden={!label}>
      {lines && <path d={lines} />}
      {dashed && <path d={dashed} className="dashed" />}
      {shaded && <path d={shaded} className="shaded" />}
      {filled && <path d={filled} className="filled" />}
    </svg>
  );
}

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}
