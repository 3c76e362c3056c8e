// One partition as a sequential state machine for the search of `check-linear.ts`: waiting items
// and held items. Leases last longer than the history, so none lapses.

import {
  type Entry,
  type ProduceCall,
  type SingleCall,
  singleCalls,
} from "../histories/history.ts";
import type { Operation } from "./check-linear.ts";

/** An item's number and attempts. */
type Queued = readonly [number: number, attempts: number];

export interface QueueState {
  readonly ready: readonly Queued[];
  /** By item, the id of its lease; `""` = the answer was lost. */
  readonly held: ReadonlyMap<number, string>;
}

/** A listing of all stored items, in queue order. */
export interface ListCall {
  readonly verb: "list";
  readonly client: string;
  readonly call: number;
  readonly end: number;
  readonly items: readonly {
    readonly number: number;
    readonly isLeased: boolean;
    readonly id?: string;
  }[];
}

export const emptyQueue: QueueState = { ready: [], held: new Map() };

export function keyOfQueue({ ready, held }: QueueState): string {
  const holds = [...held].sort(([a], [b]) => a - b);
  return `${ready.join(";")}|${holds.join(";")}`;
}

export function listOperation(list: ListCall): Operation<QueueState> {
  const { call, end, client, items } = list;
  const label = `${client} lists ${items.map(({ number }) => number).join()}`;
  return { call, end, label, apply: (state) => (isListOf(list, state) ? [state] : []) };
}

/** `null` for a call that shows nothing, such as one refused for a reason outside the model. */
export function operationOf(
  entry: Entry,
  offers: ReadonlyMap<string, Queued>,
  hint: number | undefined,
): Operation<QueueState> | null {
  const operation = plainOperationOf(entry, offers);
  return operation === null || hint === undefined ? operation : { ...operation, hint };
}

function plainOperationOf(
  entry: Entry,
  offers: ReadonlyMap<string, Queued>,
): Operation<QueueState> | null {
  const { call } = entry;
  const end = entry.outcome === "unknown" ? Number.POSITIVE_INFINITY : entry.end;
  const label = labelOf(entry);
  switch (entry.verb) {
    case "produce":
      if (entry.outcome === "refused") return null;
      return {
        call,
        end,
        label,
        apply: (state) => [append(state, unleased(entry))],
      };
    case "lease":
      if (entry.outcome === "refused") return null;
      if (entry.outcome === "empty") {
        return {
          call,
          end,
          label,
          apply: (state) => [state, ...prefixes(state, entry.batchSize, requeue)],
        };
      }
      if (entry.outcome === "unknown") {
        return { call, end, label, apply: (state) => prefixes(state, entry.batchSize, take) };
      }
      return {
        call,
        end,
        label,
        apply: (state) => {
          const isHead = entry.offers.every(({ number, attempts }, index) => {
            const head = state.ready[index];
            return head !== undefined && head[0] === number && head[1] + 1 === attempts;
          });
          const ids = entry.offers.map(({ id }) => id);
          return isHead ? [take(state, ids.length, ids)] : [];
        },
      };
    case "complete":
    case "retry":
    case "extend":
    case "release":
    case "transact": {
      // Any other refusal shows nothing about the items.
      if (entry.outcome === "refused" && entry.status !== 453) return null;
      const parts = singleCalls(entry);
      const ids = parts.flatMap((part) => ("ids" in part ? part.ids : []));
      return {
        call,
        end,
        label,
        apply: (state) => {
          const isHeld = ids.every((id) => {
            const item = offers.get(id);
            return item !== undefined && state.held.get(item[0]) === id;
          });
          // The whole call is refused when one id is not held. An unknown outcome may be such a
          // refusal.
          if (!isHeld) return entry.outcome === "ok" ? [] : [state];
          if (entry.outcome === "refused") return [];
          return [parts.reduce((before, part) => withPart(before, part, offers), state)];
        },
      };
    }
  }
}

function withPart(
  state: QueueState,
  part: SingleCall,
  offers: ReadonlyMap<string, Queued>,
): QueueState {
  if (part.verb === "produce") return append(state, unleased(part));
  if (part.verb === "lease" || part.verb === "extend") return state;
  const items = part.ids.flatMap((id) => {
    const item = offers.get(id);
    return item === undefined ? [] : [item];
  });
  return finish(state, items, part.verb);
}

function labelOf(entry: Entry): string {
  const what = singleCalls(entry).flatMap((call): readonly (string | number)[] => {
    if (call.verb === "produce") return call.numbers;
    if (call.verb !== "lease") return call.ids;
    return call.offers.map(({ number, attempts }) => `${number}#${attempts}`);
  });
  return `${entry.client} ${entry.verb} ${what.join()} ${entry.outcome}`;
}

function unleased({ numbers }: ProduceCall): Queued[] {
  return numbers.map((number) => [number, 0]);
}

function append({ ready, held }: QueueState, items: readonly Queued[]): QueueState {
  return { ready: [...ready, ...items], held };
}

/** Without `ids`, the answer was lost. */
function take({ ready, held }: QueueState, count: number, ids: readonly string[] = []): QueueState {
  const more = new Map(held);
  for (const [index, [number]] of ready.slice(0, count).entries()) {
    more.set(number, ids[index] ?? "");
  }
  return { ready: ready.slice(count), held: more };
}

/** The items were granted to a lease that had already ended, and return unchanged to the tail. */
function requeue({ ready, held }: QueueState, count: number): QueueState {
  return { ready: [...ready.slice(count), ...ready.slice(0, count)], held };
}

function prefixes(
  state: QueueState,
  batchSize: number,
  then: (state: QueueState, count: number) => QueueState,
): QueueState[] {
  const most = Math.min(batchSize, state.ready.length);
  return Array.from({ length: most }, (_, index) => then(state, index + 1));
}

function finish(
  { ready, held }: QueueState,
  items: readonly Queued[],
  verb: "complete" | "retry" | "release",
): QueueState {
  const left = new Map(held);
  for (const [number] of items) left.delete(number);
  if (verb === "complete") return { ready, held: left };
  const uncounted = verb === "release" ? 1 : 0;
  const back = items.map(([number, attempts]): Queued => [number, attempts - uncounted]);
  return { ready: [...ready, ...back], held: left };
}

function isListOf({ items }: ListCall, { ready, held }: QueueState): boolean {
  const listed = items.filter(({ isLeased }) => !isLeased).map(({ number }) => number);
  const leased = new Set(items.filter(({ isLeased }) => isLeased).map(({ number }) => number));
  return (
    listed.join() === ready.map(([number]) => number).join() &&
    leased.size === held.size &&
    [...held.keys()].every((number) => leased.has(number))
  );
}
