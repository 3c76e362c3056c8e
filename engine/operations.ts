// Every operation of a shard, in the order in which a turn decides them.

import { find } from "./insight/find.ts";
import { holders } from "./insight/holders.ts";
import { ahead } from "./insight/queue-position.ts";
import { stats } from "./insight/stats.ts";
import { advance } from "./operations/advance.ts";
import { backup } from "./operations/backup.ts";
import { cancel } from "./operations/cancel.ts";
import { changeCatalog } from "./operations/change-catalog.ts";
import { clear } from "./operations/clear.ts";
import { complete } from "./operations/complete.ts";
import { deleteItems } from "./operations/delete.ts";
import { extend } from "./operations/extend.ts";
import { groupSet, groupsList } from "./operations/groups.ts";
import { history } from "./operations/history.ts";
import { importItems } from "./operations/import.ts";
import { list } from "./operations/list.ts";
import type { Numbered, Operation } from "./operations/operation.ts";
import { produce } from "./operations/produce.ts";
import { recall } from "./operations/recall.ts";
import { refresh } from "./operations/refresh.ts";
import { release } from "./operations/release.ts";
import { retry } from "./operations/retry.ts";
import { transact } from "./operations/transact.ts";
import { withdraw } from "./operations/withdraw.ts";
import { forward } from "./relay/forward.ts";
import { receive } from "./relay/receive.ts";
import { task, taskBegin } from "./tasks/task.ts";
import { taskPiece } from "./tasks/task-piece.ts";
import { recount } from "./turn/recount.ts";

const table = {
  refresh,
  catalog: changeCatalog,
  list,
  find,
  groupsList,
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
  cancel,
  groupSet,
  task,
  taskBegin,
  taskPiece,
  stats,
  holders,
  backup,
  advance,
} as const;

type RequestOf<K> = K extends Operation<infer R> ? R : never;

/** One request to a shard. `deadline`: the instant past which it must have no effect. */
export type Request = RequestOf<(typeof table)[keyof typeof table]>;
export type NumberedRequest = Numbered<Request>;

export type AnyOperation = Operation<Request>;

/** In order; each receives only the requests of its own name. */
export const operations = Object.entries(table) as unknown as readonly [
  Request["kind"],
  AnyOperation,
][];

const byName = new Map(operations);

export function operationNamed(name: Request["kind"]): AnyOperation {
  return byName.get(name) as AnyOperation;
}

export function operationOf({ kind }: Request): AnyOperation {
  return operationNamed(kind);
}
