import type { ReactNode } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";

interface AttemptCount {
  readonly made: number;
  /** 0 = no limit. */
  readonly max: number;
}

/** For a dead item those in its original queue: a dead queue counts from 0. */
export function attemptsOf(item: FoundItem): AttemptCount {
  if (item.origin_attempts !== undefined && item.death !== undefined) {
    return { made: item.origin_attempts, max: 0 };
  }
  return { made: item.attempts, max: item.max_attempts };
}

const squaresMax = 10;

/** A square for each attempt, filled once it was made; the last two are amber. */
export function Attempts({ made, max }: AttemptCount): ReactNode {
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
