// What the calls of a world make certain about the settings of groups: by setting, the values that
// it may have had at a time.

import type { Ending } from "./bundle.ts";
import type { QueueParameters } from "./parameters.ts";

/** `dead`: a dead letter has closed the group. Settings of the queue begin with `group`. */
export interface GroupSettingsChange {
  readonly leasedMax?: number;
  readonly rate?: string;
  readonly weight?: number;
  readonly paused?: boolean;
  readonly dead?: boolean;
  readonly groupLeasedMax?: number;
  readonly groupRate?: string;
}

type Setting = keyof GroupSettingsChange;
type Value = number | string | boolean;

/** `until`: the engine time at which another value certainly replaced it. */
interface Possible {
  readonly value: Value;
  until: number;
}

/** `group`: `null` = the change is of the queue. */
export interface GroupSettingsCall {
  readonly queue: string;
  readonly group: string | null;
  readonly change: GroupSettingsChange;
  /** Settings to which the call has added a value. */
  readonly added: readonly Setting[];
  /** It may be of a queue that was deleted since. */
  isOvertaken: boolean;
}

const usual: Required<Omit<GroupSettingsChange, "groupLeasedMax" | "groupRate">> = {
  leasedMax: 0,
  rate: "",
  weight: 1,
  paused: false,
  dead: false,
};

export class GroupSettingsKnown {
  readonly #queues: ReadonlyMap<string, QueueParameters>;
  readonly #possible = new Map<string, Possible[]>();
  readonly #open = new Set<GroupSettingsCall>();
  /** The highest weight that each group ever may have had. */
  readonly #weights = new Map<string, number>();

  constructor(queues: readonly QueueParameters[]) {
    this.#queues = new Map(queues.map((queue) => [queue.name, queue]));
  }

  #of(queue: string, group: string | null, setting: Setting): Possible[] {
    const { groupLeasedMax = 0, groupRate = "" } = this.#queues.get(queue) ?? {};
    const value = { ...usual, groupLeasedMax, groupRate }[setting];
    const first = { value, until: Number.POSITIVE_INFINITY };
    const key = JSON.stringify([queue, group, setting]);
    return this.#possible.getOrInsertComputed(key, () => [first]);
  }

  /** The values that it may have had at `at` or since. */
  #at(queue: string, group: string | null, setting: Setting, at: number): Value[] {
    const possible = this.#of(queue, group, setting);
    return possible.filter(({ until }) => until >= at).map(({ value }) => value);
  }

  begun(queue: string, group: string | null, change: GroupSettingsChange): GroupSettingsCall {
    const added = (Object.keys(change) as Setting[]).filter((setting) =>
      this.#mayBe(queue, group, setting, change[setting] as Value),
    );
    const { weight = 1 } = change;
    const key = JSON.stringify([queue, group]);
    this.#weights.set(key, Math.max(weight, this.#weights.get(key) ?? 1));
    const call = { queue, group, change, added, isOvertaken: false };
    this.#open.add(call);
    return call;
  }

  /** Returns whether that value is a new one. */
  #mayBe(queue: string, group: string | null, setting: Setting, value: Value): boolean {
    const possible = this.#of(queue, group, setting);
    const until = Number.POSITIVE_INFINITY;
    if (possible.some((one) => one.value === value && one.until === until)) return false;
    possible.push({ value, until });
    return true;
  }

  ended(call: GroupSettingsCall, ending: Ending<unknown> | null, now: number): void {
    const { queue, group, change, added, isOvertaken } = call;
    this.#open.delete(call);
    if (ending === null || isOvertaken) return;
    for (const setting of Object.keys(change) as Setting[]) {
      const possible = this.#of(queue, group, setting);
      const isOut = ({ value }: Possible): boolean =>
        ending.ok
          ? value !== change[setting]
          : value === change[setting] && added.includes(setting);
      for (const one of possible) if (isOut(one)) one.until = Math.min(one.until, now);
    }
  }

  /** A dead letter closes the group, or may. */
  died(queue: string, group: string, { isSure, now }: { isSure: boolean; now: number }): void {
    this.#mayBe(queue, group, "dead", true);
    if (!isSure) return;
    for (const one of this.#of(queue, group, "dead")) {
      if (one.value === false) one.until = Math.min(one.until, now);
    }
  }

  /** The store has lost its latest commits: every former value may apply again. */
  wentBack(): void {
    for (const possible of this.#possible.values()) {
      for (const one of possible) one.until = Number.POSITIVE_INFINITY;
    }
  }

  /** The queue may be a new one, whose groups have nothing of their own. */
  forget(queue: string): void {
    for (const call of this.#open) if (call.queue === queue) call.isOvertaken = true;
    for (const [key, possible] of this.#possible) {
      const [name, , setting] = JSON.parse(key) as [string, string | null, Setting];
      if (name !== queue) continue;
      const { groupLeasedMax = 0, groupRate = "" } = this.#queues.get(queue) ?? {};
      const value = { ...usual, groupLeasedMax, groupRate }[setting];
      possible.push({ value, until: Number.POSITIVE_INFINITY });
    }
  }

  /** Between which bounds the limit was at `at`; infinite = none. */
  leasedMax(
    queue: string,
    group: string,
    at: number,
  ): { readonly least: number; readonly most: number } {
    const own = this.#at(queue, group, "leasedMax", at) as number[];
    const ofQueue = this.#at(queue, null, "groupLeasedMax", at) as number[];
    const all = own.flatMap((max) => (max > 0 ? [max] : ofQueue));
    const limits = all.map((max) => (max > 0 ? max : Number.POSITIVE_INFINITY));
    return { least: Math.min(...limits), most: Math.max(...limits) };
  }

  /** The rates that it may have had; `""` = none. */
  rates(queue: string, group: string, at: number): string[] {
    const own = this.#at(queue, group, "rate", at) as string[];
    const ofQueue = this.#at(queue, null, "groupRate", at) as string[];
    return own.flatMap((rate) => (rate === "" ? ofQueue : [rate]));
  }

  /** The least weight that it may have now. */
  weightLeast(queue: string, group: string): number {
    return Math.min(...(this.#at(queue, group, "weight", Number.POSITIVE_INFINITY) as number[]));
  }

  weightMost(queue: string, group: string): number {
    return this.#weights.get(JSON.stringify([queue, group])) ?? 1;
  }

  /** Whether the group was certainly closed by hand or by a dead letter; `"maybe"` = unknown. */
  isClosed(queue: string, group: string, by: "paused" | "dead", at: number): boolean | "maybe" {
    const values = this.#at(queue, group, by, at);
    if (values.every(Boolean)) return true;
    return values.some(Boolean) ? "maybe" : false;
  }
}
