import type { ReactNode } from "react";
import { Link } from "react-router";
import { itemsAddress } from "../../../addresses.ts";
import { Empty } from "../../../components/empty.tsx";
import type { View } from "../view.ts";

const teaches = {
  ready:
    "Nothing is ready. An item produced without enqueue_at is ready at once, until it is leased.",
  leased:
    "Nobody holds an item of this queue. queue.lease gives some to a consumer, until they are completed or the lease lapses.",
  scheduled:
    "Nothing waits for its time. Items that are produced with enqueue_at do, and items that are given back with retry_at.",
  dead: "No item of this queue has died. One does when its attempts are used up, when it expires, or when it is given up.",
} as const;

export function NoItems({ view }: { readonly view: View }): ReactNode {
  if (view.conditions.length === 0) return <Empty glyph={view.state}>{teaches[view.state]}</Empty>;
  return (
    <Empty glyph={view.state}>
      No {view.state} item matches this filter.{" "}
      <Link className="link" to={itemsAddress(view.name, { state: view.state })}>
        Clear the filter
      </Link>
    </Empty>
  );
}
