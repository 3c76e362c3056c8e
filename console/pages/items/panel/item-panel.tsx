// One item: why it is where it is, what happens next, what it carries and what has happened to it.

import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useEffect, useRef } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { ask } from "../../../api/call.ts";
import { session } from "../../../api/session.ts";
import { Icon, StateGlyph } from "../../../components/glyph.tsx";
import { Fault } from "../../../components/refusal.tsx";
import { useObserved } from "../../../state/observable.ts";
import { copyCall, copyText } from "../copy.ts";
import { PayloadView } from "../payload/payload-view.tsx";
import { type StoredState, shortId } from "../source.ts";
import { HistoryView } from "./history-view.tsx";
import { ItemActions } from "./item-actions.tsx";
import { Facts } from "./item-facts.tsx";
import { Answer } from "./item-status.tsx";
import type { Explained } from "./use-explained.ts";

interface ItemPanelProps {
  /** Any that it ever had. */
  readonly id: string;
  readonly explained: Explained;
  readonly onStep: (by: number) => void;
  readonly onClose: () => void;
}

export function ItemPanel({ id, explained, onStep, onClose }: ItemPanelProps): ReactNode {
  const element = useRef<HTMLElement>(null);
  // Once: whoever goes from item to item keeps the button that does it. What had the focus is gone
  // with the panel; the row of the item has it then.
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
    return () => {
      if (document.activeElement !== document.body) return;
      const row = document.querySelector<HTMLElement>(".items tr[aria-current] a");
      (row ?? document.getElementById("main"))?.focus({ preventScroll: true });
    };
  }, []);
  const { data, error } = explained;
  const item = data?.item;
  return (
    <aside className="item" ref={element} aria-label={`Item ${shortId(id)}`} tabIndex={-1}>
      <PanelHead id={id} item={item} onStep={onStep} onClose={onClose} />
      {/* A new item gets new elements: scroll position, chosen view and open dialog are not kept. */}
      <Fragment key={id}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys. */}
        <section className="item-body" tabIndex={0} aria-label="Item, scrolls">
          {error !== null && data === undefined && (
            <Fault of={error} what="It is not shown." onRetry={() => void explained.refetch()} />
          )}
          {data !== undefined && <Answer told={data} />}
          {item !== undefined && <Facts item={item} />}
          {item !== undefined && <Payload id={item.id} />}
          {data !== undefined && <HistoryView told={data} />}
        </section>
        {item !== undefined && <ItemActions item={item} />}
      </Fragment>
    </aside>
  );
}

interface PanelHeadProps {
  readonly id: string;
  readonly item: FoundItem | undefined;
  readonly onStep: (by: number) => void;
  readonly onClose: () => void;
}

function PanelHead({ id, item, onStep, onClose }: PanelHeadProps): ReactNode {
  const present = item?.id ?? id;
  const state = item === undefined ? null : (item.state as StoredState);
  return (
    <header className="item-head">
      {state !== null && (
        <StateGlyph name={item?.death === undefined ? state : "dead"} label={state} />
      )}
      <b className="cut">{item?.kind || "item"}</b>
      <span className="mono muted">{shortId(present)}</span>
      <button
        type="button"
        className="copy"
        title={present}
        onClick={() => copyText(present, `the id ${shortId(present)}`)}
      >
        Copy id
      </button>
      <span className="end" />
      <button
        type="button"
        className="copy"
        title="c"
        onClick={() => copyCall({ id: "getItem", body: { id: present } })}
      >
        Copy as curl
      </button>
      <button
        type="button"
        className="ib"
        aria-label="Previous item"
        title="["
        onClick={() => onStep(-1)}
      >
        <Icon name="prev" />
      </button>
      <button
        type="button"
        className="ib"
        aria-label="Next item"
        title="]"
        onClick={() => onStep(1)}
      >
        <Icon name="next" />
      </button>
      <button type="button" className="ib" aria-label="Close" title="Esc" onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
  );
}

/** Asked for once: the payload of an item never changes. */
function Payload({ id }: { readonly id: string }): ReactNode {
  const { visit } = useObserved(session);
  const { data, error, refetch } = useQuery({
    queryKey: ["payload", visit, id],
    queryFn: ({ signal }) => ask("getItem", { id }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  if (error !== null) {
    return <Fault of={error} what="The payload is not shown." onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <section className="payload-awaited" aria-label="Payload" />;
  const headers = Object.entries(data.headers ?? {});
  return (
    <>
      <PayloadView id={id} payload={data.payload} encoding={data.encoding} />
      {headers.length > 0 && (
        <section aria-label="Headers">
          <div className="ph">
            <h2>headers</h2>
          </div>
          <dl className="facts one">
            {headers.map(([name, value]) => (
              <div key={name}>
                <dt className="mono">{name}</dt>
                <dd className="mono">{String(value)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}
