import { memo, type ReactNode } from "react";
import { Link } from "react-router";
import { queueAddress } from "../../addresses.ts";
import { Spark } from "../../components/chart/sparkline.tsx";
import { Age } from "../../components/figures.tsx";
import { HealthWord, Paused } from "../../components/health-word.tsx";
import { countText, rateText } from "../../format.ts";
import type { QueueRow } from "../../state/overview-state.ts";
import { useFlowHistory } from "./flow-history.ts";

interface QueueRowProps {
  readonly name: string;
  /** Absent: it is gone, and keeps its place until the order is made anew. */
  readonly row: QueueRow | undefined;
  /** Of now: they fall while the row itself stays as it was. */
  readonly inRate: number | null;
  readonly outRate: number | null;
  readonly index: number;
  readonly isCurrent: boolean;
}

export const QueueRowView = memo(function QueueRowView(props: QueueRowProps): ReactNode {
  const { name, row, inRate, outRate, index, isCurrent } = props;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-current={isCurrent || undefined}
      className={isCurrent ? "cur" : undefined}
    >
      <th scope="row" className="c-name">
        {row ? (
          <span className="named">
            <Link to={queueAddress(name)} className="cut">
              <bdi>{name}</bdi>
            </Link>
            {row.paused_since_ms > 0 && <Paused />}
          </span>
        ) : (
          <s className="muted cut">{name}</s>
        )}
      </th>
      {row ? <Cells row={row} inRate={inRate} outRate={outRate} /> : <Gone />}
    </tr>
  );
});

function Gone(): ReactNode {
  return (
    <>
      <td className="m2 muted">gone</td>
      <td colSpan={8} />
    </>
  );
}

interface CellsProps extends Pick<QueueRowProps, "inRate" | "outRate"> {
  readonly row: QueueRow;
}

function Cells({ row, inRate, outRate }: CellsProps): ReactNode {
  const { health, health_since_ms: sinceMs, health_count: count, next_at_ms: nextMs } = row;
  const { oldest_ready_at_ms: oldest } = row;
  return (
    <>
      <td className="m2 c-health">
        <HealthWord health={health} sinceMs={sinceMs} count={count} nextMs={nextMs} />
      </td>
      <Figure className="m1" of={row.ready} label="ready" />
      <Figure className="c-3" of={row.leased} />
      <Figure className="c-3" of={row.scheduled} />
      <Figure className={health === "dead_items" ? "bad" : ""} of={row.dead_total} />
      <Figure className="c-4" of={inRate} text={rateText(inRate)} />
      <Figure className="c-4" of={outRate} text={rateText(outRate)} />
      <td className="m3 c-flow">
        <FlowSpark name={row.queue_name} isHot={health === "falls_behind"} />
      </td>
      <td className={oldest === 0 ? "m4 n z" : "m4 n"}>
        {oldest === 0 ? "–" : <Age at={oldest} />}
      </td>
    </>
  );
}

interface FigureProps {
  readonly of: number | null;
  readonly text?: string;
  readonly className: string;
  readonly label?: string;
}

function Figure({ of, text = countText(of ?? 0), className, label }: FigureProps): ReactNode {
  return (
    <td className={`n ${className} ${of === 0 ? "z" : ""}`} data-l={label}>
      {text}
    </td>
  );
}

function FlowSpark({ name, isHot }: { readonly name: string; readonly isHot: boolean }): ReactNode {
  const history = useFlowHistory(name);
  return <Spark lines={[history.in, history.out]} {...(isHot && { look: "hot" })} />;
}

/** As high as a row, before there is one. */
export function GhostRow(): ReactNode {
  return (
    <tr className="ghost">
      <td className="m0 c-name">
        <i />
      </td>
      <td className="m2 c-health">
        <i />
      </td>
      {["m1", "c-3 leased", "c-3 scheduled", "dead", "c-4 in", "c-4 out"].map((className) => (
        <td key={className} className={`n ${className}`}>
          <i />
        </td>
      ))}
      <td className="m3 c-flow">
        <i />
      </td>
      <td className="m4 n">
        <i />
      </td>
    </tr>
  );
}
