// Items from the outbox of another shard, and word that ours have arrived.

import type { Of, TurnContext } from "./context.ts";
import { append } from "./moves.ts";

/** Items from another shard's outbox: taken once, whatever number of times they come. */
export function receive(turn: TurnContext, request: Of<"receive">): void {
  const { memory, draft, now } = turn;
  let last = memory.inbound.get(request.sourceShard) ?? 0;
  for (const item of request.items) {
    if (item.outboundSeq <= last) continue;
    last = item.outboundSeq;
    const partition = memory.partition(item.targetSlot);
    if (partition.settings === null) draft.event(item.targetSlot, "discarded");
    else append(turn, partition, { ...item, createdAt: now });
  }
  if (last !== memory.inbound.get(request.sourceShard)) {
    memory.inbound.set(request.sourceShard, last);
    draft.receive.push({ sourceShard: request.sourceShard, outboundSeq: last });
  }
  draft.succeed(request.op, { kind: "done" });
}

export function received({ memory, draft }: TurnContext, request: Of<"received">): void {
  for (const outboundSeq of request.outboundSeqs) {
    if (memory.outbound.delete(outboundSeq)) draft.unsend.push(outboundSeq);
  }
  draft.succeed(request.op, { kind: "done" });
}
