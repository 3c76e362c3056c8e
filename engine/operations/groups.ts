// Lists the groups of a queue, and changes what a group has of its own.

import type { GroupHead } from "../../stores/store.ts";
import type { GroupChange, GroupInfo } from "../model/api.ts";
import { deletedFailure, failure } from "../model/errors.ts";
import { type GroupSettings, groupKey, groupText } from "../model/group-settings.ts";
import { limits } from "../model/limits.ts";
import type { GroupHolder, Result } from "../model/messages.ts";
import { type Group, noOthers } from "../state/group.ts";
import { holdersIn } from "../state/group-holders.ts";
import type { Groups } from "../state/groups.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";
import { answering, type Operation } from "./operation.ts";

export interface GroupsList {
  readonly kind: "groupsList";
  readonly slot: number;
  readonly pivot: string;
  readonly limit: number;
  readonly isBlocked: boolean;
}

export interface GroupSet {
  readonly kind: "groupSet";
  readonly slot: number;
  readonly change: Omit<GroupChange, "queue">;
}

export const groupsList: Operation<GroupsList> = {
  phase: "before",
  weight: ({ limit }) => limit,
  planReads(planner, requests) {
    const { memory, now } = planner;
    for (const request of requests) {
      const { names } = pageOf(memory.groupsAt(request.slot), request, now);
      planFirstItems(planner, request.slot, names);
    }
  },
  decide: answering((turn, request) => {
    const { slot } = request;
    const { names, next } = pageOf(turn.memory.groupsAt(slot), request, turn.now);
    const holders = holdersIn(turn.memory, slot, new Set(names));
    const groups = names.map((name) => infoOf(turn, slot, name, holders));
    return { ok: true, value: { kind: "groups", groups, next } };
  }),
};

/** They tell how long each group has waited. */
function planFirstItems(planner: ReadPlanner, slot: number, names: readonly string[]): void {
  for (const group of names) {
    const { waiting = 0, firstRank: from = 0 } = planner.memory.groupsAt(slot).find(group) ?? {};
    if (waiting > 0) planner.groups.push({ partition: slot, group, from, items: 1 });
  }
}

export const groupSet: Operation<GroupSet> = {
  phase: "within",
  planReads(planner, requests) {
    for (const { slot, change } of requests) planFirstItems(planner, slot, [change.group]);
  },
  decide: answering(setOne),
};

function setOne(turn: Turn, { slot, change }: GroupSet): Result {
  const { memory, changeSet, now } = turn;
  if (memory.rules.settingsAt(slot) === null) return deletedFailure;
  const groups = memory.groupsAt(slot);
  const { group } = change;
  const settings = changed(groups.settings.get(group) ?? { group }, change);
  const text = groupText(settings);
  const isNew = text !== "" && !groups.settings.has(group);
  if (isNew && groups.settings.size >= limits.groupsSetMax) return tooManySet;
  groups.change(settings, now);
  changeSet.tasks.set(groupKey(slot, group), text);
  // Waiting leases may find something now.
  for (const partition of memory.partitionsAt(slot)) changeSet.touched.add(partition);
  const info = infoOf(turn, slot, group, holdersIn(memory, slot, new Set([group])));
  return { ok: true, value: { kind: "groups", groups: [info], next: "" } };
}

const tooManySet = failure(
  "too_many",
  `too many groups have settings of their own; there cannot be more than ${limits.groupsSetMax} in a queue`,
);

/** Settings that are as the queue has them are left out. */
function changed(before: GroupSettings, change: GroupSet["change"]): GroupSettings {
  const { leasedMax = 0, rate = "", weight = 1, paused = false } = { ...before, ...change };
  const { group, deadId } = before;
  return {
    group,
    ...(leasedMax > 0 && { leasedMax }),
    ...(rate !== "" && { rate }),
    ...(weight !== 1 && { weight }),
    ...(paused && { paused }),
    ...(deadId !== undefined && change.unblock !== true && { deadId }),
  };
}

interface Page {
  readonly names: readonly string[];
  /** `""` = it is the last one. */
  readonly next: string;
}

/** The first names from the pivot on, without sorting all of them. */
function pageOf(groups: Groups, { pivot, limit, isBlocked }: GroupsList, now: number): Page {
  let first: string[] = [];
  const keepFirst = (): void => {
    first.sort((a, b) => (a < b ? -1 : 1));
    first = first.slice(0, limit + 1);
  };
  for (const name of namesIn(groups)) {
    if (name < pivot || (isBlocked && !isBlockedNow(groups, name, now))) continue;
    first.push(name);
    if (first.length > 4 * (limit + 1)) keepFirst();
  }
  keepFirst();
  return { names: first.slice(0, limit), next: first[limit] ?? "" };
}

function* namesIn(groups: Groups): Generator<string> {
  for (const { name } of groups.all) yield name;
  for (const name of groups.settings.keys()) if (groups.find(name) === undefined) yield name;
}

function isBlockedNow(groups: Groups, name: string, now: number): boolean {
  const group = groups.find(name);
  return group !== undefined && group.waiting > 0 && groups.blockOf(group, now) !== "";
}

type Holders = ReadonlyMap<string, GroupHolder>;

function infoOf(turn: Turn, slot: number, name: string, holders: Holders): GroupInfo {
  const { memory, now } = turn;
  const groups = memory.groupsAt(slot);
  const group = groups.find(name);
  const { waiting = 0, leased = 0, others } = group ?? {};
  const { scheduled, retried } = others ?? noOthers;
  const own = groups.settings.get(name);
  const blockedBy = group === undefined || waiting === 0 ? "" : groups.blockOf(group, now);
  return {
    group: name,
    ...{ waiting, leased, scheduled, retried },
    oldestAt: waiting > 0 ? oldestIn(turn, slot, name) : null,
    blockedBy,
    blockedId: blockingId({ blockedBy, group, deadId: own?.deadId ?? "", holders }),
    nextAt: blockedBy === "rate" ? groups.nextAt(name) : null,
    leasedMax: own?.leasedMax ?? 0,
    rate: own?.rate ?? "",
    weight: own?.weight ?? 1,
    paused: own?.paused ?? false,
  };
}

/** When its first item was created, if that was read. */
function oldestIn({ groupHeads, readResult, memory }: Turn, slot: number, name: string) {
  const isOf = ({ partition, group }: GroupHead): boolean => partition === slot && group === name;
  const rows = readResult.groups[groupHeads.findIndex(isOf)]?.found ?? [];
  const first = rows.find((row) => !memory.partition(row.slot).held.has(row.seq));
  return first?.item?.createdAt ?? null;
}

function blockingId({
  blockedBy,
  group,
  deadId,
  holders,
}: {
  readonly blockedBy: GroupInfo["blockedBy"];
  readonly group: Group | undefined;
  readonly deadId: string;
  readonly holders: Holders;
}): string {
  if (blockedBy === "dead") return deadId;
  const isHeld = blockedBy === "retry" || blockedBy === "leased_max";
  return isHeld && group?.leased === 1 ? (holders.get(group.name)?.id ?? "") : "";
}
