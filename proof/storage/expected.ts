// Computes what a store must hold, from the calls and answers so far, and checks the contents of a
// store against it.

import { Faults } from "../result.ts";
import type { StoreContents } from "./store-contents.ts";
import type { Hold, Note } from "./store-load.ts";

/** `in doubt`: a call with an unknown outcome would write or remove it. */
type Fate = "there" | "in doubt" | "gone";

export class Expected {
  readonly #fates = new Map<number, Fate>();
  readonly #held = new Map<number, Hold>();
  readonly #open = new Map<number, Extract<Note, { kind: "called" }>>();
  #acknowledged = 0;

  /** Answered calls. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  take(note: Note): void {
    if (note.kind === "called") {
      this.#open.set(note.call, note);
      if (note.verb === "produce")
        for (const number of note.numbers) this.#fates.set(number, "in doubt");
      else for (const number of note.numbers) this.#held.delete(number);
      if (note.verb === "complete")
        for (const number of note.numbers) this.#fates.set(number, "in doubt");
      return;
    }
    this.#acknowledged += 1;
    const called = this.#open.get(note.call);
    this.#open.delete(note.call);
    if (called?.verb === "produce")
      for (const number of called.numbers) this.#fates.set(number, "there");
    if (called?.verb === "complete")
      for (const number of called.numbers) this.#fates.set(number, "gone");
    for (const hold of note.held ?? []) this.#held.set(hold.number, hold);
  }

  check(contents: StoreContents): Faults {
    const faults = new Faults();
    for (const [number, fate] of this.#fates) {
      const places = contents.places.get(number) ?? [];
      if (places.length > 1)
        faults.add("I1: an item is in two places", `item ${number}, ${places.join()}`);
      if (fate === "there" && places.length === 0) {
        faults.add("I1: an acknowledged item is lost", `item ${number}`);
      }
      if (fate === "gone" && places.length > 0) {
        faults.add("I3: a completed item is back", `item ${number}`);
      }
    }
    for (const number of contents.places.keys()) {
      if (!this.#fates.has(number))
        faults.add("I1: an item that was not produced", `item ${number}`);
    }
    for (const number of contents.changed) faults.add("I10: an item has changed", `item ${number}`);
    for (const { number, id } of this.#held.values()) {
      if (!contents.held.has(id)) faults.add("I2: a lease is lost", `item ${number}, id ${id}`);
    }
    for (const { verb, numbers } of this.#open.values()) {
      if (verb !== "produce" && verb !== "complete") continue;
      const there = numbers.filter((number) => contents.places.has(number));
      if (there.length !== 0 && there.length !== numbers.length) {
        faults.add(`I7: half of a ${verb}`, `items ${numbers.join()}, ${there.length} are there`);
      }
    }
    return faults;
  }

  /** Items that must be there. */
  get there(): number {
    let count = 0;
    for (const fate of this.#fates.values()) if (fate === "there") count += 1;
    return count;
  }
}
