import type { ReactNode } from "react";
import { reopenLogin } from "../../api/session.ts";
import { clockText, spanText } from "../../format.ts";
import { type Outage, pollNow, useOverview } from "../../state/overview-poll.ts";
import { useZone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";
import type { Staleness } from "../../state/staleness.ts";
import { Button } from "../button.tsx";

/** Why the displayed data is stale, its time, and the remedy. */
export function StalenessNotice({ staleness }: { readonly staleness: Staleness }): ReactNode {
  const zone = useZone();
  const overview = useOverview();
  const figures = overview === null ? "" : `Figures of ${clockText(overview.asOfMs, zone)}. `;
  const message = staleness.why === "refused" ? staleness.refused.message : undefined;
  return (
    <div className="lost" title={message}>
      <b role="alert">{headOf(staleness)}</b>
      <span className="cut">
        {staleness.why === "no-answer" && <OutageDuration outage={staleness.outage} />}
        {message && `${message}. `}
        {figures}
        {staleness.why === "no-answer" && <NextTry outage={staleness.outage} />}
        {staleness.why === "no-key" && "They update once you enter a key."}
      </span>
      {staleness.why === "no-key" ? (
        <Button look="small" onClick={reopenLogin}>
          Enter the key
        </Button>
      ) : (
        <Button look="small" onClick={pollNow}>
          Try now
        </Button>
      )}
    </div>
  );
}

function headOf(staleness: Staleness): string {
  switch (staleness.why) {
    case "no-answer":
      return staleness.outage.code === 0 ? "No answer" : `Answered ${staleness.outage.code}`;
    case "refused":
      return `Refused: ${staleness.refused.code}`;
    case "no-key":
      return "No key";
  }
}

interface OutageProps {
  readonly outage: Outage;
}

function OutageDuration({ outage }: OutageProps): ReactNode {
  // Renders every second; the text uses the browser's clock.
  useServerNow();
  return <>for {spanText(Math.max(1_000, performance.now() - outage.since))}. </>;
}

function NextTry({ outage }: OutageProps): ReactNode {
  useServerNow();
  const waitMs = Math.max(0, outage.nextTryAt - performance.now());
  return waitMs > 0 ? `Next try in ${spanText(Math.max(1_000, waitMs))}.` : "Trying now.";
}
