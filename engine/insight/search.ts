// Searches items by their properties, page by page. A queue may hold millions, so each call
// examines a bounded number and returns a pivot. Each turn examines so few that other requests
// hardly wait.

import type { Item } from "../../stores/item.ts";
import type { PartitionPlace } from "../../stores/queue.ts";
import type * as api from "../model/api.ts";
import { assert } from "../model/assert.ts";
import type { Clock } from "../model/clock.ts";
import { formatDuration } from "../model/duration.ts";
import type { Epochs } from "../model/epochs.ts";
import { lateLook, malformedId, noSuchItem, QueueError } from "../model/errors.ts";
import type { Filter, ItemSummary } from "../model/filter.ts";
import { isId } from "../model/ids.ts";
import { storedItem } from "../model/items.ts";
import { limits } from "../model/limits.ts";
import type { GroupAhead, HistoryEvent, MatchedItem, Value } from "../model/messages.ts";
import { priorities, priorityOf, slotFor } from "../model/priority.ts";
import { checkFind, checkPayloadRange, checkSummarize, refuse } from "../model/validate.ts";
import type { Others } from "../others.ts";
import type { Explained, HistoryPart, OtherShard } from "../relay/other-shard.ts";
import type { Catalog } from "../state/catalog.ts";
import type { HistoryOf } from "../state/history.ts";
import { itemsIn, type LogicalQueue } from "../state/queue.ts";
import type { Marks } from "../tasks/task.ts";
import type { Timing } from "../turn/inbox.ts";
import { type Shard, succeeded } from "../turn/shard.ts";
import type { Find } from "./find.ts";
import { groupReasons } from "./group-reasons.ts";
import type { HealthMonitor } from "./health-monitor.ts";
import { type FollowedItem, follow } from "./item-history.ts";
import { findNewest, type LookBack, latest } from "./newest-first.ts";

/** Either the scheduled items of one priority in a partition, or the others. */
interface Position {
  readonly place: PartitionPlace;
  readonly slot: number;
  readonly aside: boolean;
}

interface SearchPlace extends Pick<Position, "place" | "slot"> {
  readonly queue: LogicalQueue;
}

/** The position from which a search continues. */
interface Pivot {
  readonly partition: number;
  readonly priority: number;
  readonly aside: boolean;
  readonly seq: number;
}

const start: Pivot = { partition: 0, priority: limits.priorityMax, aside: false, seq: 0 };

/** The request for each piece, and the treatment of its result. */
interface Walk {
  readonly request: Pick<Find, "filter" | "state" | "holder" | "payloadHead" | "by">;
  readonly limit: number;
  /** Returns how much of the limit a piece used. */
  readonly take: (found: Extract<Value, { kind: "found" }>, at: SearchPlace) => number;
}

export interface SearchOptions {
  readonly catalog: Catalog;
  readonly shard: () => Shard;
  readonly others: Others;
  readonly clock: Clock;
  readonly healthMonitor: HealthMonitor;
  /** Whether the shard keeps the history of items. */
  readonly keepsHistory: boolean;
}

export class Search {
  readonly #options: SearchOptions;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  #timing(): Timing {
    const { machine } = this.#options.clock;
    return { deadline: machine.now() + limits.requestTimeoutMsDefault, late: lateLook };
  }

  async find(queue: LogicalQueue, request: api.FindRequest): Promise<api.Found<api.FoundItem>> {
    checkFind(request);
    const { filter, limit, payloadHead = 0 } = request;
    if (request.order === "newest") return this.#findNewest(queue, request);
    const found: api.FoundItem[] = [];
    const walk: Walk = {
      request: { filter, ...holderFilter(request), payloadHead },
      limit,
      take({ items }, at) {
        found.push(...items.map((item) => shownItem(item, at)));
        return items.length;
      },
    };
    return { found, ...(await this.#walk(queue, request, walk)) };
  }

  async #findNewest(
    queue: LogicalQueue,
    { pivot, partition = null, payloadHead = 0, filter, limit, ...request }: api.FindRequest,
  ): Promise<api.Found<api.FoundItem>> {
    const { state, ...rest } = { ...holderFilter(request), filter, payloadHead };
    const timing = this.#timing();
    const lines = pivot === "" ? linesOf(queue, partition, state) : readLines(queue, pivot);
    const lookBack: LookBack<Position> = ({ slot, aside }, piece) => {
      const { owner } = queue;
      const span = { owner, slot, aside, from: 0, scanMax: limits.findTurnScanned, ...piece };
      return this.#ask({ kind: "find", state, ...rest, ...span }, timing);
    };
    const { found, scanned, lines: left } = await findNewest(lines, limit, lookBack);
    return {
      found: found.map(({ item, where }) => shownItem(item, { queue, ...where })),
      scanned,
      nextPivot: left.map(({ where, before: seq }) => writePivot(where, seq)).join(pivotSeparator),
    };
  }

  /**
   * Counts the items that match a filter, in all of the queue or in some spans of it, by the queue
   * that they came from. Queues that no longer exist are counted together under `""`.
   */
  async count(
    queue: LogicalQueue,
    {
      filter,
      states,
      holder,
      spans,
    }: {
      readonly filter: Filter;
      readonly states: readonly api.ItemState[];
      /** `""` = any, or none. */
      readonly holder: string;
      readonly spans: Marks | null;
    },
  ): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const add = (summaries: readonly ItemSummary[]): void => {
      for (const { value, count } of summaries) {
        const origin = this.#options.catalog.targetOf(value) === null ? "" : value;
        counts.set(origin, (counts.get(origin) ?? 0) + count);
      }
    };
    const criteria = { filter, ...(holder && { holder }) };
    if (spans !== null) await this.#countIn(spans, criteria, add);
    else for (const state of states) await this.#countAll(queue, { ...criteria, state }, add);
    return counts;
  }

  async #countAll(
    queue: LogicalQueue,
    criteria: Pick<Find, "filter" | "holder" | "state">,
    add: (summaries: readonly ItemSummary[]) => void,
  ): Promise<void> {
    const walk: Walk = {
      request: { ...criteria, payloadHead: 0, by: "originQueue" },
      limit: Number.POSITIVE_INFINITY,
      take({ summaries }) {
        add(summaries);
        return 0;
      },
    };
    let pivot = "";
    do {
      pivot = (await this.#walk(queue, { pivot }, walk)).nextPivot;
    } while (pivot !== "");
  }

  async #countIn(
    { owner, spans, states }: Marks,
    criteria: Pick<Find, "filter" | "holder">,
    add: (summaries: readonly ItemSummary[]) => void,
  ): Promise<void> {
    for (const { slot, aside, next: from, before } of spans) {
      const state = states.find((one) => (one === "scheduled") === aside) ?? null;
      const where = { owner, slot, aside, before };
      const span = { ...where, limit: 1, scanMax: limits.findTurnScanned } as const;
      const request = {
        kind: "find",
        ...criteria,
        state,
        payloadHead: 0,
        by: "originQueue",
      } as const;
      for (let next: number | null = from; next !== null; ) {
        const found = await this.#ask({ ...request, ...span, from: next }, this.#timing());
        add(found.summaries);
        next = found.next;
      }
    }
  }

  async summarize(queue: LogicalQueue, request: api.SummarizeRequest): Promise<api.Summarized> {
    checkSummarize(request);
    const { filter, by, top } = request;
    const summaries = new Map<string, ItemSummary>();
    const walk: Walk = {
      request: { filter, ...holderFilter(request), payloadHead: 0, by },
      limit: limits.summariesMax,
      take(found) {
        const before = summaries.size;
        for (const summary of found.summaries) addSummary(summaries, summary);
        return summaries.size - before;
      },
    };
    const ended = await this.#walk(queue, request, walk);
    const all = [...summaries.values()].sort((a, b) => b.count - a.count);
    const found = all.slice(0, top);
    const others = all.slice(found.length).reduce((sum, { count }) => sum + count, 0);
    return { found, others, ...ended };
  }

  /** Takes pieces until the limit or the scan limit is reached. */
  async #walk(
    queue: LogicalQueue,
    { pivot, partition = null }: Pick<api.FindRequest, "pivot" | "partition">,
    walk: Walk,
  ): Promise<{ scanned: number; nextPivot: string }> {
    if (partition !== null) queue.place(partition);
    const timing = this.#timing();
    const from = pivot === "" ? start : readPivot(pivot);
    const { findScannedMax, findTurnScanned } = limits;
    let scanned = 0;
    let count = 0;
    const { state } = walk.request;
    for (const { seq, ...position } of positions(queue, { from, partition, state })) {
      const { slot, aside } = position;
      for (let next: number | null = seq; next !== null; ) {
        if (scanned >= findScannedMax || count >= walk.limit) {
          return { scanned, nextPivot: writePivot(position, next) };
        }
        const scanMax = Math.min(findTurnScanned, findScannedMax - scanned);
        const left = Math.min(walk.limit - count, findTurnScanned);
        const where = { owner: queue.owner, slot, aside };
        const span = { ...where, from: next, limit: left, scanMax };
        const found = await this.#ask({ kind: "find", ...walk.request, ...span }, timing);
        scanned += found.scanned;
        count += walk.take(found, { queue, ...position });
        next = found.next;
      }
    }
    return { scanned, nextPivot: "" };
  }

  async #ask(request: Find, timing: Timing): Promise<Extract<Value, { kind: "found" }>> {
    const value = succeeded(await this.#options.shard().ask(request, timing));
    assert(value.kind === "found", "a shard answered a search with something else");
    return value;
  }

  async get(
    id: string,
    range: api.PayloadRange,
    isShown: (queue: string) => boolean,
  ): Promise<api.FoundItem> {
    checkPayloadRange(range);
    const { payloadOffset = 0, payloadLimit = Number.MAX_SAFE_INTEGER } = range;
    const found = await this.#present(id, { payloadOffset, payloadHead: payloadLimit });
    if (found === null || !isShown(found.item.queue)) throw QueueError.from(noSuchItem(id));
    checkPayloadRange(range, found.item.payloadBytes);
    return found.item;
  }

  async #present(
    id: string,
    wanted: Pick<Find, "payloadOffset" | "payloadHead">,
  ): Promise<{
    readonly item: api.FoundItem;
    readonly at: SearchPlace;
    readonly seq: number;
  } | null> {
    if (!isId(id)) refuse(malformedId(id));
    const named = this.#placeOf(id);
    if (named === null) return null;
    const { seq, ...at } = named;
    const timing = this.#timing();
    for (const aside of [false, true]) {
      const where = { owner: at.queue.owner, slot: at.slot, aside };
      const one = { ...where, from: seq, before: seq + 1, limit: 1, scanMax: 1 };
      const request = { kind: "find", ...one, state: null, filter: {}, ...wanted } as const;
      const [item] = (await this.#ask(request, timing)).items;
      if (item !== undefined) return { item: shownItem(item, at), at, seq };
    }
    return null;
  }

  #epochs(): Epochs | null {
    return this.#options.shard().epochs;
  }

  /** The place of an item, from its id; `null` = not in this shard. */
  #placeOf(id: string): (SearchPlace & { readonly seq: number }) | null {
    const named = this.#options.catalog.placeOf(id, this.#epochs());
    if (named === null) return null;
    const owner = this.#options.catalog.ownerAt(named.slot);
    const place = owner?.queue.places.get(owner.partition);
    if (owner === undefined || place === undefined || owner.queue.isHidden) return null;
    return { queue: owner.queue, place, ...named };
  }

  /** For ids issued by this shard; other ids are unknown to it. */
  async explain(id: string): Promise<api.ItemExplained> {
    if (!isId(id)) refuse(malformedId(id));
    const followed = await this.#follow(id);
    const history = followed?.events ?? [];
    const told = { history, historySince: followed?.since ?? null };
    const present = (await this.explainHere(id, id)) ?? (await this.#formerly(id, followed));
    if (present !== null) return { ...present, ...told };
    return { ...notFound(id), ...told, ...ending(history.at(-1), this.#options.clock.now()) };
  }

  /** See `OtherShard`. */
  async explainHere(id: string, askedId: string): Promise<Explained | null> {
    const present = await this.#present(id, noPayload);
    if (present === null) return null;
    const { item, at, seq } = present;
    const isReady = item.state === "ready";
    const ahead: Ahead = isReady ? await this.#ahead(at, seq) : { count: 0, isAll: true };
    const why = reasonsOf(item, {
      ...at,
      id: askedId,
      now: this.#options.clock.now(),
      ahead,
      held: isReady ? this.#blockers(at.queue) : [],
    });
    const isAheadExact = ahead.isAll && !ahead.hasOthers;
    return { id: askedId, item, ahead: ahead.count, isAheadExact, why };
  }

  /** Why ready items of a queue are not leased, as sentences. */
  #blockers(queue: LogicalQueue): string[] {
    const { findings } = this.#options.healthMonitor.explain(queue);
    return findings.filter(({ kind }) => blocking.has(kind)).map(({ text }) => text);
  }

  /** `null` = this shard did not issue the id, or keeps no history. */
  async #follow(id: string): Promise<FollowedItem | null> {
    const { keepsHistory, shard } = this.#options;
    // A shard scans all of its history, in a turn of its own.
    if (!keepsHistory) return null;
    const named = this.#options.catalog.placeOf(id, this.#epochs());
    if (named === null) return null;
    return follow({ ...named, id, shard: shard().shard }, (holder, request) =>
      this.#at(holder).historyOf(request),
    );
  }

  #at(number: number): Pick<OtherShard, "historyOf" | "explainHere"> {
    const { others, shard } = this.#options;
    return number === shard().shard ? this : others.at(number);
  }

  /** See `OtherShard`. */
  async historyOf(request: HistoryOf): Promise<HistoryPart> {
    const value = succeeded(await this.#options.shard().ask(request, this.#timing()));
    assert(value.kind === "history", "a shard answered a history with something else");
    const { happened, last, next, since } = value;
    const events = happened.map((one) => this.#eventOf(one));
    return { events, lastId: last && this.#idOf(last), next, since };
  }

  #eventOf({ slot, seq, what, at, by }: HistoryEvent): api.ItemEvent {
    const owner = this.#options.catalog.ownerAt(slot);
    const [queue, partition] = [owner?.queue.definition.name ?? "", owner?.partition ?? null];
    return { at, kind: what, holder: by, id: this.#idOf({ slot, seq }), queue, partition };
  }

  #idOf(place: Pick<HistoryEvent, "slot" | "seq">): string {
    return this.#epochs()?.idOf(place, this.#options.catalog.originsAt(place.slot)) ?? "";
  }

  async #ahead({ slot }: SearchPlace, seq: Item["seq"]) {
    const asked = { kind: "ahead", slot, seq } as const;
    const value = succeeded(await this.#options.shard().ask(asked, this.#timing()));
    assert(value.kind === "ahead", "a shard answered a count with something else");
    return value;
  }

  /**
   * An item that once had the id. It is at the end of its history, in the queue that issued the id,
   * or in that queue's dead queue.
   */
  async #formerly(id: string, followed: FollowedItem | null): Promise<Explained | null> {
    const end = followed?.events.at(-1)?.kind;
    if (end !== undefined && isOver(end)) return null;
    const last = followed?.last ?? null;
    if (last !== null && last.id !== id) {
      const present = await this.#at(last.shard).explainHere(last.id, id);
      if (present !== null) return present;
    }
    const { name, deadQueue } = this.#placeOf(id)?.queue.definition ?? {};
    if (name === undefined) return null;
    const here = await this.explainFormer(name, id);
    if (here !== null || !deadQueue) return here;
    return await (this.#options.others.withQueue(deadQueue) ?? this).explainFormer(deadQueue, id);
  }

  /** See `OtherShard`. */
  async explainFormer(name: string, originId: string): Promise<Explained | null> {
    const queue = this.#options.catalog.named(name);
    if (queue === undefined) return null;
    const request = { queue: name, pivot: "", limit: 1, filter: { originId } };
    const [item] = (await this.find(queue, request)).found;
    return item === undefined ? null : this.explainHere(item.id, originId);
  }
}

const noPayload = { payloadHead: 0 };

/** For an id that names nothing here, or nothing that the caller may see. */
export function notFound(id: string): api.ItemExplained {
  const why = "No item has this id: it was completed, removed or requeued, or never existed.";
  const nothing = { item: null, ahead: 0, isAheadExact: true, history: [], historySince: null };
  return { id, ...nothing, why: [why] };
}

const ends: { readonly [kind in api.ItemEventKind]?: string } = {
  completed: "was completed",
  removed: "was removed",
  discarded: "was removed because there is no dead queue",
  damaged: "was quarantined because it is damaged",
};

function isOver(kind: api.ItemEventKind): boolean {
  return ends[kind] !== undefined;
}

/** For an item that no longer exists, if the history contains its end. */
function ending(
  last: api.ItemEvent | undefined,
  now: number,
): Pick<api.ItemExplained, "why"> | null {
  const end = last && ends[last.kind];
  if (last === undefined || end === undefined) return null;
  const ago = formatDuration(Math.max(0, now - last.at));
  const by = last.holder === "" ? "" : ` by ${last.holder}`;
  return { why: [`It ${end}${by}, ${ago} ago.`] };
}

/** Only leased items have a holder. */
function holderFilter({ state = null, holder }: Pick<api.FindRequest, "state" | "holder">) {
  if (holder === undefined) return { state };
  return { state: "leased", holder: holder.slice(0, limits.holderNameMax) } as const;
}

function isSearched(state: Find["state"], aside: boolean): boolean {
  return state === null || (state === "scheduled") === aside;
}

/**
 * Where to search: one partition after the other, in each from the highest priority, and of each
 * priority the scheduled items last.
 */
function* positions(
  queue: LogicalQueue,
  {
    from,
    partition,
    state,
  }: {
    readonly from: Pivot;
    readonly partition: number | null;
    readonly state: Find["state"];
  },
): Generator<Position & { readonly seq: number }> {
  for (const position of allPositions(queue, from.partition, partition)) {
    const { place, slot, aside } = position;
    const below = from.priority - priorityOf(slot);
    const isFirst = place.partition === from.partition && below <= 0;
    const isPast = isFirst && (below < 0 || (from.aside && !aside));
    if (isPast || !isSearched(state, aside)) continue;
    yield { ...position, seq: isFirst && aside === from.aside ? from.seq : 0 };
  }
}

function allPositions(queue: LogicalQueue, from: number, only: number | null): Position[] {
  return placesFrom(queue, from, only).flatMap((place) => {
    const counts = queue.countsOf(place).filter(({ slot }) => slot !== place.slot);
    const used = counts.filter((one) => itemsIn(one) > 0).map(({ slot }) => slot);
    const falling = [place.slot, ...used].sort((a, b) => b - a);
    return falling.flatMap((slot) => [false, true].map((aside) => ({ place, slot, aside })));
  });
}

function placesFrom(queue: LogicalQueue, from: number, only: number | null): PartitionPlace[] {
  return [...queue.places.values()]
    .filter(({ partition }) => partition >= from && (only === null || partition === only))
    .sort((a, b) => a.partition - b.partition);
}

function linesOf(queue: LogicalQueue, partition: number | null, state: Find["state"]) {
  if (partition !== null) queue.place(partition);
  return allPositions(queue, 0, partition)
    .filter(({ aside }) => isSearched(state, aside))
    .map((where) => ({ where, before: latest }));
}

/** In the order `newest` the pivot has one part per unfinished line. */
const pivotSeparator = ",";

/** A partition removed meanwhile has no more items. */
function readLines(queue: LogicalQueue, pivot: string) {
  const linesMax = 2 * priorities.length * limits.partitionsMax;
  return pivot.split(pivotSeparator, linesMax).flatMap((text) => {
    const { partition, priority, aside, seq: before } = readPivot(text);
    const place = queue.places.get(partition);
    if (place === undefined) return [];
    return [{ where: { place, slot: slotFor(place.slot, priority), aside }, before }];
  });
}

function addSummary(summaries: Map<string, ItemSummary>, summary: ItemSummary): void {
  const known = summaries.get(summary.value);
  if (known === undefined) {
    summaries.set(summary.value, summary);
    return;
  }
  summaries.set(summary.value, {
    ...known,
    count: known.count + summary.count,
    firstAt: Math.min(known.firstAt, summary.firstAt),
    lastAt: Math.max(known.lastAt, summary.lastAt),
  });
}

function shownItem(item: MatchedItem, { queue, place }: SearchPlace): api.FoundItem {
  const { state, holder, payloadBytes, ...listed } = item;
  const { definition } = queue;
  const at = { queue: definition.name, partition: place.partition };
  return { ...storedItem(listed, definition), ...at, state, holder, payloadBytes };
}

function writePivot({ place, slot, aside }: Position, seq: number): string {
  return `${place.partition}.${priorityOf(slot)}.${aside ? 1 : 0}.${seq}`;
}

function readPivot(text: string): Pivot {
  const form = /^(\d{1,9})\.(\d)\.([01])\.(\d{1,15})$/;
  const [, partition, priority, aside, seq] = form.exec(text) ?? [];
  if (seq === undefined) {
    const got = text.slice(0, limits.quotedMax);
    refuse(`pivot is invalid; expected the next_pivot of the page before, got '${got}'`);
  }
  const numbers = { partition: Number(partition), priority: Number(priority), seq: Number(seq) };
  return { ...numbers, aside: aside === "1" };
}

const deathsInWords = {
  failed: (attempts: number) =>
    `its ${attempts} ${attempts === 1 ? "attempt was" : "attempts were"} used up`,
  expired: () => "it expired",
  rejected: () => "it was rejected",
};

function ordinal(count: number): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  const ending = isTeen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${count}${ending}`;
}

interface Ahead {
  readonly count: number;
  readonly isAll: boolean;
  readonly hasOthers?: true;
  readonly group?: GroupAhead;
}

function positionOf({ count, isAll, hasOthers }: Ahead): string {
  if (isAll && hasOthers && count === 0) return "the next of its priority";
  return `with ${isAll && !hasOthers ? "" : "at least "}${count} ahead of it`;
}

/** Without `paused`, which has its own sentence. */
const blocking: ReadonlySet<api.FindingWord> = new Set<api.FindingWord>([
  ...(["no_consumers", "at_leased_max", "at_lease_rate", "store_full"] as const),
]);

/** Sentences, the most important first. */
function reasonsOf(
  item: api.FoundItem,
  known: SearchPlace & {
    readonly id: string;
    readonly now: number;
    readonly ahead: Ahead;
    /** Why its queue's ready items are not leased. */
    readonly held: readonly string[];
  },
): string[] {
  const { queue, id, now, ahead, held } = known;
  const { past = {} } = item;
  const left = (ms: number): string => `in ${formatDuration(Math.max(0, ms - now))}`;
  const why: string[] = [];
  if (item.state === "leased" && item.leaseDeadline !== null) {
    const which = item.maxAttempts > 0 ? ` of ${item.maxAttempts}` : "";
    const ends = left(item.leaseDeadline);
    // After a start the holder is unknown.
    const subject = item.holder === "" ? "A consumer" : `'${item.holder}'`;
    why.push(
      `${subject} holds it, for the ${ordinal(item.attempts)} time${which}; its lease ends ${ends}.`,
    );
  }
  if (item.state === "scheduled" && item.enqueueAt !== null) {
    const by = item.attempts > 0 ? "It was requeued, and is" : "Its producer scheduled it; it is";
    why.push(`${by} offered ${left(item.enqueueAt)}.`);
  }
  if (item.state === "ready") {
    const { pause } = queue.definition;
    if (pause?.lease === true) {
      const reasonText = pause.reason === "" ? "" : `: ${pause.reason}`;
      why.push(`Its queue is paused${reasonText}.`);
    }
    if (ahead.group !== undefined) why.push(...groupReasons(ahead.group, left), ...held);
    else why.push(`It is ready, ${positionOf(ahead)} in partition ${item.partition}.`, ...held);
  }
  if (past.death !== undefined) {
    const told = deathsInWords[past.death](past.attempts ?? 0);
    why.push(`It died in '${past.queue ?? ""}': ${told}.`);
  }
  if (past.reason !== undefined) why.push(`The last reason given was: ${past.reason}`);
  if (item.id !== id) why.push(`It now has another id; it was produced as ${past.origin ?? id}.`);
  return why;
}
