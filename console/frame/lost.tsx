import type { ReactNode } from "react";
import { clockText, spanText } from "../format.ts";
import { zone } from "../kept.ts";
import { useObserved } from "../observed.ts";
import { pollNow, type Silence, seen } from "../overview-poll.ts";
import { Button } from "../parts/button.tsx";
import { useServerNow } from "../time.ts";

/** The server is silent: since when, of when the figures are, and what happens next. */
export function Lost({ silence }: { readonly silence: Silence }): ReactNode {
  const told = useObserved(zone);
  const { overview } = useObserved(seen);
  // For its beat: what is said here is by the browser's clock.
  useServerNow();
  const now = performance.now();
  const waitMs = Math.max(0, silence.nextTryAt - now);
  return (
    <div className="lost">
      <b role="alert">{silence.code === 0 ? "No answer" : `Answered ${silence.code}`}</b>
      <span className="cut">
        for {spanText(Math.max(1_000, now - silence.since))}.{" "}
        {overview && `Figures of ${clockText(overview.asOfMs, told)}. `}
        {waitMs > 0 ? `Next try in ${spanText(Math.max(1_000, waitMs))}.` : "Trying now."}
      </span>
      <Button look="small" onClick={pollNow}>
        Try now
      </Button>
    </div>
  );
}
