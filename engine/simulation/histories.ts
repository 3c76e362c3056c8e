// I21: of what happened to an item everything is told that its clients were told of, and in an order
// in which it can have happened.

import type {
  CompleteRequest,
  Engine,
  ItemEvent,
  LeaseRequest,
  Payload,
  ProduceRequest,
  RetryRequest,
  What,
} from "../model/api.ts";
import { Violation } from "./auditor.ts";
import type { Bundle, Leased } from "./bundle.ts";
import type { Situations } from "./situations.ts";

/** What a client was told that it did to an item. */
interface Told {
  readonly id: string;
  readonly what: What;
  /** Before it was asked for. */
  readonly at: number;
  /** `null` = nobody knows. */
  readonly by: string | null;
}

/** Items that one look is about: those that were spoken of last. */
const itemsLooked = 20;

/** In the hands of somebody. */
const held: readonly What[] = [
  ...(["completed", "retried", "released", "lapsed", "extended", "removed", "damaged"] as const),
];
const waiting: readonly What[] = [
  ...(["leased", "due", "expired", "removed", "damaged"] as const),
  ...(["redriven", "promoted", "rejected"] as const),
];
/** Given back: it waits again, or died of it. */
const returned: readonly What[] = [...waiting, "dead", "discarded"];

/** What can come next. */
const nexts: Readonly<Record<What, readonly What[]>> = {
  ...{ produced: waiting, imported: [...waiting, ...held], due: waiting },
  ...{ promoted: waiting, rejected: ["dead"] },
  ...{ leased: held, extended: held },
  ...{ retried: returned, released: returned, lapsed: returned },
  ...{ expired: ["dead", "discarded"], dead: waiting, redriven: ["returned"], returned: waiting },
  ...{ completed: [], discarded: [], removed: [], damaged: [] },
};

export class Histories {
  readonly #situations: Situations;
  readonly #now: () => number;
  /** By the text that an item begins with, of the process that is. */
  #told = new Map<string, Told[]>();
  #keys = new Map<string, string>();
  /** Since when items are ready in their queue or dead, whose id there nobody has heard yet. */
  #unnamed = { produced: new Map<string, number>(), dead: new Map<string, number>() };
  #hasGoneBack = false;

  /** `now`: no engine has an earlier time. */
  constructor(situations: Situations, now: () => number) {
    this.#situations = situations;
    this.#now = now;
  }

  /** The engine of a process that starts, with its calls watched. */
  watching(engine: Engine): Engine {
    this.#told = new Map();
    this.#keys = new Map();
    this.#unnamed = { produced: new Map(), dead: new Map() };
    return this.watchingToo(engine);
  }

  /** The same engine, as another node has it. */
  watchingToo(engine: Engine): Engine {
    const told = this.#told;
    const keys = this.#keys;
    const tell = (id: string, one: Omit<Told, "id">): void => {
      told.getOrInsertComputed(keys.get(id) ?? id, () => []).push({ id, ...one });
    };
    const unnamed = this.#unnamed;
    const name = (id: string, what: "produced" | "dead", key: string): void => {
      const at = unnamed[what].get(key);
      unnamed[what].delete(key);
      if (at !== undefined) tell(id, { what, at, by: null });
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
          if (!reply.replayed) tell(id, { what: "leased", at, by: request.clientId });
        }
        return reply;
      },
      complete: async (request: CompleteRequest) => {
        const at = this.#now();
        const reply = await engine.complete(request);
        if (reply.replayed) return reply;
        for (const id of request.ids) tell(id, { what: "completed", at, by: null });
        return reply;
      },
      retry: async (request: RetryRequest) => {
        const at = this.#now();
        const reply = await engine.retry(request);
        if (reply.replayed) return reply;
        for (const { id, dead } of request.items) {
          tell(id, { what: "retried", at, by: null });
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

  /** The database lost commits, and with them the tag of ids that were issued since. */
  wentBack(): void {
    this.#hasGoneBack = true;
  }

  /** At rest, with every shard up. */
  async check(bundle: Bundle): Promise<void> {
    for (const told of [...this.#told.values()].slice(-itemsLooked)) {
      const { since } = await this.#lifeOf(bundle, told[0]);
      if (since === null) continue;
      // What happened before, or in that very instant, may be missing, and with it the way from id to id.
      const kept = told.filter(({ at }) => at > since);
      for (const asked of [kept.at(0), kept.at(-1)]) {
        if (asked === undefined) continue;
        const life = await this.#lifeOf(bundle, asked);
        const missing = kept.find((one) => !life.history.some((event) => isTold(event, one)));
        if (missing === undefined || life.since === null || life.since > since) continue;
        const { id, what, by, at } = missing;
        const known = `${id} was ${what} by ${by} since ${at}`;
        throw new Violation("I21", `${known}; not told of ${asked.id}`);
      }
    }
  }

  async #lifeOf(bundle: Bundle, told: Told | undefined) {
    const id = told?.id ?? "";
    const { history, historySince } = await bundle.run(() => bundle.engine.explainItem(id));
    if (historySince === null && !this.#hasGoneBack) {
      throw new Violation("I21", "no history is kept");
    }
    checkLife(id, history);
    this.#note(history);
    return { history, since: historySince };
  }

  #note(history: readonly ItemEvent[]): void {
    const is = (word: What): boolean => history.some(({ what }) => what === word);
    if (history[0]?.what !== "produced")
      this.#situations.reached("a history has lost its beginning");
    else if (is("completed")) this.#situations.reached("a history is told from beginning to end");
    if (is("dead")) this.#situations.reached("a history leads into a dead queue");
  }
}

/** What gives an item another id, as far as it is somewhere after it. */
const changing: readonly What[] = [
  ...(["retried", "released", "lapsed", "due", "expired", "redriven"] as const),
  ...(["promoted", "rejected"] as const),
];

/** Names an item for life. */
function keyOf(payload: Payload): string {
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  return text.split("|", 1)[0] ?? "";
}

/**
 * One that is damaged is set aside instead of moved, whoever gives it back. Of a dead one its client
 * may know a later id: a lease that nobody heard of has gone back, and the item with it.
 */
function isTold(event: ItemEvent, { id, what, by }: Told): boolean {
  if (what === "dead") return event.what === what;
  const isSo = event.what === what && (by === null || event.by === by);
  return event.id === id && (isSo || (what === "retried" && event.what === "damaged"));
}

function checkLife(id: string, history: readonly ItemEvent[]): void {
  for (const [index, event] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined) continue;
    const told = `${id} was ${before.what} at ${before.at}, then ${event.what} at ${event.at}`;
    if (event.at < before.at || !nexts[before.what].includes(event.what)) {
      throw new Violation("I21", told);
    }
    const isOther = event.what !== "discarded" && changing.includes(before.what);
    if ((event.id !== before.id) !== isOther) throw new Violation("I21", `${told}, as ${event.id}`);
  }
}
