// What would be done with the groups that are chosen: counted by a dry run, then done with that
// count as its bound.

import { type ReactNode, useState } from "react";
import type { Destination, ItemGroup } from "../../../openapi/schemas.ts";
import { Button } from "../../components/button.tsx";
import { CallsAsCurl } from "../../components/dialog/dialog.tsx";
import { Noted } from "../../components/figures.tsx";
import { Refusal } from "../../components/refusal.tsx";
import { countText, itemsText, spanText } from "../../format.ts";
import { ItemChange, pluralOf, RedriveWishes } from "../items/changes/change-dialog.tsx";
import { type Meant, noWishes, type Wishes } from "../items/changes/changes.ts";
import { useChange } from "../items/changes/use-item-change.ts";
import { wordings } from "../items/changes/wording.ts";
import { filterOf, type Grouping, type Groups } from "./use-groups.ts";

interface RedrivePlanProps {
  readonly name: string;
  readonly by: Grouping;
  readonly groups: readonly ItemGroup[];
  readonly found: Groups | undefined;
}

export function RedrivePlan({ name, by, groups, found }: RedrivePlanProps): ReactNode {
  if (found?.groups.length === 0) return <aside />;
  if (groups.length === 0) {
    return (
      <aside className="plan" aria-label="Redrive">
        <h2 className="big">Redrive</h2>
        <p className="muted">
          Select groups, with their boxes or with <kbd>x</kbd>: they are counted, and can be sent
          back to where they came from, or be deleted.
        </p>
      </aside>
    );
  }
  const filter = filterOf(by, groups);
  return <Plan meant={{ queueName: name, state: null, parts: [{ filter }] }} />;
}

function Plan({ meant }: { readonly meant: Meant }): ReactNode {
  const [wishes, setWishes] = useState<Wishes>(noWishes);
  const [isDeleting, setDeleting] = useState(false);
  const change = useChange({ verb: "redrive", meant, wishes }, () => undefined);
  const { calls, count, destinations, dry, run, isSettled } = change;
  const action = count === undefined ? "Redrive …" : `Redrive ${itemsText(count)}`;
  return (
    <form
      className="plan"
      aria-label="Redrive"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <h2 className="big">{action}</h2>
      <RedriveWishes wishes={wishes} onChange={setWishes} />
      <DryRun
        count={count}
        destinations={destinations}
        seenAt={dry.data?.seenAt ?? null}
        wishes={wishes}
      />
      <Refusal of={dry.error} />
      <p className="muted">{pluralOf(wordings.redrive.effect)}</p>
      <CallsAsCurl calls={calls} />
      <Refusal of={run.error} />
      <div className="acts">
        <Button
          look="go"
          type="submit"
          disabled={count === undefined || count === 0 || run.isPending || !isSettled}
        >
          {action}
        </Button>
        <Button onClick={() => void dry.refetch()}>Dry run again</Button>
        <Button look="harm" onClick={() => setDeleting(true)}>
          Delete…
        </Button>
      </div>
      {isDeleting && <ItemChange verb="delete" meant={meant} onClose={() => setDeleting(false)} />}
    </form>
  );
}

interface DryRunProps {
  readonly count: number | undefined;
  readonly destinations: readonly Destination[] | undefined;
  readonly seenAt: number | null;
  readonly wishes: Wishes;
}

/** How many go where, and how many cannot. */
function DryRun({ count, destinations = [], seenAt, wishes }: DryRunProps): ReactNode {
  const { perSecond } = wishes;
  return (
    <table className="dry-run" aria-label="Dry run">
      <caption>
        dry run{" "}
        {seenAt !== null && (
          <>
            of <Noted at={seenAt} />
          </>
        )}
      </caption>
      <tbody>
        {destinations.map(({ queue_name: name, count: of }) => (
          <tr key={name}>
            <td className={name === "" ? "warn" : "cut"}>
              {name === "" ? (
                "stay: the queue that they came from is gone"
              ) : (
                <>
                  go to <bdi className="mono">{name}</bdi>
                </>
              )}
            </td>
            <td>{countText(of)}</td>
          </tr>
        ))}
        {destinations.length === 0 && (
          <tr>
            <td className="muted">
              {count === undefined ? "counted now" : "none of them is ready"}
            </td>
            <td>{count === undefined ? "…" : "0"}</td>
          </tr>
        )}
        {perSecond > 0 && count !== undefined && (
          <tr>
            <td className="muted">takes, at {countText(perSecond)} a second</td>
            <td className="muted">{spanText((count / perSecond) * 1_000)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
