// Operations on one queue with one partition. Pure functions from state to state. The effects of
// lapse and retry are not modelled here, but taken from the server's own rules.

import { expireDeadlineOf, type Fate, retry as retryFate } from "../../engine/model/lifecycle.ts";

export interface Settings {
  readonly leaseTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
}

export interface SimItem {
  /** Identity of the item across requeues. */
  readonly label: string;
  /** Its number in the partition; a new one at every requeue. */
  readonly id: number;
  /** Leases granted before the item got this number. */
  readonly attempts: number;
  readonly expireDeadline: number;
}

export interface Hold {
  readonly item: SimItem;
  readonly consumer: string;
  readonly leaseDeadline: number;
  readonly leaseTimeoutMs: number;
}

export interface Consumer {
  readonly name: string;
  /** `stalled` pauses but keeps its state; `down` has crashed and lost it. */
  readonly mode: "up" | "stalled" | "down";
  /** The item that the consumer believes it holds; its lease may have lapsed. */
  readonly work: { readonly label: string; readonly id: number; readonly doneAt: number } | null;
  /** Deadline of its waiting lease request. */
  readonly waitsUntil: number | null;
  /** The instant since which it has neither work nor a request. */
  readonly idleSince: number;
}

export interface LogLine {
  readonly number: number;
  readonly at: number;
  readonly who: string;
  readonly code: 200 | 453 | 454 | null;
  readonly text: string;
}

export interface Simulation {
  readonly now: number;
  readonly settings: Settings;
  /** Produces, leases and completes happen automatically. */
  readonly automatic: boolean;
  /** The instant of the next automatic produce. */
  readonly arrivesAt: number;
  readonly nextId: number;
  readonly producedCount: number;
  readonly completed: readonly string[];
  /** In the order of their numbers. */
  readonly ready: readonly SimItem[];
  readonly holds: readonly Hold[];
  readonly dead: readonly (SimItem & { readonly death: "failed" | "expired" | "rejected" })[];
  readonly consumers: readonly Consumer[];
  /** Names of consumers with a waiting lease, in order of arrival. */
  readonly line: readonly string[];
  /** Newest first. */
  readonly log: readonly LogLine[];
}

/** Maximum number of waiting items, so that the view stays readable. */
export const waitingMax = 16;
export const workMs = 3_000;
export const requestTimeoutMs = 10_000;
export const expireTimeoutMs = 120_000;
const logMax = 60;

/** The items of the partition by number; leased items keep their position. */
export function partitionOf({
  ready,
  holds,
}: Pick<Simulation, "ready" | "holds">): { readonly item: SimItem; readonly hold: Hold | null }[] {
  return [
    ...ready.map((item) => ({ item, hold: null })),
    ...holds.map((hold) => ({ item: hold.item, hold })),
  ].sort((a, b) => a.item.id - b.item.id);
}

export function consumerNamed(state: Simulation, name: string): Consumer | undefined {
  return state.consumers.find((consumer) => consumer.name === name);
}

export function updateConsumer(
  state: Simulation,
  name: string,
  changes: Partial<Consumer>,
): Simulation {
  const consumers = state.consumers.map((consumer) =>
    consumer.name === name ? { ...consumer, ...changes } : consumer,
  );
  return { ...state, consumers };
}

export function note(state: Simulation, line: Omit<LogLine, "number" | "at">): Simulation {
  const number = (state.log[0]?.number ?? 0) + 1;
  return { ...state, log: [{ number, at: state.now, ...line }, ...state.log].slice(0, logMax) };
}

/** a to z, then a2 and so on. */
function labelOf(index: number): string {
  const letter = String.fromCharCode(97 + (index % 26));
  const round = Math.floor(index / 26);
  return round === 0 ? letter : `${letter}${round + 1}`;
}

export function produce(state: Simulation, wanted: number): Simulation {
  const count = Math.min(wanted, waitingMax - state.ready.length);
  if (count <= 0) return state;
  const items = Array.from({ length: count }, (_, index) => ({
    label: labelOf(state.producedCount + index),
    id: state.nextId + index,
    attempts: 0,
    expireDeadline: expireDeadlineOf({ expireTimeoutMs }, state.now),
  }));
  const names = items.map(({ label }) => label);
  const what = count === 1 ? `item ${names[0]} is` : `items ${names[0]} to ${names.at(-1)} are`;
  const produced = {
    ...state,
    ready: [...state.ready, ...items],
    nextId: state.nextId + count,
    producedCount: state.producedCount + count,
  };
  return note(produced, { who: "produce", code: 200, text: `${what} on disk` });
}

/** Adds a lease request to the wait queue, until an item arrives or the request times out. */
export function requestLease(state: Simulation, name: string): Simulation {
  const consumer = consumerNamed(state, name);
  if (consumer?.mode !== "up" || consumer.work !== null || state.line.includes(name)) return state;
  const waiting = updateConsumer(state, name, { waitsUntil: state.now + requestTimeoutMs });
  return { ...waiting, line: [...state.line, name] };
}

export function leaveLine(state: Simulation, name: string): Simulation {
  const left = updateConsumer(state, name, { waitsUntil: null, idleSince: state.now });
  return { ...left, line: left.line.filter((other) => other !== name) };
}

/** Grants the items at the head to waiting consumers, in order of arrival. */
export function withLeasesGranted(state: Simulation): Simulation {
  const [name] = state.line;
  const [item, ...rest] = state.ready;
  if (name === undefined || item === undefined) return state;
  const { leaseTimeoutMs } = state.settings;
  const leaseDeadline = state.now + leaseTimeoutMs;
  const hold: Hold = { item, consumer: name, leaseDeadline, leaseTimeoutMs };
  const left = leaveLine({ ...state, ready: rest, holds: [...state.holds, hold] }, name);
  const work = { label: item.label, id: item.id, doneAt: state.now + workMs };
  const text = `${item.label} (id ${item.id}) is leased for ${leaseTimeoutMs / 1_000} s, attempts ${item.attempts + 1}`;
  const granted = updateConsumer(left, name, { work });
  return withLeasesGranted(note(granted, { who: `${name} lease`, code: 200, text }));
}

function held(state: Simulation, consumer: Consumer): Hold | undefined {
  return state.holds.find(({ item }) => item.id === consumer.work?.id);
}

export function release(state: Simulation, hold: Hold): Simulation {
  return { ...state, holds: state.holds.filter((other) => other !== hold) };
}

/** A consumer's complete or retry is refused once the lease has lapsed. */
function finish(
  state: Simulation,
  name: string,
  verb: "complete" | "retry",
  then: (state: Simulation, item: SimItem) => Simulation,
): Simulation {
  const consumer = consumerNamed(state, name);
  if (consumer?.mode !== "up" || consumer.work === null) return state;
  const { id, label } = consumer.work;
  const idled = updateConsumer(state, name, { work: null, idleSince: state.now });
  const hold = held(state, consumer);
  if (hold !== undefined) return then(release(idled, hold), hold.item);
  const text = `id ${id} does not exist: its lease lapsed, and ${label} has moved on`;
  return note(idled, { who: `${name} ${verb}`, code: 453, text });
}

export function complete(state: Simulation, name: string): Simulation {
  return finish(state, name, "complete", (done, { label }) =>
    note(
      { ...done, completed: [...done.completed, label] },
      { who: `${name} complete`, code: 200, text: `${label} is removed for good` },
    ),
  );
}

export function retry(state: Simulation, name: string): Simulation {
  return finish(state, name, "retry", (done, item) => {
    const text = `${item.label} is retried`;
    const given = note(done, { who: `${name} retry`, code: 200, text });
    return applyFate(given, item, retryFate(item, rulesOf(state), state.now, null));
  });
}

export function crash(state: Simulation, name: string): Simulation {
  const consumer = consumerNamed(state, name);
  if (consumer === undefined || consumer.mode === "down") return state;
  const hold = held(state, consumer);
  const gone = leaveLine(updateConsumer(state, name, { mode: "down", work: null }), name);
  const left =
    hold === undefined ? "it held nothing" : `${hold.item.label} stays leased until its deadline`;
  return note(gone, { who: name, code: null, text: `crashed; ${left}` });
}

/** A stalled consumer continues, unaware of the delay. */
export function resume(state: Simulation, name: string): Simulation {
  const consumer = consumerNamed(state, name);
  if (consumer?.mode !== "stalled") return state;
  const woken = updateConsumer(state, name, { mode: "up" });
  return consumer.work === null ? woken : complete(woken, name);
}

export function rulesOf({ settings }: Simulation) {
  return { ...settings, expireTimeoutMs };
}

/** Applies the decided outcome to an item that the caller has removed. */
export function applyFate(state: Simulation, item: SimItem, fate: Fate): Simulation {
  switch (fate.to) {
    case "queue": {
      const requeued = { ...item, id: state.nextId, attempts: fate.attempts };
      return note(
        { ...state, ready: [...state.ready, requeued], nextId: state.nextId + 1 },
        { who: "queue", code: null, text: `${item.label} is at the tail as id ${requeued.id}` },
      );
    }
    case "schedule":
      // No consumer here uses a delayed retry.
      return state;
    case "dead": {
      const why =
        fate.death === "failed"
          ? `failed ${item.attempts + 1} of ${state.settings.maxAttempts} attempts`
          : "waited past its expiry";
      return note(
        { ...state, dead: [...state.dead, { ...item, death: fate.death }] },
        { who: "queue", code: null, text: `${item.label} ${why}: to the dead queue` },
      );
    }
  }
}
