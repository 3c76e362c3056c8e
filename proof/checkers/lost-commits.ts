// Rewrites a history whose database lost its last commits, for example when a standby that lagged
// takes over. Answers in the period of possible loss become unknown, and effects known to be lost
// are removed. The checkers then judge the remaining history as usual.

import { openingOf, placeOf } from "../../engine/model/ids.ts";
import {
  type Ending,
  type Entry,
  type LeaseCall,
  type Offer,
  type SingleCall,
  singleCalls,
} from "../histories/history.ts";
import { Faults } from "../result.ts";

/** Instants of the harness's own clock. */
export interface Loss {
  /** Everything answered before this instant is kept. */
  readonly keptUntil: number;
  /** Everything sent from this instant on and answered before `resumedAt` is lost. */
  readonly lostFrom: number;
  /** Everything sent from this instant on is answered by the new primary. */
  readonly resumedAt: number;
}

export const noLoss: Loss = {
  keptUntil: Number.POSITIVE_INFINITY,
  lostFrom: Number.POSITIVE_INFINITY,
  resumedAt: 0,
};

/** Whether a call sent and answered at these instants may be lost. */
function mayBeLost(call: number, answered: number, { keptUntil, resumedAt }: Loss): boolean {
  return answered > keptUntil && call < resumedAt;
}

/** A leased item that is lost together with its produce. */
export interface LostItem {
  readonly queue: string;
  readonly partition: number;
  readonly id: string;
}

export interface SurvivingHistory {
  readonly entries: Entry[];
  readonly ending: Ending;
  readonly gone: readonly LostItem[];
  readonly faults: Faults;
}

type Answered = Pick<Entry, "outcome" | "call" | "end">;

interface Offered {
  readonly lease: LeaseCall;
  readonly offer: Offer;
}

export function survivingHistory(
  entries: readonly Entry[],
  ending: Ending,
  loss: Loss,
): SurvivingHistory {
  const isInDoubt = (entry: Answered): boolean =>
    entry.outcome === "ok" && mayBeLost(entry.call, entry.end, loss);
  const calls = entries.flatMap(singleCalls);
  const offers = offersOf(calls);
  const leases = calls.filter((call) => call.verb === "lease");
  const { known, isLost } = knownLost([...offers.values()], { calls, isInDoubt, loss });
  const lost = new Set(known.concat(leases.filter(isLost)));
  const gone = findLostItems({ calls, offers, ending, loss, isInDoubt, isLost });
  for (const { lease } of gone) lost.add(lease);
  const confirmed = confirmedIds(calls, { lost, isInDoubt });
  return {
    entries: entries.map((entry) =>
      withoutLostEffects({ lost, confirmed, isLost }, { entry, calls, isInDoubt }),
    ),
    ending: endingAfter(ending, loss),
    gone: gone.map(({ lease: { queue, partition }, offer: { id } }) => ({ queue, partition, id })),
    faults: reissued(offers),
  };
}

/** Offers by item, in the order in which clients received them. */
function offersOf(calls: readonly SingleCall[]): Map<number, Offered[]> {
  const leases = calls.filter((call): call is LeaseCall => call.verb === "lease");
  const all = leases
    .toSorted((a, b) => a.end - b.end)
    .flatMap((lease) => lease.offers.map((offer) => ({ lease, offer })));
  return Map.groupBy(all, ({ offer }) => offer.number);
}

interface Doubts {
  readonly calls: readonly SingleCall[];
  readonly isInDoubt: (entry: Answered) => boolean;
}

interface KnownLost {
  readonly known: LeaseCall[];
  /** Includes calls sent after the answer to a lost call. */
  readonly isLost: (entry: Answered) => boolean;
}

/**
 * A lost lease dates the loss. The date shows that more releases are lost, and these that more
 * leases are.
 */
function knownLost(
  items: readonly (readonly Offered[])[],
  { calls, isInDoubt, loss }: Doubts & { readonly loss: Loss },
): KnownLost {
  const reissuedNumbers = findReissuedNumbers(items.flat(), isInDoubt);
  for (let { lostFrom } = loss; ; ) {
    const since = lostFrom;
    const isLost: KnownLost["isLost"] = (entry) =>
      isInDoubt(entry) && entry.call >= since && entry.end <= loss.resumedAt;
    const released = new Set(
      calls.flatMap((call) => {
        const mayBeKept = call.verb === "release" && call.outcome !== "refused" && !isLost(call);
        return mayBeKept ? call.ids : [];
      }),
    );
    const known = items
      .flatMap((item) => rolledBack(item, { released, isInDoubt }))
      .concat(reissuedNumbers);
    lostFrom = known.reduce((from, { end }) => Math.min(from, end), since);
    if (lostFrom === since) return { known, isLost };
  }
}

/**
 * Leases of an item that a later one contradicts: its attempts are no higher, or its id is the
 * same.
 */
function rolledBack(
  item: readonly Offered[],
  { released, isInDoubt }: Pick<Doubts, "isInDoubt"> & { readonly released: ReadonlySet<string> },
): LeaseCall[] {
  return item.flatMap(({ lease, offer: { id, attempts } }, index) => {
    if (!isInDoubt(lease)) return [];
    const isUnknown = item.slice(index + 1).some(({ offer: later }) => {
      if (later.id === id || later.attempts < attempts) return true;
      return later.attempts === attempts && !released.has(id);
    });
    return isUnknown ? [lease] : [];
  });
}

/**
 * Leases of ids whose numbers were reissued under the tag of a later opening of the store. Each
 * opening continues after the highest stored number.
 */
function findReissuedNumbers(
  offered: readonly Offered[],
  isInDoubt: Doubts["isInDoubt"],
): LeaseCall[] {
  const places = offered.flatMap(({ lease, offer }) => {
    const place = placeOf(offer.id);
    // The items of each priority have numbers of their own.
    const partition = `${lease.queue}/${lease.partition}/${place?.slot}`;
    return place === null ? [] : [{ ...place, lease, partition, opening: openingOf(place.tag) }];
  });
  const byPartition = Map.groupBy(places, ({ partition }) => partition);
  return places.flatMap((one) => {
    if (!isInDoubt(one.lease)) return [];
    const isAgain = byPartition.get(one.partition)?.some((later) => {
      if (later.tag === one.tag || later.lease.end <= one.lease.end) return false;
      return later.seq === one.seq || (later.seq < one.seq && later.opening >= one.opening);
    });
    return isAgain ? [one.lease] : [];
  });
}

interface Scene extends Doubts {
  readonly isLost: (entry: SingleCall) => boolean;
  readonly offers: ReadonlyMap<number, readonly Offered[]>;
  readonly ending: Ending;
  readonly loss: Loss;
}

/**
 * Items that no call finished, not even one withoutLostEffects an answer, and that are missing: their produce
 * is lost.
 */
function findLostItems({ calls, offers, ending, loss, isInDoubt, isLost }: Scene): Offered[] {
  const there = new Set([...ending.dead, ...ending.left].map(({ number }) => number));
  const finished = new Set(
    calls.flatMap((call) => {
      const finishes = call.verb === "complete" || (call.verb === "retry" && call.dead);
      return finishes && call.outcome !== "refused" && !isLost(call) ? call.ids : [];
    }),
  );
  const produced = calls.filter((call) => call.verb === "produce").filter(isInDoubt);
  return produced.flatMap(({ numbers }) =>
    numbers.flatMap((number) => {
      const offered = offers.get(number) ?? [];
      const isSeen = offered.some(
        ({ lease, offer }) => lease.call >= loss.resumedAt || finished.has(offer.id),
      );
      return isSeen || there.has(number) ? [] : offered;
    }),
  );
}

interface LossRecord {
  readonly lost: ReadonlySet<LeaseCall>;
  readonly confirmed: ReadonlySet<string>;
  readonly isLost: (entry: Entry) => boolean;
}

/**
 * Ids of items that were certainly finished after a lease without an answer, by a client that knew
 * the id.
 */
function confirmedIds(
  calls: readonly SingleCall[],
  { lost, isInDoubt }: Pick<LossRecord, "lost"> & Pick<Doubts, "isInDoubt">,
): Set<string> {
  const known = new Set(
    calls.flatMap((call) =>
      call.verb === "lease" && !lost.has(call) ? call.offers.map(({ id }) => id) : [],
    ),
  );
  return new Set(
    calls.flatMap((call) => {
      if (call.verb === "produce" || call.verb === "lease") return [];
      const isCertain = call.outcome === "ok" && !isInDoubt(call);
      return isCertain ? call.ids.filter((id) => !known.has(id)) : [];
    }),
  );
}

/** The entry, restricted to effects that are kept or may be. */
function withoutLostEffects(
  { lost, confirmed, isLost }: LossRecord,
  { entry, calls, isInDoubt }: Doubts & { readonly entry: Entry },
): Entry {
  if (entry.verb === "lease") {
    const offers = entry.offers.filter(({ id }) => confirmed.has(id));
    return lost.has(entry) ? { ...entry, offers, outcome: "unknown" } : entry;
  }
  const isDoubtful = isInDoubt(entry as SingleCall);
  const outcome = isDoubtful ? "unknown" : entry.outcome;
  if (entry.verb === "produce") return { ...entry, outcome };
  // The remaining effects concern a lease granted after the loss under the same id.
  if (outcome === "ok" || (lost.size === 0 && !isDoubtful)) return entry;
  const held = (ids: readonly string[]): string[] =>
    ids.filter((id) => {
      if (confirmed.has(id) || isLost(entry)) return confirmed.has(id);
      const lease = calls.findLast(
        (call) => call.verb === "lease" && isHeldBy(call, { entry, id }),
      ) as LeaseCall | undefined;
      return lease === undefined || !lost.has(lease);
    });
  if (entry.verb !== "transact") return { ...entry, outcome, ids: held(entry.ids) };
  const parts = entry.parts.map((part) =>
    part.verb === "produce" ? part : { ...part, ids: held(part.ids) },
  );
  return { ...entry, outcome, parts };
}

function isHeldBy(
  lease: LeaseCall,
  { entry, id }: { readonly entry: Entry; readonly id: string },
): boolean {
  const isTheirs = lease.client === entry.client && lease.end <= entry.call;
  return isTheirs && lease.offers.some((offer) => offer.id === id);
}

/**
 * Drops reports from the period of loss: a receipt, a pause or a task may be lost as well, and the
 * history does not record when redrives began.
 */
function endingAfter(ending: Ending, loss: Loss): Ending {
  const { redrives, ...others } = ending;
  const { repeats, pauses } = others;
  return {
    ...others,
    ...(redrives && loss === noLoss && { redrives }),
    ...(repeats && {
      repeats: {
        ...repeats,
        contradictions: repeats.contradictions.filter(
          ({ call, end }) => !mayBeLost(call, end, loss),
        ),
      },
    }),
    ...(pauses && { pauses: pauses.filter(({ call, from }) => !mayBeLost(call, from, loss)) }),
  };
}

/** An id always belongs to the same item, even when that item is lost. */
function reissued(offers: ReadonlyMap<number, readonly Offered[]>): Faults {
  const faults = new Faults();
  const numberOf = new Map<string, number>();
  for (const [number, offered] of offers) {
    for (const { offer } of offered) {
      const before = numberOf.get(offer.id) ?? number;
      if (before !== number) {
        faults.add("an id was issued again", `${offer.id}, of items ${before} and ${number}`);
      }
      numberOf.set(offer.id, number);
    }
  }
  return faults;
}
