import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Text, Tray, Way } from "./parts.tsx";

const requests = [
  { x: 34, verb: "produce", answer: "200" },
  { x: 107, verb: "produce", answer: "200" },
  { x: 180, verb: "lease", answer: "200" },
  { x: 253, verb: "complete", answer: "453" },
  { x: 326, verb: "retry", answer: "200" },
] as const;

const steps = [
  { y: 108, name: "read", says: "what the turn needs" },
  { y: 158, name: "decide", says: "by pure rules" },
  { y: 208, name: "commit", says: "one transaction" },
  { y: 258, name: "sync", says: "once, for all" },
] as const;

/** A turn: read, decide, one commit, answer. */
export function Turn(): ReactNode {
  return (
    <Diagram
      title="A turn of a shard"
      description="Requests of all kinds wait: produce, lease, complete, retry. The shard takes all of them into one turn, reads what they need, decides each by pure rules, makes one commit with one sync, and only then answers them all: 200, or 453 where the state forbids it. While the turn syncs, the next one gathers."
      caption="Commits of a shard never overlap, so what was read still holds at the commit. A crash falls before a commit or after it, never into the middle."
      height={470}
    >
      <Text at="0,14" says="what waits" kind="eyebrow" />
      <Tray at="0,72 360,244" look="sunken" />
      <Text at="16,96" says="one turn of a shard" kind="eyebrow" />
      {requests.map(({ x, verb, answer }) => (
        <g key={x}>
          <Text at={`${x},38`} says="" code={verb} anchor="middle" />
          <Way at={`${x},46 ${x},70`} />
          <Way at={`${x},318 ${x},346`} kind={answer === "200" ? "kept" : "dead"} />
          <Text
            at={`${x},366`}
            says={answer}
            kind={answer === "200" ? "kept" : "dead"}
            anchor="middle"
          />
        </g>
      ))}
      {steps.map(({ y, name, says }) => (
        <g key={name}>
          <Tray at={`14,${y} 332,44`} kind={name === "sync" ? "kept" : "quiet"} />
          <Text at={`30,${y + 27}`} says={name} kind="name" />
          <Text at={`120,${y + 27}`} says={says} />
        </g>
      ))}
      <Text at="0,390" says="answers" kind="eyebrow" />
      <Tray at="0,404 360,62" look="dashed" name="the next turn gathers" />
      <Text at="14,450" says="while this one syncs: the busier, the more share it" />
    </Diagram>
  );
}
