import { charts, settings } from "virtual:bench";
import type { ReactNode } from "react";
import { ChartFigure } from "./chart-figure.tsx";
import type { Group } from "./groups.ts";

/** Bars from a results file. There is no chart of peers until there is a file of them. */
export function BenchChart({ group }: { readonly group: Group }): ReactNode {
  const chart = charts[group];
  if (chart !== null) return <ChartFigure chart={chart} />;
  if (group === "peers") return null;
  throw new Error(`no file in bench/results has what the chart '${group}' shows`);
}

/** How each queue of the chart of peers was set up. */
export function PeerSettings(): ReactNode {
  return (
    <details className="chart-data">
      <summary className="note">How each queue was set up</summary>
      <ul className="note">
        {settings.map((setting) => (
          <li key={setting}>{setting}</li>
        ))}
      </ul>
    </details>
  );
}
