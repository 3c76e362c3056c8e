import type { ReactNode } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { queueAddress } from "../../addresses.ts";
import { countText, instantText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import type { QueueState } from "./queue-state.ts";

interface Fact {
  readonly term: string;
  readonly value: ReactNode;
  /** Said where it is off. */
  readonly isOff?: boolean;
}

export function Settings({ state }: { readonly state: QueueState }): ReactNode {
  const told = useObserved(zone);
  const { info, inspect, shard } = state;
  const facts = info.data ? factsOf(info.data, inspect.data?.partitions, shard) : ghosts;
  return (
    <section className="sec" aria-labelledby="settings">
      <div className="ph">
        <h2 id="settings">settings</h2>
        {info.data && (
          <span className="muted end">
            changed {instantText(Date.parse(info.data.updated_at), told)}
          </span>
        )}
      </div>
      <dl className="settings">
        {facts.map(({ term, value, isOff = false }) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd className={isOff ? "cut muted" : "cut mono"}>{value}</dd>
          </div>
        ))}
        <div>
          <dt>created</dt>
          <dd className="cut">
            {info.data ? instantText(Date.parse(info.data.created_at), told) : "–"}
          </dd>
        </div>
      </dl>
    </section>
  );
}

const terms = [
  "lease timeout",
  "max attempts",
  "leased at most",
  "expire timeout",
  "partitions",
  "lease rate",
  "dead queue",
  "unique for",
] as const;

const ghosts: readonly Fact[] = terms.map((term) => ({ term, value: "–", isOff: true }));

export function factsOf(
  info: QueueInfo,
  partitionCount: number | undefined,
  shard: number | null,
): readonly Fact[] {
  const surplus = (partitionCount ?? 0) - info.requested_partitions;
  const drain = surplus > 0 ? ` + ${surplus} drain` : "";
  const where = shard === null ? "" : `, in shard ${shard}`;
  const limit = (value: number) =>
    value === 0 ? { value: "no limit", isOff: true } : { value: countText(value) };
  const text = (value: string, off: string) =>
    value === "" ? { value: off, isOff: true } : { value };
  const values: Readonly<Record<(typeof terms)[number], Omit<Fact, "term">>> = {
    "lease timeout": { value: info.lease_timeout },
    "max attempts": limit(info.max_attempts),
    "leased at most": limit(info.leased_max),
    "expire timeout": { value: info.expire_timeout },
    partitions: { value: `${countText(info.requested_partitions)}${drain}${where}` },
    "lease rate": text(info.lease_rate, "no limit"),
    "dead queue":
      info.dead_queue === ""
        ? { value: "none", isOff: true }
        : { value: <DeadQueue name={info.dead_queue} /> },
    "unique for": text(info.unique_for, "off"),
  };
  return terms.map((term) => ({ term, ...values[term] }));
}

function DeadQueue({ name }: { readonly name: string }): ReactNode {
  return (
    <Link className="link" to={queueAddress(name)}>
      <bdi>{name}</bdi>
    </Link>
  );
}
