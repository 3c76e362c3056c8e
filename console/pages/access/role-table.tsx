import type { ReactNode } from "react";
import type { Role } from "../../../openapi/roles.ts";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { Section } from "../../components/section.tsx";
import { type Column, Table } from "../../components/table/table.tsx";

interface Right {
  readonly calls: string;
  readonly role: Role;
}

const rights: readonly Right[] = [
  { calls: "produce, transact", role: "produce" },
  { calls: "lease, complete, retry, extend, release", role: "consume" },
  { calls: "list, stats, explain, series, overview", role: "read" },
  { calls: "find and read items, with their payloads", role: "read" },
  { calls: "create, update, pause, clear, redrive, delete", role: "admin" },
  { calls: "keys, import, delete items, backup", role: "admin" },
];

function columnOf(role: Role): Column<Right> {
  const may = (right: Right) => right.role === role || role === "admin";
  return {
    title: role,
    look: (right) => !may(right) && "muted",
    cell: (right) => (
      <StateGlyph name={may(right) ? "done" : "ready"} label={may(right) ? "yes" : "no"} />
    ),
  };
}

const columns: readonly Column<Right>[] = [
  { title: "call", isHeading: true, cell: ({ calls }) => calls },
  ...(["produce", "consume", "read", "admin"] as const).map(columnOf),
];

export function RoleTable(): ReactNode {
  return (
    <Section id="roles" title="what each role may call">
      <Table
        className="mini wrap"
        label="Roles"
        columns={columns}
        rows={rights}
        keyOf={({ calls }) => calls}
      />
    </Section>
  );
}
