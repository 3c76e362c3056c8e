// Callbacks by deadline, for clocks whose time is set from outside.

export interface PendingTimer {
  readonly deadline: number;
  readonly run: () => void;
}

export class TimerSet {
  /** In the order of `set`. */
  readonly #timers = new Set<PendingTimer>();

  set(
    deadline: number,
    run: () => void,
  ): { readonly pending: PendingTimer; readonly timer: { cancel(): void } } {
    const pending = { deadline, run };
    this.#timers.add(pending);
    return { pending, timer: { cancel: () => void this.#timers.delete(pending) } };
  }

  /** Runs the callback unless it already ran or was cancelled. */
  fire(pending: PendingTimer): void {
    if (this.#timers.delete(pending)) pending.run();
  }

  earliest(): PendingTimer | undefined {
    let earliest: PendingTimer | undefined;
    for (const pending of this.#timers) {
      if (earliest === undefined || pending.deadline < earliest.deadline) earliest = pending;
    }
    return earliest;
  }

  /** Alarms due by the instant, earliest deadline first. */
  until(instant: number): PendingTimer[] {
    const due = [...this.#timers].filter(({ deadline }) => deadline <= instant);
    return due.sort((a, b) => a.deadline - b.deadline);
  }
}
