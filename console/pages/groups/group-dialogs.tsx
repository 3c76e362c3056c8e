// The dialogs that change a group: its settings, and opening it after a dead letter.

import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import type { GroupInfo, QueueInfo } from "../../../openapi/schemas.ts";
import { itemAddress } from "../../addresses.ts";
import { useChange } from "../../api/use-change.ts";
import { ChangeDialog } from "../../components/dialog/dialog.tsx";
import { Field, Option } from "../../components/dialog/field.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { countText, itemsText, plural, withVisibleMarks } from "../../format.ts";
import { shortId } from "../items/source.ts";
import { changesOf, changesText, draftOf } from "./group-edit.ts";

export interface GroupDialogProps {
  /** As it was when the dialog was opened: changes by others meanwhile are not undone. */
  readonly info: GroupInfo;
  readonly queue: QueueInfo;
  readonly onClose: () => void;
}

export function groupText(group: string): string {
  return group === "" ? "the group without a name" : withVisibleMarks(group);
}

export function SetGroupDialog({ info, queue, onClose }: GroupDialogProps): ReactNode {
  const { group, leased } = info;
  const [draft, setDraft] = useState(draftOf(info));
  const changes = changesOf(info, draft);
  const count = Object.keys(changes).length;
  const change = useChange({
    call: { id: "setGroup", body: { queue_name: queue.queue_name, group, ...changes } },
    toast: () => `set ${groupText(group)}: ${changesText(changes)}`,
    onDone: onClose,
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const digits = (text: string) => text.replace(/\D/g, "");
  const limit = queue.group_leased_max === 0 ? "no limit" : countText(queue.group_leased_max);
  return (
    <ChangeDialog
      title={`Set ${groupText(group)}`}
      action={count === 0 ? "Change nothing" : `Change ${plural(count, "setting", "settings")}`}
      isReady={count > 0 && draft.weight !== ""}
      onClose={onClose}
      {...change}
    >
      <Field
        label="Leased at most"
        value={draft.leasedMax}
        placeholder={`as the queue has it: ${limit}`}
        onChange={(text) => set({ leasedMax: digits(text) })}
        isFirst
      />
      <Field
        label="Rate"
        value={draft.rate}
        placeholder={`as the queue has it: ${queue.group_rate || "no limit"}`}
        onChange={(rate) => set({ rate })}
      />
      <Field
        label="Weight"
        value={draft.weight}
        hint="items leased at each of its turns, 1 to 100"
        onChange={(text) => set({ weight: digits(text) })}
      />
      <fieldset className="opts">
        <legend className="vh">Pause</legend>
        <Option isChosen={draft.isPaused} onChoose={(isPaused) => set({ isPaused })}>
          <StateGlyph name="paused" />
          <span>
            paused <small>none of its items is leased; the other groups take their turns</small>
          </span>
        </Option>
      </fieldset>
      <p className="muted">
        {leased > 0 && `${plural(leased, "leased item", "leased items")} may still be completed. `}
        What a group has of its own is kept, also while it has no items.
      </p>
    </ChangeDialog>
  );
}

export function UnblockDialog({ info, queue, onClose }: GroupDialogProps): ReactNode {
  const { group, waiting, blocked_id: item } = info;
  const change = useChange({
    call: { id: "setGroup", body: { queue_name: queue.queue_name, group, unblock: true } },
    toast: () => `unblocked ${groupText(group)}`,
    onDone: onClose,
  });
  return (
    <ChangeDialog
      title={`Unblock ${groupText(group)}`}
      action="Unblock the group"
      onClose={onClose}
      {...change}
    >
      <p>
        The dead letter{" "}
        <Link className="link mono" to={itemAddress(item)}>
          {shortId(item)}
        </Link>{" "}
        closed this group, so that no later item is done without it.
      </p>
      <p>
        Unblocking opens the group: {itemsText(waiting)} that {waiting === 1 ? "waits" : "wait"} in
        it {waiting === 1 ? "is" : "are"} leased from now on, in order, without the dead letter.
        That one stays as it is; a redrive puts it at the tail of the group.
      </p>
    </ChangeDialog>
  );
}
