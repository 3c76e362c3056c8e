// Changes of groups and of the group settings of queues, at most one call per queue at a time, so
// that the auditor knows which settings a grant may have followed.

import type { Engine } from "../model/api.ts";
import type { Auditor } from "./auditor.ts";
import type { Ending } from "./bundle.ts";
import type { Chance } from "./chance.ts";
import type { GroupSettingsChange } from "./group-settings-known.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Situations } from "./situations.ts";

export interface GroupCallsOptions {
  readonly queues: readonly QueueParameters[];
  readonly names: readonly string[];
  readonly chance: Chance;
  readonly auditor: Auditor;
  readonly situations: Situations;
  readonly engine: () => Engine;
  readonly now: () => number;
  readonly log: (event: string) => void;
  readonly endingText: (ending: Ending<unknown> | null) => string;
  readonly call: (
    what: string,
    send: () => Promise<unknown>,
    ended: (ending: Ending<unknown> | null) => void,
  ) => void;
}

type QueueChange = Pick<GroupSettingsChange, "groupLeasedMax" | "groupRate">;

export class GroupCalls {
  readonly #options: GroupCallsOptions;
  readonly #open = new Set<string>();

  constructor(options: GroupCallsOptions) {
    this.#options = options;
  }

  start(): void {
    const { chance, queues, names } = this.#options;
    const queue = chance.one(queues.filter(({ grouped }) => grouped).map(({ name }) => name));
    if (this.#open.has(queue)) return;
    if (chance.hits(150)) this.#change(queue, null, this.#queueChange());
    else this.#change(queue, chance.one(names), this.#groupChange());
  }

  #queueChange(): QueueChange {
    const { chance } = this.#options;
    if (chance.hits(500)) return { groupLeasedMax: chance.one([0, 1, 2]) };
    return { groupRate: chance.one(["", "2/10ms", "3/1s"]) };
  }

  #groupChange(): GroupSettingsChange {
    const { chance } = this.#options;
    switch (chance.one(["paused", "paused", "dead", "dead", "leasedMax", "rate", "weight"])) {
      case "paused":
        return { paused: chance.hits(400) };
      case "dead":
        return { dead: false };
      case "leasedMax":
        return { leasedMax: chance.one([0, 1, 2]) };
      case "rate":
        return { rate: chance.one(["", "1/10ms", "2/1s", "1/1m"]) };
      default:
        return { weight: chance.one([1, 2, 3]) };
    }
  }

  #change(queue: string, group: string | null, change: GroupSettingsChange): void {
    const { auditor, situations, engine, now, log, call, endingText } = this.#options;
    const begun = auditor.groupBegun(queue, group, change);
    const { dead, leasedMax, rate, weight, paused, ...ofQueue } = change;
    const own = {
      ...(leasedMax !== undefined && { leasedMax }),
      ...(rate !== undefined && { rate }),
      ...(weight !== undefined && { weight }),
      ...(paused !== undefined && { paused }),
      ...(dead === false && { unblock: true }),
    };
    log(`group ${group} of ${queue} ${JSON.stringify(change)}`);
    this.#open.add(queue);
    call(
      "group",
      () =>
        group === null
          ? engine().updateQueue({ name: queue, ...ofQueue })
          : engine().setGroup({ queue, group, ...own }),
      (ending) => {
        this.#open.delete(queue);
        log(`  changed group ${group} of ${queue}: ${endingText(ending)}`);
        auditor.groupEnded(begun, ending, now());
        if (ending?.ok === true && paused === true) situations.reached("a group is paused");
        if (ending?.ok === true && dead === false) situations.reached("a group is unblocked");
      },
    );
  }

  /** Opens all groups, and lifts their limits. */
  openAll(): void {
    const { queues, names } = this.#options;
    for (const { name, grouped } of queues) {
      if (!grouped) continue;
      const { call, engine } = this.#options;
      const change = { name, groupOnDead: "continue", groupWaitingMax: 0 } as const;
      call(
        "group",
        () => engine().updateQueue(change),
        () => undefined,
      );
      this.#change(name, null, { groupLeasedMax: 0, groupRate: "" });
      for (const group of names) {
        const open = { leasedMax: 0, rate: "", weight: 1, paused: false, dead: false };
        this.#change(name, group, open);
      }
    }
  }
}
