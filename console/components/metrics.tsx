import type { ReactNode } from "react";
import { rateText } from "../format.ts";
import { StateGlyph } from "./glyph/glyph.tsx";
import type { GlyphName } from "./glyph/glyph-paths.ts";

export interface Metric {
  readonly glyph: GlyphName;
  readonly term: string;
  readonly title?: string;
  /** `null`: not known yet. */
  readonly value: ReactNode;
  readonly look?: "bad";
}

interface MetricsProps {
  readonly className: string;
  readonly of: readonly Metric[];
}

export function Metrics({ className, of }: MetricsProps): ReactNode {
  return (
    <dl className={className}>
      {of.map(({ glyph, term, title, value, look }) => (
        <div key={term} title={title}>
          <dt>
            <StateGlyph name={glyph} />
            {term}
          </dt>
          <dd className={look}>{value ?? <span className="unknown">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

export function perSecond(rate: number | null): ReactNode {
  return (
    <>
      {rateText(rate)} <small>/s</small>
    </>
  );
}

interface GaugeProps {
  readonly name: string;
  readonly label?: string;
  /** 0 or absent: there is no bound, so nothing is drawn. */
  readonly max?: number;
  readonly value?: number;
  readonly children: ReactNode;
}

/** A part of a whole, as a bar and in words. */
export function Gauge({ name, label, max, value = 0, children }: GaugeProps): ReactNode {
  return (
    <div className="gauge">
      <span>{name}</span>
      {max === undefined ? (
        <i />
      ) : (
        <meter min={0} max={max || 1} value={value} aria-label={label} />
      )}
      <span>{children}</span>
    </div>
  );
}
