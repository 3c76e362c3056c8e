import { type ReactNode, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { mayOn, useWhoAmI } from "../../../api/permissions.ts";
import { Button } from "../../../components/button.tsx";
import { ItemChangeDialog } from "./change-dialog.tsx";
import type { ChangeTarget, Verb } from "./changes.ts";
import { wordings } from "./wording.ts";

interface VerbButtonsProps {
  readonly verbs: readonly Verb[];
  readonly targetNow: () => ChangeTarget;
  /** If the change is for this item alone. */
  readonly item?: FoundItem;
  readonly onDone?: () => void;
}

/** A button for each change, and the dialog of the change. */
export function VerbButtons({ verbs, targetNow, item, onDone }: VerbButtonsProps): ReactNode {
  // Fixed when the button is pressed.
  const [open, setOpen] = useState<{ verb: Verb; target: ChangeTarget; item?: FoundItem } | null>(
    null,
  );
  return (
    <>
      {verbs.map((verb) => (
        <Button
          key={verb}
          look={wordings[verb].isHarm ? "harm" : "plain"}
          onClick={() => setOpen({ verb, target: targetNow(), ...(item && { item }) })}
        >
          {wordings[verb].open}
        </Button>
      ))}
      {open !== null && (
        <ItemChangeDialog {...open} {...(onDone && { onDone })} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

/**
 * Of the verbs those that this key may do with this queue: others are not drawn. `null`: it is not
 * known yet.
 */
export function useVerbs(verbs: readonly Verb[], queueName: string): readonly Verb[] | null {
  const me = useWhoAmI();
  if (me === undefined) return null;
  return verbs.filter((verb) => mayOn(me, wordings[verb].role, queueName));
}
