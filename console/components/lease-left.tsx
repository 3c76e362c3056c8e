import type { ReactNode } from "react";
import { useServerNow } from "../state/server-time.ts";
import { Countdown } from "./figures.tsx";

const lowMs = 12_000;

interface LeaseLeftProps {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** Below a sentence that counts down by itself. */
  readonly isBare?: boolean;
}

/** How much of a lease is left: as a bar, and as a clock. */
export function LeaseLeft({ from, until, isBare = false }: LeaseLeftProps): ReactNode {
  const now = useServerNow();
  const share = Math.max(0, Math.min(1, (until - now) / Math.max(1, until - from)));
  const width = `${(share * 100).toFixed(1)}%`;
  return (
    <>
      <span className={until - now < lowMs ? "left low" : "left"} aria-hidden="true">
        <i style={{ width }} />
      </span>
      {!isBare && <Countdown at={until} />}
    </>
  );
}
