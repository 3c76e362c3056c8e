import type { ReactNode } from "react";
import { Link } from "react-router";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { groupsAddress, itemsAddress } from "../../../addresses.ts";
import { Age, Countdown } from "../../../components/figures.tsx";
import { Attempts, attemptsOf } from "../list/attempts.tsx";
import { shortId } from "../source.ts";

/** The year that means never. */
const never = "9999-";

export function ItemFacts({ item }: { readonly item: FoundItem }): ReactNode {
  const { made, max } = attemptsOf(item);
  const { queue_name: queue, reference, state, origin_queue: origin } = item;
  const home = item.death === undefined ? queue : (origin ?? queue);
  return (
    <section aria-label="Facts">
      <dl className="facts">
        <Fact name="queue" isWide>
          <QueueLink name={queue} to={itemsAddress(queue)} />
        </Fact>
        {reference !== "" && (
          <Fact name="reference" isWide>
            <span className="mono">{reference}</span>
            <Link className="copy" to={itemsAddress(queue, { state, reference })}>
              find others
            </Link>
          </Fact>
        )}
        {item.group !== undefined && (
          <Fact name="group" isWide>
            <Link className="mono" to={groupsAddress(home, { from: item.group })}>
              <bdi>{item.group}</bdi>
            </Link>
            <Link className="copy" to={itemsAddress(queue, { state, group: item.group })}>
              find others
            </Link>
          </Fact>
        )}
        {item.death !== undefined && (
          <Fact name="died" isWide>
            {item.death}
            {origin !== undefined && " in "}
            {origin !== undefined && (
              <QueueLink name={origin} to={itemsAddress(origin, { state: "dead" })} />
            )}
          </Fact>
        )}
        {item.reason !== undefined && (
          <Fact name="reason" isWide>
            <span className="mono">{item.reason}</span>
          </Fact>
        )}
        <Fact name="attempts">
          {max === 0 ? made : `${made} of ${max}`} {max > 0 && <Attempts made={made} max={max} />}
        </Fact>
        {item.own_max_attempts !== undefined && (
          <Fact name="own max attempts">{item.own_max_attempts}</Fact>
        )}
        {item.own_lease_timeout !== undefined && (
          <Fact name="own lease timeout">{item.own_lease_timeout}</Fact>
        )}
        {item.priority > 0 && <Fact name="priority">{item.priority}</Fact>}
        <Fact name="partition">{item.partition}</Fact>
        <Fact name="produced">
          <Age at={Date.parse(item.origin_created_at ?? item.created_at)} />{" "}
          <span className="muted">ago</span>
        </Fact>
        <Fact name="expires">
          {item.expire_deadline.startsWith(never) ? (
            "never"
          ) : (
            <Countdown at={Date.parse(item.expire_deadline)} />
          )}
        </Fact>
        <Fact name="first id">
          <span className="mono">{shortId(item.origin_id ?? item.id)}</span>
        </Fact>
        {item.redriven !== undefined && <Fact name="redriven">{item.redriven}×</Fact>}
      </dl>
    </section>
  );
}

function QueueLink({ name, to }: { readonly name: string; readonly to: string }): ReactNode {
  return (
    <Link className="mono" to={to}>
      <bdi>{name}</bdi>
    </Link>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

function Fact({ name, children, isWide = false }: FactProps): ReactNode {
  return (
    <div className={isWide ? "all" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
