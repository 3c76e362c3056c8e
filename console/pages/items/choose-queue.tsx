import type { ReactNode } from "react";
import { Link } from "react-router";
import { itemsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { useLinkKeys } from "../../components/frame/shortcuts.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { countText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";

const shownMax = 200;

/** No queue is named: those that hold the most items are offered. */
export function ChooseQueue(): ReactNode {
  const { overview } = useObserved(seen);
  useLinkKeys(".choose a");
  const rows = [...(overview?.queues.values() ?? [])]
    .map((row) => ({ name: row.queue_name, count: row.ready + row.leased + row.scheduled }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
  return (
    <>
      <PageTitle of="Items" />
      <header className="head">
        <h1>Items</h1>
        <span className="muted">of which queue? Those with the most items come first.</span>
      </header>
      {overview !== null && rows.length === 0 && (
        <Empty glyph="idle">There is no queue yet, so there are no items.</Empty>
      )}
      <ul className="choose">
        {rows.slice(0, shownMax).map(({ name, count }) => (
          <li key={name}>
            <Link className="mono cut" to={itemsAddress(name)}>
              <bdi>{name}</bdi>
            </Link>
            <span className="mono muted">{countText(count)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
