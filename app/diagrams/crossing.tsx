import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Text, Tray, Way } from "./parts.tsx";

const stations = [
  { y: 0, name: "client", says: ["any HTTP client"] },
  {
    y: 118,
    name: "HTTP and engine",
    says: ["check the contract, find the queue,", "write the reply"],
  },
  { y: 258, name: "shard", says: ["gathers, decides the turn by the rules"] },
  { y: 376, name: "store", says: ["finds and persists, decides nothing"] },
] as const;

const crossings = [
  { from: 60, to: 118, there: "JSON", back: "JSON" },
  { from: 200, to: 258, there: "requests", back: "answers" },
  { from: 318, to: 376, there: "changes", back: "rows" },
] as const;

/** The messages between the client, HTTP with the engine, a shard and its store. */
export function Crossing(): ReactNode {
  return (
    <Diagram
      title="From the client to the store"
      description="A client sends JSON to the server, which checks it by the contract. The engine finds the queue and puts the request into the inbox of its shard. The shard decides a turn of all requests that wait, and hands changes to the store, which answers with rows. When the turn is committed the answers go back, leased items already written as reply text, and the client gets JSON. All of this is one thread of one process."
      caption="One thread does all of it, so nothing is copied on the way. With several shards there is such a thread for each core, and a call for a queue of another thread crosses to it, many at a time."
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
      <Text at="346,462" says="one thread" kind="eyebrow" anchor="end" />
    </Diagram>
  );
}
