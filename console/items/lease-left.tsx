import type { ReactNode } from "react";
import type { FoundItem } from "../../openapi/schemas.ts";
import { Countdown } from "../parts/figures.tsx";
import { useServerNow } from "../time.ts";

const lowMs = 12_000;

interface LeaseLeftProps {
  readonly item: Pick<FoundItem, "lease_deadline" | "updated_at">;
  /** Below a sentence that counts down by itself. */
  readonly isBare?: boolean;
}

/** How much of a lease is left: as a bar, and as a clock. */
export function LeaseLeft({ item, isBare = false }: LeaseLeftProps): ReactNode {
  const now = useServerNow();
  const until = Date.parse(item.lease_deadline ?? "");
  const wholeMs = Math.max(1, until - Date.parse(item.updated_at));
  const share = Math.max(0, Math.min(1, (until - now) / wholeMs));
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
