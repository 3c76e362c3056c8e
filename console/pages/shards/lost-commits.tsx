// Commits that the database has lost, until an administrator confirms the loss.

import { type ReactNode, useState } from "react";
import type { OverviewAlarm } from "../../../openapi/schemas.ts";
import { basePath } from "../../api/base-path.ts";
import { useMayOn, useWhoAmI } from "../../api/permissions.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/button.tsx";
import { ChangeDialog } from "../../components/dialog/dialog.tsx";
import { plural } from "../../format.ts";

const commitsText = (count: number) => plural(count, "commit", "commits");

export function LostCommits({ alarms }: { readonly alarms: readonly OverviewAlarm[] }): ReactNode {
  const isAsked = useWhoAmI() !== undefined;
  const mayConfirm = useMayOn("admin", null);
  const [isOpen, setOpen] = useState(false);
  const alarm = alarms.find(({ kind }) => kind === "commits_lost");
  if (alarm === undefined) return null;
  return (
    <section className="loss" aria-labelledby="loss">
      <div>
        <h2 className="bad" id="loss">
          {alarm.text}
        </h2>
        <p>
          Items that they stored are gone, and items that they completed are ready again. The server
          cannot tell which: compare with the records of your producers and workers, and produce
          missing items again.
          {/* Below a base path the server serves no documentation. */}
          {basePath === "" && (
            <>
              {" "}
              <a className="link" href="/docs/postgresql#failover">
                What happened
              </a>
            </>
          )}
        </p>
        {isAsked && !mayConfirm && (
          <p className="muted">Only a key with the role admin for all queues may confirm it.</p>
        )}
      </div>
      {mayConfirm && <Button onClick={() => setOpen(true)}>Confirm…</Button>}
      {isOpen && <ConfirmDialog lost={alarm.count} onClose={() => setOpen(false)} />}
    </section>
  );
}

interface ConfirmDialogProps {
  /** Commits, by the last overview. */
  readonly lost: number;
  readonly onClose: () => void;
}

function ConfirmDialog({ lost, onClose }: ConfirmDialogProps): ReactNode {
  // If more are lost meanwhile, the server refuses the count that was read.
  const [count, setCount] = useState(lost);
  const change = useChange({
    call: { id: "confirmLoss", body: { expect: count } },
    toast: () => `confirmed the loss of ${commitsText(count)}`,
    onDone: onClose,
  });
  if (change.refused !== null && count !== lost) setCount(lost);
  return (
    <ChangeDialog
      title="Confirm the loss"
      action={`Confirm the loss of ${commitsText(count)}`}
      onClose={onClose}
      {...change}
    >
      <p>
        Confirm it once it is dealt with. This ends the alarm, <code>commits_lost</code> of{" "}
        <code>/health</code> and the alert of your monitoring, until more is lost.
      </p>
      <p className="muted">
        It restores nothing. It is for this server, not for other nodes; a restart forgets the loss
        as well. The confirmation is listed among the actions, with its key.
      </p>
    </ChangeDialog>
  );
}
