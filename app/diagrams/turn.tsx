import type { ReactNode } from "react";
import { Diagram, type Drawing } from "./diagram.tsx";
import { Text, Tray, Way } from "./parts.tsx";

const requests = ["produce", "produce", "lease", "complete", "retry"] as const;
const steps = [
  { name: "read", says: ["what the", "turn needs"] },
  { name: "decide", says: ["by pure", "rules"] },
  { name: "commit", says: ["one", "transaction"] },
  { name: "sync", says: ["once,", "for all"] },
] as const;
const answers = ["200", "200", "200", "453", "200"] as const;

const wide: Drawing = {
  width: 720,
  height: 322,
  content: (
    <>
      <Text x={0} y={18} kind="eyebrow">
        what waits
      </Text>
      <Text x={170} y={18} kind="eyebrow">
        one turn of a shard
      </Text>
      <Text x={720} y={18} kind="eyebrow" anchor="end">
        answers
      </Text>
      <Tray x={152} y={34} width={480} height={176} kind="sunken" />
      {requests.map((verb, index) => (
        <g key={`${verb}${index * 34}`}>
          <Text x={0} y={59 + index * 34} kind="code">
            {verb}
          </Text>
          <Way
            points={[
              [76, 54 + index * 34],
              [168, 54 + index * 34],
            ]}
          />
          <Way
            points={[
              [616, 54 + index * 34],
              [680, 54 + index * 34],
            ]}
            kind={answers[index] === "200" ? "lease" : "dead"}
          />
          <Text
            x={720}
            y={59 + index * 34}
            kind={answers[index] === "200" ? "accent" : "dead"}
            anchor="end"
          >
            {answers[index]}
          </Text>
        </g>
      ))}
      {steps.map(({ name, says }, index) => {
        const x = 170 + index * 112;
        const last = index === steps.length - 1;
        return (
          <g key={name}>
            <Tray x={x} y={50} width={108} height={144} kind={last ? "lease" : "plain"} />
            <Text x={x + 12} y={108} kind="name">
              {name}
            </Text>
            <Text x={x + 12} y={132}>
              {says[0]}
            </Text>
            <Text x={x + 12} y={151}>
              {says[1]}
            </Text>
          </g>
        );
      })}
      <Tray x={152} y={240} width={480} height={64} kind="dashed" />
      <Text x={170} y={267} kind="name">
        the next turn gathers
      </Text>
      <Text x={170} y={289}>
        while this one syncs: the busier, the more share a sync
      </Text>
      <Text x={0} y={277} kind="code">
        lease
      </Text>
      <Way
        points={[
          [76, 272],
          [150, 272],
        ]}
      />
    </>
  ),
};

const tall: Drawing = {
  width: 340,
  height: 610,
  content: (
    <>
      <Text x={0} y={16} kind="eyebrow">
        what waits
      </Text>
      {requests.map((verb, index) => (
        <g key={`${verb}${index * 68}`}>
          <Text x={34 + index * 68} y={42} kind="code" anchor="middle">
            {verb}
          </Text>
          <Way
            points={[
              [34 + index * 68, 52],
              [34 + index * 68, 92],
            ]}
          />
          <Way
            points={[
              [34 + index * 68, 402],
              [34 + index * 68, 448],
            ]}
            kind={answers[index] === "200" ? "lease" : "dead"}
          />
          <Text
            x={34 + index * 68}
            y={470}
            kind={answers[index] === "200" ? "accent" : "dead"}
            anchor="middle"
          >
            {answers[index]}
          </Text>
        </g>
      ))}
      <Tray x={0} y={94} width={340} height={306} kind="sunken" />
      <Text x={16} y={120} kind="eyebrow">
        one turn of a shard
      </Text>
      {steps.map(({ name, says }, index) => {
        const y = 134 + index * 64;
        return (
          <g key={name}>
            <Tray
              x={14}
              y={y}
              width={312}
              height={58}
              kind={index === steps.length - 1 ? "lease" : "plain"}
            />
            <Text x={30} y={y + 34} kind="name">
              {name}
            </Text>
            <Text x={120} y={y + 34}>
              {says.join(" ")}
            </Text>
          </g>
        );
      })}
      <Text x={0} y={500} kind="eyebrow">
        answers
      </Text>
      <Tray x={0} y={524} width={340} height={74} kind="dashed" />
      <Text x={16} y={552} kind="name">
        the next turn gathers
      </Text>
      <Text x={16} y={576}>
        while this one syncs
      </Text>
    </>
  ),
};

/** A turn: read, decide, one commit, answer. */
export function Turn(): ReactNode {
  return (
    <Diagram
      title="A turn of a shard"
      description="Requests of all kinds wait: produce, lease, complete, retry. The shard takes all of them into one turn, reads what they need, decides each by pure rules, makes one commit with one sync, and only then answers them all: 200, or 453 where the state forbids it. While the turn syncs, the next one gathers."
      caption={
        <>
          Turns of a shard never overlap, so what was read still holds at the commit. A crash falls
          before a commit or after it, never into the middle.
        </>
      }
      wide={wide}
      tall={tall}
    />
  );
}
