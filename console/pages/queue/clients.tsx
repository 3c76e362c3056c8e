// Who holds items of the queue and who waits for some: as many as have a place, or all of them.

import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import type { AskingClient, HoldingClient } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { LeaseLeft } from "../../components/lease-left.tsx";
import { Fault } from "../../components/refusal.tsx";
import { countText, itemsText, many, spanText } from "../../format.ts";
import { useServerNow } from "../../state/server-time.ts";
import { durationMs } from "./duration.ts";
import { clientsParam, clientsShown, eachClient, type QueueState } from "./queue-state.ts";

interface StateProps {
  readonly state: QueueState;
}

export function Holding({ state }: StateProps): ReactNode {
  const { name, clients, info, row } = state;
  const { data, error } = clients;
  const timeoutMs = durationMs(info.data?.lease_timeout ?? "") ?? 0;
  const holding = shownOf(data?.holding, state);
  return (
    <section className="block clients" aria-labelledby="holding">
      <div className="ph">
        <h2 id="holding">who holds</h2>
        {data && (
          <Counts count={data.holding_count} shown={holding.length} state={state}>
            , {itemsText(row?.leased ?? 0)}
            {data.partial && ", a shard did not say"}
          </Counts>
        )}
      </div>
      {error !== null && data === undefined && <Fault of={error} what="Not known." />}
      {data?.holding.length === 0 && (
        <Empty glyph="idle">Nobody: an item is held from its lease until it is completed.</Empty>
      )}
      {holding.length > 0 && (
        <Room label="Holders" isEach={state.isEachClient}>
          <table className="mini" aria-label="Holders">
            <thead>
              <tr>
                <th scope="col">client</th>
                <th scope="col" className="n">
                  items
                </th>
                <th scope="col" className="n">
                  nearest deadline
                </th>
              </tr>
            </thead>
            <tbody>
              {holding.map((client) => (
                <Holder key={client.client_id} {...{ name, client, timeoutMs }} />
              ))}
            </tbody>
          </table>
        </Room>
      )}
    </section>
  );
}

function shownOf<Client>(clients: readonly Client[] = [], { isEachClient }: QueueState) {
  return isEachClient ? clients : clients.slice(0, clientsShown);
}

interface CountsProps extends StateProps {
  /** All that there are: the server may have named fewer. */
  readonly count: number;
  readonly shown: number;
  readonly children?: ReactNode;
}

/** How many there are, and the way to those that have no place here. */
function Counts({ count, shown, state: { isEachClient }, children }: CountsProps): ReactNode {
  const [query] = useSearchParams();
  const next = new URLSearchParams(query);
  if (isEachClient) next.delete(clientsParam);
  else next.set(clientsParam, eachClient);
  return (
    <>
      <span className="muted end">
        {isEachClient && shown < count && `${countText(shown)} of `}
        {many(count, "client", "clients")}
        {children}
      </span>
      {count > clientsShown && (
        <Link className="link" to={`?${next}`} replace preventScrollReset>
          {isEachClient ? "Show fewer" : `${countText(count - shown)} more`}
        </Link>
      )}
    </>
  );
}

interface RoomProps {
  readonly label: string;
  readonly isEach: boolean;
  readonly children: ReactNode;
}

/** All of them may be a thousand. */
function Room({ label, isEach, children }: RoomProps): ReactNode {
  if (!isEach) return children;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where there are many.
    <section className="scrolls" tabIndex={0} aria-label={`${label}, scrolls`}>
      {children}
    </section>
  );
}

interface HolderProps {
  readonly name: string;
  readonly client: HoldingClient;
  readonly timeoutMs: number;
}

function Holder({ name, client: of, timeoutMs }: HolderProps): ReactNode {
  const { client_id: client, items, next_lapse_at: at } = of;
  const until = Date.parse(at);
  return (
    <tr>
      <ClientName name={client} to={itemsAddress(name, { state: "leased", holder: client })} />
      <td className="n">{countText(items)}</td>
      <td className="n">
        <LeaseLeft from={until - timeoutMs} until={until} />
      </td>
    </tr>
  );
}

interface ClientNameProps {
  readonly name: string;
  /** The items that it holds. */
  readonly to?: string;
}

function ClientName({ name, to }: ClientNameProps): ReactNode {
  return (
    <th scope="row" className="cut" title={name}>
      {name === "" && <i className="muted">not known</i>}
      {name !== "" && to === undefined && <bdi>{name}</bdi>}
      {name !== "" && to !== undefined && (
        <Link to={to}>
          <bdi>{name}</bdi>
        </Link>
      )}
    </th>
  );
}

export function Asking({ state }: StateProps): ReactNode {
  const { data } = state.clients;
  const asking = shownOf(data?.asking, state);
  return (
    <section className="block clients" aria-labelledby="asking">
      <div className="ph">
        <h2 id="asking">who asks, in order</h2>
        {data && <Counts count={data.asking_count} shown={asking.length} state={state} />}
      </div>
      {data?.asking.length === 0 && (
        <Empty glyph="clients">
          Nobody waits in line. A worker that calls <code>queue.lease</code> stands here until it is
          served.
        </Empty>
      )}
      {asking.length > 0 && (
        <Room label="Clients in line" isEach={state.isEachClient}>
          <table className="mini" aria-label="Clients in line">
            <thead className="vh">
              <tr>
                <th scope="col">client</th>
                <th scope="col">items</th>
                <th scope="col">since</th>
              </tr>
            </thead>
            <tbody>
              {asking.map((client, at) => (
                <Asker key={at} client={client} />
              ))}
            </tbody>
          </table>
        </Room>
      )}
    </section>
  );
}

function Asker({ client }: { readonly client: AskingClient }): ReactNode {
  const now = useServerNow();
  return (
    <tr>
      <ClientName name={client.client_id} />
      <td className="n">for {countText(client.batch_size)}</td>
      <td className="n muted">since {spanText(now - Date.parse(client.since))}</td>
    </tr>
  );
}
