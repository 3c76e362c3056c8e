import type { ReactNode } from "react";
import { ItemChange } from "../../items/changes/change-dialog.tsx";
import type { QueueDialogProps } from "../queue-state.ts";

/** The dead items that came from this queue; other queues may share the dead queue. */
export function RedriveDialog({ state: { name, info }, onClose }: QueueDialogProps): ReactNode {
  const queueName = info.data?.dead_queue ?? "";
  const parts = [{ filter: { origin_queue: name } }];
  return (
    <ItemChange
      verb="redrive"
      meant={{ queueName, state: null, parts }}
      wishes={{ to: name }}
      onClose={onClose}
    />
  );
}
