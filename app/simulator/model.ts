// The simulator's state over time: the effects of its buttons, and automatic events. Pure: time
// advances only by `tick`, so the same events lead to the same state.

import { expire as expireFate, hasExpired, lapse } from "../../engine/model/lifecycle.ts";
import type { Consumer, Settings, SimItem, Simulation } from "./queue.ts";
import * as queue from "./queue.ts";

type ConsumerVerb = "lease" | "complete" | "retry" | "stall" | "resume" | "crash" | "restart";

export type SimEvent =
  | { readonly kind: "produce"; readonly count: number }
  | { readonly kind: ConsumerVerb; readonly consumer: string }
  | { readonly kind: "settings"; readonly settings: Partial<Settings> }
  | { readonly kind: "automatic"; readonly automatic: boolean }
  | { readonly kind: "tick"; readonly ms: number }
  | { readonly kind: "reset" };

/** Pause of an automatic consumer between a complete and the next lease. */
const pauseMs = 700;
/** Interval of automatic produces, about the rate of three consumers. */
const arrivalMs = 1_300;
/** Automatic produces pause at this backlog. */
const arrivalsReadyMax = 6;
const consumerNames = ["worker-1", "worker-2", "worker-3"] as const;

export const initialSimulation: Simulation = begin();

function begin(): Simulation {
  const empty: Simulation = {
    now: 0,
    settings: { leaseTimeoutMs: 6_000, maxAttempts: 3 },
    automatic: true,
    arrivesAt: arrivalMs,
    nextId: 1,
    producedCount: 0,
    completed: [],
    ready: [],
    holds: [],
    dead: [],
    consumers: consumerNames.map((name, index) => ({
      name,
      mode: "up",
      work: null,
      waitsUntil: null,
      // Staggered, so that they do not move in step.
      idleSince: index * 800 - pauseMs,
    })),
    line: [],
    log: [],
  };
  return step(step(empty, { kind: "produce", count: 6 }), { kind: "tick", ms: 2_400 });
}

export function step(state: Simulation, event: SimEvent): Simulation {
  switch (event.kind) {
    case "produce":
      return queue.withLeasesGranted(queue.produce(state, event.count));
    case "lease":
      return queue.withLeasesGranted(queue.requestLease(state, event.consumer));
    case "complete":
      return queue.complete(state, event.consumer);
    case "retry":
      return queue.withLeasesGranted(queue.retry(state, event.consumer));
    case "stall":
      return queue.leaveLine(
        queue.updateConsumer(state, event.consumer, { mode: "stalled" }),
        event.consumer,
      );
    case "resume":
      return queue.resume(state, event.consumer);
    case "crash":
      return queue.crash(state, event.consumer);
    case "restart":
      return queue.updateConsumer(state, event.consumer, { mode: "up", idleSince: state.now });
    case "settings":
      return { ...state, settings: { ...state.settings, ...event.settings } };
    case "automatic":
      return { ...state, automatic: event.automatic, arrivesAt: state.now + arrivalMs };
    case "tick":
      return advance(state, state.now + event.ms);
    case "reset":
      return { ...begin(), settings: state.settings, automatic: state.automatic };
  }
}

/** Advances from event to event, so that the step size does not matter. */
function advance(from: Simulation, to: number): Simulation {
  let state = from;
  for (;;) {
    const next = nextInstant(state);
    if (next > to) return { ...state, now: to };
    const swept = queue.withLeasesGranted(sweep({ ...state, now: Math.max(state.now, next) }));
    state = queue.withLeasesGranted(act(swept));
  }
}

function nextInstant(state: Simulation): number {
  const instants = [
    ...state.holds.map(({ leaseDeadline }) => leaseDeadline),
    ...state.ready.map(({ expireDeadline }) => expireDeadline),
    ...state.consumers.flatMap(({ mode, work, waitsUntil }) => [
      ...(waitsUntil === null ? [] : [waitsUntil]),
      ...(state.automatic && mode === "up" && work !== null ? [work.doneAt] : []),
    ]),
    ...(state.automatic ? [state.arrivesAt] : []),
    ...(state.automatic ? idle(state).map(({ idleSince }) => idleSince + pauseMs) : []),
  ];
  return Math.min(...instants);
}

function idle({ consumers, line }: Simulation): Consumer[] {
  return consumers.filter(
    ({ name, mode, work }) => mode === "up" && work === null && !line.includes(name),
  );
}

/** Applies deadlines; they precede calls at the same instant. */
function sweep(state: Simulation): Simulation {
  const { now } = state;
  const lapsed = state.holds.filter(({ leaseDeadline }) => leaseDeadline <= now);
  const expired = state.ready.filter((item) => hasExpired(item, now));
  const swept = lapsed.reduce((before, hold) => {
    const logged = queue.note(queue.release(before, hold), {
      who: "queue",
      code: null,
      text: `the lease on ${hold.item.label} (id ${hold.item.id}) lapsed`,
    });
    return queue.applyFate(logged, hold.item, lapse(hold.item, queue.rulesOf(state), now));
  }, state);
  return expired.reduce(expire, swept);
}

function expire(state: Simulation, item: SimItem): Simulation {
  const ready = state.ready.filter((other) => other !== item);
  return queue.applyFate({ ...state, ready }, item, expireFate(item));
}

/** Automatic actions at this instant: completes, 454 replies, produces and leases. */
function act(state: Simulation): Simulation {
  let acted = state;
  for (const { name } of state.consumers) {
    const consumer = queue.consumerNamed(acted, name);
    if (consumer === undefined) continue;
    if (consumer.waitsUntil !== null && consumer.waitsUntil <= state.now) {
      acted = queue.note(queue.leaveLine(acted, name), {
        who: `${name} lease`,
        code: 454,
        text: "nothing came in time; ask again",
      });
    }
    if (state.automatic && consumer.work !== null && consumer.work.doneAt <= state.now) {
      acted = queue.complete(acted, name);
    }
  }
  if (!state.automatic) return acted;
  if (state.arrivesAt <= state.now) {
    acted = { ...acted, arrivesAt: state.now + arrivalMs };
    if (acted.ready.length < arrivalsReadyMax) acted = queue.produce(acted, 1);
  }
  return idle(acted)
    .filter(({ idleSince }) => idleSince + pauseMs <= state.now)
    .reduce((before, { name }) => queue.requestLease(before, name), acted);
}
