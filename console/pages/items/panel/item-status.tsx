// Why an item is where it is, in one sentence, and what happens next without a call.

import type { ReactNode } from "react";
import type { FoundItem, ItemExplained } from "../../../../openapi/schemas.ts";
import { useQuery } from "../../../api/use-query.ts";
import { Countdown } from "../../../components/figures.tsx";
import { LeaseLeft } from "../../../components/lease-left.tsx";
import { serverNow } from "../../../state/server-time.ts";
import type { StoredState } from "../source.ts";

export function ItemStatus({ of }: { readonly of: ItemExplained }): ReactNode {
  const { item, why } = of;
  const at = item === undefined ? null : nextAt(item);
  // The server's first sentence of a coming moment is replaced by one with a countdown.
  const rest = at === null ? why : why.slice(1);
  const [first, ...more] = rest;
  return (
    <section aria-label="Why it is here">
      {/* A countdown would be read out every second. */}
      <div className="answer" role={at === null ? "status" : undefined}>
        {item !== undefined && at !== null && <Next item={item} at={at} />}
        {at === null && first}
      </div>
      {item?.state === "leased" && at !== null && (
        <LeaseLeft from={Date.parse(item.updated_at)} until={at} isBare />
      )}
      {(at === null ? more : rest).map((sentence) => (
        <p key={sentence} className="muted besides">
          {sentence}
        </p>
      ))}
    </section>
  );
}

function Next({ item, at }: { readonly item: FoundItem; readonly at: number }): ReactNode {
  if (item.state === "scheduled") {
    return (
      <>
        {item.attempts > 0 ? "It was retried. " : "Its producer scheduled it. "}
        It is due in <Countdown at={at} />
        {item.group === undefined && ", at the tail of its partition"}.
      </>
    );
  }
  const { holder } = item;
  const which = item.max_attempts > 0 ? ` of ${item.max_attempts}` : "";
  return (
    <>
      {holder === "" ? "A consumer" : <b className="mono">{holder}</b>} holds it, in attempt{" "}
      {item.attempts}
      {which}. Its lease lapses in <Countdown at={at} />, unless it is completed, retried or
      extended before. {afterLapse(item)}
    </>
  );
}

function afterLapse(item: FoundItem): string {
  const { attempts, max_attempts: max, dead_deadline: dead, group } = item;
  const left = max - attempts;
  // In a group it may keep its place.
  const requeued = `Then it is requeued${group === undefined ? " at the tail" : ""}`;
  if (max === 0 || left > 1) return `${requeued}.`;
  if (left === 1) return `${requeued}, with one attempt left.`;
  return dead === null ? "Then it is removed." : "Then it goes to the dead queue.";
}

const lookMs = 5_000;
const afterDeadlineMs = 150;

/** Where an item is and why; refreshed at its next deadline, and every few seconds. */
export function useExplained(id: string) {
  return useQuery("explainItem", { id }, { everyMs: pauseMs, isEnabled: id !== "", keptMs: 0 });
}

function pauseMs(data: ItemExplained | undefined): number {
  const at = data?.item === undefined ? null : nextAt(data.item);
  const leftMs = at === null ? lookMs : at - serverNow() + afterDeadlineMs;
  return leftMs > 0 ? Math.min(lookMs, leftMs) : lookMs;
}

export type Explained = ReturnType<typeof useExplained>;

/** When its state changes without a call; `null`: never. */
export function nextAt(item: FoundItem): number | null {
  const deadlines = { leased: item.lease_deadline, scheduled: item.enqueue_at, ready: null };
  const at = deadlines[item.state as StoredState];
  return at === null ? null : Date.parse(at);
}
