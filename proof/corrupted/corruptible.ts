// A history to corrupt, the places where it can be corrupted, and steps that several mutations
// share.

import type { Random } from "../../engine/model/random.ts";
import {
  type CompleteCall,
  type Ending,
  type Entry,
  type ExtendCall,
  type LeaseCall,
  type Offer,
  type ProduceCall,
  type QueueRules,
  type RetryCall,
  singleCalls,
  type TransactCall,
} from "../histories/history.ts";

export interface Scene {
  entries: Entry[];
  ending: Ending;
  readonly rules: QueueRules;
  readonly random: Random;
}

/** Changes a history in one place; `false` when there is no such place. */
export type Mutation = (scene: Scene) => boolean;

export function pick<T>(random: Random, among: readonly T[]): T | null {
  return among[random.below(among.length)] ?? null;
}

export function leases({ entries }: Scene): LeaseCall[] {
  return entries.filter(
    (entry) => entry.verb === "lease" && entry.offers.length > 0,
  ) as LeaseCall[];
}

export function produces({ entries }: Scene): ProduceCall[] {
  return entries.filter(
    (entry) => entry.verb === "produce" && entry.outcome === "ok",
  ) as ProduceCall[];
}

/** Completes of offered items that were answered 200. */
export function completes({ entries }: Scene): CompleteCall[] {
  return entries.filter(
    (entry) => entry.verb === "complete" && entry.outcome === "ok",
  ) as CompleteCall[];
}

/** Transacts answered 200. */
export function transacts({ entries }: Scene): TransactCall[] {
  return entries.filter(
    (entry) => entry.verb === "transact" && entry.outcome === "ok",
  ) as TransactCall[];
}

/** Retries answered 200 that rejected their items. */
export function rejections({ entries }: Scene): RetryCall[] {
  return entries.filter(
    (entry) => entry.verb === "retry" && entry.dead && entry.outcome === "ok",
  ) as RetryCall[];
}

/** Extends answered 200. */
export function extensions({ entries }: Scene): ExtendCall[] {
  return entries.filter(
    (entry) => entry.verb === "extend" && entry.outcome === "ok",
  ) as ExtendCall[];
}

export interface Succession {
  readonly last: Offer;
  readonly next: Offer;
}

/** The next offer of the same item, by the id of the earlier offer. */
export function successions(scene: Scene): Map<string, Succession> {
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

/** Ids that were released or retried, or may have been. */
export function requeuedIds({ entries }: Scene): Set<string> {
  return new Set(
    entries
      .flatMap(singleCalls)
      .flatMap((call) => (call.verb === "retry" || call.verb === "release" ? call.ids : [])),
  );
}

export function offerOf(scene: Scene, id: string): { lease: LeaseCall; index: number } | null {
  for (const lease of leases(scene)) {
    const index = lease.offers.findIndex((offer) => offer.id === id);
    if (index >= 0) return { lease, index };
  }
  return null;
}

/** The offer of its first offered id; in a shortened history, some ids are not offered. */
export function offerIn(scene: Scene, { ids }: { readonly ids: readonly string[] }) {
  for (const id of ids) {
    const found = offerOf(scene, id);
    if (found !== null) return found;
  }
  return null;
}

/** Adds a lease at the end that offers the changed offer. */
export function repeatOffer(scene: Scene, change: (offer: Offer) => Offer): boolean {
  const lease = pick(scene.random, leases(scene));
  const offer = lease === null ? null : pick(scene.random, lease.offers);
  if (lease === null || offer === null) return false;
  addLease(scene, lease, change(offer));
  return true;
}

/** Offers an item once more, as if its lease had lapsed. */
export function offerLater(
  scene: Scene,
  { lease, index }: { lease: LeaseCall; index: number },
): boolean {
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

export function addLease(scene: Scene, like: LeaseCall, offer: Offer): void {
  const at = (scene.entries.at(-1)?.call ?? 0) + 10_000;
  scene.entries.push({ ...like, call: at, end: at + 1, offers: [offer] });
}

/** Removes all traces of these items. */
export function forget(scene: Scene, numbers: readonly number[]): void {
  const isOther = ({ number }: { readonly number: number }) => !numbers.includes(number);
  for (const lease of leases(scene)) lease.offers = lease.offers.filter(isOther);
  scene.ending = { ...scene.ending, dead: scene.ending.dead.filter(isOther) };
}

export function changeOffer(scene: Scene, change: (offer: Offer) => Offer): boolean {
  const lease = pick(scene.random, leases(scene));
  if (lease === null) return false;
  const at = scene.random.below(lease.offers.length);
  lease.offers = lease.offers.map((offer, index) => (index === at ? change(offer) : offer));
  return true;
}

export const dayMs = 86_400_000;
