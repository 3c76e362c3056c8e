import type { ReactNode } from "react";
import { Refused } from "../api/call.ts";
import { unturned } from "../format.ts";

/** What a role is told to get, by the sentence that the server refused with. */
export function refusalText(cause: unknown): string {
  if (cause instanceof Refused) return unturned(cause.message);
  return "No answer; whether it was done is not known.";
}

/** Why something was not done, beside what was to do it. */
export function Refusal({ of: cause }: { readonly of: unknown }): ReactNode {
  if (cause === null || cause === undefined) return null;
  return (
    <p className="refusal" role="alert">
      {cause instanceof Refused && <b className="bad mono">{cause.code}</b>} {refusalText(cause)}
    </p>
  );
}

interface FaultProps {
  readonly of: unknown;
  readonly what: string;
  readonly onRetry?: () => void;
}

/** In the place of a part that could not be had; the rest of the page goes on. */
export function Fault({ of: cause, what, onRetry }: FaultProps): ReactNode {
  return (
    <div className="fault" role="alert">
      {cause instanceof Refused && <b className="bad mono">{cause.code}</b>}
      <b>{what}</b>
      <span className="muted">{refusalText(cause)}</span>
      {onRetry && (
        <button type="button" className="b s" onClick={onRetry}>
          Try now
        </button>
      )}
    </div>
  );
}
