import type { ReactNode } from "react";
import type { QueueClientsReply } from "../../openapi/schemas.ts";
import { countText, many, spanText } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { Countdown } from "../parts/figures.tsx";
import { Fault } from "../parts/refusal.tsx";
import { useServerNow } from "../time.ts";
import { durationMs } from "./duration.ts";
import { clientsShown, type QueueState } from "./queue-state.ts";

interface StateProps {
  readonly state: QueueState;
}

export function Holding({ state: { clients, info, row } }: StateProps): ReactNode {
  const { data, error } = clients;
  const timeoutMs = durationMs(info.data?.lease_timeout ?? "") ?? 0;
  return (
    <section className="block clients" aria-labelledby="holding">
      <div className="ph">
        <h2 id="holding">who holds</h2>
        <span className="muted end">
          {data &&
            `${many(data.holding_count, "client", "clients")}, ${countText(row?.leased ?? 0)} items`}
          {data?.partial && ", a shard did not say"}
        </span>
      </div>
      {error !== null && data === undefined && <Fault of={error} what="Not known." />}
      {data?.holding.length === 0 && (
        <Empty glyph="idle">Nobody: an item is held from its lease until it is completed.</Empty>
      )}
      {data !== undefined && data.holding.length > 0 && (
        <HoldingTable data={data} timeoutMs={timeoutMs} />
      )}
    </section>
  );
}

interface HoldingTableProps {
  readonly data: QueueClientsReply;
  readonly timeoutMs: number;
}

function HoldingTable({ data, timeoutMs }: HoldingTableProps): ReactNode {
  return (
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
        {data.holding.map(({ client_id: client, items, next_lapse_at: at }) => (
          <tr key={client}>
            <ClientName name={client} />
            <td className="n">{countText(items)}</td>
            <td className="n">
              <Left atMs={Date.parse(at)} ofMs={timeoutMs} /> <Countdown at={Date.parse(at)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ClientName({ name }: { readonly name: string }): ReactNode {
  return (
    <th scope="row" className="cut" title={name}>
      {name === "" ? <i className="muted">not known</i> : <bdi>{name}</bdi>}
    </th>
  );
}

interface LeftProps {
  readonly atMs: number;
  readonly ofMs: number;
}

/** How much of a lease is left; the figure beside it says the same. */
function Left({ atMs, ofMs }: LeftProps): ReactNode {
  const now = useServerNow();
  if (ofMs <= 0) return null;
  const part = Math.max(0, Math.min(1, (atMs - now) / ofMs));
  return (
    <svg
      className={part < 0.25 ? "lease-left low" : "lease-left"}
      viewBox="0 0 64 2"
      aria-hidden="true"
    >
      <path d="M0 1h64" />
      <path d={`M0 1h${(64 * part).toFixed(1)}`} />
    </svg>
  );
}

export function Asking({ state: { clients } }: StateProps): ReactNode {
  const { data } = clients;
  const now = useServerNow();
  return (
    <section className="block clients" aria-labelledby="asking">
      <div className="ph">
        <h2 id="asking">who asks, in order</h2>
        <span className="muted end">{data && many(data.asking_count, "client", "clients")}</span>
      </div>
      {data?.asking.length === 0 && (
        <Empty glyph="clients">
          Nobody waits in line. A worker that calls <code>queue.lease</code> stands here until it is
          served.
        </Empty>
      )}
      {data !== undefined && data.asking.length > 0 && (
        <table className="mini" aria-label="Clients in line">
          <thead className="vh">
            <tr>
              <th scope="col">client</th>
              <th scope="col">items</th>
              <th scope="col">since</th>
            </tr>
          </thead>
          <tbody>
            {data.asking.slice(0, clientsShown).map((client, index) => (
              <tr key={index}>
                <ClientName name={client.client_id} />
                <td className="n">for {countText(client.batch_size)}</td>
                <td className="n muted">since {spanText(now - Date.parse(client.since))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
