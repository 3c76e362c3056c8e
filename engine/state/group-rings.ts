// The turns of groups. Groups that items can be leased from wait in rings, one for each priority of
// their first item and each level that it has reached by aging. The highest level is served first;
// within a level, the group that has waited there longest. Nothing here is searched.

import { limits } from "../model/limits.ts";
import type { Group, Ring } from "./group.ts";

/** So many groups can join in a millisecond, each later than the one before. */
const joinsPerMs = 1_000;

function newRing(priority: number, level: number): Ring {
  return { priority, level, first: null, last: null, served: 0 };
}

export class Rings {
  /** Groups whose first item has to be read before its priority is known. */
  readonly unread = newRing(-1, -1);
  /** By level, the rings of each priority; only those that were used. */
  readonly #levels: Ring[][] = Array.from({ length: limits.priorityMax + 1 }, () => []);
  #lastSince = 0;

  /** At the end of the ring of this priority; -1 = unknown. */
  join(group: Group, priority: number, now: number): void {
    this.#lastSince = Math.max(this.#lastSince + 1 / joinsPerMs, now);
    group.since = this.#lastSince;
    append(group, priority < 0 ? this.unread : this.#ring(priority, priority));
  }

  #ring(priority: number, at: number): Ring {
    const level = this.#levels[at] as Ring[];
    const known = level.find((ring) => ring.priority === priority);
    if (known !== undefined) return known;
    const ring = newRing(priority, at);
    level.push(ring);
    return ring;
  }

  leave(group: Group): void {
    const { ring, previous, next } = group;
    if (ring === null) return;
    if (previous === null) {
      ring.first = next;
      ring.served = 0;
    } else previous.next = next;
    if (next === null) ring.last = previous;
    else next.previous = previous;
    group.ring = null;
    group.previous = null;
    group.next = null;
  }

  /**
   * Moves groups that have waited long enough to the next level, as if at the instant at which they
   * had. Groups join a ring at its end, so only its first ones are looked at.
   */
  age(agingMs: number, now: number): void {
    for (let level = 0; level < limits.priorityMax; level += 1) {
      for (const ring of this.#levels[level] as Ring[]) {
        for (let { first } = ring; first !== null && now - first.since >= agingMs; ) {
          this.leave(first);
          first.since += agingMs;
          append(first, this.#ring(ring.priority, level + 1));
          first = ring.first;
        }
      }
    }
  }

  /** The group whose turn it is, among those of at least this priority. */
  next(priorityMin: number): Group | null {
    for (let level = limits.priorityMax; level >= priorityMin; level -= 1) {
      let best: Group | null = null;
      for (const { priority, first } of this.#levels[level] as Ring[]) {
        if (first === null || priority < priorityMin) continue;
        if (best === null || first.since < best.since) best = first;
      }
      if (best !== null) return best;
    }
    return null;
  }

  /** The first groups of each level, from the highest on. `take` may be called once for each. */
  *levels(priorityMin: number): Generator<(count: number) => Group[]> {
    for (let level = limits.priorityMax; level >= priorityMin; level -= 1) {
      const rings = (this.#levels[level] as Ring[]).filter(
        ({ priority, first }) => priority >= priorityMin && first !== null,
      );
      if (rings.length > 0) yield (count) => firstOf(rings, count);
    }
  }
}

function append(group: Group, ring: Ring): void {
  group.ring = ring;
  group.previous = ring.last;
  group.next = null;
  if (ring.last === null) ring.first = group;
  else ring.last.next = group;
  ring.last = group;
}

export function firstOf(rings: readonly Ring[], count: number): Group[] {
  const fronts = rings.map(({ first }) => first);
  const taken: Group[] = [];
  while (taken.length < count) {
    let at = -1;
    for (const [index, front] of fronts.entries()) {
      const best = at < 0 ? null : fronts[at];
      if (front !== null && (best == null || front.since < best.since)) at = index;
    }
    const front = fronts[at];
    if (front == null) break;
    taken.push(front);
    fronts[at] = front.next;
  }
  return taken;
}
