import type { ReactNode } from "react";
import { Link } from "react-router";
import { deadAddress } from "../../addresses.ts";
import { useWhoAmI } from "../../api/permissions.ts";
import { signOut } from "../../api/session.ts";
import { clockText, withVisibleMarks } from "../../format.ts";
import { useObservable } from "../../state/observable.ts";
import { setPaused, useOverview, usePoll } from "../../state/overview-poll.ts";
import { toggleZone, useZone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";
import { useStaleness } from "../../state/staleness.ts";
import { toast } from "../../state/toast.ts";

export function Footer({ onKeys }: { readonly onKeys: () => void }): ReactNode {
  const last = useObservable(toast);
  const overview = useOverview();
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
            {withVisibleMarks(last.text)}
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

const staleWords = { "no-answer": "no answer", refused: "refused", "no-key": "no key" };

function Live(): ReactNode {
  const { overview, isPaused, refused } = usePoll();
  const staleness = useStaleness();
  const current = overview ? "live" : refused ? staleWords.refused : "connecting";
  const isStopped = isPaused && staleness?.why !== "no-key";
  const word = isStopped ? "paused" : staleness ? staleWords[staleness.why] : current;
  return (
    <button
      type="button"
      className="m live"
      data-live={isPaused ? "off" : "on"}
      title="Pause or resume (space)"
      onClick={() => setPaused(!isPaused)}
    >
      <i className="pulse" />
      <span>{word}</span>
    </button>
  );
}

function Clock(): ReactNode {
  const zone = useZone();
  const overview = useOverview();
  const now = useServerNow();
  return (
    <button type="button" className="m" title="UTC or local time (u)" onClick={toggleZone}>
      <time>{overview === null ? "--:--:--" : clockText(now, zone)}</time>
      {zone === "utc" ? " UTC" : " local"}
    </button>
  );
}

function RunningTask(): ReactNode {
  const [task] = useOverview()?.tasks ?? [];
  if (task === undefined) return null;
  const share = task.matched === 0 ? 0 : Math.round((task.moved / task.matched) * 100);
  return (
    <Link className="wide task-now" to={deadAddress(task.queue_name)}>
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
    <button type="button" className="m" title="The API key in use; sign out" onClick={signOut}>
      key {me.name}: {roles === "read" ? "read only" : roles}
    </button>
  );
}
