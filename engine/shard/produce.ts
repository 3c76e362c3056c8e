// Produce: new items at the tail of a partition, or aside until they are due.

import type { CallKey } from "../call-key.ts";
import {
  deletedFailure,
  failure,
  lateProduce,
  pausedProduce,
  unknownDuplicates,
} from "../errors.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import type { NewItem } from "../messages.ts";
import { answering, done, type Kind, type Numbered, type Result } from "./kind.ts";
import { append, schedule, type Unplaced } from "./moves.ts";
import { decodePayload, encodePayload } from "./payload-text.ts";
import type { Turn } from "./turn-context.ts";
import { isTaken, isUnique, takeKey, wantUniques } from "./unique.ts";

const notUnique = failure(
  "malformed",
  "unique key is invalid; the queue has no unique_for, so its items cannot have one",
);

export interface Produce {
  readonly kind: "produce";
  readonly key?: CallKey;
  readonly slot: number;
  readonly deadline: number;
  readonly items: readonly NewItem[];
}

export const produce: Kind<Produce> = {
  phase: "within",
  weight: ({ items }) => items.length,
  adds: true,
  lost: ({ items }) => (items.some(isUnique) ? unknownDuplicates : done),
  keyed: { answer: (_, __, duplicates) => produced(duplicates) },
  wants(asking, requests) {
    for (const { items } of requests) wantUniques(asking, items);
  },
  decide: answering(produceOne),
  // A new item that is text and nothing else crosses as that text: most are, and
  // writing and reading four empty fields takes longer than the payload does.
  encode: (request) => ({
    ...request,
    items: request.items.map((item) => (isPlain(item) ? item.payload : encodePayload(item))),
  }),
  decode: (request) => ({ ...request, items: request.items.map(decodeItem) }),
};

function produced(duplicates: readonly number[]): Result {
  return duplicates.length === 0 ? done : { ok: true, value: { kind: "produced", duplicates } };
}

function produceOne(turn: Turn, { op, slot, deadline, items }: Numbered<Produce>): Result {
  const { memory, draft, now, machineNow, stamp } = turn;
  const partition = memory.partition(slot);
  if (deadline <= machineNow) return lateProduce.untaken;
  const { settings } = partition;
  if (settings === null) return deletedFailure;
  if (settings.pause?.produce === true) return pausedProduce(settings.pause);
  const { uniqueForMs } = settings;
  if (uniqueForMs === undefined && items.some(isUnique)) return notUnique;
  const duplicates: number[] = [];
  const expireDeadline = expireDeadlineOf(settings, now);
  for (const [index, item] of items.entries()) {
    if (isUnique(item) && isTaken(turn, item)) {
      duplicates.push(index);
      continue;
    }
    const { enqueueAt } = item;
    const isLater = enqueueAt !== null && enqueueAt > now;
    const unplaced: Unplaced = {
      createdAt: stamp,
      expireDeadline: isLater ? expireDeadlineOf(settings, enqueueAt) : expireDeadline,
      attempts: 0,
      kind: item.kind,
      encoding: item.encoding,
      reference: item.reference,
      sourceId: "",
      payload: item.payload,
    };
    const { seq } = isLater
      ? schedule(turn, partition, unplaced, { dueAt: enqueueAt, retried: false })
      : append(turn, partition, unplaced);
    if (uniqueForMs === undefined || !isUnique(item)) continue;
    takeKey(turn, item, { slot, seq, until: now + uniqueForMs });
  }
  if (duplicates.length > 0) draft.note(op, duplicates);
  draft.count(slot, "produced", items.length - duplicates.length);
  return produced(duplicates);
}

function isPlain({ payload, kind, encoding, reference, enqueueAt, unique }: NewItem): boolean {
  return (
    typeof payload === "string" &&
    kind === "" &&
    encoding === "" &&
    reference === "" &&
    enqueueAt === null &&
    unique === ""
  );
}

function decodeItem(item: NewItem | string): NewItem {
  if (typeof item !== "string") return decodePayload(item);
  return { payload: item, kind: "", encoding: "", reference: "", enqueueAt: null, unique: "" };
}
