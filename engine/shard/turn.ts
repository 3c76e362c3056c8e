// One turn: everything that waits is decided against memory and store, and
// becomes one set of changes. The caller commits them and only then lets the
// answers out. Requests of one kind are taken in the order of their arrival.
//
//   recount → sweep → complete → retry → clear → produce → import → delete → lease

import type { NumberedRequest } from "../messages.ts";
import { clearPiece, markCleared } from "./clearing.ts";
import type { Of, Settling, TurnContext } from "./context.ts";
import { complete, giveBack, releaseGrant } from "./finish.ts";
import { leaseAll } from "./lease.ts";
import type { Partition } from "./partition.ts";
import { produce } from "./produce.ts";
import { beginRecount, recountPiece } from "./recount.ts";
import { backup, drop, list, stats, take } from "./storage.ts";
import { sweep } from "./sweep.ts";
import { receive, received } from "./transfer.ts";

/** Decides all requests. Reads of what is stored are left to `answerReads`, after the commit. */
export async function decide(
  turn: TurnContext,
  requests: readonly NumberedRequest[],
): Promise<void> {
  // Before anything is decided, when the store has all that memory counts.
  await recountPiece(turn, turn.store);
  await sweep(turn, turn.store);
  await clearPiece(turn, turn.store);

  const leases: Of<"lease">[] = [];
  const imports: Of<"import">[] = [];
  const deletes: Of<"delete">[] = [];
  const produces: Of<"produce">[] = [];
  const clears: Of<"clear">[] = [];
  const retries: (Of<"retry"> | Of<"release">)[] = [];
  for (const request of requests) {
    switch (request.kind) {
      case "complete":
        await complete(turn, request);
        break;
      case "retry":
      case "release":
        retries.push(request);
        break;
      case "clear":
        clears.push(request);
        break;
      case "produce":
        produces.push(request);
        break;
      case "import":
        imports.push(request);
        break;
      case "delete":
        deletes.push(request);
        break;
      case "lease":
        leases.push(request);
        break;
      case "catalog":
        turn.draft.catalogPut.push(...request.put);
        turn.draft.catalogRemove.push(...request.remove);
        turn.draft.succeed(request.op, { kind: "done" });
        break;
      case "receive":
        receive(turn, request);
        break;
      case "received":
        received(turn, request);
        break;
      case "settle":
        settleLater(turn, request, "clear");
        break;
      case "recount":
        for (const partition of settleLater(turn, request, "recount")) {
          beginRecount(turn, partition);
        }
        break;
      case "configure":
        turn.draft.succeed(request.op, { kind: "done" });
        break;
      case "backup":
      case "list":
      case "stats":
        break;
    }
  }
  for (const request of retries) {
    if (request.kind === "retry") await giveBack(turn, request);
    else await releaseGrant(turn, request);
  }
  for (const request of clears) {
    for (const partition of settleLater(turn, request, "clear")) {
      markCleared(turn, partition, request.what);
    }
  }
  for (const request of produces) produce(turn, request);
  for (const request of imports) await take(turn, request);
  for (const request of deletes) await drop(turn, request);
  await leaseAll(turn, leases);
}

/** Puts the answer off until the work is done on the partitions, which it returns. */
function settleLater(
  turn: TurnContext,
  { op, slots }: { readonly op: number; readonly slots: readonly number[] },
  work: Settling["work"],
): Set<Partition> {
  const partitions = new Set(slots.map((slot) => turn.memory.partition(slot)));
  turn.settling.push({ op, work, partitions });
  return partitions;
}

/** Answers what only asks. It runs after the commit, so that it sees all of it. */
export async function answerReads(
  turn: TurnContext,
  requests: readonly NumberedRequest[],
): Promise<void> {
  for (const request of requests) {
    if (request.kind === "list") await list(turn, request);
    else if (request.kind === "stats") stats(turn, request);
    else if (request.kind === "backup") await backup(turn, request);
  }
}
