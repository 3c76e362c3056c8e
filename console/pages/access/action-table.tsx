import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Action } from "../../../openapi/schemas.ts";
import { queueAddress } from "../../addresses.ts";
import { type Column, Table } from "../../components/table/table.tsx";
import { clockText, instantText, itemsText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";

const dayMs = 86_400_000;

const columns: readonly Column<Action>[] = [
  {
    title: "what",
    cell: ({ code, operation, items }) => (
      <>
        <span className={code === 200 ? "ok mono" : "bad mono"}>{code}</span>{" "}
        {code === 200 ? actionText(operation) : `${operation} refused`}
        {items > 0 && `, ${itemsText(items)}`}
      </>
    ),
  },
  {
    title: "queue",
    className: "cut",
    cell: ({ queue_name: name }) =>
      name && (
        <Link className="mono" to={queueAddress(name)}>
          <bdi>{name}</bdi>
        </Link>
      ),
  },
  { title: "key", className: "muted cut", cell: ({ key_name: key }) => key || "no key" },
  { title: "when", className: "n muted", cell: ({ at }) => <At at={Date.parse(at)} /> },
];
const withoutQueue = columns.filter(({ title }) => title !== "queue");

interface ActionTableProps {
  readonly actions: readonly Action[];
  /** All are of one queue. */
  readonly isOfQueue?: boolean;
}

export function ActionTable({ actions, isOfQueue = false }: ActionTableProps): ReactNode {
  return (
    <Table
      className={isOfQueue ? "mini" : "mini fixed action-table"}
      label={isOfQueue ? "Actions on this queue" : "Actions"}
      columns={isOfQueue ? withoutQueue : columns}
      rows={actions}
      keyOf={({ id }) => id}
      hasHiddenHead={isOfQueue}
    />
  );
}

function At({ at }: { readonly at: number }): ReactNode {
  const zone = useZone();
  const isRecent = useServerNow() - at < dayMs;
  return (
    <time dateTime={new Date(at).toISOString()} title={instantText(at, zone)}>
      {isRecent ? clockText(at, zone) : instantText(at, zone).slice(0, 16)}
    </time>
  );
}

const words: Readonly<Record<string, string>> = {
  createQueue: "created",
  updateQueue: "updated",
  deleteQueue: "deleted",
  pause: "paused",
  resume: "resumed",
  clear: "cleared",
  reload: "reloaded",
  redrive: "redrove",
  repair: "repaired",
  retry: "retried",
  cancelTask: "stopped a task",
  importItems: "imported",
  deleteItems: "deleted items",
  cancelItems: "cancelled items",
  setGroup: "changed a group",
  advance: "advanced the clock",
  backup: "made a backup",
  drainNode: "drained or undrained a node",
  confirmLoss: "confirmed a loss",
};

export function actionText(operation: string): string {
  return words[operation] ?? operation;
}
