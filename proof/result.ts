// The result and the arguments of every method of proof.

export interface ProofResult {
  readonly method: string;
  readonly seconds: number;
  readonly seed: number;
  readonly figures: Readonly<Record<string, number>>;
  /** Each with its replay; empty = passed. */
  readonly faults: readonly string[];
  /** The missing tool, if any. */
  readonly skipped?: string;
}

/** The result of a method whose tool is missing. */
export function skippedResult(method: string, seed: number, skipped: string): ProofResult {
  return { method, seconds: 0, seed, figures: {}, faults: [], skipped };
}

/** Receives the progress of a method. */
export type Log = (text: string) => void;

/** Faults reported per kind; further ones are only counted. */
const listedMax = 5;

/** Collects faults by kind, so that a thousand of one kind do not hide another. */
export class Faults {
  readonly #byKind = new Map<string, string[]>();

  add(kind: string, detail: string): void {
    const details = this.#byKind.get(kind);
    if (details === undefined) this.#byKind.set(kind, [detail]);
    else details.push(detail);
  }

  count(kind: string): number {
    return this.#byKind.get(kind)?.length ?? 0;
  }

  get total(): number {
    let total = 0;
    for (const details of this.#byKind.values()) total += details.length;
    return total;
  }

  /** `replay` is appended to each: how to reproduce it. */
  list(replay: string): string[] {
    return [...this.#byKind].flatMap(([kind, details]) => {
      const listed = details.slice(0, listedMax).map((detail) => `${kind}; ${detail}; ${replay}`);
      const more = details.length - listed.length;
      return more > 0 ? [...listed, `${kind}; ${more} more; ${replay}`] : listed;
    });
  }
}

/** Measures the seconds of a method. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => Math.round((performance.now() - start) / 100) / 10;
}
