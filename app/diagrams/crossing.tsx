import type { ReactNode } from "react";
import { Diagram, type Drawing } from "./diagram.tsx";
import { Sheet, Text, Tray, Way } from "./parts.tsx";

const stations = [
  { name: "client", lines: ["any HTTP client"] },
  {
    name: "HTTP thread",
    lines: ["checks the contract;", "the engine picks the partition,", "numbers and gathers"],
  },
  { name: "shard worker", lines: ["decides the turn", "by the rules"] },
  { name: "store", lines: ["finds and persists,", "decides nothing"] },
] as const;

/** The same in the wide drawing, where a line is shorter. */
const duties = [
  { x: 136, lines: ["checks the contract;", "the engine picks the", "partition, gathers"] },
  { x: 386, lines: ["decides the turn", "by the rules"] },
  { x: 602, lines: ["finds, keeps,", "decides", "nothing"] },
] as const;

const crossings = [
  { there: "JSON", back: "JSON" },
  { there: "one text", back: "one text" },
  { there: "changes", back: "rows" },
] as const;

const wide: Drawing = {
  width: 720,
  height: 250,
  content: (
    <>
      <Tray x={94} y={14} width={626} height={222} kind="dashed" />
      <Text x={108} y={38} kind="eyebrow">
        one process
      </Text>
      <Tray x={0} y={62} width={68} height={150} />
      <Text x={34} y={142} kind="name" anchor="middle">
        client
      </Text>
      <Tray x={122} y={62} width={174} height={150} name="HTTP thread" />
      <Tray x={372} y={62} width={142} height={150} name="shard worker" />
      <Sheet x={588} y={62} width={114} height={150} />
      <Text x={602} y={86} kind="name">
        store
      </Text>
      {duties.map(({ x, lines }) =>
        lines.map((line, row) => (
          <Text key={line} x={x} y={116 + row * 22}>
            {line}
          </Text>
        )),
      )}
      {crossings.map(({ there, back }, index) => {
        const [from, to] = [
          [68, 122],
          [296, 372],
          [514, 588],
        ][index] ?? [0, 0];
        if (from === undefined || to === undefined) return null;
        const middle = (from + to) / 2;
        return (
          <g key={there}>
            <Way
              points={[
                [from + 4, 122],
                [to - 2, 122],
              ]}
              kind="lease"
            />
            <Text x={middle} y={112} kind="accent" anchor="middle">
              {there}
            </Text>
            <Way
              points={[
                [to - 4, 166],
                [from + 2, 166],
              ]}
            />
            <Text x={middle} y={186} kind="code" anchor="middle">
              {back}
            </Text>
          </g>
        );
      })}
    </>
  ),
};

const tall: Drawing = {
  width: 340,
  height: 588,
  content: (
    <>
      {stations.map(({ name, lines }, index) => {
        const y = index * 150;
        const height = 30 + lines.length * 21 + 8;
        const crossing = crossings[index];
        const next = (index + 1) * 150;
        return (
          <g key={name}>
            {name === "store" ? (
              <>
                <Sheet x={40} y={y} width={260} height={height} />
                <Text x={54} y={y + 24} kind="name">
                  store
                </Text>
              </>
            ) : (
              <Tray x={40} y={y} width={260} height={height} name={name} />
            )}
            {lines.map((line, row) => (
              <Text key={line} x={54} y={y + 46 + row * 20}>
                {line}
              </Text>
            ))}
            {crossing !== undefined && (
              <>
                <Way
                  points={[
                    [110, y + height + 3],
                    [110, next - 2],
                  ]}
                  kind="lease"
                />
                <Text x={100} y={(y + height + next) / 2 + 5} kind="accent" anchor="end">
                  {crossing.there}
                </Text>
                <Way
                  points={[
                    [230, next - 3],
                    [230, y + height + 2],
                  ]}
                />
                <Text x={240} y={(y + height + next) / 2 + 5} kind="code">
                  {crossing.back}
                </Text>
              </>
            )}
          </g>
        );
      })}
      <Text x={40} y={572} kind="eyebrow">
        all but the client: one process
      </Text>
    </>
  ),
};

/** What crosses between the client, the HTTP thread, a shard's worker and its store. */
export function Crossing(): ReactNode {
  return (
    <Diagram
      title="What crosses between the threads"
      description="A client sends JSON to the HTTP thread, which checks it by the contract, picks the partition, and gathers the requests of a shard. They cross to the shard's worker as one text. The worker decides the turn and hands changes to the store, which answers with rows. The answers of the turn cross back as one text, leased items already written as reply text, and the client gets JSON."
      caption={
        <>
          Between threads go texts, many requests in each: a text costs the copy of its bytes,
          objects would cost several times as much. Leased items come back as ready-made reply text.
        </>
      }
      wide={wide}
      tall={tall}
    />
  );
}
