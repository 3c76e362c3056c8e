// Is a short history linearizable, whatever the server says of its order? The
// search of Wing and Gong with Lowe's memory: calls are tried in every order
// that real time allows, and a set of calls that led to a state once is not
// tried again. The model is given; nothing here knows of queues.

export interface Operation<State> {
  readonly call: number;
  /** Infinite when the answer was lost: it may have happened at any time since, or never. */
  readonly end: number;
  /** The states it may lead to; none when its answer is impossible in this one. */
  apply(state: State): readonly State[];
  /** For whoever reads a refused history. */
  readonly label: string;
}

export type Verdict =
  | { readonly kind: "linearizable"; readonly steps: number }
  /** `reached`: the calls of the longest order that was found. */
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
  /** Steps after which the search is given up. */
  readonly stepsMax: number;
}

export function checkLinear<State>(
  operations: readonly Operation<State>[],
  { initial, keyOf, stepsMax }: LinearOptions<State>,
): Verdict {
  const sorted = operations.toSorted((a, b) => a.call - b.call);
  const all = sorted.reduce(
    (mask, { end }, index) => (Number.isFinite(end) ? mask | bit(index) : mask),
    0n,
  );
  const seen = new Set<string>();
  let steps = 0;
  let gaveUp = false;
  let reached: readonly string[] = [];

  const search = (done: bigint, state: State, order: readonly string[]): boolean => {
    if ((done & all) === all) return true;
    if (order.length > reached.length) reached = order;
    // Nothing can come after a call that has ended and is not in the order yet.
    let horizon = Number.POSITIVE_INFINITY;
    for (const [index, { end }] of sorted.entries()) {
      if ((done & bit(index)) === 0n) horizon = Math.min(horizon, end);
    }
    const candidates: number[] = [];
    for (const [index, { call }] of sorted.entries()) {
      if (call > horizon) break;
      if ((done & bit(index)) === 0n) candidates.push(index);
    }
    // What has ended first has mostly happened first, so that order is tried first.
    candidates.sort((a, b) => (sorted[a]?.end ?? 0) - (sorted[b]?.end ?? 0));
    for (const index of candidates) {
      const operation = sorted[index] as Operation<State>;
      for (const next of operation.apply(state)) {
        steps += 1;
        if (steps > stepsMax) {
          gaveUp = true;
          return false;
        }
        const nextDone = done | bit(index);
        const key = `${nextDone.toString(36)} ${keyOf(next)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        if (search(nextDone, next, [...order, operation.label])) return true;
        if (gaveUp) return false;
      }
    }
    return false;
  };

  if (search(0n, initial, [])) return { kind: "linearizable", steps };
  return gaveUp ? { kind: "gave up", steps } : { kind: "not linearizable", steps, reached };
}

function bit(index: number): bigint {
  return 1n << BigInt(index);
}
