import type { ReactNode } from "react";
import { Diagram } from "./diagram.tsx";
import { Clamp, Item, Items, Text, Tray, Way } from "./parts.tsx";

/** The states of an item, as implemented in `engine/model/lifecycle.ts`. */
export function ItemStates(): ReactNode {
  return (
    <Diagram
      title="The life of an item"
      description="A produced item is ready, or scheduled until enqueue_at and then ready. A lease takes a ready item; it is held by one consumer. Complete removes it. A lapse or a retry puts it at the tail under a new id, with attempts plus one; a retry with retry_at schedules it. At max_attempts, or by a retry with dead true, it goes to the dead queue. So does an item that expires while it waits."
      caption="A leased item does not expire while its lease runs. One that is past its expiry when it comes back goes to the dead queue instead of the tail; so does a scheduled one. Without a dead queue it is removed, counted and logged."
      height={636}
    >
      <Way at="80,4 80,42" />
      <Text at="90,20" says="" code="enqueue_at" />
      <Tray at="20,44 130,80" name="scheduled" />
      <Items at="46,100" count={3} kind="quiet" />
      <Way at="80,124 80,174" />
      <Text at="90,154" says="due" />
      <Way at="186,4 186,174" />
      <Text at="196,20" says="" code="produce" />
      <Tray at="20,176 186,92" name="ready" />
      <Items at="46,236" count={6} />
      <Way at="70,268 70,360" kind="lease" />
      <Text at="80,302" says="lease" kind="lease" />
      <Way at="156,362 156,270" />
      <Text at="166,302" says="lapse, retry" />
      <Text at="166,322" says="tail, new id" />
      <Text at="166,342" says="" code="attempts + 1" />
      <Tray at="20,362 160,98" name="leased" kind="lease" />
      <Clamp at="100,414" />
      <Way at="180,382 336,382 336,84 152,84" />
      <Text at="196,74" says="retry with " code="retry_at" />
      <Way at="180,424 278,424" kind="kept" />
      <Text at="190,414" says="complete" kind="kept" />
      <Item at="296,424" kind="kept" size={20} />
      <Text at="296,458" says="completed" kind="name" anchor="middle" />
      <Text at="296,477" says="removed" anchor="middle" />
      <Way at="100,460 100,548" kind="dead" />
      <Text at="110,494" says="" code="max_attempts" />
      <Text at="110,514" says="reached, or " code="dead: true" />
      <Way at="20,236 6,236 6,592 18,592" kind="dead" />
      <Text at="16,494" says="expired" />
      <Text at="16,514" says="in wait" />
      <Tray at="20,550 160,82" name="dead queue" kind="dead" />
      <Items at="46,608" count={4} kind="dead" />
    </Diagram>
  );
}
