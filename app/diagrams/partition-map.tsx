import type { ReactNode } from "react";
import { Diagram, type Drawing } from "./diagram.tsx";
import { Clamp, Items, Sheet, Text, Tray, Way } from "./parts.tsx";

interface Row {
  readonly name: string;
  readonly y: number;
  readonly shard: 0 | 1;
  readonly count: number;
}

const rows: readonly Row[] = [
  { name: "0", y: 70, shard: 0, count: 4 },
  { name: "1", y: 118, shard: 1, count: 3 },
  { name: "2", y: 166, shard: 0, count: 5 },
  { name: "0", y: 268, shard: 1, count: 2 },
  { name: "1", y: 316, shard: 0, count: 4 },
];

const shards = [
  { number: 0, y: 66 },
  { number: 1, y: 232 },
] as const;

function portOf(shard: 0 | 1, from: Row): number {
  const among = rows.filter((row) => row.shard === shard);
  const step = 22;
  return (shard === 0 ? 116 : 282) + (among.indexOf(from) - (among.length - 1) / 2) * step;
}

const wide: Drawing = {
  width: 720,
  height: 374,
  content: (
    <>
      <Text x={0} y={18} kind="eyebrow">
        queues and their partitions
      </Text>
      <Text x={372} y={18} kind="eyebrow">
        shards
      </Text>
      <Text x={572} y={18} kind="eyebrow">
        one file each
      </Text>
      <Tray x={0} y={32} width={252} height={176} kind="dashed" />
      <Text x={14} y={53} kind="name">
        orders
      </Text>
      <Tray x={0} y={230} width={252} height={128} kind="dashed" />
      <Text x={14} y={250} kind="name">
        emails
      </Text>
      {rows.map((row, index) => {
        const bend = 276 + index * 14;
        const port = portOf(row.shard, row);
        return (
          <g key={row.y}>
            <Tray x={40} y={row.y - 8} width={200} height={42} />
            <Text x={20} y={row.y + 17} kind="code">
              {row.name}
            </Text>
            <Clamp x={66} y={row.y + 9} size={13} left={0.3 + index * 0.15} />
            <Items x={98} y={row.y + 12} count={row.count} size={13} pitch={22} />
            <Way
              points={[
                [240, row.y + 12],
                [bend, row.y + 12],
                [bend, port],
                [370, port],
              ]}
            />
          </g>
        );
      })}
      {shards.map(({ number, y }) => (
        <g key={number}>
          <Tray x={372} y={y} width={140} height={100} name={`shard ${number}`} />
          <Text x={386} y={y + 52}>
            a worker,
          </Text>
          <Text x={386} y={y + 72}>
            the one writer
          </Text>
          <Way
            points={[
              [512, y + 50],
              [570, y + 50],
            ]}
            kind="lease"
          />
          <Sheet x={572} y={y + 8} width={134} height={84} />
          <Text x={586} y={y + 56} kind="code">{`shard-${number}.db`}</Text>
        </g>
      ))}
    </>
  ),
};

const tall: Drawing = {
  width: 340,
  height: 590,
  content: (
    <>
      <Text x={0} y={16} kind="eyebrow">
        queues and their partitions
      </Text>
      <Tray x={0} y={28} width={316} height={176} kind="dashed" />
      <Text x={14} y={49} kind="name">
        orders
      </Text>
      <Tray x={0} y={210} width={316} height={128} kind="dashed" />
      <Text x={14} y={230} kind="name">
        emails
      </Text>
      {rows.map((row, index) => {
        const y = row.y + (row.y > 200 ? -20 : -4);
        return (
          <g key={row.y}>
            <Tray x={40} y={y - 8} width={180} height={42} />
            <Text x={20} y={y + 17} kind="code">
              {row.name}
            </Text>
            <Clamp x={66} y={y + 9} size={13} left={0.3 + index * 0.15} />
            <Items x={96} y={y + 12} count={row.count} size={13} pitch={21} />
            <Text x={230} y={y + 17} kind="accent">{`→ shard ${row.shard}`}</Text>
          </g>
        );
      })}
      {shards.map(({ number }) => {
        const x = number * 176;
        const from = number === 0 ? 70 : 246;
        return (
          <g key={number}>
            <Way
              points={[
                [from, 338],
                [from, 370],
              ]}
            />
            <Tray x={x} y={372} width={140} height={84} name={`shard ${number}`} />
            <Text x={x + 14} y={420}>
              a worker,
            </Text>
            <Text x={x + 14} y={439}>
              the one writer
            </Text>
            <Way
              points={[
                [x + 70, 456],
                [x + 70, 494],
              ]}
              kind="lease"
            />
            <Sheet x={x} y={496} width={140} height={64} />
            <Text x={x + 14} y={534} kind="code">{`shard-${number}.db`}</Text>
          </g>
        );
      })}
      <Text x={0} y={584} kind="eyebrow">
        one file each
      </Text>
    </>
  ),
};

/** From a queue's name to the file that its items are in. */
export function PartitionMap(): ReactNode {
  return (
    <Diagram
      title="Queues, partitions, shards and files"
      description="Two queues, orders with three partitions and emails with two. Each partition belongs to one of two shards. A shard is a worker, the one writer of its partitions, and keeps all of them in one file of its own, shard-0.db and shard-1.db."
      caption={
        <>
          The partitions of all queues are spread over the shards and stay where they were put. A
          shard commits for all of its partitions at once: a thousand partitions cost rows, not
          files, and one sync covers them all.
        </>
      }
      wide={wide}
      tall={tall}
    />
  );
}
