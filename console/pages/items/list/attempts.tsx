import type { ReactNode } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";

interface Tries {
  readonly made: number;
  /** 0 = no limit. */
  readonly max: number;
}

/** Of a dead item those that it had where it died: it counts anew in a dead queue. */
export function triesOf(item: FoundItem): Tries {
  if (item.origin_attempts !== undefined && item.death !== undefined) {
    return { made: item.origin_attempts, max: 0 };
  }
  return { made: item.attempts, max: item.max_attempts };
}

const squaresMax = 10;

/** A square for each, those that are made filled; amber where it is the last but one or the last. */
export function Attempts({ made, max }: Tries): ReactNode {
  const text = max === 0 ? String(made) : `${made} of ${max}`;
  if (max === 0 || max > squaresMax) return <span className="mono">{text}</span>;
  const look = made >= max - 1 && max > 1 ? "on last" : "on";
  return (
    <span className="pips" role="img" aria-label={text} title={text}>
      {Array.from({ length: max }, (_, at) => (
        <i key={at} className={at < made ? look : undefined} />
      ))}
    </span>
  );
}
