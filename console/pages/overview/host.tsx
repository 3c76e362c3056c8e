import type { ReactNode } from "react";
import { Link } from "react-router";
import type { OverviewMachine, OverviewShard } from "../../../openapi/schemas.ts";
import { Spark } from "../../components/chart/sparkline.tsx";
import { bytesText, clockText, countText, spanText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { zone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";
import { useShardHistory } from "../shards/shard-history.ts";

const shardsMax = 4;

export function Machine(): ReactNode {
  const { overview } = useObserved(seen);
  const now = useMachineNow();
  const { machine, shards = [] } = overview ?? {};
  const worst = shards.toSorted((a, b) => weightOf(b) - weightOf(a) || a.shard - b.shard);
  const shown = worst.slice(0, shardsMax).toSorted((a, b) => a.shard - b.shard);
  return (
    <section aria-label="This machine">
      <div className="ph">
        <h2>this machine</h2>
        <span className="end muted">
          {machine && `up ${spanText(now - Date.parse(machine.started_at))}, ${machine.version}`}
        </span>
      </div>
      <div className="shards-place">
        <table className="shards">
          <thead>
            <tr>
              <th scope="col">shard</th>
              <th scope="col">commit, 15 m</th>
              <th scope="col">p99</th>
              <th scope="col">waiting</th>
              <th scope="col">log</th>
            </tr>
          </thead>
          <tbody>
            {overview === null && <Ghosts />}
            {shown.map((shard) => (
              <ShardRow key={shard.shard} shard={shard} shown={shown.length} />
            ))}
            <More count={shards.length - shown.length} />
          </tbody>
        </table>
      </div>
      <Disk machine={machine} />
    </section>
  );
}

function weightOf({ state, commit_p99_us: p99 }: OverviewShard): number {
  return (state === "up" ? 0 : 1e12) + p99;
}

function Ghosts(): ReactNode {
  return Array.from({ length: shardsMax }, (_, index) => (
    <tr key={index}>
      <td>–</td>
      <td />
      <td>–</td>
      <td>–</td>
      <td>–</td>
    </tr>
  ));
}

function More({ count }: { readonly count: number }): ReactNode {
  if (count <= 0) return null;
  return (
    <tr>
      <td colSpan={5}>
        <Link className="link" to="/shards">
          and {countText(count)} that are faster
        </Link>
      </td>
    </tr>
  );
}

interface ShardRowProps {
  readonly shard: OverviewShard;
  readonly shown: number;
}

function ShardRow({ shard: of, shown }: ShardRowProps): ReactNode {
  const { shard, state, commit_p99_us: p99, waiting, log_bytes: log } = of;
  const { p99Us } = useShardHistory(shard, shown);
  const isSlow = p99 >= 100_000;
  return (
    <tr className={state !== "up" || isSlow ? "bad" : undefined}>
      <td>{shard}</td>
      <td>{state === "up" ? <Spark lines={[p99Us]} {...(isSlow && { look: "hot" })} /> : state}</td>
      <td>{p99 === 0 ? "–" : `${(p99 / 1_000).toFixed(p99 < 10_000 ? 1 : 0)} ms`}</td>
      <td>{countText(waiting)}</td>
      <td>{bytesText(log)}</td>
    </tr>
  );
}

function Disk({ machine }: { readonly machine: OverviewMachine | undefined }): ReactNode {
  const told = useObserved(zone);
  const { disk_bytes: size = 0, disk_free_bytes: free = 0, last_backup_at: backup } = machine ?? {};
  const { memory_bytes: memory = 0 } = machine ?? {};
  return (
    <>
      <div className="gauge">
        <span>disk</span>
        <meter min={0} max={size || 1} value={size - free} aria-label="Disk that is used" />
        <span>{size === 0 ? "in memory" : `${bytesText(free)} free`}</span>
      </div>
      <div className="gauge">
        <span>memory</span>
        <i />
        <span>
          {bytesText(memory)}, backup{" "}
          {backup ? clockText(Date.parse(backup), told, { seconds: false }) : "none yet"}
        </span>
      </div>
    </>
  );
}
