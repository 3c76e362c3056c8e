// Checks that a history is one that a durable queue may produce. It combines Jepsen's total-queue
// checker (attempted, acknowledged, lost, unexpected, duplicated, recovered) with rules for single
// items: leases, attempts, batches, bytes. It uses only what the clients observed. Numbers in fault
// kinds refer to the invariants.

import { checkRedrives } from "../clients/redrives.ts";
import {
  type Ending,
  type Entry,
  type Offer,
  type Pause,
  type QueueRules,
  type SingleCall,
  singleCalls,
} from "../histories/history.ts";
import { Faults } from "../result.ts";
import { checkTogether } from "./check-together.ts";
import {
  countWithin,
  deadlineOf,
  type Holding,
  isReleased,
  type Lifetime,
  lifetimesOf,
  mayBeExhausted,
  wasRejected,
  wasSeen,
} from "./item-lifetimes.ts";

export interface Checked {
  readonly figures: Readonly<Record<string, number>>;
  readonly faults: Faults;
}

export function checkQueue(entries: readonly Entry[], ending: Ending, rules: QueueRules): Checked {
  const faults = new Faults();
  const calls = entries.map(singleCalls);
  const lifetimes = lifetimesOf(calls.flat(), { ending, rules, faults });
  for (const lifetime of lifetimes.values()) {
    checkAttempts(lifetime, rules, faults);
    checkOverlap(lifetime, rules, faults);
    checkExtends(lifetime, faults);
    checkEnd(lifetime, rules, faults);
  }
  checkTogether(calls, { lifetimes, rules, faults });
  for (const { answers } of ending.repeats?.contradictions ?? []) {
    faults.add("I16: a repeated call got another answer", answers);
  }
  checkPauses(calls.flat(), ending.pauses ?? [], faults);
  if (ending.redrives !== undefined) checkRedrives(ending.redrives, faults);
  const repeatedCalls = ending.repeats?.count ?? 0;
  const pauses = ending.pauses?.length ?? 0;
  const redrives = ending.redrives?.taskIds.length ?? 0;
  return {
    figures: { ...count(entries, lifetimes, faults), repeatedCalls, pauses, redrives },
    faults,
  };
}

/** A repeated lease may return items during a pause that were granted before it. */
function checkPauses(calls: readonly SingleCall[], pauses: readonly Pause[], faults: Faults): void {
  for (const lease of calls) {
    if (lease.verb !== "lease" || lease.offers.length === 0 || lease.isRepeated) continue;
    const { queue, client, call, end } = lease;
    if (pauses.some((pause) => pause.queue === queue && pause.from < call && end < pause.to)) {
      faults.add("I15: leased while paused", `${queue}, by ${client} at ${Math.round(call)}`);
    }
  }
}

/**
 * Each lease adds one attempt, unless the item was released. Further attempts require leases whose
 * answers were lost, and enough time for these to lapse.
 */
function checkAttempts(
  { number, produced, holdings, unseen }: Lifetime,
  rules: QueueRules,
  faults: Faults,
): void {
  let before = 0;
  let least = 0;
  let since = produced?.call ?? 0;
  let last: Holding | null = null;
  for (const holding of holdings) {
    const { offer, lease } = holding;
    const { attempts } = offer;
    const missed = attempts - before - 1;
    const passedMs = last === null ? Number.POSITIVE_INFINITY : sinceLease(last, offer);
    const unseenMax = (): number =>
      Math.min(passedMs / rules.leaseTimeoutMs, countWithin(unseen, since, lease.end));
    if (attempts <= least) {
      faults.add("I5: attempts did not rise", `item ${number} was offered twice as ${attempts}`);
    } else if (missed > 0 && missed > unseenMax()) {
      faults.add("I5: attempts rose by more than one", `item ${number}, ${before} to ${attempts}`);
    }
    if (rules.maxAttempts > 0 && attempts > rules.maxAttempts) {
      faults.add("I5: more attempts than the most", `item ${number}, attempt ${attempts}`);
    }
    before = isReleased(holding, ["ok"]) ? attempts - 1 : attempts;
    least = isReleased(holding, ["ok", "unknown"]) ? attempts - 1 : attempts;
    since = lease.call;
    last = holding;
  }
}

/** Time from one grant to the next, by the server's clock. */
function sinceLease({ offer }: Holding, next: Offer): number {
  return next.leaseDeadline - offer.leaseDeadline;
}

/**
 * An extend never returns an earlier deadline than before, and never succeeds for a finished item.
 */
function checkExtends({ number, holdings }: Lifetime, faults: Faults): void {
  for (const { offer, endings, extends: extended } of holdings) {
    let latest = offer.leaseDeadline;
    for (const { call, leaseDeadline } of extended) {
      if (leaseDeadline < latest) {
        const early = latest - leaseDeadline;
        faults.add("I2: an extend made a lease shorter", `item ${number}, by ${early} ms`);
      }
      latest = Math.max(latest, leaseDeadline);
      if (endings.some(({ outcome, end }) => outcome === "ok" && end < call)) {
        faults.add("I3: a finished item was extended", `item ${number}`);
      }
    }
  }
}

/** An item is leased again only after the previous lease passed its deadline or was given up. */
function checkOverlap({ number, holdings }: Lifetime, rules: QueueRules, faults: Faults): void {
  for (const [index, { offer, lease }] of holdings.entries()) {
    const last = holdings[index - 1];
    if (last === undefined) continue;
    const grantedAt = offer.leaseDeadline - rules.leaseTimeoutMs;
    const wasGivenBack = last.endings.some(
      ({ verb, outcome, call }) =>
        (verb === "retry" || verb === "release") && outcome !== "refused" && call <= lease.end,
    );
    const early = deadlineOf(last) - grantedAt;
    if (!wasGivenBack && early > 0) {
      faults.add("I2: two leases overlap", `item ${number}, by ${early} ms`);
    }
    if (lease.end < last.lease.call) {
      faults.add("I5: attempts fell", `item ${number}, attempt ${offer.attempts} came first`);
    }
  }
}

function checkEnd(lifetime: Lifetime, rules: QueueRules, faults: Faults): void {
  const { number, produced, holdings, deadCount, leftCount } = lifetime;
  const completions = holdings.filter(({ endings }) =>
    endings.some(({ verb, outcome }) => verb === "complete" && outcome === "ok"),
  );
  const mayBeCompleted = holdings.some(({ endings }) =>
    endings.some(({ verb, outcome }) => verb === "complete" && outcome === "unknown"),
  );
  if (produced === null) {
    faults.add("I1: an item that was never produced", `item ${number}`);
    return;
  }
  if (produced.outcome === "refused" && wasSeen(lifetime)) {
    faults.add("I8: an item whose produce was refused", `item ${number}, ${produced.status}`);
  }
  if (holdings.some(({ lease }) => lease.queue !== produced.queue)) {
    faults.add("I1: an item is offered in another queue", `item ${number}`);
  }
  const [completion] = completions;
  if (completions.length > 1) faults.add("I3: an item was completed twice", `item ${number}`);
  const last = holdings.at(-1);
  if (completion !== undefined && last !== completion) {
    faults.add("I3: a completed item was offered again", `item ${number}`);
  }
  if (holdings.some((holding) => holding !== last && wasRejected(holding, ["ok"]))) {
    faults.add("I6: a rejected item was offered again", `item ${number}`);
  }
  if (completion !== undefined && deadCount + leftCount > 0) {
    faults.add("I3: a completed item is still there", `item ${number}`);
  }
  if (deadCount > 1) faults.add("I6: an item is in the dead queue twice", `item ${number}`);
  if (leftCount > 0) faults.add("I11: an item is left", `item ${number}`);
  if (deadCount === 1 && !mayBeDead(lifetime, rules)) {
    faults.add("I6: an item is dead without a reason", `item ${number}`);
  }
  const isGone = completion === undefined && deadCount + leftCount === 0 && !mayBeCompleted;
  if (produced.outcome === "ok" && isGone) {
    faults.add("I1: an acknowledged item is lost", `item ${number}`);
  } else if (holdings.length > 0 && isGone) {
    faults.add("I1: an item that was offered is lost", `item ${number}`);
  }
}

function mayBeDead(lifetime: Lifetime, rules: QueueRules): boolean {
  // A rejection followed by another lease did not take effect.
  const last = lifetime.holdings.at(-1);
  return (
    (last !== undefined && wasRejected(last, ["ok", "unknown"])) || mayBeExhausted(lifetime, rules)
  );
}

function count(
  entries: readonly Entry[],
  lifetimes: ReadonlyMap<number, Lifetime>,
  faults: Faults,
): Record<string, number> {
  const transacts = entries.filter(({ verb }) => verb === "transact");
  const done = transacts.filter(({ outcome }) => outcome === "ok");
  const outputs = done.flatMap(singleCalls).filter((call) => call.verb === "produce");
  const figures = {
    calls: entries.length,
    transacts: done.length,
    unknownTransacts: transacts.filter(({ outcome }) => outcome === "unknown").length,
    delayedOutputs: outputs.filter(({ isDelayed }) => isDelayed).length,
    unknownCalls: entries.filter(({ outcome }) => outcome === "unknown").length,
    attempted: 0,
    acknowledged: 0,
    lost: faults.count("I1: an acknowledged item is lost"),
    unexpected: faults.count("I1: an item that was never produced"),
    recovered: 0,
    duplicated: 0,
    completed: 0,
    dead: 0,
  };
  for (const { produced, holdings, deadCount } of lifetimes.values()) {
    if (produced === null) continue;
    figures.attempted += 1;
    if (produced.outcome === "ok") figures.acknowledged += 1;
    if (produced.outcome === "unknown" && holdings.length + deadCount > 0) figures.recovered += 1;
    if (holdings.length > 1) figures.duplicated += 1;
    figures.dead += deadCount;
    const isCompleted = holdings.some(({ endings }) =>
      endings.some(({ verb, outcome }) => verb === "complete" && outcome === "ok"),
    );
    if (isCompleted) figures.completed += 1;
  }
  return figures;
}
