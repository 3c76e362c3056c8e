import type { ReactNode } from "react";
import type { Destination } from "../../../../openapi/schemas.ts";
import { ClockTime } from "../../../components/figures.tsx";
import { countText, spanText } from "../../../format.ts";
import type { Counted } from "./use-item-change.ts";

interface RedriveForecastProps {
  /** The items that would be moved, and the dry run that counted them; absent: not counted yet. */
  readonly count: number | undefined;
  readonly dryRun: Counted | undefined;
  /** 0 = no limit. */
  readonly perSecond: number;
}

/** How many items go to which queue, how many stay, and how long it takes. */
export function RedriveForecast(props: RedriveForecastProps): ReactNode {
  const { count, dryRun, perSecond } = props;
  const none = count === undefined ? "counting" : "none of them is ready";
  return (
    <table className="dry-run" aria-label="Dry run">
      <caption>dry run {dryRun && <ClockTime at={dryRun.seenAt} />}</caption>
      <tbody>
        {dryRun?.destinations.map((to) => (
          <DestinationRow key={to.queue_name} of={to} />
        ))}
        {!dryRun?.destinations.length && (
          <tr>
            <td className="muted">{none}</td>
            <td>{count === undefined ? "…" : "0"}</td>
          </tr>
        )}
        {perSecond > 0 && count !== undefined && (
          <tr>
            <td className="muted">takes, at {countText(perSecond)} per second</td>
            <td className="muted">{spanText((count / perSecond) * 1_000)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function DestinationRow({ of: { queue_name: name, count } }: { readonly of: Destination }) {
  return (
    <tr>
      {name === "" ? (
        <td className="warn">stay: their original queue was deleted</td>
      ) : (
        <td className="cut">
          go to <bdi className="mono">{name}</bdi>
        </td>
      )}
      <td>{countText(count)}</td>
    </tr>
  );
}
