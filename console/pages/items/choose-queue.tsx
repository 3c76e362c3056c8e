import type { ReactNode } from "react";
import { Link } from "react-router";
import { itemsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { PageHead } from "../../components/frame/page-head.tsx";
import { useLinkKeys } from "../../components/frame/shortcuts.ts";
import { countText } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";

const shownMax = 200;

interface ChooseQueueProps {
  readonly title: string;
  readonly addressOf?: (name: string) => string;
}

/** For an address that names no queue: those with the most items are offered. */
export function ChooseQueue({ title, addressOf = itemsAddress }: ChooseQueueProps): ReactNode {
  const overview = useOverview();
  useLinkKeys(".choose a");
  const rows = [...(overview?.queues.values() ?? [])]
    .map((row) => ({ name: row.queue_name, count: row.ready + row.leased + row.scheduled }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
  return (
    <>
      <PageHead title={title}>
        <span className="muted">of which queue? Those with the most items come first.</span>
      </PageHead>
      {overview !== null && rows.length === 0 && (
        <Empty glyph="idle">There is no queue yet, so there are no items.</Empty>
      )}
      <ul className="choose">
        {rows.slice(0, shownMax).map(({ name, count }) => (
          <li key={name}>
            <Link className="mono cut" to={addressOf(name)}>
              <bdi>{name}</bdi>
            </Link>
            <span className="mono muted">{countText(count)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
