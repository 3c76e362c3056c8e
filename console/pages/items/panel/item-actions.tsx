import { type ReactNode, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { Button } from "../../../components/button.tsx";
import { ItemChange } from "../changes/change-dialog.tsx";
import { type Meant, meantByIds, type Verb, verbsFor } from "../changes/changes.ts";
import { useVerbs } from "../changes/use-verbs.ts";
import { wordings } from "../changes/wording.ts";
import type { ItemState } from "../view.ts";

interface Chosen {
  readonly verb: Verb;
  readonly meant: Meant;
  readonly item: FoundItem;
}

interface ItemActionsProps {
  readonly item: FoundItem;
}

export function ItemActions({ item }: ItemActionsProps): ReactNode {
  // What it is about is what it was when the button was pressed.
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const verbs = useVerbs(verbsFor(stateOf(item)), item.queue_name);
  if ((verbs ?? []).length === 0 && chosen === null) return null;
  return (
    <footer className="item-foot">
      {verbs?.map((verb) => (
        <Button
          key={verb}
          look={wordings[verb].isHarm ? "harm" : "plain"}
          onClick={() => setChosen({ verb, item, meant: meantByIds(item.queue_name, [item]) })}
        >
          {wordings[verb].open}
        </Button>
      ))}
      {chosen !== null && <ItemChange {...chosen} onClose={() => setChosen(null)} />}
    </footer>
  );
}

/** What died can be sent back, unless somebody holds it. */
function stateOf({ state, death }: FoundItem): ItemState {
  if (state === "leased") return "leased";
  if (death !== undefined) return "dead";
  return state === "scheduled" ? "scheduled" : "ready";
}
