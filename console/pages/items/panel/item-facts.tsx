import type { ReactNode } from "react";
import { Link } from "react-router";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { itemsAddress } from "../../../addresses.ts";
import { Age, Countdown } from "../../../components/figures.tsx";
import { instantText } from "../../../format.ts";
import { useObserved } from "../../../state/observable.ts";
import { zone } from "../../../state/preferences.ts";
import { Attempts, triesOf } from "../list/attempts.tsx";
import { shortId } from "../source.ts";

/** The year that stands for never. */
const never = "9999-";

export function Facts({ item }: { readonly item: FoundItem }): ReactNode {
  const { made, max } = triesOf(item);
  const produced = item.origin_created_at ?? item.created_at;
  return (
    <section aria-label="Facts">
      <dl className="facts">
        <Fact name="queue" isWide>
          <Link className="mono" to={itemsAddress(item.queue_name)}>
            <bdi>{item.queue_name}</bdi>
          </Link>
        </Fact>
        {item.reference !== "" && (
          <Fact name="reference" isWide>
            <span className="mono">{item.reference}</span>
            <Link
              className="copy"
              to={itemsAddress(item.queue_name, { state: item.state, reference: item.reference })}
            >
              find others
            </Link>
          </Fact>
        )}
        {item.death !== undefined && (
          <Fact name="died" isWide>
            {item.death}
            {item.origin_queue !== undefined && (
              <>
                {" in "}
                <Link className="mono" to={itemsAddress(item.origin_queue, { state: "dead" })}>
                  <bdi>{item.origin_queue}</bdi>
                </Link>
              </>
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
        <Fact name="partition">{item.partition}</Fact>
        <Fact name="produced">
          <Instant at={produced} />
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

function Instant({ at }: { readonly at: string }): ReactNode {
  const told = useObserved(zone);
  const ms = Date.parse(at);
  return (
    <span title={instantText(ms, told)}>
      <Age at={ms} /> <span className="muted">ago</span>
    </span>
  );
}
