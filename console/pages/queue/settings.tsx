import type { ReactNode } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { groupsAddress, queueAddress } from "../../addresses.ts";
import { Section } from "../../components/section.tsx";
import { countText, instantText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { type SettingId, settings } from "./dialogs/settings-edit.ts";
import type { QueueState } from "./queue-state.ts";

export function Settings({ state }: { readonly state: QueueState }): ReactNode {
  const zone = useZone();
  const { info, inspect, shard } = state;
  const instantOf = (at: string | undefined) => (at ? instantText(Date.parse(at), zone) : "–");
  const facts = info.data && factsOf(info.data, inspect.data?.partitions, shard);
  return (
    <Section
      id="settings"
      title="settings"
      aside={
        info.data && <span className="muted end">changed {instantOf(info.data.updated_at)}</span>
      }
    >
      <dl className="settings">
        {settings
          .filter(({ id, isOfGroups }) => id !== "reference" && !isOfGroups)
          .map(({ id, label }) => (
            <Fact key={id} label={label} off={facts ? offTexts[id] : "–"}>
              {facts?.[id]}
            </Fact>
          ))}
        <div>
          <dt>created</dt>
          <dd className="cut">{instantOf(info.data?.created_at)}</dd>
        </div>
        {/* Last, so that the others keep their places. */}
        {info.data?.grouped && (
          <Fact label="Groups" off="">
            <Link className="link" to={groupsAddress(info.data.queue_name)}>
              take turns
            </Link>
          </Fact>
        )}
        {info.data?.grouped &&
          settings
            .filter(({ isOfGroups }) => isOfGroups)
            .map(({ id, label }) => (
              <Fact key={id} label={label} off={offTexts[id]}>
                {facts?.[id]}
              </Fact>
            ))}
      </dl>
    </Section>
  );
}

interface FactProps {
  readonly label: string;
  /** Replaces an empty value. */
  readonly off: string | undefined;
  readonly children: ReactNode;
}

function Fact({ label, off, children }: FactProps): ReactNode {
  return (
    <div>
      <dt>{label.toLowerCase()}</dt>
      <dd className={children ? "cut mono" : "cut muted"}>{children || off}</dd>
    </div>
  );
}

/** For a setting that is off. */
const offTexts: Partial<Record<SettingId, string>> = {
  max_attempts: "no limit",
  leased_max: "no limit",
  lease_rate: "no limit",
  waiting_max: "no limit",
  group_leased_max: "no limit",
  group_rate: "no limit",
  group_waiting_max: "no limit",
  dead_queue: "none",
  retry_backoff: "none",
  unique_for: "off",
};

/** `""`: the setting is off. */
export function factsOf(
  info: QueueInfo,
  partitionCount: number | undefined,
  shard: number | null,
): Readonly<Record<SettingId, ReactNode>> {
  const surplus = (partitionCount ?? 0) - info.requested_partitions;
  const drain = surplus > 0 ? ` + ${surplus} drain` : "";
  const where = shard === null ? "" : `, in shard ${shard}`;
  const limit = (value: number) => (value === 0 ? "" : countText(value));
  return {
    ...info,
    max_attempts: limit(info.max_attempts),
    leased_max: limit(info.leased_max),
    waiting_max: limit(info.waiting_max),
    group_leased_max: limit(info.group_leased_max),
    group_waiting_max: limit(info.group_waiting_max),
    requested_partitions: `${countText(info.requested_partitions)}${drain}${where}`,
    dead_queue: info.dead_queue && (
      <Link className="link" to={queueAddress(info.dead_queue)}>
        <bdi>{info.dead_queue}</bdi>
      </Link>
    ),
  };
}
