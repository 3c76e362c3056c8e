import { memo, type ReactNode } from "react";

interface QueueOptionsProps {
  readonly names: readonly string[];
}

/** Of a select: up to ten thousand, so they are drawn anew only when a queue comes or goes. */
export const QueueOptions = memo(function QueueOptions({ names }: QueueOptionsProps): ReactNode {
  return names.map((name) => <option key={name}>{name}</option>);
});
