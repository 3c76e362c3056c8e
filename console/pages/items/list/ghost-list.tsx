import { type ReactNode, useRef } from "react";
import { ItemTable } from "./item-table.tsx";

const none: ReadonlySet<string> = new Set();

/** The list before it is known of which queue. */
export function GhostList(): ReactNode {
  const scroller = useRef<(index: number) => void>(() => undefined);
  return (
    <>
      <div className="scan" />
      <ItemTable
        items={[]}
        goneIds={none}
        state="ready"
        isLoading
        cursor=""
        open=""
        selection={null}
        isChoosing
        scroller={scroller}
        onOpen={() => undefined}
      />
    </>
  );
}
