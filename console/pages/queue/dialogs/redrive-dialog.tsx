import type { ReactNode } from "react";
import { ItemChangeDialog } from "../../items/changes/change-dialog.tsx";
import type { QueueDialogProps } from "../queue-state.ts";

/** The dead items that came from this queue; other queues may share the dead queue. */
export function RedriveDialog({ state: { name, info }, onClose }: QueueDialogProps): ReactNode {
  const queueName = info.data?.dead_queue ?? "";
  const parts = [{ filter: { origin_queue: name } }];
  return (
    <ItemChangeDialog
      verb="redrive"
      target={{ queueName, state: null, parts }}
      options={{ to: name }}
      onClose={onClose}
    />
  );
}
