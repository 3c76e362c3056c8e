import type { ReactNode } from "react";
import { Refused } from "../api/call.ts";
import { withVisibleMarks } from "../format.ts";
import { Button } from "./button.tsx";

export function refusalText(cause: unknown): string {
  if (cause instanceof Refused) return withVisibleMarks(cause.message);
  return "No answer; the outcome is unknown.";
}

/** Why a change was not made, beside its button. */
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

/** Replaces a part that could not be read; the rest of the page works. */
export function Fault({ of: cause, what, onRetry }: FaultProps): ReactNode {
  return (
    <div className="fault" role="alert">
      {cause instanceof Refused && <b className="bad mono">{cause.code}</b>}
      <b>{what}</b>
      <span className="muted">{refusalText(cause)}</span>
      {onRetry && (
        <Button look="small" onClick={onRetry}>
          Try now
        </Button>
      )}
    </div>
  );
}

interface Query {
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface QueryFaultProps {
  readonly of: Query;
  readonly what: string;
}

/** If the query is repeated, draw it only while there is no data: the next reply may follow soon. */
export function QueryFault({ of: { error, refetch }, what }: QueryFaultProps): ReactNode {
  if (error === null) return null;
  return <Fault of={error} what={what} onRetry={() => void refetch()} />;
}
