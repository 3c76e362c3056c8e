import { type ReactNode, useState } from "react";
import { useChange } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { Field } from "../../../components/dialog/field.tsx";
import { plural } from "../../../format.ts";
import type { QueueDialogProps } from "../queue-state.ts";

export function ProduceDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, info, clients } = state;
  const [kind, setKind] = useState("test");
  const [reference, setReference] = useState("console");
  const [enqueueAt, setEnqueueAt] = useState("");
  const [uniqueKey, setUniqueKey] = useState("");
  const [priority, setPriority] = useState("");
  const [group, setGroup] = useState("");
  const [payload, setPayload] = useState('{"order": 42}');
  const item = {
    kind,
    reference,
    utf8: payload,
    ...(enqueueAt && { enqueue_at: enqueueAt }),
    ...(uniqueKey && { unique_key: uniqueKey }),
    ...(priority && { priority: Number(priority) }),
    ...(group && { group }),
  };
  const change = useChange({
    call: { id: "produce", body: { queue_name: name, request_timeout: "30s", items: [item] } },
    toast: ({ duplicates }) =>
      duplicates?.length ? `${name} has an item of that key` : `produced 1 item to ${name}`,
    onDone: onClose,
  });
  const waiting = clients.data?.waiting_count ?? 0;
  return (
    <ChangeDialog title="Produce a test item" action="Produce 1 item" onClose={onClose} {...change}>
      <Field label="Kind" value={kind} onChange={setKind} isFirst />
      <Field label="Reference" value={reference} onChange={setReference} />
      <Field
        label="Enqueue at"
        value={enqueueAt}
        onChange={setEnqueueAt}
        placeholder="now, or 2026-03-01T12:00:00Z"
      />
      <Field
        label="Priority"
        value={priority}
        onChange={(text) => setPriority(text.replace(/\D/g, ""))}
        placeholder="0, or up to 9 if urgent"
      />
      {info.data?.grouped && (
        <Field label="Group" value={group} onChange={setGroup} placeholder="none" />
      )}
      {info.data?.unique_for && (
        <Field label="Unique key" value={uniqueKey} onChange={setUniqueKey} placeholder="none" />
      )}
      <label className="f">
        <span>Payload</span>
        <textarea
          className="t"
          rows={4}
          spellCheck={false}
          value={payload}
          onChange={({ target }) => setPayload(target.value)}
        />
      </label>
      <p className="muted">
        A real item:{" "}
        {waiting === 0
          ? "the next lease gets it."
          : `the next of ${plural(waiting, "client", "clients")} in line gets it.`}
      </p>
    </ChangeDialog>
  );
}
