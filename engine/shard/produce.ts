// Produce: new items at the tail of a partition, or aside until they are due.

import type { CallKey } from "../call-key.ts";
import { deletedFailure, lateProduce, pausedProduce } from "../errors.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import type { NewItem } from "../messages.ts";
import { answering, done, doneOnce, type Kind, type Result } from "./kind.ts";
import { append, schedule, type Unplaced } from "./moves.ts";
import { decodePayload, encodePayload } from "./payload-text.ts";
import type { Turn } from "./turn-context.ts";

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
  lost: () => done,
  keyed: doneOnce,
  decide: answering(produceOne),
  // A new item that is text and nothing else crosses as that text: most are, and
  // writing and reading four empty fields takes longer than the payload does.
  encode: (request) => ({
    ...request,
    items: request.items.map((item) => (isPlain(item) ? item.payload : encodePayload(item))),
  }),
  decode: (request) => ({ ...request, items: request.items.map(decodeItem) }),
};

function produceOne(turn: Turn, { slot, deadline, items }: Produce): Result {
  const { memory, now, machineNow, stamp } = turn;
  const partition = memory.partition(slot);
  if (deadline <= machineNow) return lateProduce.untaken;
  const { settings } = partition;
  if (settings === null) return deletedFailure;
  if (settings.pause?.produce === true) return pausedProduce(settings.pause);
  const expireDeadline = expireDeadlineOf(settings, now);
  for (const item of items) {
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
    if (isLater) schedule(turn, partition, unplaced, { dueAt: enqueueAt, retried: false });
    else append(turn, partition, unplaced);
  }
  return done;
}

function isPlain({ payload, kind, encoding, reference, enqueueAt }: NewItem): boolean {
  return (
    typeof payload === "string" &&
    kind === "" &&
    encoding === "" &&
    reference === "" &&
    enqueueAt === null
  );
}

function decodeItem(item: NewItem | string): NewItem {
  if (typeof item !== "string") return decodePayload(item);
  return { payload: item, kind: "", encoding: "", reference: "", enqueueAt: null };
}
