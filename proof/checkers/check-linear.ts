// Checks that a short history is linearizable, without trusting the order that the server reports.
// It uses the search of Wing and Gong with Lowe's memory: it tries calls in every order that real
// time allows, and does not try a set of calls again that led to the same state. The caller
// provides the model; this file knows nothing of queues.

export interface Operation<State> {
  readonly call: number;
  /**
   * Infinite when the answer was lost: the call may have taken effect at any later time, or never.
   */
  readonly end: number;
  /** The possible next states; none when the recorded answer is impossible in this state. */
  apply(state: State): readonly State[];
  /** Calls with a lower hint are tried first. It affects only the duration of the search. */
  readonly hint?: number;
  /** Printed with a refused history. */
  readonly label: string;
}

export type Verdict =
  | { readonly kind: "linearizable"; readonly steps: number }
  /** `reached`: the calls of the longest order found. */
  | {
      readonly kind: "not linearizable";
      readonly steps: number;
      readonly reached: readonly string[];
    }
  | { readonly kind: "gave up"; readonly steps: number };

export interface LinearOptions<State> {
  readonly initial: State;
  /** Equal for states that behave the same. */
  keyOf(state: State): string;
  /** The search stops after this many steps. */
  readonly stepsMax: number;
}

export function checkLinear<State>(
  operations: readonly Operation<State>[],
  options: LinearOptions<State>,
): Verdict {
  return new Search(operations, options).run();
}

/** Calls per number of a key. */
const callsPerWord = 30;

class Search<State> {
  readonly #operations: readonly Operation<State>[];
  readonly #options: LinearOptions<State>;
  readonly #done: Uint8Array;
  /** The calls in the order, as bits for keys. */
  readonly #words: number[];
  readonly #seen = new Set<string>();
  readonly #order: string[] = [];
  /** Answered calls that are not in the order yet. */
  #left: number;
  #steps = 0;
  #gaveUp = false;
  #reached: readonly string[] = [];

  constructor(operations: readonly Operation<State>[], options: LinearOptions<State>) {
    this.#operations = operations.toSorted((a, b) => a.call - b.call);
    this.#options = options;
    this.#done = new Uint8Array(operations.length);
    this.#words = new Array(Math.ceil(operations.length / callsPerWord)).fill(0);
    this.#left = operations.filter(({ end }) => Number.isFinite(end)).length;
  }

  run(): Verdict {
    const found = this.#search(this.#options.initial);
    const steps = this.#steps;
    if (found) return { kind: "linearizable", steps };
    if (this.#gaveUp) return { kind: "gave up", steps };
    return { kind: "not linearizable", steps, reached: this.#reached };
  }

  #search(state: State): boolean {
    if (this.#left === 0) return true;
    if (this.#order.length > this.#reached.length) this.#reached = [...this.#order];
    for (const index of this.#candidates()) {
      const operation = this.#operations[index] as Operation<State>;
      for (const next of operation.apply(state)) {
        this.#steps += 1;
        if (this.#steps > this.#options.stepsMax) {
          this.#gaveUp = true;
          return false;
        }
        this.#mark(index);
        const key = `${this.#words.join()} ${this.#options.keyOf(next)}`;
        const isNew = !this.#seen.has(key);
        if (isNew) this.#seen.add(key);
        if (isNew && this.#search(next)) return true;
        this.#mark(index);
        if (this.#gaveUp) return false;
      }
    }
    return false;
  }

  /** Adds a call to the order, or removes it. */
  #mark(index: number): void {
    const operation = this.#operations[index] as Operation<State>;
    const word = Math.floor(index / callsPerWord);
    const wasDone = this.#done[index] === 1;
    this.#done[index] = wasDone ? 0 : 1;
    this.#words[word] = (this.#words[word] ?? 0) ^ (1 << (index % callsPerWord));
    if (Number.isFinite(operation.end)) this.#left += wasDone ? 1 : -1;
    if (wasDone) this.#order.pop();
    else this.#order.push(operation.label);
  }

  /** Calls that may come next: each started before any call outside the order had ended. */
  #candidates(): number[] {
    let horizon = Number.POSITIVE_INFINITY;
    for (const [index, { end }] of this.#operations.entries()) {
      if (this.#done[index] === 0 && end < horizon) horizon = end;
    }
    const candidates: number[] = [];
    for (const [index, { call }] of this.#operations.entries()) {
      if (call > horizon) break;
      if (this.#done[index] === 0) candidates.push(index);
    }
    // Calls mostly take effect in the order in which they end, so that order is tried first.
    const by = (of: (operation: Operation<State>) => number) => (a: number, b: number) =>
      of(this.#operations[a] as Operation<State>) - of(this.#operations[b] as Operation<State>);
    candidates.sort(by(({ end }) => end));
    const hinted = candidates
      .filter((index) => this.#operations[index]?.hint !== undefined)
      .sort(by(({ hint }) => hint ?? 0));
    return candidates.map((index) =>
      this.#operations[index]?.hint === undefined ? index : (hinted.shift() as number),
    );
  }
}
