import type { ReactNode } from "react";
import { Link } from "react-router";
import type { KeyInfo } from "../../../openapi/schemas.ts";
import { Empty } from "../../components/empty.tsx";
import { countText, instantText, spanText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { useMachineNow } from "../../state/server-time.ts";

interface KeyTableProps {
  /** `null`: not known yet. */
  readonly keys: readonly KeyInfo[] | null;
  readonly me: string;
}

const titles = ["Name", "May", "Queues", "Digest", "Last used"] as const;
const ghostCount = 3;

export function KeyTable({ keys, me }: KeyTableProps): ReactNode {
  if (keys?.length === 0) return <Empty glyph="note">The file names no key.</Empty>;
  return (
    <section className="keys-place">
      <table className="table key-table fields" aria-label="Keys">
        <thead>
          <tr>
            {titles.map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
            <th
              scope="col"
              className="n"
              title="Calls that it was not allowed to make since the server started"
            >
              Refused
            </th>
          </tr>
        </thead>
        <tbody>
          {keys === null &&
            Array.from({ length: ghostCount }, (_, row) => (
              <tr key={row} className="ghost">
                {Array.from({ length: titles.length + 1 }, (__, at) => (
                  <td key={at}>
                    <i />
                  </td>
                ))}
              </tr>
            ))}
          {keys?.map((key) => (
            <KeyRow key={key.digest} of={key} isMine={key.name !== "" && key.name === me} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface KeyRowProps {
  readonly of: KeyInfo;
  readonly isMine: boolean;
}

function KeyRow({ of, isMine }: KeyRowProps): ReactNode {
  const { name, rights, digest, last_used_at: usedAt, refusals } = of;
  const now = useMachineNow();
  const told = useObserved(zone);
  const queues = rights.map((each) => each.queues.join(" ")).join("; ");
  const usedMs = usedAt === null ? 0 : Date.parse(usedAt);
  return (
    <tr>
      <th scope="row" className="cut">
        <Link to={`/keys?${new URLSearchParams({ key: name })}`} title="What it did">
          {name || "without a name"}
        </Link>
        {isMine && <span className="muted"> you</span>}
      </th>
      <td data-l="May">{rights.map(({ roles }) => roles.join(", ")).join("; ")}</td>
      <td data-l="Queues" className="mono cut" title={queues}>
        {queues}
      </td>
      <td data-l="Digest" className="mono muted">
        {digest}…
      </td>
      <td data-l="Last used" className="muted">
        {usedAt === null ? (
          "not since the start"
        ) : (
          <time dateTime={usedAt} title={instantText(usedMs, told)}>
            {now - usedMs < 2_000 ? "now" : `${spanText(now - usedMs)} ago`}
          </time>
        )}
      </td>
      <td data-l="Refused" className={refusals === 0 ? "n z" : "n warn"}>
        {countText(refusals)}
      </td>
    </tr>
  );
}
