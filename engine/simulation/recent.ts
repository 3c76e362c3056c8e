// What a process has counted of a queue and what the queue held, look by look, for as long as it is
// told of: against this stands what is said to have happened of late.

import type { QueueGauges } from "../model/api.ts";
import { hour, minute } from "./parameters.ts";

interface Look {
  readonly at: number;
  readonly lapsed: number;
  readonly died: number;
  /** How often an item came into a hand or left one. */
  readonly moved: number;
  /** Ready without any doubt, and at most. */
  readonly ready: Bounds;
}

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Rises over so many minutes, of which all but one count. */
const rises = 5;

export class Recent {
  readonly #looks: Look[];

  constructor(startedAt: number) {
    this.#looks = [
      { at: startedAt, lapsed: 0, died: 0, moved: 0, ready: { least: 0, most: Infinity } },
    ];
  }

  look(at: number, { counters }: QueueGauges, ready: Bounds): void {
    const { lapsed, dead, discarded, leased, completed, retried, released } = counters;
    const moved = leased + completed + retried + released + lapsed;
    this.#looks.push({ at, lapsed, died: dead + discarded, moved, ready });
    const isOld = (one: Look | undefined): boolean => (one?.at ?? at) < at - 2 * hour;
    while (isOld(this.#looks[1])) this.#looks.shift();
  }

  /** What happened within a time that is told in slots, of which the first has begun before or not. */
  within(what: "lapsed" | "died", windowMs: number, slotMs: number): Bounds {
    const last = this.#last;
    const before = this.#looks.findLast(({ at }) => at <= last.at - windowMs);
    const after = this.#looks.find(({ at }) => at >= last.at - windowMs + slotMs) ?? last;
    return { least: last[what] - after[what], most: last[what] - (before?.[what] ?? 0) };
  }

  /** For how long nothing has changed hands: at least, and at most. */
  get restMs(): Bounds {
    const last = this.#last;
    const index = this.#looks.findIndex(({ moved }) => moved === last.moved);
    const [before, first] = [this.#looks[index - 1], this.#looks[index] ?? last];
    return {
      least: last.at - first.at,
      most: before === undefined ? Number.POSITIVE_INFINITY : last.at - before.at,
    };
  }

  /** By how much the ready items have risen over the latest whole minutes; `null` = who knows. */
  get rise(): Bounds | null {
    const last = this.#last;
    const end = Math.floor(last.at / minute) * minute;
    const levels = Array.from({ length: rises + 1 }, (_, index) =>
      this.#levelAt(end - (rises - index) * minute),
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
      least: sure >= rises - 1 ? final.least - first.most : 0,
      most: possible >= rises - 1 ? final.most - first.least : 0,
    };
  }

  /** Between the looks before and after an instant; `null` = there is none before. */
  #levelAt(instant: number): Bounds | null {
    const index = this.#looks.findLastIndex(({ at }) => at < instant);
    const [before, after] = [this.#looks[index], this.#looks[index + 1]];
    if (before === undefined || after === undefined) return null;
    return {
      least: Math.min(before.ready.least, after.ready.least),
      most: Math.max(before.ready.most, after.ready.most),
    };
  }

  get #last(): Look {
    return this.#looks.at(-1) as Look;
  }
}
