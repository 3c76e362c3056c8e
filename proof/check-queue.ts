// Is a history what a durable queue may do? Jepsen's total-queue checker
// (attempted, acknowledged, lost, unexpected, duplicated, recovered), and the
// rules for single items: leases, attempts, batches, bytes. Needs only what the
// clients saw. The numbers in the kinds of fault are those of the invariants.

import type {
  CompleteCall,
  Ending,
  Entry,
  ExtendCall,
  LeaseCall,
  Offer,
  ProduceCall,
  QueueRules,
} from "./history.ts";
import { Faults } from "./result.ts";

export interface Checked {
  readonly figures: Readonly<Record<string, number>>;
  readonly faults: Faults;
}

/** One offer of an item, and what its holder did with it. */
interface Holding {
  readonly offer: Offer;
  readonly lease: LeaseCall;
  readonly endings: Entry[];
  /** Those that were answered 200, in the order of their calls. */
  readonly extends: ExtendCall[];
}

interface Life {
  readonly number: number;
  produced: ProduceCall | null;
  readonly holdings: Holding[];
  deadCount: number;
  leftCount: number;
}

export function checkQueue(entries: readonly Entry[], ending: Ending, rules: QueueRules): Checked {
  const faults = new Faults();
  const lives = livesOf(entries, ending, faults);
  const unseen = untoldLeases(entries, rules);
  for (const life of lives.values()) {
    // Who released an item had been told of its lease before the next one was granted.
    life.holdings.sort((a, b) => a.offer.attempts - b.offer.attempts || a.lease.end - b.lease.end);
    checkAttempts(life, { rules, unseen, faults });
    checkOverlap(life, rules, faults);
    checkExtends(life, faults);
    checkEnd(life, { rules, unseen, faults });
  }
  checkBatches(entries, lives, faults);
  for (const told of ending.repeats?.contradictions ?? []) {
    faults.add("I16: a repeated call was answered otherwise", told);
  }
  const repeatedCalls = ending.repeats?.count ?? 0;
  return { figures: { ...count(entries, lives, faults), repeatedCalls }, faults };
}

function livesOf(entries: readonly Entry[], ending: Ending, faults: Faults): Map<number, Life> {
  const lives = new Map<number, Life>();
  const life = (number: number): Life => {
    let found = lives.get(number);
    if (found === undefined) {
      found = { number, produced: null, holdings: [], deadCount: 0, leftCount: 0 };
      lives.set(number, found);
    }
    return found;
  };
  for (const entry of entries) {
    if (entry.verb !== "produce") continue;
    for (const number of entry.numbers) life(number).produced = entry;
  }
  const byId = new Map<string, Holding>();
  for (const lease of entries) {
    if (lease.verb !== "lease") continue;
    for (const offer of lease.offers) {
      const holding: Holding = { offer, lease, endings: [], extends: [] };
      life(offer.number).holdings.push(holding);
      if (byId.has(offer.id)) faults.add("I2: an id was leased twice", offer.id);
      byId.set(offer.id, holding);
      if (!offer.intact) faults.add("I10: an item has changed", `item ${offer.number}`);
    }
  }
  for (const entry of entries) {
    if (entry.verb === "produce" || entry.verb === "lease") continue;
    for (const id of entry.ids) {
      if (entry.verb !== "extend") byId.get(id)?.endings.push(entry);
      else if (entry.outcome === "ok") byId.get(id)?.extends.push(entry);
    }
  }
  for (const { number, intact } of ending.dead) {
    life(number).deadCount += 1;
    if (!intact) faults.add("I10: a dead item has changed", `item ${number}`);
  }
  for (const { number } of ending.left) life(number).leftCount += 1;
  return lives;
}

/**
 * Leases that may have been granted what nobody was told of, by when they were
 * sent. That goes back, unless the server is killed before: so also the empty ones.
 */
function untoldLeases(entries: readonly Entry[], { shardsFail }: QueueRules): LeaseCall[] {
  return entries
    .filter((entry): entry is LeaseCall => entry.verb === "lease")
    .filter(({ outcome }) => outcome !== "ok" || shardsFail)
    .sort((a, b) => a.call - b.call);
}

/** How many of these were on their way at some instant from `from` to `to`. */
function countWithin(leases: readonly LeaseCall[], from: number, to: number): number {
  let count = 0;
  for (const { call, end } of leases) {
    if (call > to) break;
    if (end >= from) count += 1;
  }
  return count;
}

interface Scene {
  readonly rules: QueueRules;
  readonly unseen: readonly LeaseCall[];
  readonly faults: Faults;
}

function isReleased({ endings }: Holding, outcomes: readonly Entry["outcome"][]): boolean {
  return endings.some(({ verb, outcome }) => verb === "release" && outcomes.includes(outcome));
}

/**
 * Each lease counts one attempt, unless it was released. Those that nobody was told of need somebody
 * who was not told, and the time in which they lapsed.
 */
function checkAttempts(
  { number, produced, holdings }: Life,
  { rules, unseen, faults }: Scene,
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
    const untoldMax = (): number =>
      Math.min(passedMs / rules.leaseTimeoutMs, countWithin(unseen, since, lease.end));
    if (attempts <= least) {
      faults.add("I5: attempts did not rise", `item ${number} was offered twice as ${attempts}`);
    } else if (missed > 0 && missed > untoldMax()) {
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

/** By the server's clock, from one grant to the next. */
function sinceLease({ offer }: Holding, next: Offer): number {
  return next.leaseDeadline - offer.leaseDeadline;
}

/** What an extend tells is never earlier than what was told before it, and nobody extends what is finished. */
function checkExtends({ number, holdings }: Life, faults: Faults): void {
  for (const { offer, endings, extends: extended } of holdings) {
    let told = offer.leaseDeadline;
    for (const { call, leaseDeadline } of extended) {
      if (leaseDeadline < told) {
        const early = told - leaseDeadline;
        faults.add("I2: an extend made a lease shorter", `item ${number}, by ${early} ms`);
      }
      told = Math.max(told, leaseDeadline);
      if (endings.some(({ outcome, end }) => outcome === "ok" && end < call)) {
        faults.add("I3: a finished item was extended", `item ${number}`);
      }
    }
  }
}

/** The latest that anyone was told. */
function deadlineOf({ offer, extends: extended }: Holding): number {
  return Math.max(offer.leaseDeadline, ...extended.map(({ leaseDeadline }) => leaseDeadline));
}

/** The next lease needs that the one before had passed its deadline, or was given back. */
function checkOverlap({ number, holdings }: Life, rules: QueueRules, faults: Faults): void {
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

function checkEnd(life: Life, { rules, unseen, faults }: Scene): void {
  const { number, produced, holdings, deadCount, leftCount } = life;
  const completions = holdings.filter(({ endings }) =>
    endings.some(({ verb, outcome }) => verb === "complete" && outcome === "ok"),
  );
  const mayBeCompleted = holdings.some(({ endings }) =>
    endings.some(({ verb, outcome }) => verb === "complete" && outcome === "unknown"),
  );
  const isMet = holdings.length > 0 || deadCount > 0 || leftCount > 0;
  if (produced === null) {
    faults.add("I1: an item that nobody produced", `item ${number}`);
    return;
  }
  if (produced.outcome === "refused" && isMet) {
    faults.add("I8: an item whose produce was refused", `item ${number}, ${produced.status}`);
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
  if (deadCount === 1 && !mayBeDead(life, rules, unseen)) {
    faults.add("I6: an item is dead without a reason", `item ${number}`);
  }
  const isGone = completion === undefined && deadCount + leftCount === 0 && !mayBeCompleted;
  if (produced.outcome === "ok" && isGone) {
    faults.add("I1: an acknowledged item is lost", `item ${number}`);
  } else if (holdings.length > 0 && isGone) {
    faults.add("I1: an item that was offered is lost", `item ${number}`);
  }
}

/** Whether its holder gave the item up, with one of these outcomes. */
function wasRejected({ endings }: Holding, outcomes: readonly Entry["outcome"][]): boolean {
  return endings.some((end) => end.verb === "retry" && end.dead && outcomes.includes(end.outcome));
}

function mayBeDead(
  { produced, holdings }: Life,
  rules: QueueRules,
  unseen: readonly LeaseCall[],
): boolean {
  // A rejection that was followed by another lease did not take place.
  const last = holdings.at(-1);
  if (last !== undefined && wasRejected(last, ["ok", "unknown"])) return true;
  if (rules.maxAttempts === 0) return false;
  const since = last?.lease.call ?? produced?.call ?? 0;
  const told =
    (last?.offer.attempts ?? 0) - (last !== undefined && isReleased(last, ["ok"]) ? 1 : 0);
  const most = told + countWithin(unseen, since, Number.POSITIVE_INFINITY);
  return most >= rules.maxAttempts;
}

/** A call whose answer was lost did all or nothing. */
function checkBatches(
  entries: readonly Entry[],
  lives: ReadonlyMap<number, Life>,
  faults: Faults,
): void {
  const numberById = new Map<string, number>();
  for (const entry of entries) {
    if (entry.verb === "lease")
      for (const { id, number } of entry.offers) numberById.set(id, number);
  }
  for (const entry of entries) {
    if (entry.outcome !== "unknown") continue;
    if (entry.verb === "produce") {
      const met = entry.numbers.filter((number) => isMet(lives.get(number)));
      if (met.length !== 0 && met.length !== entry.numbers.length) {
        const detail = `items ${entry.numbers.join()}, of which ${met.length} are there`;
        faults.add("I7: half of a produce", detail);
      }
    } else if (entry.verb === "complete") {
      checkHalfComplete(entry, { lives, numberById, faults });
    }
  }
}

function checkHalfComplete(
  entry: CompleteCall,
  {
    lives,
    numberById,
    faults,
  }: {
    readonly lives: ReadonlyMap<number, Life>;
    readonly numberById: ReadonlyMap<string, number>;
    readonly faults: Faults;
  },
): void {
  // What another call may have finished tells nothing of this one.
  const held = entry.ids.flatMap((id) => {
    const life = lives.get(numberById.get(id) ?? -1);
    const endings = life?.holdings.find(({ offer }) => offer.id === id)?.endings ?? [];
    const isOnlyHere = endings.every((other) => other === entry || other.outcome === "refused");
    return life === undefined || !isOnlyHere ? [] : [{ life, id }];
  });
  const gone = held.filter(({ life, id }) => {
    const isLast = life.holdings.at(-1)?.offer.id === id;
    return isLast && life.deadCount + life.leftCount === 0;
  });
  if (gone.length !== 0 && gone.length !== held.length) {
    faults.add(
      "I7: half of a complete",
      `ids ${entry.ids.join()}, of which ${gone.length} are gone`,
    );
  }
}

function isMet(life: Life | undefined): boolean {
  return life !== undefined && (life.holdings.length > 0 || life.deadCount + life.leftCount > 0);
}

function count(
  entries: readonly Entry[],
  lives: ReadonlyMap<number, Life>,
  faults: Faults,
): Record<string, number> {
  const figures = {
    calls: entries.length,
    unknownCalls: entries.filter(({ outcome }) => outcome === "unknown").length,
    attempted: 0,
    acknowledged: 0,
    lost: faults.count("I1: an acknowledged item is lost"),
    unexpected: faults.count("I1: an item that nobody produced"),
    recovered: 0,
    duplicated: 0,
    completed: 0,
    dead: 0,
  };
  for (const { produced, holdings, deadCount } of lives.values()) {
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
