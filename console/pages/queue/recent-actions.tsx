import type { ReactNode } from "react";
import { Link } from "react-router";
import { keysAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Section } from "../../components/section.tsx";
import { ActionTable } from "../access/action-table.tsx";
import type { QueueState } from "./queue-state.ts";

const shownMax = 6;

export function RecentActions({ state }: { readonly state: QueueState }): ReactNode {
  const { actions, name } = state;
  const { data } = actions;
  return (
    <Section
      id="recent"
      title="recent actions"
      aside={
        <Link className="link end" to={keysAddress({ queue: name })}>
          All actions
        </Link>
      }
    >
      {actions.data === undefined && <QueryFault of={actions} what="Not known." />}
      {data?.items.length === 0 && (
        <Empty glyph="note">
          Nothing since the server was started. Changes made here or by calls are listed, with the
          key that made them.
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <ActionTable actions={data.items.slice(0, shownMax)} isOfQueue />
      )}
    </Section>
  );
}
