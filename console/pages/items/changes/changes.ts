// The changes of items, and their calls. Leased items are changed by their ids, with a call for each
// partition; others by a task, which takes ids or a filter. Pure.

import type { FoundItem, ItemFilter } from "../../../../openapi/schemas.ts";
import type { Call } from "../../../api/call.ts";
import type { ItemState } from "../view.ts";

export type Verb =
  | ("promote" | "prioritize" | "reject" | "delete" | "redrive")
  | ("retry" | "giveUp" | "deleteHeld");

/** The items of one call. */
export interface Part {
  readonly ids?: readonly string[];
  /** For leased items. */
  readonly partition?: number;
  readonly filter?: ItemFilter;
}

export interface ChangeTarget {
  readonly queueName: string;
  /** `null`: any that are not leased. */
  readonly state: "ready" | "leased" | "scheduled" | null;
  readonly parts: readonly Part[];
}

export interface ChangeOptions {
  readonly reason: string;
  readonly priority: number;
  /** For a redrive; `""`: the queue that each came from. */
  readonly to: string;
  /** 0 = no bound. */
  readonly perSecond: number;
  readonly limit: number;
}

export const defaultOptions: ChangeOptions = {
  reason: "",
  priority: 9,
  to: "",
  perSecond: 0,
  limit: 0,
};

/** A key that is not for all queues needs a destination. */
export function hasDestination(verb: Verb, { to }: ChangeOptions, isForAll: boolean): boolean {
  return verb !== "redrive" || isForAll || to !== "";
}

export function verbsFor(state: ItemState): readonly Verb[] {
  if (state === "leased") return ["retry", "giveUp", "deleteHeld"];
  if (state === "dead") return ["redrive", "delete"];
  const waiting = ["prioritize", "reject", "delete"] as const;
  return state === "scheduled" ? ["promote", ...waiting] : waiting;
}

/** Items of one state by their ids. */
export function targetByIds(queueName: string, items: readonly FoundItem[]): ChangeTarget {
  const state = items[0]?.state;
  if (state !== "leased") {
    const known = state === "ready" || state === "scheduled" ? state : null;
    const isOneState = items.every((item) => item.state === state);
    const ids = items.map(({ id }) => id);
    return { queueName, state: isOneState ? known : null, parts: [{ ids }] };
  }
  const partitions = Map.groupBy(items, ({ partition }) => partition);
  const parts = [...partitions].map(([partition, of]) => ({
    partition,
    ids: of.map(({ id }) => id),
  }));
  return { queueName, state, parts };
}

interface Guard {
  /** Only count. */
  readonly isDry?: boolean;
  /** Refuse if there are more. */
  readonly expect?: number;
}

export interface ItemChange {
  readonly verb: Verb;
  readonly target: ChangeTarget;
  readonly options: ChangeOptions;
}

/** `null`: the call cannot count, and takes all of its ids or none. */
export function callOf(change: ItemChange, part: Part, { isDry, expect }: Guard): Call | null {
  const { verb, target, options } = change;
  const { queueName, state } = target;
  const { ids = [], partition = 0, filter } = part;
  const guard = isDry ? { dry_run: true } : expect === undefined ? {} : { expect };
  if (verb === "retry" || verb === "giveUp") {
    if (isDry) return null;
    const reason = options.reason === "" ? {} : { reason: options.reason };
    const items = ids.map((id) => ({ id, ...(verb === "giveUp" && { dead: true }), ...reason }));
    return { id: "retry", body: { queue_name: queueName, partition, items } };
  }
  if (verb === "deleteHeld") {
    return {
      id: "deleteItems",
      body: { queue_name: queueName, partition, ids: [...ids], ...guard },
    };
  }
  const task = {
    queue_name: queueName,
    ...(filter === undefined ? { ids: [...ids] } : { filter }),
    ...(options.limit > 0 && { limit: options.limit }),
    ...(options.perSecond > 0 && { per_second: options.perSecond }),
    ...guard,
  };
  if (verb === "redrive") {
    return { id: "redrive", body: { ...task, ...(options.to !== "" && { to_queue: options.to }) } };
  }
  const of = verb !== "promote" && state !== null && state !== "leased" ? { state } : {};
  const reason = verb === "reject" && options.reason !== "" ? { reason: options.reason } : {};
  const priority = verb === "prioritize" ? { priority: options.priority } : {};
  return { id: "repair", body: { action: verb, ...of, ...reason, ...priority, ...task } };
}

export function callsOf(
  change: ItemChange,
  counts: readonly number[] | undefined,
): readonly Call[] {
  return change.target.parts.flatMap((part, at) => {
    const expect = counts?.[at];
    const call = callOf(change, part, expect === undefined ? {} : { expect });
    return call === null ? [] : [call];
  });
}
