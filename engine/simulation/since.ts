// I18: checks the beginning of each finding. A finding that is new at a check began after the check
// before. A finding that continues keeps its beginning, or began again after the check before.

import type { Explanation, Finding, FindingWord } from "../model/api.ts";
import { Violation } from "./auditor.ts";

/** A finding that is absent for no longer than this may continue. */
const gapMs = 10_000;
const bridging: readonly FindingWord[] = [
  ...(["backlog_growing", "groups_blocked", "clearing", "at_leased_max"] as const),
  ...(["at_lease_rate", "all_scheduled"] as const),
];
/** Reported only after their cause has lasted for a while. */
const later: readonly FindingWord[] = ["no_consumers", "all_leased"];
/** `backlog_growing` is reported after a rise of `ms`, and up to `noticedMs` late. */
const rise = { ms: 5 * 60_000, noticedMs: 2 * 60_000 };
/** Findings about the shard, which may be older than the queue. */
const byPlace: readonly FindingWord[] = ["shard_down", "store_full"];

/** A finding at the checks so far. */
interface PastFinding {
  readonly since: number;
  /** The first check without the finding; `null` = it is present. */
  readonly endedAt: number | null;
}

export class SinceWhen {
  readonly #past = new Map<FindingWord, PastFinding>();
  /** The instants of recent checks; the first is at least `gapMs` before the last. */
  readonly #looks: number[];
  /** The last healthy check; a pause answered later may have begun from then on. */
  #calmAt: number;

  /** `startedAt`: only a pause can be older. */
  constructor(startedAt: number) {
    this.#looks = [startedAt];
    this.#calmAt = startedAt;
  }

  look({ queue, asOf, findings }: Explanation, isHealthy: boolean): void {
    for (const one of findings) this.#check(queue, one, asOf);
    for (const [kind, past] of this.#past) {
      if (findings.some((one) => one.kind === kind)) continue;
      this.#past.set(kind, { ...past, endedAt: past.endedAt ?? asOf });
    }
    this.#looks.push(asOf);
    while ((this.#looks[1] ?? asOf) < asOf - gapMs) this.#looks.shift();
    if (isHealthy) this.#calmAt = asOf;
  }

  #check(queue: string, { kind, since: reported }: Finding, asOf: number): void {
    const since = kind === "backlog_growing" ? reported + rise.ms : reported;
    const past = this.#past.get(kind);
    this.#past.set(kind, { since, endedAt: null });
    if (since > asOf) throw new Violation("I18", `${kind} of ${queue} begins at ${since}`);
    if (byPlace.includes(kind) || (since === past?.since && this.#continues(kind, past))) return;
    // After a start, a pause counts from the latest change of the queue.
    if (past === undefined && kind === "paused") return;
    const isNew = past === undefined || past.endedAt !== null;
    const least = isNew && later.includes(kind) ? (past?.since ?? 0) : this.#leastOf(kind, isNew);
    if (since >= least) return;
    const before = past === undefined ? "" : `, before since ${past.since} until ${past.endedAt}`;
    const text = `${kind} of ${queue} is reported since ${since}, not before ${least}${before}`;
    throw new Violation("I18", text);
  }

  /** The earliest possible beginning of a finding. */
  #leastOf(kind: FindingWord, isNew: boolean): number {
    const [first = 0] = this.#looks;
    const last = this.#looks.at(-1) ?? first;
    if (kind === "paused") return this.#calmAt;
    const least = isNew && bridging.includes(kind) ? first : last;
    return kind === "backlog_growing" ? least - rise.noticedMs : least;
  }

  /** Whether the finding may be the earlier one; calls to explain items evaluate findings too. */
  #continues(kind: FindingWord, { endedAt }: PastFinding): boolean {
    return endedAt === null || bridging.includes(kind);
  }
}
