// I18: since when something is the matter is so. What was not the matter at one look, and is at the
// next, began in between; what goes on began when it did, or anew since the look before.

import type { Explanation, Finding, FindingWord } from "../model/api.ts";
import { Violation } from "./auditor.ts";

/** One that ceases for no longer than this has not ceased, be it seen here or not. */
const gapMs = 10_000;
const bridging: readonly FindingWord[] = [
  ...(["falls_behind", "clearing", "at_leased_max", "at_lease_rate", "all_scheduled"] as const),
];
/** Items that nobody asks for, or that all are held, have been so for a while when it is said. */
const later: readonly FindingWord[] = ["nobody_asks", "all_leased"];
/** Of what has lasted so long when it is said, and may be noticed a while after. */
const rise = { ms: 5 * 60_000, noticedMs: 2 * 60_000 };
/** Where its places are others, what is told may be older. */
const byPlace: readonly FindingWord[] = ["shard_down", "store_full"];

/** What was said of one thing at the looks until now. */
interface Said {
  readonly since: number;
  /** The first look at which it was not said any more; `null` = it is. */
  readonly endedAt: number | null;
}

export class SinceWhen {
  readonly #said = new Map<FindingWord, Said>();
  /** Of which the first is a gap before the last, or more. */
  readonly #looks: number[];
  /** When a call that changes settings may have begun that was answered later. */
  #calmAt: number;

  /** `startedAt`: nothing but a pause is older. */
  constructor(startedAt: number) {
    this.#looks = [startedAt];
    this.#calmAt = startedAt;
  }

  look({ queue, asOf, findings }: Explanation, isHealthy: boolean): void {
    for (const one of findings) this.#check(queue, one, asOf);
    for (const [what, said] of this.#said) {
      if (findings.some((one) => one.what === what)) continue;
      this.#said.set(what, { ...said, endedAt: said.endedAt ?? asOf });
    }
    this.#looks.push(asOf);
    while ((this.#looks[1] ?? asOf) < asOf - gapMs) this.#looks.shift();
    if (isHealthy) this.#calmAt = asOf;
  }

  #check(queue: string, { what, since: told }: Finding, asOf: number): void {
    const since = what === "falls_behind" ? told + rise.ms : told;
    const said = this.#said.get(what);
    this.#said.set(what, { since, endedAt: null });
    if (since > asOf) throw new Violation("I18", `${what} of ${queue} begins at ${since}`);
    if (byPlace.includes(what) || (since === said?.since && this.#goesOn(what, said))) return;
    // After a start the latest change of the queue stands for when it was paused.
    if (said === undefined && what === "paused") return;
    const isNew = said === undefined || said.endedAt !== null;
    const least = isNew && later.includes(what) ? (said?.since ?? 0) : this.#leastOf(what, isNew);
    if (since >= least) return;
    const before = said === undefined ? "" : `, before since ${said.since} until ${said.endedAt}`;
    const text = `${what} of ${queue} is told since ${since}, not before ${least}${before}`;
    throw new Violation("I18", text);
  }

  /** Before it, it was not the matter. */
  #leastOf(what: FindingWord, isNew: boolean): number {
    const [first = 0] = this.#looks;
    const last = this.#looks.at(-1) ?? first;
    if (what === "paused") return this.#calmAt;
    const least = isNew && bridging.includes(what) ? first : last;
    return what === "falls_behind" ? least - rise.noticedMs : least;
  }

  /** Whether what was said before may be the same: explained items have their queue looked at, too. */
  #goesOn(what: FindingWord, { endedAt }: Said): boolean {
    return endedAt === null || bridging.includes(what);
  }
}
