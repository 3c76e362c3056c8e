import type { ReactNode } from "react";
import { Diagram, type Drawing } from "./diagram.tsx";
import { Text, Tray, Way } from "./parts.tsx";

/** Where turns begin and end, and where in them the sync begins; as shares of the time shown. */
const turns = [
  { from: 0.12, sync: 0.2, to: 0.4 },
  { from: 0.4, sync: 0.51, to: 0.68 },
  { from: 0.68, sync: 0.76, to: 0.96 },
] as const;

const arrivals = [0.03, 0.06, 0.1, 0.16, 0.22, 0.27, 0.33, 0.37, 0.48, 0.6] as const;

/** The turn that takes a request: the first that begins after it came. */
function turnOf(arrival: number): (typeof turns)[number] {
  return turns.find(({ from }) => from >= arrival) ?? turns[2];
}

interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly pitch: number;
}

function Timeline({ left, right, top, pitch }: Frame): ReactNode {
  const x = (share: number): number => Math.round(left + share * (right - left));
  const bottom = top + arrivals.length * pitch;
  return (
    <>
      {turns.map(({ to }) => (
        <path key={to} className="hf-d-rule" d={`M${x(to)} ${top - 12}V${bottom + 76}`} />
      ))}
      {arrivals.map((arrival, index) => {
        const turn = turnOf(arrival);
        const y = top + index * pitch;
        const height = pitch * 0.5;
        return (
          <g key={arrival}>
            <circle className="hf-d-item" cx={x(arrival)} cy={y} r={3.5} />
            <Way
              points={[
                [x(arrival) + 5, y],
                [x(turn.from), y],
              ]}
              head={false}
              dashed={true}
            />
            <rect
              className="hf-d-wait"
              x={x(turn.from)}
              y={y - height / 2}
              width={x(turn.to) - x(turn.from)}
              height={height}
            />
            <Text x={x(turn.to) + 6} y={y + 5} kind="accent">
              200
            </Text>
          </g>
        );
      })}
      {turns.map(({ from, sync, to }, index) => (
        <g key={from}>
          <Tray x={x(from)} y={bottom + 6} width={x(sync) - x(from)} height={34} />
          <rect
            className="hf-d-beam"
            x={x(sync)}
            y={bottom + 6}
            width={x(to) - x(sync)}
            height={34}
            rx={2}
          />
          <text
            className="hf-d-text hf-d-on-beam"
            x={(x(sync) + x(to)) / 2}
            y={bottom + 28}
            textAnchor="middle"
          >
            sync
          </text>
          <Text x={x(from)} y={bottom + 62}>{`turn ${index + 1}`}</Text>
        </g>
      ))}
    </>
  );
}

const wide: Drawing = {
  width: 720,
  height: 362,
  content: (
    <>
      <Text x={0} y={20} kind="eyebrow">
        each line is one request
      </Text>
      <Text x={0} y={292} kind="eyebrow">
        the shard
      </Text>
      <Timeline left={96} right={712} top={48} pitch={22} />
      <Way
        points={[
          [96, 352],
          [712, 352],
        ]}
        kind="quiet"
      />
      <Text x={0} y={357} kind="eyebrow">
        time
      </Text>
    </>
  ),
};

const tall: Drawing = {
  width: 340,
  height: 400,
  content: (
    <>
      <Text x={0} y={16} kind="eyebrow">
        each line is one request
      </Text>
      <Timeline left={0} right={318} top={48} pitch={25} />
      <Text x={0} y={392} kind="eyebrow">
        time
      </Text>
      <Way
        points={[
          [44, 387],
          [336, 387],
        ]}
        kind="quiet"
      />
    </>
  ),
};

/** Many requests share one sync, and none is answered before it. */
export function GroupCommit(): ReactNode {
  return (
    <Diagram
      title="Group commit"
      description="A timeline of ten requests and three turns. Three requests that came before turn 1 share its sync. Five that came while turn 1 ran share the sync of turn 2. Two share the third. Every request is answered 200 at the end of the sync of its turn, never earlier."
      caption={
        <>
          Who comes while a turn runs shares the sync of the next: three requests here, then five,
          then two. Each 200 comes after the sync that covers it. Drawn to explain, not to scale.
        </>
      }
      wide={wide}
      tall={tall}
    />
  );
}
