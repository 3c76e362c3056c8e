import { type ReactNode, useState } from "react";
import { useChange } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { Field, Option } from "../../../components/dialog/field.tsx";
import { StateGlyph } from "../../../components/glyph/glyph.tsx";
import { countText, plural, rateText } from "../../../format.ts";
import type { QueueDialogProps } from "../queue-state.ts";

export function PauseDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, row, rates, clients } = state;
  const [lease, setLease] = useState(true);
  const [produce, setProduce] = useState(false);
  const [reason, setReason] = useState("");
  const what = [...(lease ? ["leases"] : []), ...(produce ? ["produces"] : [])].join(" and ");
  const change = useChange({
    call: { id: "pause", body: { queue_name: name, lease, produce, ...(reason && { reason }) } },
    toast: () => `paused ${what} of ${name}`,
    onDone: onClose,
  });
  const waiting = clients.data?.waiting_count ?? 0;
  const leased = row?.leased ?? 0;
  return (
    <ChangeDialog
      title={`Pause ${name}`}
      action={what === "" ? "Pause" : `Pause ${what}`}
      isReady={lease || produce}
      onClose={onClose}
      {...change}
    >
      <fieldset className="opts">
        <legend className="vh">What to stop</legend>
        <Option isChosen={lease} onChoose={setLease}>
          <StateGlyph name="out" />
          <span>
            leases{" "}
            <small>
              {waiting === 0
                ? "no client waits now"
                : `${plural(waiting, "client keeps its", "clients keep their")} position in line`}
              , nothing is granted
            </small>
          </span>
        </Option>
        <Option isChosen={produce} onChoose={setProduce}>
          <StateGlyph name="in" />
          <span>
            produces <small>refused with 453, {rateText(rates.in)} items per second now</small>
          </span>
        </Option>
      </fieldset>
      <p className="muted">
        {leased === 0
          ? "Nothing is leased. "
          : `${countText(leased)} leased items may still be completed. `}
        Meanwhile items still fall due, lapse and expire.
      </p>
      <Field
        label="Reason"
        value={reason}
        onChange={setReason}
        placeholder="shown in the status of the queue"
      />
    </ChangeDialog>
  );
}

export function ResumeDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, info, row, clients } = state;
  const change = useChange({
    call: { id: "resume", body: { queue_name: name } },
    toast: () => `resumed ${name}`,
    onDone: onClose,
  });
  const { lease_paused: lease, produce_paused: produce, pause_reason: reason } = info.data ?? {};
  const what = [...(lease ? ["Leases"] : []), ...(produce ? ["produces"] : [])].join(" and ");
  const waiting = clients.data?.waiting_count ?? 0;
  return (
    <ChangeDialog title={`Resume ${name}`} action="Resume" onClose={onClose} {...change}>
      <p>
        {what === "" ? "Nothing is" : `${what} are`} paused
        {reason ? `: “${reason}”` : ", and no reason was given"}.
      </p>
      <p className="muted">
        {countText(row?.ready ?? 0)} items are ready.{" "}
        {waiting === 0
          ? "No client waits."
          : `${plural(waiting, "client that waits is", "clients that wait are")} served at once, in their order.`}
      </p>
    </ChangeDialog>
  );
}
