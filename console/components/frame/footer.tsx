import type { ReactNode } from "react";
import { Link } from "react-router";
import { useRunningTask, useWhoAmI } from "../../api/query-client.ts";
import { signOut } from "../../api/session.ts";
import { clockText, unturned } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen, setPaused } from "../../state/overview-poll.ts";
import { zone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";
import { useOld } from "../../state/staleness.ts";
import { said } from "../../state/toast.ts";

interface FootProps {
  readonly onKeys: () => void;
}

export function Foot({ onKeys }: FootProps): ReactNode {
  const last = useObserved(said);
  const { overview } = useObserved(seen);
  const up = overview?.shards.filter(({ state }) => state === "up").length ?? 0;
  return (
    <footer className="foot">
      <Live />
      <Clock />
      <span className="wide">{overview?.machine.store}</span>
      <span className="wide">{overview && `${up} of ${overview.shards.length} shards`}</span>
      <span className="said grow cut m" role="status">
        {last && (
          <>
            <i>{last.code}</i>
            {unturned(last.text)}
          </>
        )}
      </span>
      <RunningTask />
      <Key />
      <button type="button" onClick={onKeys}>
        <kbd>?</kbd> keys
      </button>
    </footer>
  );
}

const oldWords = { silent: "no answer", refused: "refused", "no-key": "no key" };

function Live(): ReactNode {
  const { overview, isPaused, refused } = useObserved(seen);
  const old = useOld();
  const shown = overview ? "live" : refused ? oldWords.refused : "asking";
  const isStopped = isPaused && old?.why !== "no-key";
  const word = isStopped ? "paused" : old ? oldWords[old.why] : shown;
  return (
    <button
      type="button"
      className="m live"
      data-live={isPaused ? "off" : "on"}
      title="Pause or go on (space)"
      onClick={() => setPaused(!isPaused)}
    >
      <i className="pulse" />
      <span>{word}</span>
    </button>
  );
}

function Clock(): ReactNode {
  const told = useObserved(zone);
  const { overview } = useObserved(seen);
  const now = useServerNow();
  return (
    <button
      type="button"
      className="m"
      title="UTC or local time (u)"
      onClick={() => zone.set(told === "utc" ? "local" : "utc")}
    >
      <time>{overview === null ? "--:--:--" : clockText(now, told)}</time>
      {told === "utc" ? " UTC" : " local"}
    </button>
  );
}

function RunningTask(): ReactNode {
  const task = useRunningTask();
  if (task === undefined) return null;
  const share = task.matched === 0 ? 0 : Math.round((task.moved / task.matched) * 100);
  return (
    <Link className="wide task-now" to={`/dead?${new URLSearchParams({ name: task.queue_name })}`}>
      {task.action} <bdi>{task.queue_name}</bdi>
      <progress className="meter" max={100} value={share} aria-label="Part that is done" />
      {share} %
    </Link>
  );
}

function Key(): ReactNode {
  const me = useWhoAmI();
  if (me === undefined) return null;
  if (!me.keys_required) return <span className="wide">no keys</span>;
  const roles = me.roles.includes("admin") ? "admin" : me.roles.join(", ");
  return (
    <button type="button" className="m" title="Whose API key this is; sign out" onClick={signOut}>
      key {me.name}: {roles === "read" ? "read only" : roles}
    </button>
  );
}
