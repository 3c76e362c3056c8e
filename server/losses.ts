// Commits that a database has lost although they had been acknowledged: told until an operator says
// that they are known.

export class Losses {
  readonly #lost: () => number;
  #confirmed = 0;

  /** `lost`: as far as the process has noticed, since it began. */
  constructor(lost: () => number) {
    this.#lost = lost;
  }

  /** Of which no operator has said so yet. */
  get unconfirmed(): number {
    return this.#lost() - this.#confirmed;
  }

  /** Those that are lost by now are known; how many that are. */
  confirm(): number {
    this.#confirmed = this.#lost();
    return this.#confirmed;
  }
}
