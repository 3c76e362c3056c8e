// I21: the history of an item contains every event that its clients know of, in a possible order.

import type { Payload } from "../../stores/item.ts";
import type {
  CompleteRequest,
  Engine,
  ItemEvent,
  ItemEventKind,
  LeaseRequest,
  ProduceRequest,
  RetryRequest,
} from "../model/api.ts";
import { Violation } from "./auditor.ts";
import type { Bundle, Leased } from "./bundle.ts";
import type { Situations } from "./situations.ts";

/** An event of an item that a client knows of. */
interface ReportedHistory {
  readonly id: string;
  readonly what: ItemEventKind;
  /** Before the call was sent. */
  readonly at: number;
  /** `null` = unknown. */
  readonly by: string | null;
}

/** Items per check: those with the latest events. */
const itemsLooked = 20;

/** Possible events of a leased item. */
const held: readonly ItemEventKind[] = [
  ...(["completed", "retried", "released", "lapsed", "extended", "removed", "damaged"] as const),
];
const waiting: readonly ItemEventKind[] = [
  ...(["leased", "due", "expired", "removed", "damaged"] as const),
  ...(["redriven", "promoted", "rejected", "prioritized"] as const),
];
/** Possible events after a lease ended: the item waits again, or died. */
const returned: readonly ItemEventKind[] = [...waiting, "dead", "discarded"];

/** The possible next events, by event. */
const nexts: Readonly<Record<ItemEventKind, readonly ItemEventKind[]>> = {
  ...{ produced: waiting, imported: [...waiting, ...held], due: waiting },
  ...{ promoted: waiting, rejected: ["dead"], prioritized: waiting },
  ...{ leased: held, extended: held },
  ...{ retried: returned, released: returned, lapsed: returned },
  ...{ expired: ["dead", "discarded"], dead: waiting, redriven: ["returned"], returned: waiting },
  ...{ completed: [], discarded: [], removed: [], damaged: [] },
};

export class Histories {
  readonly #situations: Situations;
  readonly #now: () => number;
  /** By item key, for the present process. */
  #reported = new Map<string, ReportedHistory[]>();
  #keys = new Map<string, string>();
  /** Since when items have been produced or dead whose id there is not known yet. */
  #unnamed = { produced: new Map<string, number>(), dead: new Map<string, number>() };
  #hasGoneBack = false;

  /** `now`: no engine has an earlier time. */
  constructor(situations: Situations, now: () => number) {
    this.#situations = situations;
    this.#now = now;
  }

  /** Wraps the engine of a new process to record its calls. */
  watching(engine: Engine): Engine {
    this.#reported = new Map();
    this.#keys = new Map();
    this.#unnamed = { produced: new Map(), dead: new Map() };
    return this.watchingToo(engine);
  }

  /** Wraps the engine of another node, with the same records. */
  watchingToo(engine: Engine): Engine {
    const reported = this.#reported;
    const keys = this.#keys;
    const report = (id: string, one: Omit<ReportedHistory, "id">): void => {
      reported.getOrInsertComputed(keys.get(id) ?? id, () => []).push({ id, ...one });
    };
    const unnamed = this.#unnamed;
    const name = (id: string, what: "produced" | "dead", key: string): void => {
      const at = unnamed[what].get(key);
      unnamed[what].delete(key);
      if (at !== undefined) report(id, { what, at, by: null });
    };
    const watched: Partial<Engine> = {
      produce: async (request: ProduceRequest) => {
        const at = this.#now();
        const reply = await engine.produce(request);
        if (reply.replayed) return reply;
        for (const { payload, enqueueAt = null } of request.items) {
          if (enqueueAt === null) unnamed.produced.set(keyOf(payload), at);
        }
        return reply;
      },
      lease: async (request: LeaseRequest) => {
        const at = this.#now();
        const reply = (await engine.lease(request)) as Leased;
        for (const { id, payload, past = {} } of reply.items) {
          const key = keyOf(payload);
          keys.set(id, key);
          if (past.origin === undefined) name(id, "produced", key);
          if (past.death !== undefined) name(id, "dead", key);
          unnamed.produced.delete(key);
          if (!reply.replayed) report(id, { what: "leased", at, by: request.clientId });
        }
        return reply;
      },
      complete: async (request: CompleteRequest) => {
        const at = this.#now();
        const reply = await engine.complete(request);
        if (reply.replayed) return reply;
        for (const id of request.ids) report(id, { what: "completed", at, by: null });
        return reply;
      },
      retry: async (request: RetryRequest) => {
        const at = this.#now();
        const reply = await engine.retry(request);
        if (reply.replayed) return reply;
        for (const { id, dead } of request.items) {
          report(id, { what: "retried", at, by: null });
          if (dead) unnamed.dead.set(keys.get(id) ?? id, at);
        }
        return reply;
      },
    };
    return new Proxy(engine, {
      get: (target, name: string) => {
        const own = watched[name as keyof Engine];
        if (own !== undefined) return own;
        return (target[name as keyof Engine] as (...given: unknown[]) => unknown).bind(target);
      },
    });
  }

  /** The database lost commits, and with them the epochs of ids that were issued since. */
  wentBack(): void {
    this.#hasGoneBack = true;
  }

  /** Call at rest, with every shard up. */
  async check(bundle: Bundle): Promise<void> {
    for (const reported of [...this.#reported.values()].slice(-itemsLooked)) {
      const { since } = await this.#lifeOf(bundle, reported[0]);
      if (since === null) continue;
      // Events up to that instant may be missing, and with them the links from id to id.
      const kept = reported.filter(({ at }) => at > since);
      for (const asked of [kept.at(0), kept.at(-1)]) {
        if (asked === undefined) continue;
        const life = await this.#lifeOf(bundle, asked);
        const missing = kept.find((one) => !life.history.some((event) => isReported(event, one)));
        if (missing === undefined || life.since === null || life.since > since) continue;
        const { id, what, by, at } = missing;
        const known = `${id} was ${what} by ${by} since ${at}`;
        throw new Violation("I21", `${known}; the history of ${asked.id} lacks it`);
      }
    }
  }

  async #lifeOf(bundle: Bundle, reported: ReportedHistory | undefined) {
    const id = reported?.id ?? "";
    const { history, historySince } = await bundle.run(() => bundle.engine.explainItem(id));
    if (historySince === null && !this.#hasGoneBack) {
      throw new Violation("I21", "no history is kept");
    }
    checkLife(id, history);
    this.#note(history);
    return { history, since: historySince };
  }

  #note(history: readonly ItemEvent[]): void {
    const is = (word: ItemEventKind): boolean => history.some(({ kind }) => kind === word);
    if (history[0]?.kind !== "produced")
      this.#situations.reached("a history has lost its beginning");
    else if (is("completed"))
      this.#situations.reached("a history is reported from beginning to end");
    if (is("dead")) this.#situations.reached("a history leads into a dead queue");
  }
}

/** Events that give an item another id, if it still exists. */
const changing: readonly ItemEventKind[] = [
  ...(["retried", "released", "lapsed", "due", "expired", "redriven"] as const),
  ...(["promoted", "rejected", "prioritized"] as const),
];

/** Identifies an item for its whole life. */
function keyOf(payload: Payload): string {
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  return text.split("|", 1)[0] ?? "";
}

/**
 * A damaged item is quarantined instead of moved, so a retry may be recorded as `damaged`. The
 * client may know a later id of a dead item, because a lease without an answer has requeued it.
 */
function isReported(event: ItemEvent, { id, what, by }: ReportedHistory): boolean {
  if (what === "dead") return event.kind === what;
  const isSo = event.kind === what && (by === null || event.holder === by);
  return event.id === id && (isSo || (what === "retried" && event.kind === "damaged"));
}

function checkLife(id: string, history: readonly ItemEvent[]): void {
  for (const [index, event] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined) continue;
    const reported = `${id} was ${before.kind} at ${before.at}, then ${event.kind} at ${event.at}`;
    if (event.at < before.at || !nexts[before.kind].includes(event.kind)) {
      throw new Violation("I21", reported);
    }
    const isOther = event.kind !== "discarded" && changing.includes(before.kind);
    if ((event.id !== before.id) !== isOther)
      throw new Violation("I21", `${reported}, as ${event.id}`);
  }
}
