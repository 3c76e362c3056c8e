// Recent activity of one queue. Findings use it to report since when a problem exists. It is
// updated on changes and evaluated on request: there is no timer, and an idle queue costs nothing.

import type { FindingWord } from "../model/api.ts";
import { RecentHeavyHitters } from "./heavy-hitters.ts";
import { RecentCount, RecentLevels } from "./recent-window.ts";

const minuteMs = 60_000;
/** A finding that is absent for no longer than this continues. */
const gapMs = 10_000;
const lapseWindow = { slotMs: minuteMs, slots: 5 };
const deathWindow = { slotMs: 5 * minuteMs, slots: 12 };

export class QueueActivity {
  readonly startedAt: number;
  /** When each finding was first and last seen. */
  readonly #findings = new Map<FindingWord, { readonly since: number; seenAt: number }>();
  /** When anything in the queue last changed. */
  changedAt: number;
  /** When an item was last leased, completed, retried, released or lapsed; 0 = never. */
  movedAt: number;
  /** When the queue last changed from no ready items to some. */
  readyAt: number;
  /** When the pause began; if that was before the start, when the definition last changed. */
  pausedAt: number;
  /** `""` = unknown. */
  pausedBy = "";
  /** The last lease request; `null` = none since the start. */
  lastLeaseRequest: { readonly client: string; readonly at: number } | null = null;
  /** The largest number of items that the present clear still had to remove. */
  clearingMost = 0;
  readonly lapses = new RecentCount(lapseWindow);
  readonly lapsedOf = new RecentHeavyHitters(lapseWindow);
  readonly deaths = new RecentCount(deathWindow);
  readonly diedOf = new RecentHeavyHitters(deathWindow);
  readonly backlog: RecentLevels;

  constructor(now: number, pausedAt: number) {
    this.startedAt = now;
    this.changedAt = now;
    this.movedAt = 0;
    this.readyAt = now;
    // The clock may have been set back since the pause.
    this.pausedAt = Math.min(pausedAt, now);
    this.backlog = new RecentLevels({ slotMs: minuteMs, slots: 5, now });
  }

  leaseRequested(client: string, now: number): void {
    this.lastLeaseRequest = { client, at: now };
    this.changedAt = now;
  }

  /** When the last lease request arrived, or the start if there was none. */
  get leaseRequestedAt(): number {
    return this.lastLeaseRequest?.at ?? this.startedAt;
  }

  /**
   * Since when a present finding exists. It can only have begun with a change, and changes are
   * evaluated within a second.
   */
  since(word: FindingWord, now: number): number {
    const known = this.#findings.get(word);
    const isContinued =
      known !== undefined && (now - known.seenAt <= gapMs || this.changedAt <= known.seenAt);
    if (isContinued) {
      known.seenAt = now;
      return known.since;
    }
    const since = Math.min(now, this.changedAt);
    this.#findings.set(word, { since, seenAt: now });
    return since;
  }
}
