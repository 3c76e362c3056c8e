import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ItemGroup } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Age, Noted } from "../../components/figures.tsx";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { countText, itemsText } from "../../format.ts";
import { type Grouping, type Groups, groupings, type useGroups } from "./use-groups.ts";

interface GroupTableProps {
  readonly name: string;
  readonly by: Grouping;
  readonly found: ReturnType<typeof useGroups>;
  /** `null`: nothing may be changed, so nothing is chosen. */
  readonly chosen: ReadonlySet<string> | null;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

/** Of more than so many it would take a page to find one. */
const shownMax = 200;

export function GroupTable({ name, by, found, chosen, onChoose }: GroupTableProps): ReactNode {
  const { data } = found;
  const groups = (data?.groups ?? []).slice(0, shownMax);
  const toggle = (value: string) => {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    onChoose(next);
  };
  const cursor = useGroupKeys({ name, by, groups, toggle: chosen === null ? null : toggle });
  const isEach = groups.length > 0 && groups.every(({ value }) => chosen?.has(value));
  return (
    <section aria-label="Groups">
      <table className="table tall" aria-label={`Dead items by ${groupings[by].label}`}>
        <thead>
          <tr>
            <th scope="col" className="c-x">
              {chosen === null ? (
                <span className="vh">Selected</span>
              ) : (
                <input
                  type="checkbox"
                  aria-label="Select all groups"
                  checked={isEach}
                  onChange={() => onChoose(new Set(isEach ? [] : groups.map(({ value }) => value)))}
                />
              )}
            </th>
            <th scope="col">{groupings[by].title}</th>
            <th scope="col" className="n c-count">
              Items
            </th>
            <th scope="col" className="c-share c-2">
              Share
            </th>
            <th scope="col" className="n c-when c-2">
              First
            </th>
            <th scope="col" className="n c-when">
              Last
            </th>
          </tr>
        </thead>
        <tbody>
          {data === undefined && found.error === null && <GhostGroups />}
          {groups.map((group) => (
            <GroupRow
              key={group.value}
              {...{ name, by, group }}
              itemCount={data?.itemCount ?? 1}
              isPart={data?.isPart ?? false}
              isCurrent={group.value === cursor}
              isChosen={chosen?.has(group.value) ?? false}
              onChoose={chosen === null ? null : toggle}
            />
          ))}
        </tbody>
      </table>
      {data !== undefined && groups.length === 0 && (
        <Empty glyph="idle">
          Nothing is dead here. Items come when their attempts are used up, when they expire, or
          when they are given up.
        </Empty>
      )}
      {data !== undefined && groups.length > 0 && <Under by={by} found={found} />}
    </section>
  );
}

function Under({ by, found }: Pick<GroupTableProps, "by" | "found">): ReactNode {
  const { data } = found;
  if (data === undefined) return null;
  const count = data.groups.length;
  return (
    <div className="under">
      <span role="status">
        {countText(count)} {count === 1 ? "group" : "groups"}, {data.isPart && "at least "}
        {itemsText(data.itemCount)}, {lookedText(data)}
      </span>
      <span className="wide-only">
        as of <Noted at={data.seenAt} />
      </span>
      <Button look="link" onClick={() => void found.refetch()}>
        look again
      </Button>
      {by === "reason" && (
        <span className="end wide-only">Numbers, times and ids in a reason do not count.</span>
      )}
    </div>
  );
}

function lookedText({ isPart, isGathering, lookedAt }: Groups): string {
  if (!isPart) return "all looked at";
  if (isGathering) return `${countText(lookedAt)} looked at so far…`;
  return `of the first ${countText(lookedAt)} looked at`;
}

interface GroupRowProps {
  readonly name: string;
  readonly by: Grouping;
  readonly group: ItemGroup;
  readonly itemCount: number;
  /** There may be more of it. */
  readonly isPart: boolean;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  readonly onChoose: ((value: string) => void) | null;
}

function addressOf(name: string, by: Grouping, value: string): string {
  return itemsAddress(name, { [groupings[by].param]: value });
}

function GroupRow(props: GroupRowProps): ReactNode {
  const { name, by, group, itemCount, isPart, isCurrent, isChosen, onChoose } = props;
  const { value, count, first_at: first, last_at: last } = group;
  const text = value === "" ? groupings[by].none : value;
  const names = [isCurrent && "cur", isChosen && "sel"].filter(Boolean).join(" ");
  return (
    <tr aria-current={isCurrent || undefined} className={names || undefined}>
      <td className="c-x">
        {onChoose !== null && (
          <input
            type="checkbox"
            aria-label={`Select ${text}`}
            checked={isChosen}
            onChange={() => onChoose(value)}
          />
        )}
      </td>
      <th scope="row">
        <Link
          className={value === "" ? "cut muted" : "cut"}
          title={text}
          to={addressOf(name, by, value)}
        >
          <bdi>{text}</bdi>
        </Link>
      </th>
      <td className="n">
        {countText(count)}
        {isPart && "+"}
      </td>
      <td className="c-2">
        <span className="share" aria-hidden="true">
          <i style={{ width: `${((count / itemCount) * 100).toFixed(1)}%` }} />
        </span>
      </td>
      <td className="n muted c-2">
        <Age at={Date.parse(first)} />
      </td>
      <td className="n muted">
        <Age at={Date.parse(last)} />
      </td>
    </tr>
  );
}

function GhostGroups(): ReactNode {
  return [0, 1, 2, 3].map((row) => (
    <tr key={row} className="ghost">
      <td className="c-x" />
      <td>
        <i />
      </td>
      <td className="n">
        <i />
      </td>
      <td className="c-2" />
      <td className="c-2" />
      <td />
    </tr>
  ));
}

interface GroupKeys {
  readonly name: string;
  readonly by: Grouping;
  readonly groups: readonly ItemGroup[];
  readonly toggle: ((value: string) => void) | null;
}

/** Returns the value of the group under the keyboard. */
function useGroupKeys({ name, by, groups, toggle }: GroupKeys): string | null {
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  const move = (step: number) => {
    const at = groups.findIndex(({ value }) => value === cursor);
    const next = at === -1 ? 0 : Math.max(0, Math.min(groups.length - 1, at + step));
    setCursor(groups[next]?.value ?? null);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    x: () => cursor !== null && toggle?.(cursor),
    Enter: ({ target }) => {
      const isPressable =
        target instanceof Element && target.closest("a, button, summary") !== null;
      if (cursor !== null && !isPressable) void navigate(addressOf(name, by, cursor));
    },
    Escape: () => setCursor(null),
  });
  return cursor;
}
