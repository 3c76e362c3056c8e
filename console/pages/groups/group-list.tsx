import { type ReactNode, type RefObject, useRef, useState } from "react";
import { Link } from "react-router";
import type { GroupInfo, QueueInfo } from "../../../openapi/schemas.ts";
import { groupsAddress } from "../../addresses.ts";
import { useMayOn, useWhoAmI } from "../../api/permissions.ts";
import { useQuery } from "../../api/use-query.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { Icon } from "../../components/glyph/glyph.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Segments } from "../../components/segments.tsx";
import { useTableUse } from "../../components/table/use-table-use.ts";
import { useAddress, useTypedText } from "../../components/use-address.ts";
import { plural } from "../../format.ts";
import { groupText, SetGroupDialog, UnblockDialog } from "./group-dialogs.tsx";
import { noItems } from "./group-edit.ts";
import { rowsOf } from "./group-state.ts";
import { GroupTable } from "./group-table.tsx";

const pageLimit = 100;
const noGroups: readonly GroupInfo[] = [];
const quickMs = 2_000;
/** The server looks at all groups for each page, so a page of many is expensive. */
const slowMs = 10_000;

interface GroupListProps {
  readonly name: string;
  /** `undefined`: not known yet. */
  readonly queue: QueueInfo | undefined;
}

export function GroupList({ name, queue }: GroupListProps): ReactNode {
  const { from, isBlockedOnly, setFrom, setBlockedOnly } = useChoice();
  const body = { queue_name: name, pivot: from, limit: pageLimit, blocked: isBlockedOnly };
  const page = useQuery("listGroups", body, {
    everyMs: (data) =>
      from === "" && !isBlockedOnly && data?.next_pivot === "" ? quickMs : slowMs,
    isEnabled: queue !== undefined,
    keepsLast: true,
  });
  const table = useRef<HTMLDivElement>(null);
  const groups = page.data?.items;
  const isOfThisPage = groups !== undefined && !page.isPlaceholderData;
  const rows = useHeldRows({
    groups: groups ?? noGroups,
    page: isOfThisPage ? JSON.stringify([from, isBlockedOnly]) : null,
    table,
  });
  const mayChange = useMayOn("admin", name);
  const isRoleKnown = useWhoAmI() !== undefined;
  const [open, setOpen] = useState<Opened | null>(null);
  const Dialog = open && dialogs[open.what];
  const field = useFilterField();
  const isMissing = from !== "" && !isBlockedOnly && isOfThisPage && groups[0]?.group !== from;
  return (
    <>
      <GroupTools
        {...{ from, isBlockedOnly, setFrom, setBlockedOnly, field }}
        count={groups?.length}
        isMore={page.data?.next_pivot !== ""}
      />
      {groups === undefined && <QueryFault of={page} what="The groups are not shown." />}
      <div ref={table}>
        <GroupTable
          name={name}
          queue={queue}
          rows={groups === undefined ? noGroups : rows}
          isLoading={groups === undefined && page.error === null}
          mayChange={isRoleKnown ? mayChange : null}
          onSet={(info) => setOpen({ what: "set", info })}
          onUnblock={(info) => setOpen({ what: "unblock", info })}
        />
      </div>
      {groups?.length === 0 && rows.length === 0 && (
        <NoGroups from={from} isBlockedOnly={isBlockedOnly} />
      )}
      <div className="under">
        {from !== "" && (
          <Link className="link" to={addressOf(name, "", isBlockedOnly)}>
            First groups
          </Link>
        )}
        {page.data !== undefined && page.data.next_pivot !== "" && (
          <Link
            className="link"
            to={addressOf(name, page.data.next_pivot, isBlockedOnly)}
            onClick={() => scrollTo(0, 0)}
          >
            Next {pageLimit}
          </Link>
        )}
        {mayChange && isMissing && (
          <Button
            look="link"
            className="link cut"
            onClick={() => setOpen({ what: "set", info: { group: from, ...noItems } })}
          >
            Set {groupText(from)}, which has no items…
          </Button>
        )}
      </div>
      {Dialog && queue && <Dialog info={open.info} queue={queue} onClose={() => setOpen(null)} />}
    </>
  );
}

const dialogs = { set: SetGroupDialog, unblock: UnblockDialog } as const;

interface Opened {
  readonly what: keyof typeof dialogs;
  readonly info: GroupInfo;
}

function addressOf(name: string, from: string, isBlockedOnly: boolean): string {
  return groupsAddress(name, { ...(from && { from }), ...(isBlockedOnly && { only: "blocked" }) });
}

/** The first group of the page and the filter are in the address. */
function useChoice() {
  const [query, change] = useAddress();
  const [from, setText] = useTypedText(query.get("from") ?? "");
  return {
    from,
    isBlockedOnly: query.get("only") === "blocked",
    setFrom: (text: string) => {
      setText(text);
      change({ from: text });
    },
    setBlockedOnly: (is: boolean) => change({ only: is ? "blocked" : "" }),
  };
}

interface HeldRows {
  readonly groups: readonly GroupInfo[];
  /** `null`: its groups are not known yet, and those of the page before stay. */
  readonly page: string | null;
  readonly table: RefObject<HTMLElement | null>;
}

/** While the reader uses the table, no row of a page comes or goes. */
function useHeldRows({ groups, page, table }: HeldRows) {
  const { isInUse, sinceTouchMs } = useTableUse(table);
  const [held, setHeld] = useState<Pick<HeldRows, "page" | "groups">>({ page: null, groups });
  const isKept = page === null || (page === held.page && (isInUse() || sinceTouchMs() < touchedMs));
  if (!isKept && (page !== held.page || groups !== held.groups)) setHeld({ page, groups });
  return rowsOf(groups, isKept ? held.groups.map(({ group }) => group) : null);
}

const touchedMs = 10_000;

function useFilterField(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    },
  });
  return field;
}

interface GroupToolsProps extends ReturnType<typeof useChoice> {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly count: number | undefined;
  readonly isMore: boolean;
}

function GroupTools(props: GroupToolsProps): ReactNode {
  const { from, isBlockedOnly, setFrom, setBlockedOnly, field, count, isMore } = props;
  return (
    <search className="tools">
      <label className="filter">
        <span className="vh">Go to a group</span>
        <Icon name="search" />
        <input
          ref={field}
          className="t"
          placeholder="Go to a group, or the next by name"
          autoComplete="off"
          spellCheck={false}
          value={from}
          onChange={({ target }) => setFrom(target.value)}
          onKeyDown={({ key, currentTarget }) => {
            if (key !== "Escape") return;
            if (from === "") currentTarget.blur();
            else setFrom("");
          }}
        />
        <kbd>/</kbd>
      </label>
      <Segments
        legend="Show"
        of={{ all: "All", blocked: "Blocked only" }}
        chosen={isBlockedOnly ? "blocked" : "all"}
        onChoose={(id) => setBlockedOnly(id === "blocked")}
      />
      <span className="muted shown grow" role="status">
        {count !== undefined &&
          `${plural(count, "group", "groups")}${isMore ? ", more follow" : ""}`}
      </span>
    </search>
  );
}

function NoGroups({ from, isBlockedOnly }: Pick<GroupToolsProps, "from" | "isBlockedOnly">) {
  if (from !== "") {
    return (
      <Empty glyph="idle">
        No {isBlockedOnly ? "blocked group" : "group"} has this name or a later one.
      </Empty>
    );
  }
  if (isBlockedOnly)
    return (
      <Empty glyph="flows">No group is blocked: of each with ready items one may be leased.</Empty>
    );
  return (
    <Empty glyph="idle">
      No group has items. A group begins with its first item, and ends with its last unless it has
      settings of its own.
    </Empty>
  );
}
