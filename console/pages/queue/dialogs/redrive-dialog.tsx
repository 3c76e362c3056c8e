import { type ReactNode, useState } from "react";
import { useChange } from "../../../api/use-change.ts";
import { useCounted } from "../../../api/use-dry-run.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { Field } from "../../../components/dialog/field.tsx";
import { Fault } from "../../../components/refusal.tsx";
import { many } from "../../../format.ts";
import type { QueueDialogProps } from "./dialog-props.ts";

/** Those of its dead items that came from it; others may share the dead queue. */
export function RedriveDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, info, inspect } = state;
  const [perSecond, setPerSecond] = useState("");
  const deadQueue = info.data?.dead_queue ?? "";
  // To where they came from; a key that is not for all queues has to name it.
  const of = { queue_name: deadQueue, filter: { origin_queue: name }, to: name };
  const counted = useCounted("redrive", { ...of, dry_run: true });
  const count = counted.data?.matched ?? 0;
  const pace = Number(perSecond);
  const others = (inspect.data?.dead_letter ?? 0) - count;
  const change = useChange({
    call: {
      id: "redrive",
      body: { ...of, expect: count, ...(pace > 0 && { per_second: pace }) },
    },
    said: ({ matched }) => `redrive of ${many(matched, "item", "items")} to ${name} has begun`,
    onDone: onClose,
  });
  return (
    <ChangeDialog
      title={`Redrive to ${name}`}
      action={counted.data ? `Redrive ${many(count, "item", "items")}` : "Counting…"}
      isReady={count > 0 && counted.data !== undefined}
      onClose={onClose}
      {...change}
    >
      {counted.error !== null && (
        <Fault of={counted.error} what="Not counted." onRetry={() => void counted.refetch()} />
      )}
      <p>
        Dead items of this queue go back to it, with new ids, no attempts and a fresh deadline. What
        made them fail is to be mended first, or they come back.
      </p>
      {counted.data && others > 0 && (
        <p className="muted">
          {many(others, "other item", "other items")} in {deadQueue}, from other queues or held
          there, {others === 1 ? "stays" : "stay"}.
        </p>
      )}
      <Field
        label="Per second"
        value={perSecond}
        onChange={(text) => setPerSecond(text.replace(/\D/g, ""))}
        placeholder="as many as it can"
      />
    </ChangeDialog>
  );
}
