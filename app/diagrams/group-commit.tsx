import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Item, Text, Tray, Way } from "./parts.tsx";

/** The start and end of each turn, and of its sync. */
const turns = [
  { from: 40, sync: 66, to: 130 },
  { from: 130, sync: 165, to: 220 },
  { from: 220, sync: 246, to: 310 },
] as const;

/** Arrival times of requests; each joins the first turn that begins after its arrival. */
const arrivals = [10, 20, 33, 52, 72, 88, 107, 120, 156, 195] as const;
const bottom = 298;

/** Many requests share one sync, and none is answered before it. */
export function GroupCommit(): ReactNode {
  return (
    <Diagram
      title="Group commit"
      description="A timeline of ten requests and three turns. Three requests that came before turn 1 share its sync. Five that came while turn 1 ran share the sync of turn 2. Two share the third. Every request is answered 200 at the end of the sync of its turn, never earlier."
      caption="Who comes while a turn runs shares the sync of the next: three requests here, then five, then two. Each 200 comes after the sync that covers it. Drawn to explain, not to scale."
      height={398}
    >
      <Text at="0,14" says="each line is one request" kind="eyebrow" />
      {arrivals.map((arrival, index) => (
        <Request key={arrival} arrival={arrival} y={44 + index * 25} />
      ))}
      {turns.map(({ from, sync, to }, index) => (
        <g key={from}>
          <path className="diagram-rule" d={`M${to} 32V${bottom + 66}`} />
          <Tray at={`${from},${bottom} ${sync - from},34`} />
          <rect className="diagram-beam" x={sync} y={bottom} width={to - sync} height={34} rx={2} />
          <text className="diagram-text diagram-on-beam" x={(sync + to) / 2} y={bottom + 22}>
            sync
          </text>
          <Text at={`${from},${bottom + 54}`} says={`turn ${index + 1}`} />
        </g>
      ))}
      <Text at="0,390" says="time" kind="eyebrow" />
      <Way at="44,385 358,385" kind="quiet" />
    </Diagram>
  );
}

function Request({ arrival, y }: { readonly arrival: number; readonly y: number }): ReactNode {
  const turn = turns.find(({ from }) => from >= arrival) ?? turns[2];
  const { from, to } = turn;
  return (
    <>
      <Item at={`${arrival},${y}`} size={8} />
      <Way at={`${arrival + 6},${y} ${from},${y}`} hasHead={false} />
      <rect className="diagram-wait" x={from} y={y - 6} width={to - from} height={12} />
      <Text at={`${to + 6},${y + 5}`} says="200" kind="kept" />
    </>
  );
}
