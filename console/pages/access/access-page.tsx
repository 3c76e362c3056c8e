// Whose key this is, which keys there are, and who did what with them.

import { Fragment, type ReactNode } from "react";
import { useMay, useWhoAmI } from "../../api/query-client.ts";
import { useAsked } from "../../api/use-query.ts";
import { useLinkKeys, useShortcuts } from "../../components/frame/shortcuts.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { Actions } from "./actions.tsx";
import { KeyTable } from "./key-table.tsx";
import { NewKey } from "./new-key.tsx";
import { RoleTable } from "./role-table.tsx";

const keysMs = 5_000;

export function KeysPage(): ReactNode {
  useLinkKeys(".key-table th a");
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      document.querySelector<HTMLElement>(".action-filters input")?.focus();
    },
  });
  const me = useWhoAmI();
  const isAdmin = useMay("admin");
  const mayRead = useMay("read");
  const isWanted = me?.keys_required === true && isAdmin === true;
  const keys = useAsked("listKeys", {}, { everyMs: keysMs, isWanted });
  // Below a list of unknown length nothing has its place.
  const isKnown = me !== undefined && !(isWanted && keys.isPending);
  return (
    <>
      <PageTitle of="Keys" />
      <header className="head">
        <h1>Keys</h1>
        <span className="muted">
          {me && (me.keys_required ? "" : "This server asks for none.")}
        </span>
        {me?.keys_required && (
          <span className="end muted">
            You are <b className="mono">{me.name || "a key without a name"}</b>:
            {me.rights.map(({ roles, queues }) => (
              <Fragment key={`${roles} ${queues}`}>
                {" "}
                {roles.join(", ")} of <span className="mono">{queues.join(" ")}</span>
              </Fragment>
            ))}
          </span>
        )}
      </header>
      {me?.keys_required === false && (
        <p className="lead muted">
          Anyone who can reach it may do everything. Keys say who may do what, on which queues: make
          one on the server, then start the server with the file of keys.
        </p>
      )}
      {me?.keys_required && isAdmin === false && (
        <p className="calm">Only a key with the role admin sees the others.</p>
      )}
      {keys.error !== null && keys.data === undefined && (
        <Fault of={keys.error} what="The keys are not shown." onRetry={() => void keys.refetch()} />
      )}
      {(isWanted || me === undefined) && (
        <KeyTable keys={keys.data?.items ?? null} me={me?.name ?? ""} />
      )}
      <div className={isKnown ? undefined : "unknown"}>
        <div className="two">
          <RoleTable />
          {isAdmin !== false && <NewKey />}
        </div>
        {mayRead === false ? (
          <p className="calm">Only keys with the role read see who did what.</p>
        ) : (
          <Actions />
        )}
      </div>
    </>
  );
}
