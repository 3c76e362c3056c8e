// Each way in which a transact can fail, as a change to a correct history.

import type { Part, TransactCall } from "../histories/history.ts";
import {
  addLease,
  dayMs,
  forget,
  leases,
  type Mutation,
  offerOf,
  pick,
  type Scene,
  transacts,
} from "./corruptible.ts";

interface Whole {
  readonly call: TransactCall;
  /** Completed ids. */
  readonly done: readonly string[];
  /** Produced items. */
  readonly numbers: readonly number[];
}

/** A transact that completed and produced at least one item each. */
function wholeOf(scene: Scene): Whole | null {
  const wholes = transacts(scene).map((call): Whole => {
    const done = call.parts.flatMap((part) => (part.verb === "complete" ? part.ids : []));
    const numbers = call.parts.flatMap((part) => (part.verb === "produce" ? part.numbers : []));
    return { call, done: done.filter((id) => offerOf(scene, id) !== null), numbers };
  });
  return pick(
    scene.random,
    wholes.filter(({ done, numbers }) => done.length > 0 && numbers.length > 0),
  );
}

/** Leases and completes the item again, as if the lease with this id had lapsed. */
function comeBack(scene: Scene, id: string): void {
  const found = offerOf(scene, id);
  const offer = found?.lease.offers[found.index];
  if (found === null || offer === undefined) return;
  const again = {
    ...offer,
    id: `${id.slice(0, -4)}zz${id.slice(-2)}`,
    attempts: offer.attempts + 1,
    leaseDeadline: offer.leaseDeadline + dayMs,
  };
  addLease(scene, found.lease, again);
  const { client, partition, outcome, status } = found.lease;
  const call = (scene.entries.at(-1)?.end ?? 0) + 1;
  const answer = { client, partition, outcome, status, call, end: call + 1 };
  scene.entries.push({ verb: "complete", ids: [again.id], ...answer });
}

function ofTransact(mutate: (scene: Scene, whole: Whole) => boolean): Mutation {
  return (scene) => {
    const whole = wholeOf(scene);
    return whole !== null && mutate(scene, whole);
  };
}

export const transactMutations: Readonly<Record<string, Mutation>> = {
  "an output of a transact is lost": ofTransact((scene, { numbers }) => {
    const number = pick(scene.random, numbers);
    if (number !== null) forget(scene, [number]);
    return number !== null;
  }),
  "an output of a transact exists twice": ofTransact((scene, { numbers }) => {
    const number = pick(scene.random, numbers);
    const lease = leases(scene).find(({ offers }) => offers.some((one) => one.number === number));
    const offer = lease?.offers.find((one) => one.number === number);
    if (lease === undefined || offer === undefined) return false;
    const { id, leaseDeadline } = offer;
    const twin = { id: `${id.slice(0, -4)}zzzz`, leaseDeadline: leaseDeadline + dayMs };
    addLease(scene, lease, { ...offer, ...twin });
    return true;
  }),
  "an input of a transact comes back": ofTransact((scene, { done }) => {
    comeBack(scene, pick(scene.random, done) ?? "");
    return true;
  }),
  "an output is offered in another queue": ofTransact((scene, { numbers }) => {
    const lease = leases(scene).find(({ offers }) =>
      offers.some(({ number }) => numbers.includes(number)),
    );
    if (lease === undefined) return false;
    Object.assign(lease, { queue: "another" });
    return true;
  }),
  "the outputs of a refused transact exist": ofTransact((scene, { call, numbers }) => {
    const isOutput = ({ verb }: Part): boolean => verb === "produce";
    const refused = { outcome: "refused", status: 453 } as const;
    scene.entries.push({ ...call, ...refused, parts: call.parts.filter(isOutput) });
    Object.assign(call, { parts: call.parts.filter((part) => !isOutput(part)) });
    return leases(scene).some(({ offers }) => offers.some((one) => numbers.includes(one.number)));
  }),
  "a transact without an answer leaves its outputs and its inputs": ofTransact((scene, whole) => {
    whole.call.outcome = "unknown";
    for (const id of whole.done) comeBack(scene, id);
    return true;
  }),
  "a transact without an answer removes its inputs, but leaves no output": ofTransact(
    (scene, whole) => {
      whole.call.outcome = "unknown";
      forget(scene, whole.numbers);
      return true;
    },
  ),
  "a transact without an answer leaves only some of its outputs": ofTransact((scene, whole) => {
    whole.call.outcome = "unknown";
    forget(scene, whole.numbers.slice(0, 1));
    return true;
  }),
};
