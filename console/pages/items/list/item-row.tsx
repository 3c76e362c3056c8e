import type { MouseEvent, ReactNode } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { Age, Countdown } from "../../../components/figures.tsx";
import { LeaseLeft } from "../../../components/lease-left.tsx";
import { bytesText } from "../../../format.ts";
import { shortId } from "../source.ts";
import type { ItemState } from "../view.ts";
import { Attempts, triesOf } from "./attempts.tsx";

interface ItemRowProps {
  readonly item: FoundItem;
  readonly state: ItemState;
  readonly index: number;
  /** It is not there any more; its row stays until the next look. */
  readonly isGone: boolean;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  readonly onChoose: ((id: string) => void) | null;
  readonly onOpen: (id: string) => void;
}

export function ItemRow(props: ItemRowProps): ReactNode {
  const { item, state, index, isGone, isCurrent, isOpen, isChosen, onChoose, onOpen } = props;
  const { id } = item;
  const open = (event: MouseEvent) => {
    if (!(event.target instanceof Element) || event.target.closest("input, a") !== null) return;
    // Beside its box a finger means the box.
    if (onChoose !== null && event.target.closest(".c-x") !== null) onChoose(id);
    else onOpen(id);
  };
  const names = [isCurrent && "cur", isChosen && "sel", isGone && "gone"].filter(Boolean).join(" ");
  return (
    // Not for keys: the id in it is a link, and `Enter` opens the row.
    <tr
      aria-rowindex={index + 2}
      aria-current={isCurrent || undefined}
      className={names || undefined}
      onClick={open}
    >
      <td className="c-x">
        {onChoose !== null && (
          <input
            type="checkbox"
            aria-label={`Select ${shortId(id)}`}
            disabled={isGone}
            checked={isChosen}
            onChange={() => onChoose(id)}
          />
        )}
      </td>
      <th scope="row">
        <a
          href={`?item=${id}`}
          aria-current={isOpen ? "true" : undefined}
          title={id}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            onOpen(id);
          }}
        >
          {shortId(id)}
        </a>
      </th>
      <td className="m2 cut">{item.kind === "" ? <span className="z">–</span> : item.kind}</td>
      <td className="c-2 mono muted cut">{item.reference}</td>
      <td className="m3">
        <Attempts {...triesOf(item)} />
      </td>
      {state === "dead" && (
        <td className="mono cut reason-cell" title={item.reason}>
          {item.reason ?? <span className="muted">{item.death ?? ""}</span>}
        </td>
      )}
      {state === "leased" && (
        <td className="mono cut reason-cell" title={item.holder}>
          {item.holder === "" ? <span className="muted">not known</span> : <bdi>{item.holder}</bdi>}
        </td>
      )}
      <td className="m1 c-time">
        {isGone ? <span className="muted">gone</span> : <When {...props} />}
      </td>
      <td className="n c-2">{bytesText(item.payload_bytes)}</td>
    </tr>
  );
}

function When({ item, state }: Pick<ItemRowProps, "item" | "state">): ReactNode {
  if (state === "leased" && item.lease_deadline !== null) {
    const until = Date.parse(item.lease_deadline);
    return <LeaseLeft from={Date.parse(item.updated_at)} until={until} />;
  }
  if (state === "scheduled" && item.enqueue_at !== null) {
    return <Countdown at={Date.parse(item.enqueue_at)} />;
  }
  return <Age at={Date.parse(state === "dead" ? item.created_at : item.updated_at)} />;
}

export function GhostItemRow({ columnCount }: { readonly columnCount: number }): ReactNode {
  return (
    <tr className="ghost">
      {Array.from({ length: columnCount }, (_, at) => (
        <td key={at} className={at === 1 ? "m0" : at === 2 ? "m2" : at === 5 ? "m1" : ""}>
          {at > 0 && <i />}
        </td>
      ))}
    </tr>
  );
}
