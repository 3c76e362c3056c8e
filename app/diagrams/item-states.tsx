import type { ReactNode } from "react";
import { Diagram, type Drawing } from "./diagram.tsx";
import { Clamp, Code, Item, Items, Text, Tray, Way } from "./parts.tsx";

const wide: Drawing = {
  width: 720,
  height: 440,
  content: (
    <>
      <Way
        points={[
          [8, 222],
          [158, 222],
        ]}
      />
      <Text x={8} y={210} kind="code">
        produce
      </Text>
      <Way
        points={[
          [92, 222],
          [92, 58],
          [158, 58],
        ]}
      />
      <Text x={8} y={46} kind="code">
        enqueue_at
      </Text>
      <Tray x={160} y={14} width={148} height={88} name="scheduled" />
      <Items x={184} y={72} count={3} look="away" />
      <Way
        points={[
          [234, 102],
          [234, 172],
        ]}
      />
      <Text x={244} y={142}>
        due
      </Text>
      <Tray x={160} y={174} width={148} height={100} name="ready" />
      <Items x={184} y={238} count={5} />

      <Way
        points={[
          [308, 206],
          [426, 206],
        ]}
        kind="lease"
      />
      <Text x={367} y={196} kind="accent" anchor="middle">
        lease
      </Text>
      <Way
        points={[
          [428, 242],
          [310, 242],
        ]}
      />
      <Text x={368} y={262} anchor="middle">
        lapse, retry
      </Text>
      <Text x={368} y={281} anchor="middle">
        tail, new id
      </Text>
      <Text x={368} y={300} kind="code" anchor="middle">
        attempts + 1
      </Text>

      <Tray x={428} y={174} width={140} height={100} name="leased" kind="lease" />
      <Clamp x={498} y={230} left={0.62} />
      <Way
        points={[
          [498, 174],
          [498, 58],
          [310, 58],
        ]}
      />
      <Text x={324} y={48}>
        retry, with <Code>retry_at</Code>
      </Text>
      <Text x={324} y={79} kind="code">
        attempts + 1
      </Text>

      <Way
        points={[
          [568, 222],
          [650, 222],
        ]}
        kind="lease"
      />
      <Text x={606} y={211} kind="accent" anchor="middle">
        complete
      </Text>
      <Item x={666} y={222} look="done" size={20} />
      <Text x={666} y={258} kind="name" anchor="middle">
        completed
      </Text>
      <Text x={666} y={277} anchor="middle">
        removed
      </Text>

      <Way
        points={[
          [498, 274],
          [498, 342],
        ]}
        kind="dead"
      />
      <Text x={508} y={304} kind="code">
        max_attempts
      </Text>
      <Text x={508} y={323}>
        reached, or <Code>dead: true</Code>
      </Text>
      <Way
        points={[
          [234, 274],
          [234, 384],
          [396, 384],
        ]}
        kind="dead"
      />
      <Text x={246} y={372}>
        expired in wait
      </Text>
      <Tray x={398} y={344} width={200} height={82} name="dead queue" kind="dead" />
      <Items x={424} y={402} count={4} look="dead" />
    </>
  ),
};

const tall: Drawing = {
  width: 340,
  height: 656,
  content: (
    <>
      <Way
        points={[
          [70, 8],
          [70, 46],
        ]}
      />
      <Text x={80} y={24} kind="code">
        enqueue_at
      </Text>
      <Tray x={10} y={48} width={130} height={84} name="scheduled" />
      <Items x={36} y={106} count={3} look="away" />
      <Way
        points={[
          [70, 132],
          [70, 186],
        ]}
      />
      <Text x={80} y={164}>
        due
      </Text>
      <Way
        points={[
          [158, 8],
          [158, 186],
        ]}
      />
      <Text x={168} y={24} kind="code">
        produce
      </Text>
      <Tray x={10} y={188} width={180} height={96} name="ready" />
      <Items x={36} y={250} count={5} />

      <Way
        points={[
          [60, 284],
          [60, 376],
        ]}
        kind="lease"
      />
      <Text x={70} y={316} kind="accent">
        lease
      </Text>
      <Way
        points={[
          [146, 378],
          [146, 286],
        ]}
      />
      <Text x={156} y={316}>
        lapse, retry
      </Text>
      <Text x={156} y={336}>
        tail, new id
      </Text>
      <Text x={156} y={356} kind="code">
        attempts + 1
      </Text>
      <Tray x={10} y={378} width={160} height={100} name="leased" kind="lease" />
      <Clamp x={90} y={434} left={0.62} />
      <Way
        points={[
          [170, 400],
          [320, 400],
          [320, 90],
          [142, 90],
        ]}
      />
      <Text x={174} y={80}>
        retry, with <Code>retry_at</Code>
      </Text>

      <Way
        points={[
          [170, 440],
          [268, 440],
        ]}
        kind="lease"
      />
      <Text x={180} y={430} kind="accent">
        complete
      </Text>
      <Item x={284} y={440} look="done" size={20} />
      <Text x={284} y={476} kind="name" anchor="middle">
        completed
      </Text>
      <Text x={284} y={495} anchor="middle">
        removed
      </Text>

      <Way
        points={[
          [90, 478],
          [90, 568],
        ]}
        kind="dead"
      />
      <Text x={100} y={512} kind="code">
        max_attempts
      </Text>
      <Text x={100} y={532}>
        reached, or <Code>dead: true</Code>
      </Text>
      <Way
        points={[
          [10, 250],
          [0, 250],
          [0, 610],
          [8, 610],
        ]}
        kind="dead"
      />
      <Text x={10} y={512}>
        expired
      </Text>
      <Text x={10} y={532}>
        in wait
      </Text>
      <Tray x={10} y={570} width={160} height={84} name="dead queue" kind="dead" />
      <Items x={36} y={628} count={4} look="dead" />
    </>
  ),
};

/** The life of an item, as `engine/lifecycle.ts` decides it. */
export function ItemStates(): ReactNode {
  return (
    <Diagram
      title="The life of an item"
      description="A produced item is ready, or scheduled until enqueue_at and then ready. A lease takes a ready item; it is held by one consumer. Complete removes it. A lapse or a retry puts it at the tail under a new id, with attempts plus one; a retry with retry_at schedules it. At max_attempts, or by a retry with dead true, it goes to the dead queue. So does an item that expires while it waits."
      caption={
        <>
          A leased item does not expire while its lease runs. One that is past its expiry when it
          comes back goes to the dead queue instead of the tail; so does a scheduled one. Without a
          dead queue it is removed, counted and logged.
        </>
      }
      wide={wide}
      tall={tall}
    />
  );
}
