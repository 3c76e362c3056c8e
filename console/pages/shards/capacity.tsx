import type { ReactNode } from "react";
import type { OverviewMachine, OverviewShard } from "../../../openapi/schemas.ts";
import { bytesText, instantText, spanText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";

interface GaugesProps {
  readonly machine: OverviewMachine | undefined;
  readonly shards: readonly OverviewShard[];
}

export function Gauges({ machine, shards }: GaugesProps): ReactNode {
  const { disk_bytes: size = 0, disk_free_bytes: free = 0 } = machine ?? {};
  const stored = shards.reduce((sum, each) => sum + each.file_bytes + each.log_bytes, 0);
  return (
    <section className="block room" aria-labelledby="room">
      <div className="ph">
        <h2 id="room">room</h2>
      </div>
      <div className="gauge">
        <span>disk</span>
        <meter
          min={0}
          max={size || 1}
          value={size === 0 ? 0 : size - free}
          aria-label="Disk that is used"
        />
        <span>
          {machine && (size === 0 ? "in memory" : `${bytesText(free)} free of ${bytesText(size)}`)}
        </span>
      </div>
      <div className="gauge">
        <span>stores</span>
        <meter min={0} max={size || 1} value={stored} aria-label="Disk that the stores take" />
        <span>{machine && bytesText(stored)}</span>
      </div>
      <div className="gauge">
        <span>memory</span>
        <i />
        <span>{machine && `${bytesText(machine.memory_bytes)} in use`}</span>
      </div>
      <Backup machine={machine} />
    </section>
  );
}

function Backup({ machine }: { readonly machine: OverviewMachine | undefined }): ReactNode {
  const told = useObserved(zone);
  const now = useMachineNow();
  const at = machine?.last_backup_at;
  return (
    <p className="backup muted">
      {at ? (
        <>
          Last backup{" "}
          <time dateTime={at} title={instantText(Date.parse(at), told)}>
            {spanText(now - Date.parse(at))}
          </time>{" "}
          ago, in the folder of <code>--backups</code>.
        </>
      ) : (
        <>
          No backup yet: start the server with <code>--backups FOLDER</code>, and{" "}
          <code>holdfast backup</code> has it write one.
        </>
      )}
    </p>
  );
}
