// Spoils histories that are right, in as many ways as a queue can be wrong. A
// checker is worth what it rejects: each spoilt history has to be.

import type { Random } from "../engine/random.ts";
import { seededRandom } from "../engine/simulation/seeded-random.ts";
import { checkOrder } from "./check-order.ts";
import { checkQueue } from "./check-queue.ts";
import type {
  CompleteCall,
  Ending,
  Entry,
  ExtendCall,
  LeaseCall,
  Offer,
  ProduceCall,
  QueueRules,
  RetryCall,
} from "./history.ts";

export interface Spoilable {
  readonly entries: readonly Entry[];
  readonly ending: Ending;
  readonly rules: QueueRules;
  readonly seed: number;
}

interface Scene {
  entries: Entry[];
  ending: Ending;
  readonly rules: QueueRules;
  readonly random: Random;
}

/** Each changes a history in one place; `false` when there is no such place. */
type Mutation = (scene: Scene) => boolean;

/** Of each kind so many. */
const instances = 4;
/** So many of the first calls are spoilt: the checkers see a whole history, and are fast. */
const callsMax = 1_000;

export function spoilAll({ entries, ending, rules, seed }: Spoilable): {
  readonly rejected: number;
  readonly accepted: readonly string[];
} {
  let rejected = 0;
  const accepted: string[] = [];
  const shortened = shorten(entries, ending);
  for (const [name, mutate] of Object.entries(mutations)) {
    for (let instance = 0; instance < instances; instance += 1) {
      const scene: Scene = {
        ...structuredClone(shortened),
        rules,
        random: seededRandom(seed + instance),
      };
      if (!mutate(scene)) continue;
      const faults =
        checkQueue(scene.entries, scene.ending, rules).faults.total +
        checkOrder(scene.entries).faults.total;
      if (faults > 0) rejected += 1;
      else accepted.push(`${name}, instance ${instance}`);
    }
  }
  return { rejected, accepted };
}

/** The lives of the items that were produced first, from their beginning to their end. */
function shorten(entries: readonly Entry[], ending: Ending): { entries: Entry[]; ending: Ending } {
  if (entries.length <= callsMax) return { entries: [...entries], ending };
  const numbers = new Set<number>();
  for (const entry of entries.slice(0, callsMax)) {
    if (entry.verb === "produce") for (const number of entry.numbers) numbers.add(number);
  }
  const ids = new Set<string>();
  const kept = entries.flatMap((entry): Entry[] => {
    if (entry.verb === "produce")
      return entry.numbers.some((number) => numbers.has(number)) ? [entry] : [];
    if (entry.verb !== "lease") return entry.ids.some((id) => ids.has(id)) ? [entry] : [];
    const offers = entry.offers.filter(({ number }) => numbers.has(number));
    for (const { id } of offers) ids.add(id);
    return offers.length > 0 || entry.outcome === "unknown" ? [{ ...entry, offers }] : [];
  });
  const among = ({ number }: { readonly number: number }) => numbers.has(number);
  return { entries: kept, ending: { dead: ending.dead.filter(among), left: ending.left } };
}

function pick<T>(random: Random, among: readonly T[]): T | null {
  return among[random.below(among.length)] ?? null;
}

function leases({ entries }: Scene): LeaseCall[] {
  return entries.filter(
    (entry) => entry.verb === "lease" && entry.offers.length > 0,
  ) as LeaseCall[];
}

function produces({ entries }: Scene): ProduceCall[] {
  return entries.filter(
    (entry) => entry.verb === "produce" && entry.outcome === "ok",
  ) as ProduceCall[];
}

/** Completes that were answered 200, of items that were offered. */
function completes({ entries }: Scene): CompleteCall[] {
  return entries.filter(
    (entry) => entry.verb === "complete" && entry.outcome === "ok",
  ) as CompleteCall[];
}

/** Retries answered 200 that gave their items up. */
function rejections({ entries }: Scene): RetryCall[] {
  return entries.filter(
    (entry) => entry.verb === "retry" && entry.dead && entry.outcome === "ok",
  ) as RetryCall[];
}

/** Extends that were answered 200. */
function extensions({ entries }: Scene): ExtendCall[] {
  return entries.filter(
    (entry) => entry.verb === "extend" && entry.outcome === "ok",
  ) as ExtendCall[];
}

interface Succession {
  readonly last: Offer;
  readonly next: Offer;
}

/** By the ids of offers: what the same item was offered as next. */
function successions(scene: Scene): Map<string, Succession> {
  const offers = leases(scene)
    .flatMap((lease) => lease.offers)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const next = new Map<string, Succession>();
  for (const of of Map.groupBy(offers, ({ number }) => number).values()) {
    for (const [index, last] of of.entries()) {
      const behind = of[index + 1];
      if (behind !== undefined) next.set(last.id, { last, next: behind });
    }
  }
  return next;
}

/** Ids that somebody gave back, or may have. */
function givenBack({ entries }: Scene): Set<string> {
  return new Set(
    entries.flatMap((entry) =>
      entry.verb === "retry" || entry.verb === "release" ? entry.ids : [],
    ),
  );
}

function offerOf(scene: Scene, id: string): { lease: LeaseCall; index: number } | null {
  for (const lease of leases(scene)) {
    const index = lease.offers.findIndex((offer) => offer.id === id);
    if (index >= 0) return { lease, index };
  }
  return null;
}

/** Adds a lease behind all others that offers what `change` makes of an offer. */
function offerAgain(scene: Scene, change: (offer: Offer) => Offer): boolean {
  const lease = pick(scene.random, leases(scene));
  const offer = lease === null ? null : pick(scene.random, lease.offers);
  if (lease === null || offer === null) return false;
  addLease(scene, lease, change(offer));
  return true;
}

/** Offers an item once more, as if its lease had lapsed. */
function offerLater(scene: Scene, { lease, index }: { lease: LeaseCall; index: number }): boolean {
  const offer = lease.offers[index];
  if (offer === undefined) return false;
  addLease(scene, lease, {
    ...offer,
    id: `${offer.id.slice(0, -4)}zzzz`,
    attempts: offer.attempts + 1,
    leaseDeadline: offer.leaseDeadline + dayMs,
  });
  return true;
}

function addLease(scene: Scene, like: LeaseCall, offer: Offer): void {
  const at = (scene.entries.at(-1)?.call ?? 0) + 10_000;
  scene.entries.push({ ...like, call: at, end: at + 1, offers: [offer] });
}

function changeOffer(scene: Scene, change: (offer: Offer) => Offer): boolean {
  const lease = pick(scene.random, leases(scene));
  if (lease === null) return false;
  const at = scene.random.below(lease.offers.length);
  lease.offers = lease.offers.map((offer, index) => (index === at ? change(offer) : offer));
  return true;
}

const dayMs = 86_400_000;

const mutations: Readonly<Record<string, Mutation>> = {
  "an acknowledged item is never seen again": (scene) => {
    const produce = pick(scene.random, produces(scene));
    const number = produce === null ? null : pick(scene.random, produce.numbers);
    if (number === null) return false;
    for (const lease of leases(scene)) {
      lease.offers = lease.offers.filter((offer) => offer.number !== number);
    }
    scene.ending = {
      ...scene.ending,
      dead: scene.ending.dead.filter((one) => one.number !== number),
    };
    return true;
  },
  "a completed item is offered again, under a new id": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerOf(scene, complete.ids[0] ?? "");
    return found !== null && offerLater(scene, found);
  },
  "a rejected item is offered again, under a new id": (scene) => {
    const retry = pick(scene.random, rejections(scene));
    const found = retry === null ? null : offerOf(scene, retry.ids[0] ?? "");
    return found !== null && offerLater(scene, found);
  },
  "an id is offered twice": (scene) =>
    offerAgain(scene, (offer) => ({ ...offer, leaseDeadline: offer.leaseDeadline + dayMs })),
  "two leases of an item overlap": (scene) =>
    offerAgain(scene, (offer) => ({
      ...offer,
      id: `${offer.id.slice(0, -4)}zzzz`,
      attempts: offer.attempts + 1,
    })),
  "an item is offered before the deadline that an extend told": (scene) => {
    const next = successions(scene);
    const back = givenBack(scene);
    const followed = (id: string): boolean => next.has(id) && !back.has(id);
    const extension = pick(
      scene.random,
      extensions(scene).filter(({ ids }) => ids.some(followed)),
    );
    if (extension === null) return false;
    extension.leaseDeadline += dayMs;
    return true;
  },
  "an extend tells an earlier deadline than the lease": (scene) => {
    const extension = pick(scene.random, extensions(scene));
    const found = extension === null ? null : offerOf(scene, extension.ids[0] ?? "");
    const offer = found?.lease.offers[found.index];
    if (extension === null || offer === undefined) return false;
    extension.leaseDeadline = offer.leaseDeadline - 1;
    return true;
  },
  "an item is extended after it was completed": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerOf(scene, complete.ids[0] ?? "");
    if (complete === null || found === null) return false;
    const at = complete.end + 1;
    const leaseDeadline = (found.lease.offers[found.index]?.leaseDeadline ?? 0) + dayMs;
    scene.entries.push({ ...complete, verb: "extend", leaseDeadline, call: at, end: at + 1 });
    return true;
  },
  "the attempt of a lease that was released is counted": (scene) => {
    const { leaseTimeoutMs } = scene.rules;
    const next = successions(scene);
    const released = scene.entries.flatMap((entry) => {
      if (entry.verb !== "release" || entry.outcome !== "ok") return [];
      return entry.ids.flatMap((id) => next.get(id) ?? []);
    });
    // Later, a lease that nobody was told of may have lapsed in between.
    const soon = released.filter(
      (place) => place.next.leaseDeadline - place.last.leaseDeadline < leaseTimeoutMs,
    );
    const place = pick(scene.random, soon);
    if (place === null) return false;
    for (const lease of leases(scene)) {
      lease.offers = lease.offers.map((offer) =>
        offer.number === place.last.number && offer.id >= place.next.id
          ? { ...offer, attempts: offer.attempts + 1 }
          : offer,
      );
    }
    return true;
  },
  "attempts stay as they were": (scene) =>
    offerAgain(scene, (offer) => ({
      ...offer,
      id: `${offer.id.slice(0, -4)}zzzz`,
      leaseDeadline: offer.leaseDeadline + dayMs,
    })),
  "attempts rise above the most": (scene) =>
    changeOffer(scene, (offer) => ({ ...offer, attempts: 1_000 })),
  "attempts are counted from nought": (scene) =>
    changeOffer(scene, (offer) => ({ ...offer, attempts: 0 })),
  "a byte has changed": (scene) => changeOffer(scene, (offer) => ({ ...offer, intact: false })),
  "an item that nobody produced": (scene) =>
    offerAgain(scene, (offer) => ({
      ...offer,
      number: 999_999_999,
      id: `${offer.id.slice(0, -4)}zzzz`,
      attempts: 1,
    })),
  "an item whose produce was refused": (scene) => {
    const produce = pick(scene.random, produces(scene));
    if (produce === null) return false;
    produce.outcome = "refused";
    return true;
  },
  "half of a produce is there": (scene) => {
    const produce = pick(
      scene.random,
      produces(scene).filter(({ numbers }) => numbers.length > 1),
    );
    if (produce === null) return false;
    const [gone] = produce.numbers;
    produce.outcome = "unknown";
    for (const lease of leases(scene))
      lease.offers = lease.offers.filter(({ number }) => number !== gone);
    scene.ending = {
      ...scene.ending,
      dead: scene.ending.dead.filter(({ number }) => number !== gone),
    };
    return true;
  },
  "an item is in the dead queue twice": (scene) => {
    const [dead] = scene.ending.dead;
    const number = dead?.number ?? produces(scene)[0]?.numbers[0] ?? 0;
    const twice = [
      { number, intact: true },
      { number, intact: true },
    ];
    scene.ending = { ...scene.ending, dead: [...scene.ending.dead, ...twice] };
    return true;
  },
  "a completed item is in the dead queue": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerOf(scene, complete.ids[0] ?? "");
    const number = found?.lease.offers[found.index]?.number;
    if (number === undefined) return false;
    scene.ending = { ...scene.ending, dead: [...scene.ending.dead, { number, intact: true }] };
    return true;
  },
  "an item is left when all is drained": (scene) => {
    const number = pick(scene.random, produces(scene))?.numbers[0];
    if (number === undefined) return false;
    scene.ending = { ...scene.ending, left: [{ number, intact: true }] };
    return true;
  },
  "a lease is answered before its items are produced": (scene) => {
    const first = Math.min(...scene.entries.map(({ call }) => call));
    const lease = pick(
      scene.random,
      leases(scene).filter(({ offers }) => offers.some(({ attempts }) => attempts === 1)),
    );
    if (lease === null) return false;
    Object.assign(lease, { call: first - 2, end: first - 1 });
    return true;
  },
  "an item is leased long after those behind it": (scene) => {
    const at = (scene.entries.at(-1)?.call ?? 0) + 10_000;
    const all = leases(scene);
    const lease = pick(scene.random, all.slice(0, all.length >> 1));
    const isFollowed = all.some(
      (other) =>
        other.partition === lease?.partition &&
        (other.offers[0]?.id ?? "") > (lease?.offers.at(-1)?.id ?? ""),
    );
    if (lease === null || !isFollowed) return false;
    Object.assign(lease, { call: at, end: at + 1 });
    return true;
  },
  "a batch is out of its order": (scene) => {
    const lease = pick(
      scene.random,
      leases(scene).filter(({ offers }) => offers.length > 1),
    );
    if (lease === null) return false;
    lease.offers = lease.offers.toReversed();
    return true;
  },
};
