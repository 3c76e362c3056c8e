// Why an item is where it is, in one sentence, and what happens next if nobody does anything.

import type { ReactNode } from "react";
import type { FoundItem, ItemExplained } from "../../../../openapi/schemas.ts";
import { Countdown } from "../../../components/figures.tsx";
import { LeaseLeft } from "../../../components/lease-left.tsx";
import { nextAt } from "./use-explained.ts";

export function Answer({ told }: { readonly told: ItemExplained }): ReactNode {
  const { item, why } = told;
  const at = item === undefined ? null : nextAt(item);
  // What it says of a moment to come is said below by a clock that runs.
  const rest = at === null ? why : why.slice(1);
  const [first, ...more] = rest;
  return (
    <section aria-label="Why it is here">
      {/* A clock that runs would be read out each second. */}
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

interface NextProps {
  readonly item: FoundItem;
  readonly at: number;
}

function Next({ item, at }: NextProps): ReactNode {
  if (item.state === "scheduled") {
    return (
      <>
        {item.attempts > 0 ? "It was given back. " : "Its producer scheduled it. "}
        In <Countdown at={at} /> it is due, and is offered from the tail of its partition.
      </>
    );
  }
  const { holder } = item;
  const which = item.max_attempts > 0 ? ` of ${item.max_attempts}` : "";
  return (
    <>
      {holder === "" ? "A consumer" : <b className="mono">{holder}</b>} holds it, in try{" "}
      {item.attempts}
      {which}. In <Countdown at={at} /> its lease lapses, unless it is completed, given back or
      extended before. {afterLapse(item)}
    </>
  );
}

function afterLapse({ attempts, max_attempts: max, dead_deadline: dead }: FoundItem): string {
  const left = max - attempts;
  if (max === 0 || left > 1) return "Then it goes to the tail.";
  if (left === 1) return "Then it goes to the tail, and one try is left.";
  return dead === null ? "Then it is removed." : "Then it goes to the dead queue.";
}
