import type { ReactNode } from "react";
import { comeBack } from "../../api/session.ts";
import { clockText, spanText } from "../../format.ts";
import { pollNow, type Silence, useOverview } from "../../state/overview-poll.ts";
import { useZone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";
import type { Staleness } from "../../state/staleness.ts";
import { Button } from "../button.tsx";

/** Why the displayed data is stale, its time, and the remedy. */
export function StalenessNotice({ old }: { readonly old: Staleness }): ReactNode {
  const zone = useZone();
  const overview = useOverview();
  const figures = overview === null ? "" : `Figures of ${clockText(overview.asOfMs, zone)}. `;
  const message = old.why === "refused" ? old.refused.message : undefined;
  return (
    <div className="lost" title={message}>
      <b role="alert">{headOf(old)}</b>
      <span className="cut">
        {old.why === "silent" && <SilentFor silence={old.silence} />}
        {message && `${message}. `}
        {figures}
        {old.why === "silent" && <NextTry silence={old.silence} />}
        {old.why === "no-key" && "They change again once you give a key."}
      </span>
      {old.why === "no-key" ? (
        <Button look="small" onClick={comeBack}>
          Give the key
        </Button>
      ) : (
        <Button look="small" onClick={pollNow}>
          Try now
        </Button>
      )}
    </div>
  );
}

function headOf(old: Staleness): string {
  switch (old.why) {
    case "silent":
      return old.silence.code === 0 ? "No answer" : `Answered ${old.silence.code}`;
    case "refused":
      return `Refused: ${old.refused.code}`;
    case "no-key":
      return "No key";
  }
}

interface OfSilence {
  readonly silence: Silence;
}

function SilentFor({ silence }: OfSilence): ReactNode {
  // Renders every second; the text uses the browser's clock.
  useServerNow();
  return <>for {spanText(Math.max(1_000, performance.now() - silence.since))}. </>;
}

function NextTry({ silence }: OfSilence): ReactNode {
  useServerNow();
  const waitMs = Math.max(0, silence.nextTryAt - performance.now());
  return waitMs > 0 ? `Next try in ${spanText(Math.max(1_000, waitMs))}.` : "Trying now.";
}
