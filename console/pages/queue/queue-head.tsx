import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { deadAddress, groupsAddress, itemsAddress, queueAddress } from "../../addresses.ts";
import { useMayOn, useWhoAmI } from "../../api/permissions.ts";
import { Button } from "../../components/button.tsx";
import { PageHead, toQueues } from "../../components/frame/page-head.tsx";
import { Paused } from "../../components/glyph/health-word.tsx";
import { countText } from "../../format.ts";
import { ClearDialog } from "./dialogs/clear-dialog.tsx";
import { DeleteDialog } from "./dialogs/delete-dialog.tsx";
import { EditDialog } from "./dialogs/edit-dialog.tsx";
import { PauseDialog, ResumeDialog } from "./dialogs/pause-dialog.tsx";
import { ProduceDialog } from "./dialogs/produce-dialog.tsx";
import { RedriveDialog } from "./dialogs/redrive-dialog.tsx";
import type { QueueState } from "./queue-state.ts";
import { isDyingNow } from "./status-sentence.ts";

const dialogs = {
  produce: ProduceDialog,
  pause: PauseDialog,
  resume: ResumeDialog,
  redrive: RedriveDialog,
  edit: EditDialog,
  clear: ClearDialog,
  delete: DeleteDialog,
} as const;

type QueueChange = keyof typeof dialogs;

interface StateProps {
  readonly state: QueueState;
}

export function QueueHead({ state }: StateProps): ReactNode {
  const { name, info } = state;
  return (
    <PageHead
      title={name || "Queue"}
      name={name || "…"}
      crumb={toQueues}
      className="head queue-head"
    >
      {info.data !== undefined && pausedText(info.data) !== "" && (
        <Paused what={pausedText(info.data)} />
      )}
      {info.data?.reference && <span className="muted cut of">{info.data.reference}</span>}
      <Tabs state={state} />
      <Changes state={state} />
    </PageHead>
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
      {info.data?.grouped && <Link to={groupsAddress(name)}>Groups</Link>}
    </nav>
  );
}

/** Changes that the key may not make are not drawn. */
function Changes({ state }: StateProps): ReactNode {
  const { name, info, inspect, dead } = state;
  const [open, setOpen] = useState<QueueChange | null>(null);
  const mayProduce = useMayOn("produce", name);
  const mayChange = useMayOn("admin", name);
  const mayRedrive = useMayOn("admin", info.data?.dead_queue ?? "");
  const me = useWhoAmI();
  // All of them are drawn at once, so that none moves.
  const isCounted = dead.isSettled || inspect.error !== null;
  if (info.data === undefined || me === undefined || !isCounted) {
    return <div className="acts end" />;
  }
  const isPaused = info.data.lease_paused || info.data.produce_paused;
  const may: Readonly<Record<QueueChange, boolean>> = {
    produce: mayProduce,
    pause: mayChange && !isPaused,
    resume: mayChange && isPaused,
    redrive: mayRedrive && (dead.count ?? 0) > 0,
    edit: mayChange,
    clear: mayChange,
    delete: mayChange,
  };
  const drawn = (Object.keys(may) as QueueChange[]).filter((id) => may[id]);
  if (drawn.length === 0) {
    return <span className="muted end">this key may not change this queue</span>;
  }
  const Opened = open && dialogs[open];
  return (
    <div className="acts end">
      {drawn.map((id) => (
        <Button
          key={id}
          look={id === "clear" || id === "delete" ? "harm" : "plain"}
          onClick={() => setOpen(id)}
        >
          {id[0]?.toUpperCase()}
          {id.slice(1)}…
        </Button>
      ))}
      {Opened && <Opened state={state} onClose={() => setOpen(null)} />}
    </div>
  );
}
