// Builds a correct history with a queue too simple to fail, to test what the checkers reject.

import { formatId, idPrefix } from "../../engine/model/ids.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { otherQueueName, queueName } from "../clients/clients.ts";
import type { Ending, Entry, LeftItem, Offer, Part, Redrives } from "../histories/history.ts";

export const sampleRules = { leaseTimeoutMs: 1_000, maxAttempts: 5 };

interface Queued {
  readonly number: number;
  readonly attempts: number;
}

interface Partition {
  readonly queue: string;
  readonly partition: number;
  readonly prefix: string;
  seqNext: number;
  ready: (Queued & { readonly seq: number })[];
}

/** Sequential calls of one client, 10 ms each, with every possible outcome. */
export function sampleHistory({ calls, seed }: { readonly calls: number; readonly seed: number }): {
  entries: Entry[];
  ending: Ending;
} {
  const random = seededRandom(seed);
  const entries: Entry[] = [];
  const dead: LeftItem[] = [];
  const places = [
    { queue: queueName, partition: 0 },
    { queue: queueName, partition: 1 },
    { queue: otherQueueName, partition: 0 },
  ];
  const partitions = places.map((place, slot): Partition => {
    return { ...place, prefix: idPrefix("0123456789Ab", slot), seqNext: 0, ready: [] };
  });
  /** Outputs that reach their partition with the next call. */
  const travelling: (() => void)[] = [];
  let now = 0;
  let numberNext = 0;
  const queue = (partition: Partition, item: Queued): void => {
    partition.ready.push({ ...item, seq: partition.seqNext });
    partition.seqNext += 1;
  };
  const times = () => {
    now += 10;
    return { client: "client", call: now, end: now + 5 };
  };
  const isOpen = () => travelling.length > 0 || partitions.some(({ ready }) => ready.length > 0);
  const numbersOf = (count: number): number[] => {
    numberNext += count;
    return Array.from({ length: count }, (_, at) => numberNext - count + at);
  };
  for (let call = 0; call < calls || isOpen(); call += 1) {
    const index = random.below(partitions.length);
    const partition = partitions[index] as Partition;
    if (call < calls && random.below(2) === 0) {
      const numbers = numbersOf(1 + random.below(5));
      const isUnknown = random.below(20) === 0;
      const answer = isUnknown ? { outcome: "unknown", status: 0 } : { outcome: "ok", status: 200 };
      const { queue: name } = partition;
      entries.push({ verb: "produce", queue: name, numbers, ...times(), ...answer } as Entry);
      if (!isUnknown || random.below(2) === 0) {
        for (const number of numbers) queue(partition, { number, attempts: 0 });
      }
      continue;
    }
    for (const arrive of travelling.splice(0)) arrive();
    const taken = partition.ready.splice(0, 1 + random.below(4));
    if (taken.length === 0) continue;
    const at = times();
    const offers = taken.map(
      ({ number, attempts, seq }): Offer => ({
        number,
        id: formatId(partition.prefix, seq),
        attempts: attempts + 1,
        leaseDeadline: at.call + sampleRules.leaseTimeoutMs,
        intact: true,
      }),
    );
    const answered = { outcome: "ok", status: 200 } as const;
    const place = { partition: partition.partition };
    const { queue: name } = partition;
    entries.push({
      verb: "lease",
      queue: name,
      batchSize: 4,
      offers,
      ...place,
      ...at,
      ...answered,
    });
    const ids = offers.map(({ id }) => id);
    let lapsesAt = at.call + sampleRules.leaseTimeoutMs;
    if (random.below(6) === 0) {
      const extended = times();
      lapsesAt = extended.call + 2 * sampleRules.leaseTimeoutMs;
      const result = { leaseDeadline: lapsesAt, ...extended, ...answered };
      entries.push({ verb: "extend", ids, ...place, ...result });
    }
    const chance = random.below(20);
    const isLast = taken.some(({ attempts }) => attempts + 1 >= sampleRules.maxAttempts);
    if (chance === 0 && !isLast) {
      entries.push({ verb: "retry", ids, dead: false, ...place, ...times(), ...answered });
      for (const { number, attempts } of taken)
        queue(partition, { number, attempts: attempts + 1 });
    } else if (chance === 1) {
      entries.push({ verb: "retry", ids, dead: true, ...place, ...times(), ...answered });
      for (const { number } of taken) dead.push({ number, intact: true });
    } else if (chance === 2 && !isLast) {
      now = Math.max(now, lapsesAt);
      for (const { number, attempts } of taken)
        queue(partition, { number, attempts: attempts + 1 });
    } else if (chance === 4 || chance === 5) {
      entries.push({ verb: "release", ids, ...place, ...times(), ...answered });
      for (const item of taken) queue(partition, item);
    } else if (chance > 5 && chance < 12) {
      const target = partitions[random.below(partitions.length)] as Partition;
      const numbers = numbersOf(1 + random.below(taken.length));
      const isDelayed = target.queue !== name;
      const cut = isLast ? ids.length : random.below(ids.length + 1);
      const [done, rest] = [ids.slice(0, cut), ids.slice(cut)];
      const parts: Part[] = [
        { verb: "complete", ...place, ids: done },
        { verb: "retry", ...place, ids: rest, dead: false },
        { verb: "produce", queue: target.queue, numbers, isDelayed },
      ];
      if (chance === 6) {
        const late = ["an id that lapsed", ...ids];
        const refused = { outcome: "refused", status: 453 } as const;
        const part: Part = { verb: "complete", ...place, ids: late };
        entries.push({ verb: "transact", parts: [part, ...parts], ...times(), ...refused });
        entries.push({ verb: "complete", ids, ...place, ...times(), ...answered });
        continue;
      }
      const isUnknown = chance === 7;
      const answer = isUnknown ? ({ outcome: "unknown", status: 0 } as const) : answered;
      entries.push({ verb: "transact", parts, ...times(), ...answer });
      for (const { number, attempts } of taken.slice(cut)) {
        queue(partition, { number, attempts: attempts + 1 });
      }
      const arrive = (): void => {
        for (const number of numbers) queue(target, { number, attempts: 0 });
      };
      if (isDelayed) travelling.push(arrive);
      else arrive();
    } else {
      const isUnknown = chance === 3;
      const answer = isUnknown ? ({ outcome: "unknown", status: 0 } as const) : answered;
      entries.push({ verb: "complete", ids, ...place, ...times(), ...answer });
    }
  }
  return { entries, ending: { dead, left: [], redrives: sampleRedrives } };
}

/** Three redrives, one of which was done although its answer was lost. */
const sampleRedrives: Redrives = {
  ...{ produced: [0, 1, 2, 3, 4, 5], taskIds: ["r0", "r1"], unknown: 1 },
  ...{ waiting: [1, 3, 5], moved: [0, 2, 4] },
};
