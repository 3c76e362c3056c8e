import type { ReactNode } from "react";
import { useChange } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { countText, many } from "../../../format.ts";
import type { QueueDialogProps } from "./dialog-props.ts";

export function ResumeDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, info, row, clients } = state;
  const change = useChange({
    call: { id: "resume", body: { queue_name: name } },
    said: () => `resumed ${name}`,
    onDone: onClose,
  });
  const { lease_paused: lease, produce_paused: produce, pause_reason: reason } = info.data ?? {};
  const what = [...(lease ? ["Leases"] : []), ...(produce ? ["produces"] : [])].join(" and ");
  const asking = clients.data?.asking_count ?? 0;
  return (
    <ChangeDialog title={`Resume ${name}`} action="Resume" onClose={onClose} {...change}>
      <p>
        {what === "" ? "Nothing is" : `${what} are`} paused
        {reason ? `: “${reason}”` : ", and no reason was given"}.
      </p>
      <p className="muted">
        {countText(row?.ready ?? 0)} items are ready.{" "}
        {asking === 0
          ? "Nobody waits in line."
          : `${many(asking, "client that waits is", "clients that wait are")} served at once, in their order.`}
      </p>
    </ChangeDialog>
  );
}
