import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Clamp, Items, Text, Tray, Way } from "./parts.tsx";

const partitions = [
  { y: 62, name: "0", shard: 0, count: 4, left: 0.3 },
  { y: 110, name: "1", shard: 0, count: 3, left: 0.45 },
  { y: 158, name: "2", shard: 0, count: 5, left: 0.6 },
  { y: 248, name: "0", shard: 1, count: 2, left: 0.75 },
  { y: 296, name: "1", shard: 1, count: 4, left: 0.9 },
] as const;

/** The mapping from a queue's name to the file that contains its items. */
export function PartitionMap(): ReactNode {
  return (
    <Diagram
      title="Queues, partitions, shards and files"
      description="Two queues, orders with three partitions and emails with two. Each queue belongs, with all its partitions, to one of two shards. A shard is the one writer of its queues, and keeps all of them in one file of its own, shard-0.db and shard-1.db."
      caption="A queue lives whole in the shard that its name hashes to. A shard commits for all of its partitions at once: a thousand partitions cost rows, not files, and one sync covers them all."
      height={584}
    >
      <Text at="0,14" says="queues and their partitions" kind="eyebrow" />
      <Tray at="0,24 340,176" look="dashed" name="orders" />
      <Tray at="0,210 340,128" look="dashed" name="emails" />
      {partitions.map(({ y, name, shard, count, left }) => (
        <g key={y}>
          <Tray at={`40,${y - 6} 186,40`} />
          <Text at={`20,${y + 19}`} says="" code={name} />
          <g transform={`translate(66 ${y + 12}) scale(0.8)`}>
            <Clamp at="0,0" left={left} />
          </g>
          <Items at={`104,${y + 14}`} count={count} size={13} />
          <Text at={`236,${y + 19}`} says={`→ shard ${shard}`} />
        </g>
      ))}
      {[0, 1].map((shard) => {
        const x = shard * 186;
        return (
          <g key={shard}>
            <Way at={`${x + 77},338 ${x + 77},368`} />
            <Tray at={`${x},370 154,80`} name={`shard ${shard}`} />
            <Text at={`${x + 14},416`} says="the one writer" />
            <Text at={`${x + 14},435`} says="of its file" />
            <Way at={`${x + 77},450 ${x + 77},490`} kind="kept" />
            <Tray at={`${x},492 154,56`} kind="kept" look="sunken" />
            <Text at={`${x + 14},525`} says="" code={`shard-${shard}.db`} />
          </g>
        );
      })}
      <Text at="0,578" says="one file each" kind="eyebrow" />
    </Diagram>
  );
}
