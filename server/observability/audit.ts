// Audits the calls that the table of operations marks: logs a line for each, and keeps the latest
// actions in memory, for `actions.list`.

import { QueueError } from "../../engine/model/errors.ts";
import { checkLimit, checkQueueName, refuse } from "../../engine/model/validate.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type OperationId, operations, type RequestOf } from "../../openapi/operations.ts";
import type { Action, ActionsListReply } from "../../openapi/schemas.ts";
import { type KeyIdentity, visibleTo } from "../auth/key-rights.ts";
import { codeOf } from "../http/reply.ts";
import type { Caller, Route, Routes } from "../routes/route.ts";
import type { Log } from "./log.ts";

export interface AuditOptions {
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

interface AuditedCall {
  readonly operation: string;
  readonly identity: KeyIdentity | null;
  /** `""` = none. */
  readonly queue: string;
  /** Called once the call has ended. */
  readonly itemCount: () => number;
  /** Other queues that the call affects. */
  readonly toQueues?: () => readonly string[];
}

// Bound the size of each action, and so of all actions: about 1 MB, plus 5 MB if each were a
// redrive to ten queues with the longest names.
const keyNameMax = 100;
const queueNameMax = bounds.queueNameBytesMax;

export class Audit {
  readonly #options: AuditOptions;
  /** Oldest first. */
  readonly #actions: Action[] = [];
  #last = 0;
  #since: string;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#since = this.#instant();
  }

  #instant(): string {
    return new Date(this.#options.now()).toISOString();
  }

  /** Wraps the routes so that their audited calls are recorded. */
  wrap<Local extends Partial<Routes>>(routes: Local): Local {
    const wrapped = Object.entries(routes).map(([id, route]) => [
      id,
      this.#recording(id as OperationId, route as Route<OperationId>),
    ]);
    return Object.fromEntries(wrapped) as Local;
  }

  #recording(id: OperationId, route: Route<OperationId>): Route<OperationId> {
    const audits: ((body: never) => boolean) | undefined = operations[id].audits;
    if (audits === undefined) return route;
    return (body, caller) => {
      const work = () => route(body, caller);
      if (!audits(body as never)) return work();
      const { identity } = caller;
      const { queue, others, count } = targetsOf(body as NamedTargets);
      const itemCount = () => caller.affectedItems ?? count;
      const toQueues = () => [...others, ...caller.toQueues];
      return this.record({ operation: id, identity, queue, itemCount, toQueues }, work);
    };
  }

  /** Runs `work` and records its outcome. */
  async record<T>(call: AuditedCall, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#add(call, 200);
      return result;
    } catch (error) {
      // The call had no effect here, and another node may still run it.
      const isElsewhere =
        error instanceof QueueError && ["shutting_down", "not_ready"].includes(error.reason);
      if (!isElsewhere) this.#add(call, codeOf(error));
      throw error;
    }
  }

  #add({ operation, identity, queue, itemCount, toQueues }: AuditedCall, code: number): void {
    const items = itemCount();
    const key = identity?.name.slice(0, keyNameMax) ?? null;
    const queue_name = queue.slice(0, queueNameMax);
    const to_queues = [...(toQueues?.() ?? [])];
    this.#options.log.info("action", {
      audit: true,
      key,
      operation,
      queue: queue_name,
      ...(to_queues.length > 0 && { to_queues }),
      items,
      code,
    });
    this.#last += 1;
    const at = this.#instant();
    const about = { operation, queue_name, to_queues, items, code };
    this.#actions.push({ id: this.#last, at, key_name: key ?? "", ...about });
    if (this.#actions.length <= bounds.actionsMax) return;
    this.#actions.shift();
    this.#since = this.#actions[0]?.at ?? at;
  }

  /** A key with access to some queues gets only the actions on those. */
  list(body: RequestOf<"listActions">, { identity }: Pick<Caller, "identity">): ActionsListReply {
    const { limit, pivot, queue_name: queue } = body;
    if (queue) checkQueueName(queue);
    if (pivot && pivot < 0) refuse(`pivot is invalid; cannot be negative, got ${pivot}`);
    checkLimit(limit, bounds.actionsMax);
    const isShown = visibleTo(identity);
    const visible = this.#actions
      .filter(({ id }) => id <= (pivot || this.#last))
      .filter(({ queue_name, to_queues }) => {
        const queues = [queue_name, ...to_queues];
        return (!queue || queues.includes(queue)) && queues.some(isShown);
      });
    const shown = visible.toReversed().slice(0, limit);
    const items = shown.map((action) => shownOf(action, isShown));
    return { items, since: this.#since, unreached: [] };
  }
}

/** Omits the queues that the key may not see. */
function shownOf(action: Action, isShown: (queue: string) => boolean): Action {
  const { queue_name, to_queues } = action;
  return {
    ...action,
    queue_name: isShown(queue_name) ? queue_name : "",
    to_queues: to_queues.filter(isShown),
  };
}

/** The fields of a body that name queues and items. */
interface NamedTargets {
  readonly queue_name?: string;
  readonly items?: readonly { readonly dead?: boolean }[];
  readonly ids?: readonly string[];
  /** A transact names a queue in each part; a clear has a boolean here. */
  readonly retry?: readonly NamedTargets[] | boolean;
}

function targetsOf(body: NamedTargets) {
  const retried = typeof body.retry === "object" ? body.retry : [];
  const parts = retried.filter(({ items = [] }) => items.some(isDeadLettered));
  const names = new Set(parts.map(({ queue_name = "" }) => queue_name));
  const [queue = body.queue_name ?? "", ...others] = names;
  const items =
    body.items ?? body.ids ?? parts.flatMap((part) => part.items?.filter(isDeadLettered));
  return { queue, others, count: items.length };
}

const isDeadLettered = ({ dead }: { readonly dead?: boolean }): boolean => dead === true;
