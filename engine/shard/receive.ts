// Items from another shard's outbox: taken once, whatever number of times they come.

import type { OutboundItem } from "../../stores/item.ts";
import { answering, done, type Kind } from "./kind.ts";
import { append } from "./moves.ts";
import { decodePayload, encodePayload } from "./payload-text.ts";

export interface Receive {
  readonly kind: "receive";
  readonly sourceShard: number;
  readonly items: readonly OutboundItem[];
}

export const receive: Kind<Receive> = {
  phase: "within",
  weight: ({ items }) => items.length,
  lost: "again",
  decide: answering((turn, { sourceShard, items }) => {
    const { memory, draft, stamp } = turn;
    let last = memory.inbound.get(sourceShard) ?? 0;
    for (const item of items) {
      if (item.outboundSeq <= last) continue;
      last = item.outboundSeq;
      const partition = memory.partition(item.targetSlot);
      if (partition.settings === null) draft.discard(item.targetSlot, item.sourceId);
      else append(turn, partition, { ...item, createdAt: stamp });
    }
    if (last !== memory.inbound.get(sourceShard)) {
      memory.inbound.set(sourceShard, last);
      draft.receive.push({ sourceShard, outboundSeq: last });
    }
    return done;
  }),
  encode: (request) => ({ ...request, items: request.items.map(encodePayload) }),
  decode: (request) => ({ ...request, items: request.items.map(decodePayload) }),
};
