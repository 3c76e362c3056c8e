import type { ReactNode } from "react";
import { Link } from "react-router";
import { actionsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Fault } from "../../components/refusal.tsx";
import { ActionRow } from "../access/action-row.tsx";
import type { QueueState } from "./queue-state.ts";

const shownMax = 6;

/** Who did what to this queue of late. */
export function Done({ state: { actions, name } }: { readonly state: QueueState }): ReactNode {
  const { data, error } = actions;
  return (
    <section className="sec" aria-labelledby="done">
      <div className="ph">
        <h2 id="done">done here</h2>
        <Link className="link end" to={actionsAddress(name)}>
          All actions
        </Link>
      </div>
      {error !== null && data === undefined && <Fault of={error} what="Not known." />}
      {data?.items.length === 0 && (
        <Empty glyph="note">
          Nothing since the server was started. Changes made here or by calls are listed, with the
          key that made them.
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <table className="mini" aria-label="Actions on this queue">
          <thead className="vh">
            <tr>
              <th scope="col">what</th>
              <th scope="col">key</th>
              <th scope="col">when</th>
            </tr>
          </thead>
          <tbody>
            {data.items.slice(0, shownMax).map((action) => (
              <ActionRow key={action.id} action={action} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
