// Every kind of request that a shard knows. Within a turn they are decided in this order.

import { advance } from "./shard/advance.ts";
import { ahead } from "./shard/ahead.ts";
import { backup } from "./shard/backup.ts";
import { changeCatalog } from "./shard/catalog.ts";
import { clear } from "./shard/clear.ts";
import { complete } from "./shard/complete.ts";
import { configure } from "./shard/configure.ts";
import { deleteItems } from "./shard/delete.ts";
import { extend } from "./shard/extend.ts";
import { find } from "./shard/find.ts";
import { forward } from "./shard/forward.ts";
import { history } from "./shard/history.ts";
import { holders } from "./shard/holders.ts";
import { importItems } from "./shard/import.ts";
import type { Kind, Numbered } from "./shard/kind.ts";
import { lease } from "./shard/lease.ts";
import { list } from "./shard/list.ts";
import { produce } from "./shard/produce.ts";
import { recall } from "./shard/recall.ts";
import { receive } from "./shard/receive.ts";
import { recount } from "./shard/recount.ts";
import { release } from "./shard/release.ts";
import { retry } from "./shard/retry.ts";
import { stats } from "./shard/stats.ts";
import { task, taskBegin } from "./shard/task.ts";
import { taskPiece } from "./shard/task-piece.ts";
import { transact } from "./shard/transact.ts";
import { withdraw } from "./shard/withdraw.ts";

const table = {
  configure,
  catalog: changeCatalog,
  list,
  find,
  ahead,
  history,
  complete,
  forward,
  receive,
  recount,
  retry,
  transact,
  release,
  withdraw,
  extend,
  clear,
  produce,
  recall,
  import: importItems,
  delete: deleteItems,
  task,
  taskBegin,
  taskPiece,
  lease,
  stats,
  holders,
  backup,
  advance,
} as const;

type RequestOf<K> = K extends Kind<infer R> ? R : never;

/** One request to a shard. `deadline`: an instant past which it must have no effect. */
export type Request = RequestOf<(typeof table)[keyof typeof table]>;
export type NumberedRequest = Numbered<Request>;

export type AnyKind = Kind<Request>;

/** In order; each is asked about requests of its own name alone. */
export const kinds = Object.entries(table) as unknown as readonly [Request["kind"], AnyKind][];

const byName = new Map(kinds);

export function kindNamed(name: Request["kind"]): AnyKind {
  return byName.get(name) as AnyKind;
}

export function kindOf({ kind }: Request): AnyKind {
  return kindNamed(kind);
}
