// Notifies watchers of changes, and lets calls wait for the next change.

import { after, type Clock } from "../../engine/model/clock.ts";

export class Watchers {
  readonly #clock: Clock;
  readonly #runs = new Set<() => void>();
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Increases with each change. */
  get version(): number {
    return this.#version;
  }

  add(run: () => void): void {
    this.#runs.add(run);
  }

  notify(): void {
    this.#version += 1;
    for (const run of this.#runs) run();
  }

  /** Resolves once the version differs from `version`, or after `ms`. */
  async nextChange(version: number, ms: number): Promise<void> {
    if (version !== this.#version) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#runs.add(resolve);
    const timer = after(this.#clock, ms, resolve);
    await promise;
    timer.cancel();
    this.#runs.delete(resolve);
  }
}
