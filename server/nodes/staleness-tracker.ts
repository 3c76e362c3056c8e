// Measures by this node's own clock how long values have been unchanged. The database's instants
// are not reliable after its clock was set back, or after a failover to a database whose clock is
// behind.

interface Known {
  readonly value: string;
  readonly since: number;
}

export class StalenessTracker {
  #known: ReadonlyMap<string, Known> = new Map();

  /** `values` is the complete list; names that are absent are forgotten. */
  update(values: readonly (readonly [name: string, value: string])[], now: number): void {
    this.#known = new Map(
      values.map(([name, value]) => {
        const known = this.#known.get(name);
        return [name, known?.value === value ? known : { value, since: now }];
      }),
    );
  }

  /** Milliseconds; 0 for an unknown name. */
  unchangedMs(name: string, now: number): number {
    return now - (this.#known.get(name)?.since ?? now);
  }
}
