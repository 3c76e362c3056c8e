import { type ReactNode, useState } from "react";
import type { ItemCounts } from "../../../../openapi/schemas.ts";
import { sumOf, useChange, useDryRun } from "../../../api/use-change.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { NameField, Option } from "../../../components/dialog/field.tsx";
import { StateGlyph } from "../../../components/glyph/glyph.tsx";
import type { GlyphName } from "../../../components/glyph/glyph-paths.ts";
import { QueryFault } from "../../../components/refusal.tsx";
import { countText, itemsText, plural } from "../../../format.ts";
import type { QueueDialogProps } from "../queue-state.ts";

type State = keyof ItemCounts;

interface Kind {
  readonly id: State;
  readonly glyph: GlyphName;
  readonly title: string;
}

const kinds: readonly Kind[] = [
  { id: "ready", glyph: "ready", title: "ready" },
  { id: "scheduled", glyph: "scheduled", title: "scheduled by producers" },
  { id: "retried", glyph: "retry", title: "waiting for a retry" },
  { id: "leased", glyph: "leased", title: "leased" },
];

type Chosen = Readonly<Record<State, boolean>>;

const readyAlone: Chosen = { ready: true, scheduled: false, retried: false, leased: false };
const nothing: ItemCounts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };

/** The flags of the call; leased ones go only with the ready. */
export function flagsOf({ ready, scheduled, retried, leased }: Chosen) {
  return { queue: ready, scheduled, retry: retried, destructive: ready && leased };
}

export function ClearDialog({ state, onClose }: QueueDialogProps): ReactNode {
  const { name, clients } = state;
  const [chosen, setChosen] = useState(readyAlone);
  const [typed, setTyped] = useState("");
  const everything = flagsOf({ ready: true, scheduled: true, retried: true, leased: true });
  const of = { queue_name: name };
  const counted = useDryRun("clear", { ...of, ...everything, dry_run: true });
  const counts = counted.data?.counts;
  const taken = kinds.filter(({ id }) => chosen[id] && (id !== "leased" || chosen.ready));
  const count = taken.reduce((sum, { id }) => sum + (counts?.[id] ?? 0), 0);
  const change = useChange({
    call: { id: "clear", body: { ...of, ...flagsOf(chosen), expect: count } },
    toast: (reply) => `cleared ${name}: ${itemsText(sumOf(reply.counts ?? nothing))}`,
    onDone: onClose,
  });
  const holders = clients.data?.holding_count ?? 0;
  return (
    <ChangeDialog
      title={`Clear ${name}`}
      look="harm go"
      action={counts ? `Remove ${plural(count, "item", "items")}` : "Counting…"}
      isReady={counts !== undefined && count > 0 && typed === name}
      onClose={onClose}
      {...change}
    >
      <p className="muted">
        What is cleared is gone: it does not go to the dead queue. Items produced meanwhile stay.
      </p>
      <QueryFault of={counted} what="Not counted." />
      <fieldset className="opts">
        <legend className="vh">What to remove</legend>
        {kinds.map(({ id, glyph, title }) => (
          <Option
            key={id}
            isChosen={chosen[id] && (id !== "leased" || chosen.ready)}
            isDisabled={id === "leased" && !chosen.ready}
            onChoose={(isChosen) => setChosen({ ...chosen, [id]: isChosen })}
            count={counts ? countText(counts[id]) : "–"}
          >
            <StateGlyph name={glyph} />
            <span>
              {title} {id === "leased" && <small>{lossText(holders, chosen.ready)}</small>}
            </span>
          </Option>
        ))}
      </fieldset>
      <NameField name={name} value={typed} onChange={setTyped} />
    </ChangeDialog>
  );
}

function lossText(holderCount: number, isWithReady: boolean): string {
  if (!isWithReady) return "only with the ready ones";
  return holderCount === 0
    ? ""
    : `${plural(holderCount, "client loses what it holds", "clients lose what they hold")}`;
}
