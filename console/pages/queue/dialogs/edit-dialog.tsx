import { type ReactNode, useState } from "react";
import type { QueueInfo } from "../../../../openapi/schemas.ts";
import { sumOf, useChange, useDryRun } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { Choice, Field } from "../../../components/dialog/field.tsx";
import { Refusal } from "../../../components/refusal.tsx";
import { countText, plural } from "../../../format.ts";
import type { QueueDialogProps } from "../queue-state.ts";
import { draftOf, type EditedSetting, editableIn, editedOf, updateOf } from "./settings-edit.ts";

export function EditDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, info, row } = state;
  // Read once, when it opens: changes by others meanwhile are not undone.
  const [before] = useState(info.data);
  if (before === undefined) return null;
  return <Editing before={before} name={name} leased={row?.leased ?? 0} onClose={onClose} />;
}

interface EditingProps {
  readonly before: QueueInfo;
  readonly name: string;
  readonly leased: number;
  readonly onClose: () => void;
}

function Editing({ before, name, leased, onClose }: EditingProps): ReactNode {
  const [draft, setDraft] = useState(draftOf(before));
  const edited = editedOf(before, draft);
  const change = useChange({
    call: { id: "updateQueue", body: updateOf(name, edited) },
    toast: () =>
      `updated ${name}: ${edited.map(({ id, after }) => `${id} ${after || "none"}`).join(", ")}`,
    onDone: onClose,
  });
  return (
    <ChangeDialog
      title={`Edit ${name}`}
      action={
        edited.length === 0
          ? "Change nothing"
          : `Change ${plural(edited.length, "setting", "settings")}`
      }
      isReady={edited.length > 0}
      onClose={onClose}
      {...change}
    >
      <div className="edit-fields">
        {editableIn(before).map(({ id, label, words }, index) => {
          const field = {
            ...{ label, value: draft[id] },
            onChange: (text: string) => setDraft({ ...draft, [id]: text }),
          };
          return words === undefined ? (
            <Field key={id} isFirst={index === 0} placeholder="none" {...field} />
          ) : (
            <Choice key={id} of={words} {...field} />
          );
        })}
      </div>
      {edited.length > 0 && <Changes edited={edited} leased={leased} />}
      <Surplus
        name={name}
        before={before.requested_partitions}
        after={draft.requested_partitions}
      />
    </ChangeDialog>
  );
}

interface ChangesProps {
  readonly edited: readonly EditedSetting[];
  readonly leased: number;
}

function Changes({ edited, leased }: ChangesProps): ReactNode {
  return (
    <table className="sum">
      <caption className="vh">What changes</caption>
      <tbody>
        {edited.map(({ id, holds, before, after }) => (
          <tr key={id}>
            <th scope="row">
              {id}{" "}
              <span className="muted">
                {holds}
                {id === "lease_timeout" &&
                  leased > 0 &&
                  `; ${countText(leased)} that run keep theirs`}
              </span>
            </th>
            <td>
              {before || "none"} → {after || "none"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SurplusProps {
  readonly name: string;
  readonly before: number;
  readonly after: string;
}

/** The items in partitions that would be removed. */
function Surplus({ name, before, after }: SurplusProps): ReactNode {
  const wanted = Number(after);
  const isLess = /^\d+$/.test(after) && wanted < before && wanted > 0;
  const body = { queue_name: name, requested_partitions: wanted, dry_run: true };
  const { data, error } = useDryRun("updateQueue", body, isLess);
  if (!isLess) return null;
  if (error !== null) return <Refusal of={error} />;
  const held = data?.counts === undefined ? null : sumOf(data.counts);
  const gone = plural(before - wanted, "partition takes", "partitions take");
  return (
    <p className="muted">
      {gone} no new items and {before - wanted === 1 ? "is" : "are"} gone when empty;{" "}
      {held === null ? "…" : `${plural(held, "item is", "items are")} in them now`}.
    </p>
  );
}
