// Callbacks by deadline, for clocks whose time is set from outside.

export interface Alarm {
  readonly deadline: number;
  readonly run: () => void;
}

export class Alarms {
  /** In the order of `set`. */
  readonly #alarms = new Set<Alarm>();

  set(
    deadline: number,
    run: () => void,
  ): { readonly alarm: Alarm; readonly timer: { cancel(): void } } {
    const alarm = { deadline, run };
    this.#alarms.add(alarm);
    return { alarm, timer: { cancel: () => void this.#alarms.delete(alarm) } };
  }

  /** Runs the callback unless it already ran or was cancelled. */
  fire(alarm: Alarm): void {
    if (this.#alarms.delete(alarm)) alarm.run();
  }

  earliest(): Alarm | undefined {
    let earliest: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (earliest === undefined || alarm.deadline < earliest.deadline) earliest = alarm;
    }
    return earliest;
  }

  /** Alarms due by the instant, earliest deadline first. */
  until(instant: number): Alarm[] {
    const due = [...this.#alarms].filter(({ deadline }) => deadline <= instant);
    return due.sort((a, b) => a.deadline - b.deadline);
  }
}
