// The counters and content of a queue at each check of a world. Findings about recent events are
// compared with them.

import type { QueueGauges } from "../model/api.ts";
import { hour, minute } from "./parameters.ts";

interface Reading {
  readonly at: number;
  readonly lapsed: number;
  readonly died: number;
  /** The number of leases, completes, retries, releases and lapses. */
  readonly moved: number;
  /** Bounds on the number of ready items. */
  readonly ready: Bounds;
}

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The backlog rises if the level rises in all but one of this many minutes. */
const riseMinutes = 5;

export class Recent {
  readonly #readings: Reading[];

  constructor(startedAt: number) {
    this.#readings = [
      { at: startedAt, lapsed: 0, died: 0, moved: 0, ready: { least: 0, most: Infinity } },
    ];
  }

  look(at: number, { counters }: QueueGauges, ready: Bounds): void {
    const { lapsed, dead, discarded, leased, completed, retried, released } = counters;
    const moved = leased + completed + retried + released + lapsed;
    this.#readings.push({ at, lapsed, died: dead + discarded, moved, ready });
    const isOld = (one: Reading | undefined): boolean => (one?.at ?? at) < at - 2 * hour;
    while (isOld(this.#readings[1])) this.#readings.shift();
  }

  /** Bounds on the events in a window of slots; the first slot may be only partly in it. */
  within(what: "lapsed" | "died", windowMs: number, slotMs: number): Bounds {
    const last = this.#last;
    const before = this.#readings.findLast(({ at }) => at <= last.at - windowMs);
    const after = this.#readings.find(({ at }) => at >= last.at - windowMs + slotMs) ?? last;
    return { least: last[what] - after[what], most: last[what] - (before?.[what] ?? 0) };
  }

  /** Bounds on the time without any lease, complete, retry, release or lapse. */
  get restMs(): Bounds {
    const last = this.#last;
    const index = this.#readings.findIndex(({ moved }) => moved === last.moved);
    const [before, first] = [this.#readings[index - 1], this.#readings[index] ?? last];
    return {
      least: last.at - first.at,
      most: before === undefined ? Number.POSITIVE_INFINITY : last.at - before.at,
    };
  }

  /** Bounds on the rise of ready items over the latest whole minutes; `null` = unknown. */
  get rise(): Bounds | null {
    const last = this.#last;
    const end = Math.floor(last.at / minute) * minute;
    const levels = Array.from({ length: riseMinutes + 1 }, (_, index) =>
      this.#levelAt(end - (riseMinutes - index) * minute),
    );
    let [sure, possible] = [0, 0];
    for (const [index, level] of levels.entries()) {
      const before = levels[index - 1];
      if (level === null) return null;
      if (before === null || before === undefined) continue;
      if (level.least > before.most) sure += 1;
      if (level.most > before.least) possible += 1;
    }
    const [first, final] = [levels[0], levels.at(-1)];
    if (!first || !final) return null;
    return {
      least: sure >= riseMinutes - 1 ? final.least - first.most : 0,
      most: possible >= riseMinutes - 1 ? final.most - first.least : 0,
    };
  }

  /** Bounds from the checks before and after an instant; `null` = one is missing. */
  #levelAt(instant: number): Bounds | null {
    const index = this.#readings.findLastIndex(({ at }) => at < instant);
    const [before, after] = [this.#readings[index], this.#readings[index + 1]];
    if (before === undefined || after === undefined) return null;
    return {
      least: Math.min(before.ready.least, after.ready.least),
      most: Math.max(before.ready.most, after.ready.most),
    };
  }

  get #last(): Reading {
    return this.#readings.at(-1) as Reading;
  }
}
