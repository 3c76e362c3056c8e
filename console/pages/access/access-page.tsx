// The key of the tab, all keys, and the actions made with them.

import { Fragment, type ReactNode } from "react";
import { useMay, useWhoAmI } from "../../api/permissions.ts";
import { useQuery } from "../../api/use-query.ts";
import { PageHead } from "../../components/frame/page-head.tsx";
import { useLinkKeys, useShortcuts } from "../../components/frame/shortcuts.ts";
import { QueryFault } from "../../components/refusal.tsx";
import { Section } from "../../components/section.tsx";
import { ShellText } from "../../components/shell-text.tsx";
import { Actions } from "./actions.tsx";
import { KeyTable } from "./key-table.tsx";
import { RoleTable } from "./role-table.tsx";

const keysMs = 5_000;

export function AccessPage(): ReactNode {
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
  const isEnabled = me?.keys_required === true && isAdmin === true;
  const keys = useQuery("listKeys", {}, { everyMs: keysMs, isEnabled });
  // Content below a list of unknown length would move.
  const isKnown = me !== undefined && !(isEnabled && keys.isPending);
  return (
    <>
      <PageHead title="Keys">
        {me?.keys_required === false && (
          <span className="muted">This server requires no API key.</span>
        )}
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
      </PageHead>
      {me?.keys_required === false && (
        <p className="lead muted">
          Every client that reaches the server may do everything. A key restricts what a client may
          do, and on which queues: make one on the server, then start the server with the key file.
        </p>
      )}
      {me?.keys_required && isAdmin === false && (
        <p className="calm">Only a key with the role admin sees the others.</p>
      )}
      {keys.data === undefined && <QueryFault of={keys} what="The keys are not shown." />}
      {(isEnabled || me === undefined) && (
        <KeyTable keys={keys.data?.items ?? null} me={me?.name ?? ""} />
      )}
      <div className={isKnown ? undefined : "unknown"}>
        <div className="two">
          <RoleTable />
          {isAdmin !== false && <NewKey />}
        </div>
        {mayRead === false ? (
          <p className="calm">Only keys with the role read see the actions.</p>
        ) : (
          <Actions />
        )}
      </div>
    </>
  );
}

const command = `holdfast key NAME --role consume \\
  --queues 'orders*' --api-keys-file ./api-keys

holdfast serve --api-keys-file ./api-keys`;

function NewKey(): ReactNode {
  return (
    <Section className="sec new-key" id="new-key" title="a new key is made on the server">
      <p className="muted">
        The console neither shows nor makes keys, so none can leak through it. The server reloads
        the file when it changes.
      </p>
      <ShellText label="Commands" text={command} />
    </Section>
  );
}
