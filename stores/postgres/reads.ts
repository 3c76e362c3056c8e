// Reads what a turn needs, with several statements that are sent together.

import type { Item, OutboundItem } from "../item.ts";
import {
  type Changes,
  type Mark,
  type OutboxPage,
  type Picked,
  type Read,
  type ReadPlan,
  type ReadResult,
  type ScheduledMark,
  type Some,
  StoreError,
  type UniqueKey,
} from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { SqlRow } from "./connection.ts";
import type { Database } from "./database.ts";
import { headsIn } from "./grouped.ts";
import { Heads } from "./heads.ts";
import { pages, sources, type Wanted } from "./pages.ts";
import {
  outboundColumns,
  outboundOf,
  scheduledMarkColumns,
  scheduledMarkOf,
  textOf,
} from "./rows.ts";

/** Heads that are read before the cache is trimmed to its bound. */
const headsMax = 32;
/** How far to read ahead if a head is not cached. */
const aheadItems = 4_096;
const aheadBytes = 512 * 1024;
/** Memory of the cache of heads. */
const cacheBytesMax = 64 * 1024 * 1024;

const texts = {
  sources: `
    SELECT one.slot, one.id FROM unnest($1::bigint[], $2::bytea[]) AS one(slot, id)
    WHERE EXISTS (SELECT FROM shard.item WHERE item.source_id = one.id AND item.slot = one.slot)
      OR EXISTS (SELECT FROM shard.scheduled WHERE scheduled.source_id = one.id AND scheduled.slot = one.slot)`,
  uniques: "SELECT slot, seq, digest, until FROM shard.unique_key WHERE digest = ANY ($1::bytea[])",
  ended: "SELECT slot, seq, until FROM shard.unique_key ORDER BY until, slot, seq LIMIT $1::bigint",
  waking: `SELECT ${scheduledMarkColumns}, i.wake_at FROM shard.scheduled i ORDER BY i.wake_at, i.slot, i.seq LIMIT $1::bigint`,
  early: `
    SELECT slot, seq, created_at, expire_deadline, attempts, bytes, past[1] FROM shard.item
    WHERE early AND (expire_deadline, slot, seq) > ($1::bigint, $2::bigint, $3::bigint)
    ORDER BY expire_deadline, slot, seq LIMIT $4::bigint`,
  arrived:
    "SELECT outbound_seq, target_owner FROM shard.outbound WHERE target_shard = $1::bigint AND outbound_seq <= $2::bigint ORDER BY outbound_seq",
  outbound: `
    SELECT ${outboundColumns} FROM (
      SELECT near.*, coalesce(sum(length(payload)) OVER (ORDER BY outbound_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ahead
      FROM (SELECT * FROM shard.outbound WHERE target_shard = $1::bigint AND outbound_seq > $2::bigint ORDER BY outbound_seq LIMIT $3::bigint) near
    ) i WHERE i.ahead < $4::bigint ORDER BY i.outbound_seq`,
} as const;

export class Reads {
  readonly #rowsOf: Database["promptRows"];
  readonly #cache = new Heads(cacheBytesMax);

  constructor(rowsOf: Database["promptRows"]) {
    this.#rowsOf = rowsOf;
  }

  committed(changes: Changes): void {
    this.#cache.committed(changes);
  }

  async read(plan: ReadPlan): Promise<ReadResult> {
    const rowsOf = this.#rowsOf;
    const [both, items, scheduled, marks, scheduledMarks, picks, ...others] = await Promise.all([
      this.#headsAndGroups(plan),
      pages(rowsOf, sources.items, plan.items),
      pages(rowsOf, sources.scheduled, plan.scheduled),
      pages(rowsOf, sources.marks, plan.marks.map(ofAnyBytes)),
      pages(rowsOf, sources.scheduledMarks, plan.scheduledMarks.map(ofAnyBytes)),
      this.#picks(plan.picks),
      this.#sources(plan.sources),
      this.#uniques(plan.uniques),
      this.#ended(plan.ended),
      this.#waking(plan.waking),
      this.#early(plan.early),
      Promise.all(plan.outbound.map((want) => this.#outbox(want))),
    ]);
    const [found, uniques, ended, waking, early, outbound] = others;
    return {
      ...both,
      items: byName(plan.items, items),
      scheduled: byName(plan.scheduled, scheduled),
      marks: byName(plan.marks, marks),
      scheduledMarks: byName(plan.scheduledMarks, scheduledMarks),
      picks,
      sources: found,
      uniques,
      ended,
      waking,
      early,
      outbound: new Map(
        plan.outbound.map(({ targetShard }, index) => [targetShard, outbound[index] as OutboxPage]),
      ),
    };
  }

  async #headsAndGroups(plan: ReadPlan): Promise<Pick<ReadResult, "heads" | "groups">> {
    const heads = await this.#heads(plan);
    return { heads, groups: await headsIn(this.#rowsOf, plan, heads) };
  }

  /** In order, until `headBytes` are used up. */
  async #heads({ heads, headBytes }: ReadPlan): Promise<Map<number, Some<Read<Item>>>> {
    const found = new Map<number, Some<Read<Item>>>();
    let left = headBytes;
    for (let start = 0; start < heads.length && left > 0; start += headsMax) {
      const some = heads.slice(start, start + headsMax);
      await this.#readAhead(some, left);
      for (const head of some) {
        if (left <= 0) break;
        const first = this.#cache.first(head, { items: head.items, payloadBytes: left });
        if (first === null) throw new StoreError("failed", "the head of a partition is missing");
        for (const { payload } of first.found) left -= payload.length;
        found.set(head.slot, first);
      }
      this.#cache.trim();
    }
    return found;
  }

  /** Caches the heads, each as far as it would be read alone. A short read is enough for most. */
  async #readAhead(heads: ReadPlan["heads"], bytesMax: number): Promise<void> {
    for (const payloadBytes of [Math.min(aheadBytes, bytesMax), bytesMax]) {
      const short = heads.filter(
        (head) => this.#cache.first(head, { items: head.items, payloadBytes: bytesMax }) === null,
      );
      const spans = short.map((head) => ({
        slot: head.slot,
        from: this.#cache.endOf(head),
        before: head.before,
        limit: { items: Math.max(head.items, aheadItems), payloadBytes },
      }));
      const read = await pages(this.#rowsOf, sources.items, spans);
      for (const [index, { slot, from, before: end }] of short.entries()) {
        const { found, isAll } = read[index] ?? { found: [], isAll: true };
        const last = found.at(-1)?.seq ?? (spans[index]?.from ?? from) - 1;
        this.#cache.add({ slot, from, before: isAll ? end : last + 1 }, found);
      }
    }
  }

  async #picks(picks: ReadPlan["picks"]): Promise<Map<number, Picked>> {
    const spans = picks.flatMap(({ slot, seqs }) =>
      seqs.map((seq) => ({ slot, from: seq, before: seq + 1, limit: one })),
    );
    const [ready, scheduled] = await Promise.all([
      pages(this.#rowsOf, sources.marks, spans),
      pages(this.#rowsOf, sources.scheduledMarks, spans),
    ]);
    const picked = new Map(
      picks.map(({ slot }) => [
        slot,
        { ready: new Map<number, Mark>(), scheduled: new Map<number, ScheduledMark>() },
      ]),
    );
    for (const { found } of ready)
      for (const mark of found) picked.get(mark.slot)?.ready.set(mark.seq, mark);
    for (const { found } of scheduled)
      for (const mark of found) picked.get(mark.slot)?.scheduled.set(mark.seq, mark);
    return picked;
  }

  async #sources(wanted: ReadPlan["sources"]): Promise<Map<number, Set<string>>> {
    const found = new Map(wanted.map(({ slot }) => [slot, new Set<string>()]));
    const all = wanted.flatMap(({ slot, sourceIds }) => sourceIds.map((id) => ({ slot, id })));
    if (all.length === 0) return found;
    const values = [int8Array(all.map(({ slot }) => slot)), byteaArray(all.map(({ id }) => id))];
    for (const [slot, id] of await this.#rowsOf(texts.sources, values)) {
      found.get(slot as number)?.add(textOf(id));
    }
    return found;
  }

  async #uniques(digests: ReadPlan["uniques"]): Promise<Map<string, UniqueKey>> {
    if (digests.length === 0) return new Map();
    const values = [byteaArray(digests.map((digest) => Uint8Array.fromHex(digest)))];
    const rows = await this.#rowsOf(texts.uniques, values);
    return new Map(
      rows.map((row) => {
        const [slot, seq, bytes, until] = row as [number, number, Uint8Array, number];
        const digest = bytes.toHex();
        return [digest, { slot, seq, digest, until }];
      }),
    );
  }

  async #ended(want: ReadPlan["ended"]): Promise<ReadResult["ended"]> {
    if (want === null) return { found: [], next: null };
    const rows = (await this.#rowsOf(texts.ended, [want.keys + 1])) as number[][];
    const ended = rows.filter(([, , until = 0]) => until <= want.until).slice(0, want.keys);
    const found = ended.map(([slot = 0, seq = 0]) => ({ slot, seq }));
    return { found, next: rows[found.length]?.[2] ?? null };
  }

  async #waking(want: ReadPlan["waking"]): Promise<ReadResult["waking"]> {
    if (want === null) return { found: [], next: null };
    const rows = await this.#rowsOf(texts.waking, [want.items + 1]);
    const wakeAt = (row: SqlRow | undefined) => (row?.at(-1) as number | undefined) ?? null;
    const awake = rows.filter((row) => Number(wakeAt(row)) <= want.until).slice(0, want.items);
    return { found: awake.map(scheduledMarkOf), next: wakeAt(rows[awake.length]) };
  }

  async #early(want: ReadPlan["early"]): Promise<ReadResult["early"]> {
    if (want === null) return { found: [], next: null };
    const { after, until, items } = want;
    const values = [after.expireDeadline, after.slot, after.seq, items + 1];
    const marks = (await this.#rowsOf(texts.early, values)).map((row): Mark => {
      const [slot = 0, seq = 0, createdAt = 0, expireDeadline = 0, attempts = 0, payloadBytes = 0] =
        row as number[];
      return { slot, seq, createdAt, expireDeadline, attempts, payloadBytes, past: textOf(row[6]) };
    });
    const found = marks.slice(0, items).filter(({ expireDeadline }) => expireDeadline <= until);
    return { found, next: marks[found.length]?.expireDeadline ?? null };
  }

  async #outbox({
    targetShard,
    arrived,
    limit,
  }: ReadPlan["outbound"][number]): Promise<OutboxPage> {
    const [there, found] = await Promise.all([
      this.#rowsOf(texts.arrived, [targetShard, arrived]),
      this.#rowsOf(texts.outbound, [
        ...[targetShard, arrived, limit.items],
        Math.min(limit.payloadBytes, Number.MAX_SAFE_INTEGER),
      ]),
    ]);
    return {
      arrived: there.map((row) => {
        const [outboundSeq = 0, targetOwner = 0] = row as number[];
        return { outboundSeq, targetOwner };
      }),
      found: found.map((row): Read<OutboundItem> => outboundOf(row)),
    };
  }
}

const one = { items: 1, payloadBytes: 1 };

function ofAnyBytes(page: ReadPlan["marks"][number]): Wanted {
  return { ...page, limit: { ...page.limit, payloadBytes: Number.POSITIVE_INFINITY } };
}

function byName<T>(
  wanted: readonly { readonly name: string }[],
  found: readonly T[],
): Map<string, T> {
  return new Map(wanted.map(({ name }, index) => [name, found[index] as T]));
}
