// Which names come up most among many things that happen: a few counts, whatever the number of names.
// With more of them the seldom ones are forgotten; no count is ever too high.

import { limits } from "../model/limits.ts";

export type Mentions = Map<string, number>;

/** Nothing that is counted for nobody. */
export function mention(mentions: Mentions, name: string, count: number): void {
  if (name === "" || count <= 0) return;
  const known = mentions.get(name);
  if (known !== undefined || mentions.size < limits.mentionsMax) {
    mentions.set(name, (known ?? 0) + count);
    return;
  }
  // Each name gives up as many as the new one does: whatever is more than a ninth of all stays.
  const less = Math.min(count, ...mentions.values());
  for (const [other, all] of mentions) {
    if (all > less) mentions.set(other, all - less);
    else mentions.delete(other);
  }
  if (count > less) mentions.set(name, count - less);
}

export interface Mentioned {
  readonly name: string;
  readonly count: number;
}

/** The same of late, in slots of time; no memory before the first. */
export class RecentMentions {
  readonly #slotMs: number;
  readonly #slotCount: number;
  readonly #slots = new Map<number, Mentions>();

  constructor({ slotMs, slots }: { readonly slotMs: number; readonly slots: number }) {
    this.#slotMs = slotMs;
    this.#slotCount = slots;
  }

  add(mentioned: Iterable<readonly [name: string, count: number]>, now: number): void {
    const slot = this.#forget(now);
    const here = this.#slots.getOrInsertComputed(slot, () => new Map());
    for (const [name, count] of mentioned) mention(here, name, count);
  }

  /** Within the window up to now; `null` = none was named. */
  most(now: number): Mentioned | null {
    this.#forget(now);
    const all = new Map<string, number>();
    for (const slot of this.#slots.values()) {
      for (const [name, count] of slot) all.set(name, (all.get(name) ?? 0) + count);
    }
    let most: Mentioned | null = null;
    for (const [name, count] of all) {
      if (most === null || count > most.count) most = { name, count };
    }
    return most;
  }

  #forget(now: number): number {
    const slot = Math.floor(now / this.#slotMs);
    for (const old of this.#slots.keys()) {
      if (old <= slot - this.#slotCount) this.#slots.delete(old);
    }
    return slot;
  }
}
