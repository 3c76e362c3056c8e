import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Text, Tray, Way } from "./parts.tsx";

const stations = [
  { y: 0, name: "client", says: ["any HTTP client"] },
  {
    y: 118,
    name: "HTTP thread",
    says: ["checks the contract; the engine picks", "the partition, numbers and gathers"],
  },
  { y: 258, name: "shard worker", says: ["decides the turn by the rules"] },
  { y: 376, name: "store", says: ["finds and persists, decides nothing"] },
] as const;

const crossings = [
  { from: 60, to: 118, there: "JSON", back: "JSON" },
  { from: 200, to: 258, there: "one text", back: "one text" },
  { from: 318, to: 376, there: "changes", back: "rows" },
] as const;

/** What crosses between the client, the HTTP thread, a shard's worker and its store. */
export function Crossing(): ReactNode {
  return (
    <Diagram
      title="What crosses between the threads"
      description="A client sends JSON to the HTTP thread, which checks it by the contract, picks the partition, and gathers the requests of a shard. They cross to the shard's worker as one text. The worker decides the turn and hands changes to the store, which answers with rows. The answers of the turn cross back as one text, leased items already written as reply text, and the client gets JSON."
      caption="Between threads go texts, many requests in each: a text costs the copy of its bytes, objects would cost several times as much. Leased items come back as ready-made reply text."
      height={474}
    >
      <Tray at="0,104 360,368" look="dashed" />
      {stations.map(({ y, name, says }) => (
        <g key={name}>
          <Tray
            at={`24,${y} 312,${40 + says.length * 21}`}
            name={name}
            {...(name === "store" ? { look: "sunken", kind: "kept" } : {})}
          />
          {says.map((line, row) => (
            <Text key={line} at={`38,${y + 46 + row * 20}`} says={line} />
          ))}
        </g>
      ))}
      {crossings.map(({ from, to, there, back }) => (
        <g key={from}>
          <Way at={`130,${from + 2} 130,${to - 2}`} />
          <Text at={`120,${(from + to) / 2 + 5}`} says={there} anchor="end" />
          <Way at={`230,${to - 2} 230,${from + 2}`} kind="kept" />
          <Text at={`240,${(from + to) / 2 + 5}`} says={back} kind="kept" />
        </g>
      ))}
      <Text at="346,462" says="one process" kind="eyebrow" anchor="end" />
    </Diagram>
  );
}
