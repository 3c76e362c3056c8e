// Figures with their units: ages, instants and countdowns.

import { type ReactNode, useMemo } from "react";
import { clockText, instantText, leftText, type Measure, spanText } from "../format.ts";
import { useZone } from "../state/preferences.ts";
import { isTimeKnown, serverTimeAt, useServerNow, useServerNowPart } from "../state/server-time.ts";

export function Measured({ of: { value, unit } }: { readonly of: Measure }): ReactNode {
  return (
    <>
      {value} <small>{unit}</small>
    </>
  );
}

interface InstantProps {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** How long ago, by the server's clock. */
export function Age({ at }: InstantProps): ReactNode {
  const span = useServerNowPart((now) => spanText(Math.max(0, now - at)));
  const zone = useZone();
  const [value = "", unit = ""] = span.split(" ");
  return (
    <time dateTime={new Date(at).toISOString()} title={instantText(at, zone)}>
      <Measured of={{ value, unit }} />
    </time>
  );
}

/** When it was noted by `performance.now()`: by the server's clock, once that is known. */
export function ClockTime({ at }: InstantProps): ReactNode {
  useServerNow();
  const zone = useZone();
  const isKnown = isTimeKnown();
  // Computed once: the next reply corrects the clock by some milliseconds, and the second might change.
  const instant = useMemo(() => serverTimeAt(at), [at, isKnown]);
  return clockText(instant, zone);
}

/** How long until then, by the server's clock; `now` once it is there. */
export function Countdown({ at }: InstantProps): ReactNode {
  const now = useServerNow();
  const zone = useZone();
  return (
    <time className="count" dateTime={new Date(at).toISOString()} title={instantText(at, zone)}>
      {leftText(at - now)}
    </time>
  );
}
