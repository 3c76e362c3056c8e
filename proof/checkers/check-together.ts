// A call whose answer was lost did everything or nothing. After draining, the state of its items
// shows for each part which it was, and no two parts may disagree. A transact finished its inputs
// if and only if each of its outputs exists.

import type { QueueRules, SingleCall } from "../histories/history.ts";
import type { Faults } from "../result.ts";
import {
  deadlineOf,
  type Holding,
  type Lifetime,
  mayBeExhausted,
  wasSeen,
} from "./item-lifetimes.ts";

export interface TogetherOptions {
  readonly lifetimes: ReadonlyMap<number, Lifetime>;
  readonly rules: QueueRules;
  readonly faults: Faults;
}

interface HoldingContext {
  readonly lifetime: Lifetime;
  readonly holding: Holding;
  readonly next: Holding | undefined;
}

/** `calls`: each element has the parts of one call. */
export function checkTogether(
  calls: readonly (readonly SingleCall[])[],
  { lifetimes, rules, faults }: TogetherOptions,
): void {
  const places = new Map<string, HoldingContext>();
  for (const lifetime of lifetimes.values()) {
    for (const [index, holding] of lifetime.holdings.entries()) {
      places.set(holding.offer.id, { lifetime, holding, next: lifetime.holdings[index + 1] });
    }
  }
  const isDone = (part: SingleCall, id: string): boolean | null => {
    const place = places.get(id);
    return place === undefined ? null : isFinished(part, place, rules);
  };
  for (const parts of calls) {
    const [first] = parts;
    if (first?.outcome !== "unknown") continue;
    const signs = parts
      .flatMap((part) => {
        if (part.verb === "lease") return [];
        if (part.verb !== "produce") return part.ids.map((id) => isDone(part, id));
        return part.numbers.map((number) => {
          const lifetime = lifetimes.get(number);
          return lifetime !== undefined && wasSeen(lifetime);
        });
      })
      .filter((sign) => sign !== null);
    const done = signs.filter((sign) => sign).length;
    if (done === 0 || done === signs.length) continue;
    const what = parts.length > 1 ? "I20: half of a transact" : `I7: half of a ${first.verb}`;
    const detail = `of ${first.client}, ${done} of ${signs.length} show that it was done`;
    faults.add(what, `${detail}; ${JSON.stringify(parts)}`);
  }
}

/** `null` = unknown. */
function isFinished(
  part: SingleCall,
  { lifetime, holding, next }: HoldingContext,
  rules: QueueRules,
): boolean | null {
  const others = holding.endings.filter((other) => other !== part);
  // An item finished by another call was held until then.
  if (others.some(({ outcome }) => outcome === "ok")) return false;
  if (others.some(({ outcome }) => outcome === "unknown")) return null;
  const { deadCount, leftCount } = lifetime;
  if (part.verb === "complete") return next === undefined && deadCount + leftCount === 0;
  if (part.verb !== "retry") return null;
  if (part.dead && next !== undefined) return false;
  if (part.dead) return deadCount > 0 && !mayBeExhausted(lifetime, rules) ? true : null;
  const isEarly =
    next !== undefined && next.offer.leaseDeadline - rules.leaseTimeoutMs < deadlineOf(holding);
  return isEarly ? true : null;
}
