// Each way in which a queue can fail, as a change to a correct history.

import type { Redrives } from "../histories/history.ts";
import {
  changeOffer,
  completes,
  dayMs,
  extensions,
  forget,
  leases,
  type Mutation,
  offerIn,
  offerLater,
  pick,
  produces,
  rejections,
  repeatOffer,
  requeuedIds,
  type Scene,
  successions,
} from "./corruptible.ts";

/** Applies to histories with redriven items. */
function redriven(scene: Scene, corrupt: (redrives: Redrives) => Partial<Redrives>): boolean {
  const { redrives } = scene.ending;
  if (redrives === undefined || redrives.taskIds.length < 2) return false;
  scene.ending = { ...scene.ending, redrives: { ...redrives, ...corrupt(redrives) } };
  return true;
}

export const mutations: Readonly<Record<string, Mutation>> = {
  "a redrive that was sent again is done again": (scene) =>
    redriven(scene, ({ waiting, moved, taskIds, unknown }) => {
      const more = taskIds.length + unknown + 1 - moved.length;
      return { waiting: waiting.slice(more), moved: [...moved, ...waiting.slice(0, more)] };
    }),
  "a redrive that was answered is not done": (scene) =>
    redriven(scene, ({ waiting, moved, taskIds }) => {
      const back = moved.slice(0, moved.length - taskIds.length + 1);
      return { waiting: [...waiting, ...back], moved: moved.slice(back.length) };
    }),
  "the redrives of two keys are one task": (scene) =>
    redriven(scene, ({ taskIds: [first = "", , ...more] }) => ({
      taskIds: [first, first, ...more],
    })),
  "a redriven item stays where it was": (scene) =>
    redriven(scene, ({ waiting, moved }) => ({ waiting: [...waiting, ...moved.slice(0, 1)] })),
  "a redriven item is nowhere": (scene) =>
    redriven(scene, ({ waiting, produced }) => {
      const gone = waiting.find((number) => produced.includes(number));
      return { waiting: waiting.filter((number) => number !== gone) };
    }),
  "an acknowledged item is never seen again": (scene) => {
    const produce = pick(scene.random, produces(scene));
    const number = produce === null ? null : pick(scene.random, produce.numbers);
    if (number === null) return false;
    forget(scene, [number]);
    return true;
  },
  "a completed item is offered again, under a new id": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerIn(scene, complete);
    return found !== null && offerLater(scene, found);
  },
  "a rejected item is offered again, under a new id": (scene) => {
    const retry = pick(scene.random, rejections(scene));
    const found = retry === null ? null : offerIn(scene, retry);
    return found !== null && offerLater(scene, found);
  },
  "an id is offered twice": (scene) =>
    repeatOffer(scene, (offer) => ({ ...offer, leaseDeadline: offer.leaseDeadline + dayMs })),
  "two leases of an item overlap": (scene) =>
    repeatOffer(scene, (offer) => ({
      ...offer,
      id: `${offer.id.slice(0, -4)}zzzz`,
      attempts: offer.attempts + 1,
    })),
  "an item is offered before the deadline that an extend returned": (scene) => {
    const next = successions(scene);
    const back = requeuedIds(scene);
    const followed = (id: string): boolean => next.has(id) && !back.has(id);
    const extension = pick(
      scene.random,
      extensions(scene).filter(({ ids }) => ids.some(followed)),
    );
    if (extension === null) return false;
    extension.leaseDeadline += dayMs;
    return true;
  },
  "an extend returns an earlier deadline than the lease": (scene) => {
    const extension = pick(scene.random, extensions(scene));
    const found = extension === null ? null : offerIn(scene, extension);
    const offer = found?.lease.offers[found.index];
    if (extension === null || offer === undefined) return false;
    extension.leaseDeadline = offer.leaseDeadline - 1;
    return true;
  },
  "an item is extended after it was completed": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerIn(scene, complete);
    if (complete === null || found === null) return false;
    const at = complete.end + 1;
    const leaseDeadline = (found.lease.offers[found.index]?.leaseDeadline ?? 0) + dayMs;
    scene.entries.push({ ...complete, verb: "extend", leaseDeadline, call: at, end: at + 1 });
    return true;
  },
  "the attempt of a lease that was released is counted": (scene) => {
    const { leaseTimeoutMs } = scene.rules;
    const next = successions(scene);
    const released = scene.entries.flatMap((entry) => {
      if (entry.verb !== "release" || entry.outcome !== "ok") return [];
      return entry.ids.flatMap((id) => next.get(id) ?? []);
    });
    // Later on, a lease without an answer may have lapsed in between.
    const soon = released.filter(
      (place) => place.next.leaseDeadline - place.last.leaseDeadline < leaseTimeoutMs,
    );
    const place = pick(scene.random, soon);
    if (place === null) return false;
    for (const lease of leases(scene)) {
      lease.offers = lease.offers.map((offer) =>
        offer.number === place.last.number && offer.id >= place.next.id
          ? { ...offer, attempts: offer.attempts + 1 }
          : offer,
      );
    }
    return true;
  },
  "attempts stay as they were": (scene) =>
    repeatOffer(scene, (offer) => ({
      ...offer,
      id: `${offer.id.slice(0, -4)}zzzz`,
      leaseDeadline: offer.leaseDeadline + dayMs,
    })),
  "attempts rise above the most": (scene) =>
    changeOffer(scene, (offer) => ({ ...offer, attempts: 1_000 })),
  "attempts are counted from nought": (scene) =>
    changeOffer(scene, (offer) => ({ ...offer, attempts: 0 })),
  "a byte has changed": (scene) => changeOffer(scene, (offer) => ({ ...offer, intact: false })),
  "an item that was never produced": (scene) =>
    repeatOffer(scene, (offer) => ({
      ...offer,
      number: 999_999_999,
      id: `${offer.id.slice(0, -4)}zzzz`,
      attempts: 1,
    })),
  "an item whose produce was refused": (scene) => {
    const produce = pick(scene.random, produces(scene));
    if (produce === null) return false;
    produce.outcome = "refused";
    return true;
  },
  "half of a produce is there": (scene) => {
    const produce = pick(
      scene.random,
      produces(scene).filter(({ numbers }) => numbers.length > 1),
    );
    if (produce === null) return false;
    const gone = produce.numbers.slice(0, 1);
    produce.outcome = "unknown";
    forget(scene, gone);
    return true;
  },
  "a lease is granted while its queue is paused": (scene) => {
    const granted = leases(scene).filter((lease) => lease.offers.length > 0 && !lease.isRepeated);
    const lease = pick(scene.random, granted);
    if (lease === null) return false;
    const { queue, call, end } = lease;
    const pauses = [
      ...(scene.ending.pauses ?? []),
      { queue, call: call - 1, from: call - 1, to: end + 1 },
    ];
    scene.ending = { ...scene.ending, pauses };
    return true;
  },
  "an item is in the dead queue twice": (scene) => {
    const [dead] = scene.ending.dead;
    const number = dead?.number ?? produces(scene)[0]?.numbers[0] ?? 0;
    const twice = [
      { number, intact: true },
      { number, intact: true },
    ];
    scene.ending = { ...scene.ending, dead: [...scene.ending.dead, ...twice] };
    return true;
  },
  "a completed item is in the dead queue": (scene) => {
    const complete = pick(scene.random, completes(scene));
    const found = complete === null ? null : offerIn(scene, complete);
    const number = found?.lease.offers[found.index]?.number;
    if (number === undefined) return false;
    scene.ending = { ...scene.ending, dead: [...scene.ending.dead, { number, intact: true }] };
    return true;
  },
  "an item is left when all is drained": (scene) => {
    const number = pick(scene.random, produces(scene))?.numbers[0];
    if (number === undefined) return false;
    scene.ending = { ...scene.ending, left: [{ number, intact: true }] };
    return true;
  },
  "a lease is answered before its items are produced": (scene) => {
    const first = Math.min(...scene.entries.map(({ call }) => call));
    const lease = pick(
      scene.random,
      leases(scene).filter(({ offers }) => offers.some(({ attempts }) => attempts === 1)),
    );
    if (lease === null) return false;
    Object.assign(lease, { call: first - 2, end: first - 1 });
    return true;
  },
  "an item is leased long after those behind it": (scene) => {
    const at = (scene.entries.at(-1)?.call ?? 0) + 10_000;
    const all = leases(scene);
    const lease = pick(scene.random, all.slice(0, all.length >> 1));
    const isFollowed = all.some(
      (other) =>
        other.partition === lease?.partition &&
        (other.offers[0]?.id ?? "") > (lease?.offers.at(-1)?.id ?? ""),
    );
    if (lease === null || !isFollowed) return false;
    Object.assign(lease, { call: at, end: at + 1 });
    return true;
  },
  "a batch is out of its order": (scene) => {
    const lease = pick(
      scene.random,
      leases(scene).filter(({ offers }) => offers.length > 1),
    );
    if (lease === null) return false;
    lease.offers = lease.offers.toReversed();
    return true;
  },
};
