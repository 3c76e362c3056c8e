// One item: its status and what happens next, its facts, its payload and its history.

import { Fragment, type ReactNode, useEffect, useRef } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { useQuery } from "../../../api/use-query.ts";
import { copyCall, copyText } from "../../../components/copy.ts";
import { Icon, StateGlyph } from "../../../components/glyph/glyph.tsx";
import { QueryFault } from "../../../components/refusal.tsx";
import { Section } from "../../../components/section.tsx";
import { targetByIds, verbsFor } from "../changes/changes.ts";
import { useVerbs, VerbButtons } from "../changes/verb-buttons.tsx";
import { PayloadView } from "../payload/payload-view.tsx";
import { type StoredState, shortId } from "../source.ts";
import type { ItemState } from "../view.ts";
import { HistoryView } from "./history.tsx";
import { ItemFacts } from "./item-facts.tsx";
import { type Explained, ItemStatus } from "./item-status.tsx";

interface ItemPanelProps {
  /** Any id that it ever had. */
  readonly id: string;
  readonly explained: Explained;
  readonly onStep: (by: number) => void;
  readonly onClose: () => void;
}

export function ItemPanel({ id, explained, onStep, onClose }: ItemPanelProps): ReactNode {
  const element = useRef<HTMLElement>(null);
  // Once: the button of the next item keeps the focus. When the panel closes, the row gets it.
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
    return () => {
      if (document.activeElement !== document.body) return;
      const row = document.querySelector<HTMLElement>(".items tr[aria-current] a");
      (row ?? document.getElementById("main"))?.focus({ preventScroll: true });
    };
  }, []);
  const { data } = explained;
  const item = data?.item;
  return (
    <aside className="item" ref={element} aria-label={`Item ${shortId(id)}`} tabIndex={-1}>
      <PanelHead id={id} item={item} onStep={onStep} onClose={onClose} />
      {/* By its key: scroll position, chosen view and open dialog are not kept for the next item. */}
      <Fragment key={id}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys. */}
        <section className="item-body" tabIndex={0} aria-label="Item, scrolls">
          {explained.data === undefined && <QueryFault of={explained} what="It is not shown." />}
          {data !== undefined && <ItemStatus of={data} />}
          {item !== undefined && <ItemFacts item={item} />}
          {item !== undefined && <Payload id={item.id} />}
          {data !== undefined && <HistoryView of={data} />}
        </section>
        {item !== undefined && <ItemActions item={item} />}
      </Fragment>
    </aside>
  );
}

interface PanelHeadProps extends Pick<ItemPanelProps, "id" | "onStep" | "onClose"> {
  readonly item: FoundItem | undefined;
}

/** `by`: 0 closes the panel. */
const icons = [
  { name: "prev", label: "Previous item", key: "[", by: -1 },
  { name: "next", label: "Next item", key: "]", by: 1 },
  { name: "close", label: "Close", key: "Esc", by: 0 },
] as const;

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
      {icons.map(({ name, label, key, by }) => (
        <button
          key={name}
          type="button"
          className="ib"
          aria-label={label}
          title={key}
          onClick={by === 0 ? onClose : () => onStep(by)}
        >
          <Icon name={name} />
        </button>
      ))}
    </header>
  );
}

/** Read once: the payload of an item never changes. */
function Payload({ id }: { readonly id: string }): ReactNode {
  const item = useQuery("getItem", { id }, { staleMs: Infinity, keptMs: 60_000 });
  const { data } = item;
  if (data === undefined && item.error === null) {
    return <section className="payload-awaited" aria-label="Payload" />;
  }
  const headers = Object.entries(data?.headers ?? {});
  return (
    <>
      <QueryFault of={item} what="The payload could not be read." />
      {data && <PayloadView id={id} payload={data.payload} encoding={data.encoding} />}
      {headers.length > 0 && (
        <Section className="" id="headers" title="headers">
          <dl className="facts one">
            {headers.map(([name, value]) => (
              <div key={name}>
                <dt className="mono">{name}</dt>
                <dd className="mono">{String(value)}</dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
    </>
  );
}

export function ItemActions({ item }: { readonly item: FoundItem }): ReactNode {
  const verbs = useVerbs(verbsFor(stateOf(item)), item.queue_name) ?? [];
  if (verbs.length === 0) return null;
  return (
    <footer className="item-foot">
      <VerbButtons
        verbs={verbs}
        item={item}
        targetNow={() => targetByIds(item.queue_name, [item])}
      />
    </footer>
  );
}

/** A dead item can be redriven, unless it is leased. */
function stateOf({ state, death }: FoundItem): ItemState {
  if (state === "leased") return "leased";
  if (death !== undefined) return "dead";
  return state === "scheduled" ? "scheduled" : "ready";
}
