// For how long values have been seen as they are, by this node's own clock. What a database says of
// instants says little once its clock was set back, or another one has taken over whose clock is behind.

interface Known {
  readonly value: string;
  readonly since: number;
}

export class Unchanged {
  #known: ReadonlyMap<string, Known> = new Map();

  /** All values there are, by name; whatever is not among them is forgotten. */
  see(values: readonly (readonly [name: string, value: string])[], now: number): void {
    this.#known = new Map(
      values.map(([name, value]) => {
        const known = this.#known.get(name);
        return [name, known?.value === value ? known : { value, since: now }];
      }),
    );
  }

  /** Milliseconds; 0 of a name that was not seen. */
  msOf(name: string, now: number): number {
    return now - (this.#known.get(name)?.since ?? now);
  }
}
