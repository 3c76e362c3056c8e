import type { ReactNode } from "react";
import type { OverviewMachine, OverviewShard } from "../../../openapi/schemas.ts";
import { Gauge } from "../../components/metrics.tsx";
import { Section } from "../../components/section.tsx";
import { bytesText, instantText, spanText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";

interface CapacityProps {
  readonly machine: OverviewMachine | undefined;
  readonly shards: readonly OverviewShard[];
}

export function Capacity({ machine, shards }: CapacityProps): ReactNode {
  const { disk_bytes: size = 0, disk_free_bytes: free = 0 } = machine ?? {};
  const stored = shards.reduce((sum, each) => sum + each.file_bytes + each.log_bytes, 0);
  const disk = size === 0 ? "in memory" : `${bytesText(free)} free of ${bytesText(size)}`;
  return (
    <Section className="block room" id="room" title="room">
      <Gauge name="disk" label="Disk that is used" max={size} value={size === 0 ? 0 : size - free}>
        {machine && disk}
      </Gauge>
      <Gauge name="stores" label="Disk that the stores take" max={size} value={stored}>
        {machine && bytesText(stored)}
      </Gauge>
      <Gauge name="memory">{machine && `${bytesText(machine.memory_bytes)} in use`}</Gauge>
      <Backup at={machine?.last_backup_at ?? null} />
    </Section>
  );
}

function Backup({ at }: { readonly at: string | null }): ReactNode {
  const zone = useZone();
  const now = useMachineNow();
  return (
    <p className="backup muted">
      {at ? (
        <>
          Last backup{" "}
          <time dateTime={at} title={instantText(Date.parse(at), zone)}>
            {spanText(now - Date.parse(at))}
          </time>{" "}
          ago, in the folder of <code>--backups</code>.
        </>
      ) : (
        <>
          No backup yet: start the server with <code>--backups FOLDER</code>, then run{" "}
          <code>holdfast backup</code>.
        </>
      )}
    </p>
  );
}
