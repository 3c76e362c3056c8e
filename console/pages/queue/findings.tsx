import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Finding, TaskInfo } from "../../../openapi/schemas.ts";
import { deadAddress, groupsAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Countdown } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { Section } from "../../components/section.tsx";
import { countText, plural, spanText, withVisibleMarks } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { useServerNow } from "../../state/server-time.ts";
import { CancelTask } from "../dead-letters/task-list.tsx";
import type { QueueState } from "./queue-state.ts";
import { findingsOf, findingWord } from "./status-sentence.ts";

/** Except the worst finding and a pause, which are in the status above. */
export function Findings({ state }: { readonly state: QueueState }): ReactNode {
  const others = state.explain.data ? findingsOf(state.explain.data).others.slice(1) : [];
  const task = useDeadTask(state);
  const dead = state.dead.count ?? 0;
  const hasDeadFinding = others.some(({ kind }) => kind === "dead_items");
  const isKnown = state.explain.data !== undefined;
  const isCalm = isKnown && others.length === 0 && task === undefined && dead === 0;
  return (
    <Section className="block finds-place" id="finds" title="findings" tabIndex={0}>
      {isCalm && <Empty glyph="flows">Nothing else is wrong.</Empty>}
      <ul className="finds">
        {others.map((finding) => (
          <FindingRow key={finding.kind} finding={finding} state={state} />
        ))}
        {dead > 0 && !hasDeadFinding && <DeadItemsRow count={dead} state={state} />}
        {task && <TaskRow task={task} />}
      </ul>
    </Section>
  );
}

/** The task that runs on its dead queue. */
function useDeadTask({ info }: QueueState): TaskInfo | undefined {
  const overview = useOverview();
  const deadQueue = info.data?.dead_queue ?? "";
  return overview?.tasks.find(({ queue_name: name }) => deadQueue !== "" && name === deadQueue);
}

interface FindingRowProps {
  readonly finding: Finding;
  readonly state: QueueState;
}

function FindingRow({ finding, state }: FindingRowProps): ReactNode {
  const { kind, text, since, next_at: nextAt } = finding;
  const { text: word, glyph, tone } = findingWord(kind);
  const now = useServerNow();
  const address = addressOf(kind, state);
  return (
    <li className={`h-${tone}`}>
      <StateGlyph name={glyph} />
      <div>
        <b>{word}</b> <span>{withVisibleMarks(text)}</span>
      </div>
      {address !== null ? (
        <Show to={address} />
      ) : (
        <span>
          {nextAt ? (
            <>
              next <Countdown at={Date.parse(nextAt)} />
            </>
          ) : (
            `for ${spanText(now - Date.parse(since))}`
          )}
        </span>
      )}
    </li>
  );
}

/** What a finding is about; `null`: the queue itself. */
function addressOf(kind: string, { name, info }: QueueState): string | null {
  if (kind === "groups_blocked") return groupsAddress(name, { only: "blocked" });
  const deadQueue = info.data?.dead_queue ?? "";
  return kind === "dead_items" && deadQueue !== "" ? deadAddress(deadQueue) : null;
}

function Show({ to }: { readonly to: string }): ReactNode {
  return (
    <Link className="link" to={to}>
      Show
    </Link>
  );
}

interface DeadItemsRowProps {
  readonly count: number;
  readonly state: QueueState;
}

function DeadItemsRow({ count, state }: DeadItemsRowProps): ReactNode {
  const deadQueue = state.info.data?.dead_queue ?? "";
  return (
    <li className="h-ok">
      <StateGlyph name="dead" />
      <div>
        <b>{plural(count, "is dead", "are dead")}</b>{" "}
        <span>
          in <bdi>{deadQueue}</bdi>
        </span>
      </div>
      <Show to={deadAddress(deadQueue)} />
    </li>
  );
}

function TaskRow({ task }: { readonly task: TaskInfo }): ReactNode {
  const { action, matched, moved } = task;
  return (
    <li className="h-info">
      <StateGlyph name="retry" />
      <div>
        <b>{action} runs</b>{" "}
        <span>
          {countText(moved)} of {countText(matched)}
        </span>
      </div>
      <CancelTask task={task} />
    </li>
  );
}
