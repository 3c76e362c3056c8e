// Callbacks by deadline, for clocks whose time is set from outside.

export interface TimerEntry {
  readonly deadline: number;
  readonly run: () => void;
}

export class TimerSet {
  /** In the order of `set`. */
  readonly #timers = new Set<TimerEntry>();

  set(
    deadline: number,
    run: () => void,
  ): { readonly entry: TimerEntry; readonly timer: { cancel(): void } } {
    const entry = { deadline, run };
    this.#timers.add(entry);
    return { entry, timer: { cancel: () => void this.#timers.delete(entry) } };
  }

  /** Runs the callback unless it already ran or was cancelled. */
  fire(entry: TimerEntry): void {
    if (this.#timers.delete(entry)) entry.run();
  }

  earliest(): TimerEntry | undefined {
    let earliest: TimerEntry | undefined;
    for (const entry of this.#timers) {
      if (earliest === undefined || entry.deadline < earliest.deadline) earliest = entry;
    }
    return earliest;
  }

  /** Alarms due by the instant, earliest deadline first. */
  until(instant: number): TimerEntry[] {
    const due = [...this.#timers].filter(({ deadline }) => deadline <= instant);
    return due.sort((a, b) => a.deadline - b.deadline);
  }
}
