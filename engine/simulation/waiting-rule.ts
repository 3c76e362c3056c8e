// I15: a produce never lets more items wait than the queue's `waitingMax`, and is refused only if
// more would wait.

import { isCertain, isHeld, mayHaveDied, type ProduceCall, type Tracked } from "./tracked.ts";

/** `max`: the most items that may wait; `faults`: the number of faults so far. */
interface Waiting {
  readonly max: number;
  readonly now: number;
  readonly faults: number;
  readonly mayBeHeld: (item: Tracked) => boolean;
}

const refusal = /(\d+) items wait(?: in '.*')? and (\d+) would be added, expected at most (\d+)$/;

/** What is wrong with the success of the call; `null` = nothing. */
export function overfilled(
  items: Iterable<Tracked>,
  { queue, begun, items: own }: ProduceCall,
  { max, now, faults, mayBeHeld }: Waiting,
): string | null {
  const added = own.filter(({ end }) => end !== "reported as a duplicate").length;
  let waiting = 0;
  for (const item of items) {
    const { place, produce, attempts, grant, redriven, isSent } = item;
    if (place.name !== queue || produce.answered === 0 || produce.answered >= begun) continue;
    // An item that was never leased has waited since.
    if (attempts > 0 || grant !== null || redriven > 0 || isSent) continue;
    if (!isCertain(item) || item.wentBackAt > 0 || mayHaveDied(item, now, faults)) continue;
    // What is not due cannot have been granted, whatever failed.
    const isAside = (item.enqueueAt ?? 0) > now && item.tasks.length === 0;
    if (!isAside && (item.faultsSeen < faults || mayBeHeld(item))) continue;
    waiting += 1;
  }
  if (added === 0 || waiting + added <= max) return null;
  return `${added} items were added to ${waiting} that wait in ${queue}, at most ${max} may wait`;
}

/** What is wrong with the refusal of the call because its queue is full; `null` = nothing. */
export function notFull(
  items: Iterable<Tracked>,
  { queue, items: own, begunAt }: ProduceCall,
  message: string,
  { max, now }: Pick<Waiting, "max" | "now">,
): string | null {
  const [waiting = 0, added = 0, reported = 0] = refusal.exec(message)?.slice(1).map(Number) ?? [];
  let most = 0;
  for (const item of items) {
    const { produce, end, grant, open } = item;
    if (produce.queue !== queue || produce.outcome === "not written" || end !== null) continue;
    const wasHeld = open === 0 && grant !== null && grant.at < begunAt;
    if (!(wasHeld && isHeld(item, grant.id, now))) most += 1;
  }
  const isRight = reported === max && added >= 1 && waiting <= most && waiting + added > max;
  if (isRight && added <= own.length) return null;
  return `a produce to ${queue} was refused, of at most ${most} waiting items: ${message}`;
}
