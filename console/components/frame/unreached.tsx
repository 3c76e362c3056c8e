import type { ReactNode } from "react";
import { useObservablePart } from "../../state/observable.ts";
import { pollState } from "../../state/overview-poll.ts";

/** Which shards of a cluster the last reply lacks. */
export function Unreached(): ReactNode {
  const shards = useObservablePart(
    pollState,
    ({ overview }) => overview?.unreached.join(", ") ?? "",
  );
  if (shards === "") return null;
  const isOne = !shards.includes(",");
  return (
    <p className="unreached bad" role="status">
      {isOne ? "Shard" : "Shards"} {shards} could not be reached; {isOne ? "its" : "their"} queues
      are as they were before, or missing.
    </p>
  );
}
