import type { ReactNode } from "react";
import { Link } from "react-router";
import type { OverviewMachine, OverviewShard } from "../../../openapi/schemas.ts";
import { Sparkline } from "../../components/chart/sparkline.tsx";
import { Gauge } from "../../components/metrics.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { bytesText, clockText, countText, spanText } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { useZone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";
import { useShardHistory } from "../shards/shard-history.ts";
import { conditionOf, latencyText } from "../shards/shards.ts";

const shardsMax = 4;

const columns: readonly Column<OverviewShard>[] = [
  { title: "shard", cell: ({ shard }) => shard },
  {
    title: "commit, 15 m",
    cell: (shard) => (shard.state === "up" ? <Commits of={shard} /> : shard.state),
  },
  { title: "p99", cell: ({ commit_p99_us: p99 }) => latencyText(p99) },
  { title: "waiting", cell: ({ waiting }) => countText(waiting) },
  { title: "log", cell: ({ log_bytes: log }) => bytesText(log) },
];

export function Host(): ReactNode {
  const overview = useOverview();
  const now = useMachineNow();
  const { machine, shards = [] } = overview ?? {};
  const worst = shards.toSorted((a, b) => weightOf(b) - weightOf(a) || a.shard - b.shard);
  const shown = worst.slice(0, shardsMax).toSorted((a, b) => a.shard - b.shard);
  const hiddenCount = shards.length - shown.length;
  return (
    <section aria-label="This machine">
      <div className="ph">
        <h2>this machine</h2>
        <span className="end muted">
          {machine && `up ${spanText(now - Date.parse(machine.started_at))}, ${machine.version}`}
        </span>
      </div>
      <div className="shards-place">
        <Table
          className="shards"
          label="Shards"
          columns={columns}
          rows={shown}
          keyOf={({ shard }) => shard}
          rowLook={(shard) => (["healthy", "damaged"].includes(conditionOf(shard)) ? "" : "bad")}
        />
        {hiddenCount > 0 && (
          <Link className="link" to="/shards">
            and {countText(hiddenCount)} that are faster
          </Link>
        )}
      </div>
      <Disk machine={machine} />
    </section>
  );
}

function weightOf({ state, commit_p99_us: p99 }: OverviewShard): number {
  return (state === "up" ? 0 : 1e12) + p99;
}

function Commits({ of }: { readonly of: OverviewShard }): ReactNode {
  const { p99Us } = useShardHistory(of.shard, shardsMax);
  return <Sparkline lines={[p99Us]} {...(conditionOf(of) === "slow" && { look: "hot" })} />;
}

function Disk({ machine }: { readonly machine: OverviewMachine | undefined }): ReactNode {
  const zone = useZone();
  const { disk_bytes: size = 0, disk_free_bytes: free = 0, last_backup_at: backup } = machine ?? {};
  const at = backup ? clockText(Date.parse(backup), zone, { seconds: false }) : "none yet";
  return (
    <>
      <Gauge name="disk" label="Disk that is used" max={size} value={size - free}>
        {size === 0 ? "in memory" : `${bytesText(free)} free`}
      </Gauge>
      <Gauge name="memory">
        {bytesText(machine?.memory_bytes ?? 0)}, backup {at}
      </Gauge>
    </>
  );
}
