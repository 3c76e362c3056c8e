// The settings of a queue that can be edited, and the call that changes the edited ones only.

import type { RequestOf } from "../../../../openapi/operations.ts";
import type { QueueInfo } from "../../../../openapi/schemas.ts";

const allSettings = [
  { id: "lease_timeout", label: "Lease timeout", holds: "for leases granted from now on" },
  { id: "expire_timeout", label: "Expire timeout", holds: "for items produced from now on" },
  { id: "max_attempts", label: "Max attempts", holds: "for the items in it too", isCount: true },
  { id: "dead_queue", label: "Dead queue", holds: "for the items in it too" },
  { id: "requested_partitions", label: "Partitions", holds: "", isCount: true },
  { id: "leased_max", label: "Leased at most", holds: "from now on", isCount: true },
  { id: "lease_rate", label: "Lease rate", holds: "from now on" },
  { id: "waiting_max", label: "Waiting at most", holds: "from now on", isCount: true },
  { id: "retry_backoff", label: "Retry backoff", holds: "for retries from now on" },
  { id: "unique_for", label: "Unique for", holds: "for items produced from now on" },
  { id: "priority_aging", label: "Priority aging", holds: "for the items in it too" },
  { id: "reference", label: "Reference", holds: "" },
  {
    id: "group_leased_max",
    label: "Leased per group",
    holds: "from now on",
    isCount: true,
    isOfGroups: true,
  },
  { id: "group_rate", label: "Rate per group", holds: "from now on", isOfGroups: true },
  {
    id: "group_waiting_max",
    label: "Waiting per group",
    holds: "from now on",
    isCount: true,
    isOfGroups: true,
  },
  {
    id: "group_order",
    label: "Order in a group",
    holds: "for items that come back from now on",
    isOfGroups: true,
    words: ["loose", "strict"],
  },
  {
    id: "group_on_dead",
    label: "After a dead letter",
    holds: "for items that die from now on",
    isOfGroups: true,
    words: ["continue", "block"],
  },
] as const satisfies readonly Setting[];

interface Setting {
  readonly id: keyof QueueInfo;
  readonly label: string;
  /** When a change takes effect. */
  readonly holds: string;
  readonly isCount?: true;
  /** Only in queues with groups. */
  readonly isOfGroups?: true;
  /** The values that it may have. */
  readonly words?: readonly string[];
}

export type SettingId = (typeof allSettings)[number]["id"];

interface NamedSetting extends Setting {
  readonly id: SettingId;
}

export const settings: readonly NamedSetting[] = allSettings;

/** A queue with groups has one partition. */
export function editableIn({ grouped }: Pick<QueueInfo, "grouped">): readonly NamedSetting[] {
  return settings.filter(({ id, isOfGroups = false }) =>
    grouped ? id !== "requested_partitions" : !isOfGroups,
  );
}

export type Draft = Readonly<Record<SettingId, string>>;

export function draftOf(info: QueueInfo): Draft {
  const entries = settings.map(({ id }) => [id, String(info[id])]);
  return Object.fromEntries(entries) as Draft;
}

export interface EditedSetting {
  readonly id: SettingId;
  readonly holds: string;
  readonly before: string;
  readonly after: string;
}

export function editedOf(info: QueueInfo, draft: Draft): readonly EditedSetting[] {
  return settings.flatMap(({ id, holds }) => {
    const before = String(info[id]);
    const after = draft[id].trim();
    return before === after ? [] : [{ id, holds, before, after }];
  });
}

/** A text that is not a whole number is sent as it is, for the server to refuse. */
export function updateOf(name: string, edited: readonly EditedSetting[]): RequestOf<"updateQueue"> {
  const counts: readonly string[] = settings.flatMap(({ id, isCount }) => (isCount ? [id] : []));
  const entries = edited.map(({ id, after }) => {
    const isCount = counts.includes(id) && /^\d+$/.test(after);
    return [id, isCount ? Number(after) : after];
  });
  return { queue_name: name, ...Object.fromEntries(entries) };
}
