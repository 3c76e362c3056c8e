// The recent history of items, as rows of consecutive items with the same event. A turn collects
// rows while it is decided, and they are kept after its commit, in a ring of bounded size. The
// history is only in memory, so it costs no writes and starts empty with the shard.

import type { HistoryEvent, NewHistoryEvent, Trace, Value } from "../model/messages.ts";

/** Bytes of one row with its objects and its place in the ring; the name of the client is extra. */
const rowBytes = 160;
/** Rows that are evicted together. */
const rowsForgotten = 256;
/** Events of one item that one call returns. */
const happenedMax = 1_000;

/** An event of the items `first` to `last`; `to` and `from` are the places of the first of them. */
interface HistoryRow extends Omit<NewHistoryEvent, "seq"> {
  readonly first: number;
  last: number;
  readonly at: number;
}

export interface HistoryOf {
  readonly kind: "history";
  readonly direction: "earlier" | "later";
  readonly trace: Trace;
}

/** The rows of one turn; consecutive items with the same event are joined. */
export class TurnHistory {
  readonly rows: HistoryRow[] = [];
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  add(what: NewHistoryEvent, count = 1): void {
    const before = this.rows.at(-1);
    if (before !== undefined && continues(before, what)) {
      before.last += count;
      return;
    }
    const { seq: first, ...same } = what;
    this.rows.push({ ...same, first, last: first + count - 1, at: this.#at });
  }

  /** Adds an event of many items in order; most are consecutive and have the same client. */
  addEach(
    { slot, what }: Pick<NewHistoryEvent, "slot" | "what">,
    items: readonly { readonly seq: number }[],
    byOf: (index: number) => string,
  ): void {
    let start = 0;
    for (let index = 1; index <= items.length; index += 1) {
      const seq = items[start]?.seq ?? 0;
      const by = byOf(start);
      if (items[index]?.seq === seq + index - start && byOf(index) === by) continue;
      this.add({ slot, seq, what, by }, index - start);
      start = index;
    }
  }
}

function continues(before: HistoryRow, what: NewHistoryEvent): boolean {
  const { seq } = what;
  if (before.last + 1 !== seq || before.slot !== what.slot || before.what !== what.what) {
    return false;
  }
  if (before.by !== what.by) return false;
  const offset = seq - before.first;
  return isNext(before.to, what.to, offset) && isNext(before.from, what.from, offset);
}

function isNext(
  before: NewHistoryEvent["to"],
  next: NewHistoryEvent["to"],
  offset: number,
): boolean {
  if (before === undefined || next === undefined) return before === next;
  return (
    before.shard === next.shard && before.slot === next.slot && before.seq + offset === next.seq
  );
}

type Followed = Pick<Extract<Value, { kind: "history" }>, "happened" | "last" | "next">;

export class History {
  /** The oldest chunk is evicted first, as a whole. */
  readonly #chunks: HistoryRow[][] = [];
  readonly #bytesMax: number;
  #bytes = 0;
  #since: number;

  constructor(bytesMax: number, now: number) {
    this.#bytesMax = bytesMax;
    this.#since = now;
  }

  get isKept(): boolean {
    return this.#bytesMax > 0;
  }

  /** The history is complete from this instant on; `null` = no history is kept. */
  get since(): number | null {
    return this.isKept ? this.#since : null;
  }

  keep({ rows }: TurnHistory): void {
    for (const row of rows) {
      let chunk = this.#chunks.at(-1);
      if (chunk === undefined || chunk.length === rowsForgotten) {
        chunk = [];
        this.#chunks.push(chunk);
      }
      chunk.push(row);
      this.#bytes += bytesOf(row);
    }
    while (this.#bytes > this.#bytesMax) this.#forget();
  }

  #forget(): void {
    for (const row of this.#chunks.shift() ?? []) {
      this.#bytes -= bytesOf(row);
      // Other rows of the same turn may be evicted too.
      this.#since = row.at + 1;
    }
  }

  /** Follows an item within this shard. */
  follow(shard: number, direction: HistoryOf["direction"], trace: Trace): Followed {
    return direction === "later" ? this.#later(shard, trace) : this.#earlier(shard, trace);
  }

  #later(shard: number, trace: Trace): Followed {
    const happened: HistoryEvent[] = [];
    let at = trace;
    for (const chunk of this.#chunks) {
      for (const row of chunk) {
        if (!("slot" in at)) {
          const offset = offsetIn(row.from, at, row);
          if (offset === null) continue;
          at = { slot: row.slot, seq: row.first + offset };
        }
        if (row.slot !== at.slot || at.seq < row.first || at.seq > row.last) continue;
        happened.push(happenedOf(row, at.seq));
        if (happened.length > happenedMax) happened.shift();
        if (row.to === undefined) continue;
        const outboundSeq = row.to.seq + at.seq - row.first;
        if (row.to.shard !== shard) {
          const next = { shard: row.to.shard, trace: { from: shard, outboundSeq } };
          return { happened, last: at, next };
        }
        at = { slot: row.to.slot, seq: outboundSeq };
      }
    }
    return { happened, last: "slot" in at ? at : null, next: null };
  }

  #earlier(shard: number, trace: Trace): Followed {
    const happened: HistoryEvent[] = [];
    let at = trace;
    for (const row of newestFirst(this.#chunks)) {
      const isHere = "slot" in at && row.slot === at.slot;
      if (isHere && "slot" in at && at.seq >= row.first && at.seq <= row.last) {
        happened.unshift(happenedOf(row, at.seq));
        if (happened.length >= happenedMax) return { happened, last: null, next: null };
        if (row.from === undefined) continue;
        const outboundSeq = row.from.seq + at.seq - row.first;
        const next = { shard: row.from.shard, trace: { to: shard, outboundSeq } };
        return { happened, last: null, next };
      }
      const offset = "slot" in at ? placeIn(row, shard, at) : offsetIn(row.to, at, row);
      if (offset === null) continue;
      at = { slot: row.slot, seq: row.first + offset };
      happened.unshift(happenedOf(row, at.seq));
    }
    return { happened, last: null, next: null };
  }
}

function* newestFirst(chunks: readonly HistoryRow[][]): Generator<HistoryRow> {
  for (let chunk = chunks.length - 1; chunk >= 0; chunk -= 1) {
    const rows = chunks[chunk] ?? [];
    for (let place = rows.length - 1; place >= 0; place -= 1) yield rows[place] as HistoryRow;
  }
}

function bytesOf({ by }: HistoryRow): number {
  return rowBytes + by.length;
}

function happenedOf({ slot, what, at, by }: HistoryRow, seq: number): HistoryEvent {
  return { slot, seq, what, at, by };
}

/** The offset of the item of a row that moved to this place of this shard; `null` = none. */
function placeIn(
  { to, first, last }: HistoryRow,
  shard: number,
  at: { readonly slot: number; readonly seq: number },
): number | null {
  if (to === undefined || to.shard !== shard || to.slot !== at.slot) return null;
  const offset = at.seq - to.seq;
  return offset >= 0 && offset <= last - first ? offset : null;
}

/** The offset of the item of a row that had this number in an outbox; `null` = none. */
function offsetIn(
  end: HistoryRow["to"],
  at: Exclude<Trace, { slot: number }>,
  row: HistoryRow,
): number | null {
  if (end === undefined || end.shard !== ("from" in at ? at.from : at.to)) return null;
  const offset = at.outboundSeq - end.seq;
  return offset >= 0 && offset <= row.last - row.first ? offset : null;
}
