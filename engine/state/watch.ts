// What is remembered of one queue beside its counts, so that it can be said since when something is
// the matter. It is told of changes and asked for the rest: there is no timer, and a queue on which
// nothing happens costs nothing.

import type { FindingWord } from "../model/api.ts";
import { RecentMentions } from "./mentions.ts";
import { RecentCount, RecentLevels } from "./window.ts";

const minuteMs = 60_000;
/** One that ceases for no longer than this has not ceased. */
const gapMs = 10_000;
const lapseWindow = { slotMs: minuteMs, slots: 5 };
const deathWindow = { slotMs: 5 * minuteMs, slots: 12 };

export class QueueWatch {
  readonly bornAt: number;
  /** When it was found to hold, and last. */
  readonly #held = new Map<FindingWord, { readonly since: number; seenAt: number }>();
  /** When anything of it changed last. */
  changedAt: number;
  /** When an item of it last came into a hand, or left one; 0 = not since the start. */
  movedAt: number;
  /** When its first ready item became so, of those that are there now. */
  readyAt: number;
  /** When its pause began; of one that was there at a start, when its definition was changed last. */
  pausedAt: number;
  /** `""` = nobody said, or it was before the start. */
  pausedBy = "";
  /** Who asked last for items; `null` = nobody since the start. */
  lastAsked: { readonly client: string; readonly at: number } | null = null;
  /** The most that a clear that is under way had still to remove. */
  clearingMost = 0;
  readonly lapses = new RecentCount(lapseWindow);
  readonly lapsedOf = new RecentMentions(lapseWindow);
  readonly deaths = new RecentCount(deathWindow);
  readonly diedOf = new RecentMentions(deathWindow);
  readonly backlog: RecentLevels;

  constructor(now: number, pausedAt: number) {
    this.bornAt = now;
    this.changedAt = now;
    this.movedAt = 0;
    this.readyAt = now;
    // The clock may have been set back since.
    this.pausedAt = Math.min(pausedAt, now);
    this.backlog = new RecentLevels({ slotMs: minuteMs, slots: 5, now });
  }

  asked(client: string, now: number): void {
    this.lastAsked = { client, at: now };
    this.changedAt = now;
  }

  /** Since when nobody has asked, as far as is known. */
  get askedAt(): number {
    return this.lastAsked?.at ?? this.bornAt;
  }

  /**
   * Since when that holds which holds now: it can only have begun when something changed, and a
   * change is looked at within a second.
   */
  since(word: FindingWord, now: number): number {
    const known = this.#held.get(word);
    const goesOn =
      known !== undefined && (now - known.seenAt <= gapMs || this.changedAt <= known.seenAt);
    if (goesOn) {
      known.seenAt = now;
      return known.since;
    }
    const since = Math.min(now, this.changedAt);
    this.#held.set(word, { since, seenAt: now });
    return since;
  }
}
