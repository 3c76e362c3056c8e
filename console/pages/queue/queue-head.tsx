import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { deadAddress, itemsAddress, queueAddress } from "../../addresses.ts";
import { useMayOn, useWhoAmI } from "../../api/query-client.ts";
import { Button } from "../../components/button.tsx";
import { Paused } from "../../components/health-word.tsx";
import { PageTitle } from "../../components/page-title.tsx";
import { countText } from "../../format.ts";
import { ClearDialog } from "./dialogs/clear-dialog.tsx";
import { DeleteDialog } from "./dialogs/delete-dialog.tsx";
import { EditDialog } from "./dialogs/edit-dialog.tsx";
import { PauseDialog } from "./dialogs/pause-dialog.tsx";
import { ProduceDialog } from "./dialogs/produce-dialog.tsx";
import { RedriveDialog } from "./dialogs/redrive-dialog.tsx";
import { ResumeDialog } from "./dialogs/resume-dialog.tsx";
import type { QueueState } from "./queue-state.ts";
import { isDyingNow } from "./status-sentence.ts";

type Change = "produce" | "pause" | "resume" | "redrive" | "edit" | "clear" | "delete";

interface StateProps {
  readonly state: QueueState;
}

export function QueueHead({ state }: StateProps): ReactNode {
  const { name, info } = state;
  return (
    <header className="head queue-head">
      <PageTitle of={name || "Queue"} />
      <Link className="crumb" to="/">
        Queues
      </Link>
      <h1 className="mono" title={name}>
        <bdi>{name || "…"}</bdi>
      </h1>
      {info.data !== undefined && pausedText(info.data) !== "" && (
        <Paused what={pausedText(info.data)} />
      )}
      {info.data?.reference && <span className="muted cut of">{info.data.reference}</span>}
      <Tabs state={state} />
      <Changes state={state} />
    </header>
  );
}

function pausedText({ lease_paused: lease, produce_paused: produce }: QueueInfo): string {
  if (lease && produce) return "paused";
  return lease ? "leases paused" : produce ? "produces paused" : "";
}

function Tabs({ state: { name, row, dead: own, info, explain } }: StateProps): ReactNode {
  const items = row && row.ready + row.leased + row.scheduled;
  const dead = own.count;
  const isDying = isDyingNow(explain.data, dead);
  return (
    <nav className="tabs" aria-label={`Views of ${name || "the queue"}`}>
      <Link to={queueAddress(name)} aria-current="page">
        Now
      </Link>
      <Link to={itemsAddress(name)}>
        Items <small>{items === undefined ? "" : countText(items)}</small>
      </Link>
      {info.data?.dead_queue !== "" && (info.error === null || info.data !== undefined) && (
        <Link to={deadAddress(info.data?.dead_queue ?? "")}>
          Dead{" "}
          <small className={isDying ? "bad" : undefined}>
            {dead === undefined ? "" : `${countText(dead)}${own.isPart ? "+" : ""}`}
          </small>
        </Link>
      )}
    </nav>
  );
}

/** What the key may not do is not drawn. */
function Changes({ state }: StateProps): ReactNode {
  const { name, info, inspect, dead } = state;
  const [open, setOpen] = useState<Change | null>(null);
  const mayProduce = useMayOn("produce", name);
  const mayChange = useMayOn("admin", name);
  const mayRedrive = useMayOn("admin", info.data?.dead_queue ?? "");
  const me = useWhoAmI();
  // All of them at once, so that none moves.
  const isCounted = dead.isSettled || inspect.error !== null;
  if (info.data === undefined || me === undefined || !isCounted) {
    return <div className="acts end" />;
  }
  const isPaused = info.data.lease_paused || info.data.produce_paused;
  const hasDead = (dead.count ?? 0) > 0;
  const buttons: readonly { readonly id: Change; readonly title: string; readonly is: boolean }[] =
    [
      { id: "produce", title: "Produce…", is: mayProduce },
      { id: "resume", title: "Resume…", is: mayChange && isPaused },
      { id: "pause", title: "Pause…", is: mayChange && !isPaused },
      { id: "redrive", title: "Redrive…", is: mayRedrive && hasDead },
      { id: "edit", title: "Edit…", is: mayChange },
      { id: "clear", title: "Clear…", is: mayChange },
      { id: "delete", title: "Delete…", is: mayChange },
    ];
  const drawn = buttons.filter((button) => button.is);
  if (drawn.length === 0) {
    return <span className="muted end">this key may not change this queue</span>;
  }
  return (
    <div className="acts end">
      {drawn.map(({ id, title }) => (
        <Button
          key={id}
          look={id === "clear" || id === "delete" ? "harm" : "plain"}
          onClick={() => setOpen(id)}
        >
          {title}
        </Button>
      ))}
      {open && <ChangeOf change={open} state={state} onClose={() => setOpen(null)} />}
    </div>
  );
}

interface ChangeOfProps extends StateProps {
  readonly change: Change;
  readonly onClose: () => void;
}

function ChangeOf({ change, state, onClose }: ChangeOfProps): ReactNode {
  const props = { state, onClose };
  switch (change) {
    case "produce":
      return <ProduceDialog {...props} />;
    case "pause":
      return <PauseDialog {...props} />;
    case "resume":
      return <ResumeDialog {...props} />;
    case "redrive":
      return <RedriveDialog {...props} />;
    case "edit":
      return <EditDialog {...props} />;
    case "clear":
      return <ClearDialog {...props} />;
    case "delete":
      return <DeleteDialog {...props} />;
  }
}
