// Corrupts correct histories in every way in which a queue can fail. The checkers must reject each
// one.

import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../checkers/check-order.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import {
  type Ending,
  type Entry,
  type Part,
  type QueueRules,
  type SingleCall,
  singleCalls,
} from "../histories/history.ts";
import type { Scene } from "./corruptible.ts";
import { mutations } from "./mutations.ts";
import { transactMutations } from "./transact-mutations.ts";

export interface Corruptible {
  readonly entries: readonly Entry[];
  readonly ending: Ending;
  readonly rules: QueueRules;
  readonly seed: number;
}

/** Corrupted histories per kind. */
const instances = 4;
/** Only the first calls are used: the checkers still see a whole history, and run fast. */
const callsMax = 1_000;

export function corruptAll({ entries, ending, rules, seed }: Corruptible): {
  readonly rejected: number;
  readonly accepted: readonly string[];
  /** Kinds that cannot be applied to this history. */
  readonly unused: readonly string[];
} {
  let rejected = 0;
  const accepted: string[] = [];
  const unused = new Set<string>();
  const shortened = shorten(entries, ending);
  for (const [name, mutate] of Object.entries({ ...mutations, ...transactMutations })) {
    for (let instance = 0; instance < instances; instance += 1) {
      const scene: Scene = {
        ...structuredClone(shortened),
        rules,
        random: seededRandom(seed + instance),
      };
      if (!mutate(scene)) {
        unused.add(name);
        continue;
      }
      const faults =
        checkQueue(scene.entries, scene.ending, rules).faults.total +
        checkOrder(scene.entries).faults.total;
      if (faults > 0) rejected += 1;
      else accepted.push(`${name}, instance ${instance}`);
    }
  }
  return { rejected, accepted, unused: [...unused] };
}

/** The whole lifetimes of the items that were produced first. */
function shorten(entries: readonly Entry[], ending: Ending): { entries: Entry[]; ending: Ending } {
  if (entries.length <= callsMax) return { entries: [...entries], ending };
  const numbers = new Set<number>();
  for (const call of entries.slice(0, callsMax).flatMap(singleCalls)) {
    if (call.verb === "produce") for (const number of call.numbers) numbers.add(number);
  }
  const ids = new Set<string>();
  const isKept = (call: Part | SingleCall): boolean => {
    if (call.verb === "produce") return call.numbers.some((number) => numbers.has(number));
    return call.verb !== "lease" && call.ids.some((id) => ids.has(id));
  };
  const kept = entries.flatMap((entry): Entry[] => {
    if (entry.verb === "transact") {
      const parts = entry.parts.filter(isKept);
      return parts.length > 0 ? [{ ...entry, parts }] : [];
    }
    if (entry.verb !== "lease") return isKept(entry) ? [entry] : [];
    const offers = entry.offers.filter(({ number }) => numbers.has(number));
    for (const { id } of offers) ids.add(id);
    return offers.length > 0 || entry.outcome === "unknown" ? [{ ...entry, offers }] : [];
  });
  const among = ({ number }: { readonly number: number }) => numbers.has(number);
  const { left, redrives } = ending;
  const dead = ending.dead.filter(among);
  return { entries: kept, ending: { dead, left, ...(redrives && { redrives }) } };
}
