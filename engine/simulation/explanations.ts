// I18: what a queue is said to suffer from is so, and what it is certain to suffer from is said. It
// is held against the calls of the clients and what the auditor knows of the items.

import type { Engine, Explanation, Finding, QueueClients } from "../api.ts";
import { type Auditor, Violation } from "./auditor.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Situations } from "./situations.ts";

/** The least time without a lease request after which nobody asks. */
const askGraceMs = 10_000;

/** How clients have asked one queue since the process was started. */
interface Asked {
  /** Lease requests that are not answered. */
  open: number;
  last: number;
}

export interface ExplanationsOptions {
  readonly auditor: Auditor;
  readonly situations: Situations;
  readonly queues: readonly QueueParameters[];
  readonly now: () => number;
}

export class Explanations {
  readonly #options: ExplanationsOptions;
  readonly #asked = new Map<string, Asked>();
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ExplanationsOptions) {
    this.#options = options;
  }

  /** The process is another; what waited for the one before waits for nothing. */
  restarted(): void {
    this.#asked.clear();
    this.#startedAt = this.#options.now();
  }

  /** A lease request reaches the engine. */
  async asking<T>(queue: string, lease: () => Promise<T>): Promise<T> {
    const asked = this.#asked.getOrInsertComputed(queue, () => ({ open: 0, last: 0 }));
    asked.open += 1;
    asked.last = this.#options.now();
    try {
      return await lease();
    } finally {
      asked.open -= 1;
    }
  }

  /** `isHealthy`: no store is slow, and every shard is up, so that all that was due is done. */
  check(engine: Engine, isHealthy: boolean): void {
    for (const place of this.#options.queues) {
      if (
        !engine.listQueues({ pivot: place.name, limit: 1 }).some(({ name }) => name === place.name)
      ) {
        continue;
      }
      const explained = engine.explain(place.name);
      this.#checkPaused(explained);
      this.#checkAsked(place, explained, isHealthy);
      this.#checkAll(place, explained, isHealthy);
      if (isHealthy && finding(explained, "shard_down") !== undefined) {
        throw new Violation("I18", `${place.name} is told to have a shard down, all are up`);
      }
    }
  }

  #checkPaused(explained: Explanation): void {
    const { queue } = explained;
    const { pauses } = this.#options.auditor;
    const isSaid = finding(explained, "paused") !== undefined;
    const { lease, produce } = pauses.of(queue);
    if (isSaid && !pauses.mayBe(queue)) throw new Violation("I18", `${queue} is not paused`);
    if (!isSaid && (lease || produce)) throw new Violation("I18", `${queue} is paused`);
    if (isSaid) this.#options.situations.reached("a queue is explained while it is paused");
  }

  #checkAsked(place: QueueParameters, explained: Explanation, isHealthy: boolean): void {
    const { auditor, now, situations } = this.#options;
    const { queue } = explained;
    const { open = 0, last = 0 } = this.#asked.get(queue) ?? {};
    const isSaid = finding(explained, "nobody_asks") !== undefined;
    if (isSaid && open > 0) {
      throw new Violation("I18", `nobody is told to ask ${queue}, but ${open} do`);
    }
    const graceMs = Math.max(askGraceMs, place.leaseTimeoutMs);
    const since = Math.max(last, this.#startedAt, auditor.readySince(place, now()));
    // When a pause has ended is not known, and while it lasts nobody has to ask.
    const wasPaused = auditor.pauses.mayEverHaveBeen(queue);
    if (isSaid && auditor.pauses.of(queue).lease) {
      throw new Violation("I18", `nobody is told to ask ${queue}, which is paused`);
    }
    const isExcused = wasPaused || queue === "dead";
    const isCertain = isHealthy && !isExcused && open === 0 && now() - since >= graceMs;
    if (isCertain && !isSaid) throw new Violation("I18", `nobody asks ${queue} since ${since}`);
    if (isCertain) situations.reached("a queue is explained while nobody asks for its items");
  }

  #checkAll(place: QueueParameters, explained: Explanation, isHealthy: boolean): void {
    const { auditor, now, situations } = this.#options;
    const { queue } = explained;
    const said = finding(explained, "all_leased");
    if (said === undefined || !isHealthy) return;
    if (auditor.readySince(place, now()) < Number.POSITIVE_INFINITY) {
      throw new Violation("I18", `all of ${queue} is told to be leased, an item is ready`);
    }
    const held = auditor.heldIn(queue, now());
    if (held.length > said.count) {
      const told = `${said.count} of ${queue} are told to be leased, ${held.length} are held`;
      throw new Violation("I18", told);
    }
    const first = Math.min(...held.map(({ deadline }) => deadline));
    if ((said.nextAt ?? Number.POSITIVE_INFINITY) > first) {
      throw new Violation("I18", `a lease of ${queue} lapses at ${first}, not at ${said.nextAt}`);
    }
    situations.reached("a queue is explained while all its items are leased");
  }

  /** Who is certain to hold items is told to hold as many at least. */
  checkClients({ queue, holding }: QueueClients): void {
    const { auditor, now, situations } = this.#options;
    const held = auditor.heldIn(queue, now()).filter(({ client }) => client !== null);
    for (const [client, grants] of Map.groupBy(held, (one) => one.client)) {
      const told = holding.find((one) => one.client === client)?.items ?? 0;
      if (told < grants.length) {
        const text = `${client} is told to hold ${told} of ${queue}, and holds ${grants.length}`;
        throw new Violation("I18", text);
      }
      situations.reached("a client is told to hold what it holds");
    }
  }
}

function finding({ findings }: Explanation, word: Finding["what"]): Finding | undefined {
  return findings.find(({ what }) => what === word);
}
