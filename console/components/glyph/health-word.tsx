import type { ReactNode } from "react";
import { countText, spanText } from "../../format.ts";
import { wordOf } from "../../state/health.ts";
import { useServerNow } from "../../state/server-time.ts";
import { Countdown } from "../figures.tsx";
import { StateGlyph } from "./glyph.tsx";

/** Beside the name of a queue, whatever its health is. */
export function Paused({ what = "paused" }: { readonly what?: string }): ReactNode {
  return (
    <span className="paused">
      <StateGlyph name="paused" />
      {what}
    </span>
  );
}

interface HealthProps {
  readonly health: string;
  /** Milliseconds since 1970; 0 = not known. */
  readonly sinceMs: number;
  /** The count of its finding; 0 = none. */
  readonly count: number;
  readonly nextMs: number;
}

export function HealthWord({ health, sinceMs, count, nextMs }: HealthProps): ReactNode {
  const { text, glyph, tone, detail } = wordOf(health);
  const now = useServerNow();
  return (
    <span className={`health h-${tone}`}>
      <StateGlyph name={glyph} />
      <span className="cut">
        <b>{text}</b>
        {detail === "since" && sinceMs > 0 && <small> {spanText(now - sinceMs)}</small>}
        {detail === "count" && count > 0 && <small> {countText(count)}</small>}
        {detail === "next" && nextMs > 0 && (
          <small>
            {" next in "}
            <Countdown at={nextMs} />
          </small>
        )}
      </span>
    </span>
  );
}
