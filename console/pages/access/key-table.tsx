import type { ReactNode } from "react";
import { Link } from "react-router";
import type { KeyInfo } from "../../../openapi/schemas.ts";
import { keysAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { countText, instantText, spanText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";

interface KeyTableProps {
  /** `null`: not known yet. */
  readonly keys: readonly KeyInfo[] | null;
  readonly me: string;
}

const queuesOf = ({ rights }: KeyInfo) => rights.map(({ queues }) => queues.join(" ")).join("; ");

const columnsOf = (me: string): readonly Column<KeyInfo>[] => [
  {
    title: "Name",
    className: "cut",
    isHeading: true,
    cell: ({ name }) => (
      <>
        <Link to={keysAddress({ key: name })} title="Its actions">
          {name || "without a name"}
        </Link>
        {name !== "" && name === me && <span className="muted"> you</span>}
      </>
    ),
  },
  { title: "May", cell: ({ rights }) => rights.map(({ roles }) => roles.join(", ")).join("; ") },
  { title: "Queues", className: "mono cut", hint: queuesOf, cell: queuesOf },
  { title: "Digest", className: "mono muted", cell: ({ digest }) => `${digest}…` },
  {
    title: "Last used",
    className: "muted",
    cell: ({ last_used_at: at }) => (at === null ? "not since the start" : <Used at={at} />),
  },
  {
    title: "Denied",
    className: "n",
    meaning: "Calls that it was not allowed to make since the server started",
    look: ({ denied_calls }) => (denied_calls === 0 ? "z" : "warn"),
    cell: ({ denied_calls }) => countText(denied_calls),
  },
];

export function KeyTable({ keys, me }: KeyTableProps): ReactNode {
  if (keys?.length === 0) return <Empty glyph="note">The key file is empty.</Empty>;
  return (
    <section className="keys-place">
      <Table
        className="table key-table fields"
        label="Keys"
        columns={columnsOf(me)}
        rows={keys ?? []}
        keyOf={({ digest }) => digest}
        ghostCount={keys === null ? 3 : 0}
      />
    </section>
  );
}

function Used({ at }: { readonly at: string }): ReactNode {
  const ms = Date.parse(at);
  const agoMs = useMachineNow() - ms;
  return (
    <time dateTime={at} title={instantText(ms, useZone())}>
      {agoMs < 2_000 ? "now" : `${spanText(agoMs)} ago`}
    </time>
  );
}
