import { type ReactNode, useState } from "react";
import { useNavigate } from "react-router";
import type { GuardedReply } from "../../../../openapi/schemas.ts";
import { sumOf, useChange, useDryRun } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { NameField } from "../../../components/dialog/field.tsx";
import { QueryFault } from "../../../components/refusal.tsx";
import { countText, plural } from "../../../format.ts";
import type { QueueDialogProps } from "../queue-state.ts";

export function DeleteDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, inspect, info } = state;
  const navigate = useNavigate();
  const [isForced, setForced] = useState(false);
  const [typed, setTyped] = useState("");
  const of = { queue_name: name };
  const counted = useDryRun("deleteQueue", { ...of, force: true, dry_run: true });
  const counts = counted.data?.counts;
  const count = counts === undefined ? 0 : sumOf(counts);
  const dependents = counted.data?.dependents ?? [];
  const needsForce = count > 0 || dependents.length > 0;
  const change = useChange({
    call: { id: "deleteQueue", body: { ...of, force: needsForce && isForced, expect: count } },
    toast: ({ counts: gone }) => {
      const lost = gone === undefined ? 0 : sumOf(gone);
      return lost === 0
        ? `deleted ${name}`
        : `deleted ${name} and ${plural(lost, "item", "items")}`;
    },
    onDone: () => {
      onClose();
      void navigate("/");
    },
  });
  const isConfirmed = count === 0 || typed === name;
  const action = count === 0 ? `Delete ${name}` : `Delete ${plural(count, "item", "items")}`;
  const dead = inspect.data?.dead_letter ?? 0;
  return (
    <ChangeDialog
      title={`Delete ${name}`}
      look="harm go"
      action={counts ? action : "Counting…"}
      isReady={counts !== undefined && isConfirmed && (isForced || !needsForce)}
      onClose={onClose}
      {...change}
    >
      <QueryFault of={counted} what="Not counted." />
      {counted.data && <Losses reply={counted.data} name={name} />}
      {needsForce && (
        <label className="check">
          <input
            type="checkbox"
            checked={isForced}
            onChange={({ target }) => setForced(target.checked)}
          />
          {count > 0
            ? `Delete it with its ${plural(count, "item", "items")} (force)`
            : "Delete it anyway (force)"}
        </label>
      )}
      {count > 0 && <NameField name={name} value={typed} onChange={setTyped} />}
      {dead > 0 && (
        <p className="muted">
          {info.data?.dead_queue} stays, with its {plural(dead, "item", "items")}.
        </p>
      )}
    </ChangeDialog>
  );
}

interface LossesProps {
  readonly reply: GuardedReply;
  readonly name: string;
}

function Losses({ reply, name }: LossesProps): ReactNode {
  const { counts, waiting_leases: waiting = 0, dependents = [] } = reply;
  const count = counts === undefined ? 0 : sumOf(counts);
  return (
    <>
      <p>
        {count === 0 || counts === undefined ? (
          "It holds no item."
        ) : (
          <>
            It holds <b>{countText(count)}</b> {count === 1 ? "item" : "items"}, and without force
            the server refuses. With force they are lost: {countText(counts.ready)} ready,{" "}
            {countText(counts.leased)} leased, {countText(counts.scheduled)} scheduled,{" "}
            {countText(counts.retried)} waiting for a retry.
          </>
        )}
      </p>
      {waiting > 0 && (
        <p>
          {plural(waiting, "lease request that waits is", "lease requests that wait are")} answered
          453.
        </p>
      )}
      {dependents.length > 0 && (
        <p>
          {plural(dependents.length, "queue has", "queues have")} no dead queue without {name}:{" "}
          <span className="mono">{dependents.slice(0, 5).join(", ")}</span>
          {dependents.length > 5 && " and others"}.
        </p>
      )}
    </>
  );
}
