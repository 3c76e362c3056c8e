// The clients that hold items of the queue, and those that wait for some: the first few, or all.

import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import type { HoldingClient, WaitingClient } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { LeaseLeft } from "../../components/lease-left.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Section } from "../../components/section.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { countText, durationMs, itemsText, plural, spanText } from "../../format.ts";
import { useServerNow } from "../../state/server-time.ts";
import { clientsParam, clientsShown, eachClient, type QueueState } from "./queue-state.ts";

interface StateProps {
  readonly state: QueueState;
}

export function Holders({ state }: StateProps): ReactNode {
  const { name, clients, info, row } = state;
  const { data } = clients;
  const timeoutMs = durationMs(info.data?.lease_timeout ?? "") ?? 0;
  return (
    <Section
      className="block clients"
      id="holding"
      title="holders"
      aside={
        data && (
          <Counts count={data.holding_count} shown={data.holding.length} state={state}>
            , {itemsText(row?.leased ?? 0)}
            {data.partial && ", without a shard that did not answer"}
          </Counts>
        )
      }
    >
      {clients.data === undefined && <QueryFault of={clients} what="Not known." />}
      {data?.holding.length === 0 && (
        <Empty glyph="idle">
          None: a client holds an item from its lease until it completes it.
        </Empty>
      )}
      <ClientTable
        label="Holders"
        clients={data?.holding ?? []}
        state={state}
        columns={holdingColumns(name, timeoutMs)}
      />
    </Section>
  );
}

function holdingColumns(name: string, timeoutMs: number): readonly Column<HoldingClient>[] {
  return [
    clientColumn((client) => itemsAddress(name, { state: "leased", holder: client })),
    { title: "items", className: "n", cell: ({ items }) => countText(items) },
    {
      title: "nearest deadline",
      className: "n",
      cell: ({ next_lapse_at: at }) => (
        <LeaseLeft from={Date.parse(at) - timeoutMs} until={Date.parse(at)} />
      ),
    },
  ];
}

export function WaitingClients({ state }: StateProps): ReactNode {
  const { data } = state.clients;
  return (
    <Section
      className="block clients"
      id="waiting"
      title="waiting for items, in order"
      aside={
        data && <Counts count={data.waiting_count} shown={data.waiting.length} state={state} />
      }
    >
      {data?.waiting.length === 0 && (
        <Empty glyph="clients">
          None. A worker that calls <code>queue.lease</code> is listed here until it gets items.
        </Empty>
      )}
      <ClientTable
        label="Clients in line"
        clients={data?.waiting ?? []}
        state={state}
        columns={waitingColumns}
        hasHiddenHead
      />
    </Section>
  );
}

const waitingColumns: readonly Column<WaitingClient>[] = [
  clientColumn(),
  { title: "items", className: "n", cell: ({ batch_size: count }) => `for ${countText(count)}` },
  { title: "since", className: "n muted", cell: ({ since }) => <Since at={Date.parse(since)} /> },
];

function Since({ at }: { readonly at: number }): ReactNode {
  return `since ${spanText(useServerNow() - at)}`;
}

/** `addressOf`: the items of the client. */
function clientColumn(addressOf?: (name: string) => string) {
  return {
    title: "client",
    className: "cut",
    isHeading: true,
    hint: ({ client_id: name }: { readonly client_id: string }) => name,
    cell: ({ client_id: name }: { readonly client_id: string }) => {
      if (name === "") return <i className="muted">not known</i>;
      const text = <bdi>{name}</bdi>;
      return addressOf === undefined ? text : <Link to={addressOf(name)}>{text}</Link>;
    },
  };
}

interface CountsProps extends StateProps {
  /** All of them: the server may return fewer. */
  readonly count: number;
  readonly shown: number;
  readonly children?: ReactNode;
}

/** How many clients there are, and the link to the others. */
function Counts({ count, shown, state: { isEachClient }, children }: CountsProps): ReactNode {
  const [query] = useSearchParams();
  const next = new URLSearchParams(query);
  if (isEachClient) next.delete(clientsParam);
  else next.set(clientsParam, eachClient);
  return (
    <>
      <span className="muted end">
        {isEachClient && shown < count && `${countText(shown)} of `}
        {plural(count, "client", "clients")}
        {children}
      </span>
      {count > clientsShown && (
        <Link className="link" to={`?${next}`} replace preventScrollReset>
          {isEachClient ? "Show fewer" : `${countText(count - clientsShown)} more`}
        </Link>
      )}
    </>
  );
}

interface ClientTableProps<Client> extends StateProps {
  readonly label: string;
  readonly clients: readonly Client[];
  readonly columns: readonly Column<Client>[];
  readonly hasHiddenHead?: boolean;
}

/** It scrolls if all are shown: there may be a thousand. */
function ClientTable<Client>(props: ClientTableProps<Client>): ReactNode {
  const { label, clients, state, ...rest } = props;
  if (clients.length === 0) return null;
  const rows = state.isEachClient ? clients : clients.slice(0, clientsShown);
  const table = (
    <Table className="mini" label={label} rows={rows} keyOf={(_, index) => index} {...rest} />
  );
  if (!state.isEachClient) return table;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll it.
    <section className="scrolls" tabIndex={0} aria-label={`${label}, scrolls`}>
      {table}
    </section>
  );
}
