// Histories of a database that lost its last commits: the checkers accept possible losses, and
// still reject any other fault.

import { expect, test } from "bun:test";
import { formatId, idPrefix } from "../../engine/model/ids.ts";
import type { Entry, Offer, Outcome } from "../histories/history.ts";
import { checkOrder } from "./check-order.ts";
import { checkQueue } from "./check-queue.ts";
import { type Loss, noLoss, survivingHistory } from "./lost-commits.ts";

const rules = { leaseTimeoutMs: 1_000, maxAttempts: 5, shardsFail: true } as const;
const prefix = idPrefix("0123456789Ab", 0);
const idOf = (seq: number): string => formatId(prefix, seq);
/** The id prefix of the next opening. */
const laterPrefix = idPrefix("0124456789Ab", 0);
/** The standby stops between 200 and 400, and the primary is killed at 500. */
const loss: Loss = { keptUntil: 200, lostFrom: 400, resumedAt: 500 };

const at = (call: number, outcome: Outcome = "ok") => ({
  ...{ client: `client-${call}`, call, end: call + 5, outcome, status: 200 },
});
const produce = (call: number, ...numbers: number[]): Entry => ({
  ...{ verb: "produce", queue: "orders", numbers, ...at(call) },
});
const lease = (
  call: number,
  ...offers: [number: number, seq: number, attempts?: number][]
): Entry => ({
  ...{ verb: "lease", queue: "orders", batchSize: 10, partition: 0, ...at(call) },
  offers: offers.map(([number, seq, attempts = 1]): Offer => {
    return { number, id: idOf(seq), attempts, leaseDeadline: call + 1_000, intact: true };
  }),
});
/** A complete by the holder of the lease from that time. */
const complete = (call: number, held: number, ...seqs: number[]): Entry => ({
  ...{ verb: "complete", partition: 0, ids: seqs.map(idOf), ...at(call), client: `client-${held}` },
});

function judged(entries: readonly Entry[], reported = loss) {
  const after = survivingHistory(entries, { dead: [], left: [] }, reported);
  const { faults } = checkQueue(after.entries, after.ending, rules);
  const order = checkOrder(after.entries, { outcomes: ["empty", "unknown"] });
  const all = [faults, order.faults, after.faults].flatMap((one) => one.list(""));
  return { faults: all.map((fault) => fault.split(";")[0]), gone: after.gone.map(({ id }) => id) };
}

test("lost commits: an item produced, leased and completed in the period is lost, and its id is not reissued", () => {
  const lost = [produce(250, 1), lease(260, [1, 1]), produce(300, 2), lease(310, [2, 2])];
  const done = complete(320, 260, 1);
  const later = [produce(600, 3), lease(610, [3, 9]), complete(620, 610, 9)];
  expect(judged([...lost, done, ...later])).toEqual({ faults: [], gone: [idOf(2)] });
  expect(judged([...lost, done, ...later], noLoss).faults).not.toEqual([]);
  const reissued = [produce(600, 3), lease(610, [3, 2]), complete(620, 610, 2)];
  expect(judged([...lost, done, ...reissued]).faults).toContain("an id was issued again");
});

test("lost commits: an item leased and completed in the period is offered again under the same id", () => {
  const kept = [produce(100, 1, 2), lease(250, [1, 1], [2, 2]), complete(260, 250, 1)];
  const again = [lease(600, [1, 1], [2, 2]), complete(610, 600, 1, 2)];
  expect(judged([...kept, ...again])).toEqual({ faults: [], gone: [] });
  // The former holder is refused before the answer to the next lease.
  const late = { ...complete(560, 250, 1), outcome: "refused" } as Entry;
  expect(judged([...kept, late, ...again]).faults).toEqual([]);
});

test("lost commits: a call sent after a lost one is lost, even if it was answered", () => {
  const entries = [produce(100, 1), lease(250, [1, 1]), produce(260, 2), lease(270, [2, 2])];
  const done = [complete(280, 250, 1), complete(290, 270, 2)];
  const again = [lease(600, [1, 1]), complete(610, 600, 1)];
  expect(judged([...entries, ...done, ...again])).toEqual({ faults: [], gone: [idOf(2)] });
  const late = [produce(410, 1), lease(420, [1, 1]), complete(430, 420, 1)];
  expect(judged(late)).toEqual({ faults: [], gone: [idOf(1)] });
});

test("lost commits: a lease whose attempt is not counted is lost with its release", () => {
  const waited = { ...lease(190, [1, 1]), end: 410 };
  const release = { ...complete(420, 190, 1), verb: "release" } as Entry;
  const again = [lease(600, [1, 9]), complete(610, 600, 9)];
  expect(judged([produce(100, 1), waited, release, ...again]).faults).toEqual([]);
  // Released before the loss, the lease may have counted no attempt.
  const early = [lease(250, [1, 1]), { ...release, call: 300, end: 305 } as Entry];
  expect(judged([produce(100, 1), ...early, ...again]).faults).toEqual([]);
  expect(judged([produce(100, 1), waited, release, ...again], noLoss).faults).toEqual([]);
});

test("lost commits: an answered call is lost if the next opening reissues its number", () => {
  const kept = [produce(100, 1), lease(110, [1, 1])];
  const transact: Entry = {
    ...{ verb: "transact", ...at(250), client: "client-110" },
    parts: [
      { verb: "complete", partition: 0, ids: [idOf(1)] },
      { verb: "produce", queue: "orders", numbers: [2] },
    ],
  };
  const lost = [transact, lease(260, [2, 2]), complete(270, 260, 2)];
  const ofLater = (entry: Entry): Entry => {
    const later = (id: string): string => id.replace(prefix, laterPrefix);
    if (entry.verb === "lease") {
      return { ...entry, offers: entry.offers.map((one) => ({ ...one, id: later(one.id) })) };
    }
    return entry.verb === "complete" ? { ...entry, ids: entry.ids.map(later) } : entry;
  };
  const again = (seq: number): Entry[] =>
    [lease(1_600, [1, seq, 2]), complete(1_610, 1_600, seq)].map(ofLater);
  expect(judged([...kept, ...lost, ...again(2)])).toEqual({ faults: [], gone: [idOf(2)] });
  const { faults } = judged([...kept, ...lost, ...again(2)], noLoss);
  expect(faults).toContain("I2: an id was leased twice");
  // Numbers above all known ones show nothing about items finished before the next opening.
  expect(judged([...kept, produce(250, 2), ...lost.slice(1), ...again(3)]).gone).toEqual([]);
});

test("lost commits: a call answered in the period may also be kept", () => {
  const entries = [produce(100, 1), lease(250, [1, 1]), complete(260, 250, 1)];
  expect(judged(entries)).toEqual({ faults: [], gone: [] });
});

test("lost commits: a call answered before the period is kept", () => {
  expect(judged([produce(100, 1)]).faults).toEqual(["I1: an acknowledged item is lost"]);
  const done = [produce(100, 1), lease(110, [1, 1]), complete(120, 110, 1)];
  expect(judged([...done, lease(600, [1, 7, 2]), complete(610, 600, 7)]).faults).toContain(
    "I3: a completed item was offered again",
  );
  // Leased during the possible loss, and never finished.
  expect(judged([produce(100, 1), lease(250, [1, 1])]).faults).toEqual([
    "I1: an acknowledged item is lost",
  ]);
});

test("lost commits: a call answered after the period is kept", () => {
  expect(judged([produce(600, 1)]).faults).toEqual(["I1: an acknowledged item is lost"]);
  const twice = [produce(600, 1), lease(610, [1, 1]), lease(620, [1, 1])];
  expect(judged(twice).faults).toContain("I2: an id was leased twice");
});

test.each<[what: string, call: number, end: number, isKept: boolean]>([
  ["answered while it may be lost", 250, 260, false],
  ["answered before", 100, 200, true],
  ["sent before the database goes on, and answered later", 490, 510, false],
  ["sent once it goes on", 500, 510, true],
])("lost commits: a repetition and a pause of a call %s", (_, call, end, isKept) => {
  const contradictions = [{ answers: "a and then b", call, end }];
  const pauses = [{ queue: "orders", call, from: end, to: end + 100 }];
  const ending = { dead: [], left: [], repeats: { count: 1, contradictions }, pauses };
  const after = survivingHistory([], ending, loss).ending;
  expect(after.repeats?.contradictions).toEqual(isKept ? contradictions : []);
  expect(after.pauses).toEqual(isKept ? pauses : []);
});
