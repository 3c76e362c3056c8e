import type { QueueState } from "../queue-state.ts";

export interface QueueDialogProps {
  readonly state: QueueState;
  readonly onClose: () => void;
}
