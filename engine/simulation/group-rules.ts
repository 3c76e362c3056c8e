// The rules of groups (I26 to I29) as one, for the auditor.

import type { GroupInfo } from "../model/api.ts";
import type { Ending } from "./bundle.ts";
import { GroupLimitRule } from "./group-limit-rule.ts";
import { checkGroups, type ListedInGroup } from "./group-list-rule.ts";
import { type GroupGrant, GroupOrderRule } from "./group-order-rule.ts";
import {
  type GroupSettingsCall,
  type GroupSettingsChange,
  GroupSettingsKnown,
} from "./group-settings-known.ts";
import { GroupTurnRule, type OpenGroups } from "./group-turn-rule.ts";
import type { Parameters, QueueParameters } from "./parameters.ts";
import type { Situations } from "./situations.ts";
import { type Instant, mayHaveDied, type Tracked } from "./tracked.ts";

interface GroupRulesOptions {
  readonly parameters: Parameters;
  readonly situations: Situations;
  readonly hasNodes: boolean;
  /** Of one item for each that was produced. */
  readonly items: () => Iterable<Tracked>;
  readonly faults: () => number;
}

/** The invariant that is broken, and how. */
export type BrokenRule = readonly [string, string];

/** A lease, before its items are noted. */
export interface GroupLease {
  readonly open: OpenGroups;
  readonly grants: GroupGrant[];
}

export class GroupRules {
  readonly #options: GroupRulesOptions;
  readonly #settings: GroupSettingsKnown;
  readonly #order: GroupOrderRule;
  readonly #limits: GroupLimitRule;
  readonly #turns: GroupTurnRule;
  /** Dead items that were in the dead queue before their group was opened by hand. */
  readonly #forgiven = new Set<Tracked>();
  readonly #doomed = new Map<GroupSettingsCall, readonly Tracked[]>();
  /** By queue and group, when a call to open it was last in progress. */
  readonly #unblocked = new Map<string, number>();
  /** Until this engine time, grants may be unknown; infinite = until the next rest. */
  #unknownUntil = Number.NEGATIVE_INFINITY;
  /** Dead letters close no group any more. */
  #isLifted = false;

  constructor(options: GroupRulesOptions) {
    const { parameters, situations, hasNodes } = options;
    this.#options = options;
    this.#settings = new GroupSettingsKnown(parameters.queues);
    this.#order = new GroupOrderRule(hasNodes);
    this.#limits = new GroupLimitRule(this.#settings, situations);
    const hasPriorities = parameters.hasPriorities === true;
    this.#turns = new GroupTurnRule(this.#settings, this.#limits, { hasPriorities });
  }

  faulted(): void {
    this.#turns.forget();
    this.#unknownUntil = never;
  }

  wentBack(): void {
    this.#settings.wentBack();
  }

  /** A new process has empty rate windows, and may have another clock. */
  restarted(stamp: number): void {
    this.#order.restarted(stamp);
    this.#limits.forgetRates(null, null);
    this.#turns.forget();
  }

  limitsLifted(): void {
    this.#isLifted = true;
  }

  leaseUnanswered(queue: string, begun: number): void {
    this.#order.leaseUnanswered(queue, begun);
    this.#turns.changed(queue, null);
    this.#unknownUntil = never;
  }

  rested(now: Instant): void {
    if (this.#unknownUntil === never) this.#unknownUntil = now.at;
    this.#order.rested(this.#options.items(), now);
  }

  produced(item: Tracked, begun: Instant, answered: Instant): void {
    if (item.place.grouped) this.#order.produced(item, begun, answered);
  }

  touched(items: Iterable<Tracked>): void {
    for (const item of items) if (item.place.grouped) this.#turns.touched(item);
  }

  returned(item: Tracked, verb: "retry" | "release", begun: Instant, answered: Instant): void {
    if (!item.place.grouped) return;
    // A call that opens the group may have come after the death, whatever was answered first.
    const isSure = (this.#unblocked.get(keyOf(item.place.name, item.group)) ?? 0) < begun.stamp;
    if (item.rejected === "yes") this.died(item, { isSure, now: answered.at });
    else this.#order.returned(item, { verb, begun, answered });
  }

  /** The item has died in its queue, whose groups a dead letter may close. */
  died({ place, group }: Tracked, when: { readonly isSure: boolean; readonly now: number }): void {
    if (place.groupOnDead !== "block" || this.#isLifted) return;
    this.#settings.died(place.name, group, when);
    if (when.isSure) this.#options.situations.reached("a dead letter closes its group");
  }

  // settings --------------------------------------------------------------

  changeBegun(queue: string, group: string | null, change: GroupSettingsChange): GroupSettingsCall {
    const call = this.#settings.begun(queue, group, change);
    this.#changed(call);
    const isDead = (item: Tracked): boolean =>
      item.produce.queue === queue &&
      item.group === group &&
      item.redrivenMax === 0 &&
      (item.rejected === "yes" || item.place.name !== queue);
    if (change.dead === false) this.#unblocked.set(keyOf(queue, group), never);
    if (change.dead === false) this.#doomed.set(call, [...this.#options.items()].filter(isDead));
    return call;
  }

  changeEnded(call: GroupSettingsCall, ending: Ending<unknown> | null, now: Instant): void {
    this.#settings.ended(call, ending, now.at);
    this.#changed(call);
    const key = keyOf(call.queue, call.group);
    if (call.change.dead === false) this.#unblocked.set(key, ending === null ? never : now.stamp);
    if (ending?.ok === true) {
      for (const item of this.#doomed.get(call) ?? []) this.#forgiven.add(item);
    }
    this.#doomed.delete(call);
  }

  #changed({ queue, group, change }: GroupSettingsCall): void {
    this.#turns.changed(queue, group);
    const { rate, groupRate } = change;
    if (rate !== undefined || groupRate !== undefined) this.#limits.forgetRates(queue, group);
  }

  /** The queue may be deleted. */
  forget(queue: string): void {
    this.#settings.forget(queue);
    this.#limits.forgetRates(queue, null);
    this.#turns.changed(queue, null);
  }

  // leases ----------------------------------------------------------------

  #itemsIn({ name }: QueueParameters): Map<string, Tracked[]> {
    const isHere = ({ place, produce }: Tracked): boolean =>
      place.name === name || produce.queue === name;
    return Map.groupBy([...this.#options.items()].filter(isHere), ({ group }) => group);
  }

  /** Groups of the queue that are certainly open. */
  open(place: QueueParameters, { begun, now }: Record<"begun" | "now", number>): OpenGroups {
    const moment = {
      ...{ begun, now },
      faults: this.#options.faults(),
      ghostsUntil: this.#order.ghostsUntil(place.name),
      unknownUntil: this.#unknownUntil,
      mayBlock: place.groupOnDead === "block" && !this.#isLifted,
    };
    return this.#turns.openGroups(place, this.#itemsIn(place), moment);
  }

  /** Call it before the state of the item changes. */
  granted(grant: GroupGrant): BrokenRule | null {
    const own = placeText(grant.item);
    const overtaker = this.#order.granted(grant);
    if (overtaker === null) return null;
    const other = `${overtaker.item.key}, granted at ${overtaker.at}`;
    return ["I26", `${own} was leased at ${grant.at}, after ${other}, which came later`];
  }

  /** Checks a lease, once all its items are noted. */
  leased(
    place: QueueParameters,
    { open, grants }: GroupLease,
    { priorityMin, now }: { readonly priorityMin: number; readonly now: number },
  ): BrokenRule | null {
    const byGroup = Map.groupBy(grants, ({ item }) => item.group);
    const all = this.#itemsIn(place);
    const faults = this.#options.faults();
    for (const [group, its] of byGroup) {
      const items = (all.get(group) ?? []).filter((item) => item.place === place);
      const wrong = this.#limits.checkLease({ place, group, items, faults }, its, now);
      if (wrong !== null) return ["I27", `in group '${group}' of ${place.name}, ${wrong}`];
    }
    const wrong = this.#turns.served(place, grants, { open, priorityMin });
    return wrong === null ? null : ["I28", `in ${place.name}, ${wrong}`];
  }

  rated(grants: readonly GroupGrant[]): BrokenRule | null {
    for (const grant of grants) {
      const { place, group } = grant.item;
      const wrong = this.#limits.checkRate(grant);
      if (wrong !== null) return ["I27", `in group '${group}' of ${place.name}, ${wrong}`];
    }
    return null;
  }

  /** A group that a lease should have had an item of, which began then; `null` = none. */
  idle(
    place: QueueParameters,
    { begun, priorityMin, now }: Record<"begun" | "priorityMin" | "now", number>,
  ): string | null {
    for (const [group, { since, priority }] of this.open(place, { begun, now })) {
      if (since < begun && priority >= priorityMin) return group;
    }
    return null;
  }

  // lists -----------------------------------------------------------------

  checkList(
    place: QueueParameters,
    groups: readonly GroupInfo[],
    { listed, now }: { readonly listed: readonly ListedInGroup[]; readonly now: number },
  ): BrokenRule | null {
    const all = this.#itemsIn(place);
    const mayBeDead = (item: Tracked): boolean =>
      !this.#forgiven.has(item) &&
      (item.place !== place ||
        item.redrivenMax > 0 ||
        item.wentBackAt > 0 ||
        item.end === "cleared" ||
        mayHaveDied(item, now, this.#options.faults()));
    const wrong = checkGroups(groups, listed, {
      ...{ place, settings: this.#settings, now },
      mayHaveDied: (group) => (all.get(group) ?? []).some(mayBeDead),
    });
    return wrong === null ? null : ["I29", `in ${place.name}, ${wrong}`];
  }
}

const never = Number.POSITIVE_INFINITY;

function keyOf(queue: string, group: string | null): string {
  return JSON.stringify([queue, group]);
}

function placeText({ key, groupPlace: { after, by, freeBy } }: Tracked): string {
  return `${key}, which joined between ${after.at} and ${by.at}, free by ${freeBy.at},`;
}
