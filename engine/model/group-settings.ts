// What a group has of its own, in the text that stores keep beside the tasks. A group that is as its
// queue has it has none.

import { partitionSlot } from "./priority.ts";

export interface GroupSettings {
  readonly group: string;
  readonly leasedMax?: number;
  readonly rate?: string;
  readonly weight?: number;
  readonly paused?: true;
  /** The dead letter that closed it, by its origin. */
  readonly deadId?: string;
}

const prefix = "group";

/** The key of the row; `slot`: any of its partition. */
export function groupKey(slot: number, group: string): string {
  return `${prefix} ${partitionSlot(slot)} ${Buffer.from(group).toString("base64url")}`;
}

/** The own slot of the partition; `null` = the row is not of a group. */
export function groupSlotIn(key: string): number | null {
  const [kind, slot] = key.split(" ");
  return kind === prefix ? Number(slot) : null;
}

/** `""` = it has nothing of its own. */
export function groupText(settings: GroupSettings): string {
  return Object.keys(settings).length > 1 ? JSON.stringify(settings) : "";
}

export function groupSettingsIn(text: string): GroupSettings {
  return JSON.parse(text) as GroupSettings;
}
