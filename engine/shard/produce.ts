// Produce: new items at the tail of a partition, or aside until they are due.

import { deletedFailure, late } from "../errors.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import { fullFailure, type Of, type TurnContext } from "./context.ts";
import { append, schedule, type Unplaced } from "./moves.ts";

export function produce(turn: TurnContext, request: Of<"produce">): void {
  const { memory, draft, now } = turn;
  const partition = memory.partition(request.slot);
  if (request.deadline <= now) {
    draft.fail(request.op, late("the items were not written"));
    return;
  }
  if (turn.full) {
    draft.fail(request.op, fullFailure);
    return;
  }
  const { settings } = partition;
  if (settings === null) {
    draft.fail(request.op, deletedFailure);
    return;
  }
  const expireDeadline = expireDeadlineOf(settings, now);
  for (const item of request.items) {
    const { enqueueAt } = item;
    const isLater = enqueueAt !== null && enqueueAt > now;
    const unplaced: Unplaced = {
      createdAt: now,
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
  draft.succeed(request.op, { kind: "done" });
}
