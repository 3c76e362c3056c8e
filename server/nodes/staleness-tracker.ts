// How long values have been unchanged, by this node's own clock. The database's instants are not
// reliable once its clock was set back, or after a failover to one whose clock is behind.

interface Known {
  readonly value: string;
  readonly since: number;
}

export class StalenessTracker {
  #known: ReadonlyMap<string, Known> = new Map();

  /** `values`: all there are, by name; others are forgotten. */
  see(values: readonly (readonly [name: string, value: string])[], now: number): void {
    this.#known = new Map(
      values.map(([name, value]) => {
        const known = this.#known.get(name);
        return [name, known?.value === value ? known : { value, since: now }];
      }),
    );
  }

  /** Milliseconds; 0 for an unknown name. */
  msOf(name: string, now: number): number {
    return now - (this.#known.get(name)?.since ?? now);
  }
}
