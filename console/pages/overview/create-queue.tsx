import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ask, type Call, Refused } from "../../api/call.ts";
import { ChangeDialog } from "../../components/dialog/dialog.tsx";
import { Choice, Field, Option, QueueOptions } from "../../components/dialog/field.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { pollNow, useQueueNames } from "../../state/overview-poll.ts";
import { showToast } from "../../state/toast.ts";

interface Definition {
  readonly name: string;
  readonly leaseTimeout: string;
  readonly expireTimeout: string;
  readonly attemptsMax: string;
  /** A queue, or one of the two below. */
  readonly deadQueue: string;
  readonly priorityAging: string;
  readonly isGrouped: boolean;
  readonly groups: GroupRules;
}

/** Texts as typed; `""` = no limit. */
interface GroupRules {
  readonly leasedMax: string;
  readonly rate: string;
  readonly waitingMax: string;
  readonly order: string;
  readonly onDead: string;
}

/** Not a valid name of a queue. */
const ownDeadQueue = "~own";
const none = "~none";

export const usual: Definition = {
  name: "",
  leaseTimeout: "60m",
  expireTimeout: "24h",
  attemptsMax: "10",
  deadQueue: ownDeadQueue,
  priorityAging: "60s",
  isGrouped: false,
  groups: { leasedMax: "", rate: "", waitingMax: "", order: "loose", onDead: "continue" },
};

/** The dead queue first, unless it exists: the other names it. */
export function callsOf(
  definition: Definition,
  names: readonly string[],
): readonly Call<"createQueue">[] {
  const { name, leaseTimeout, expireTimeout, attemptsMax, priorityAging } = definition;
  const deadQueue = nameOf(definition);
  const ofDead = { queue_name: deadQueue, lease_timeout: leaseTimeout, expire_timeout: "240h" };
  const own = {
    queue_name: name,
    lease_timeout: leaseTimeout,
    expire_timeout: expireTimeout,
    max_attempts: Number(attemptsMax),
    ...(deadQueue !== "" && { dead_queue: deadQueue }),
    ...(priorityAging !== usual.priorityAging && { priority_aging: priorityAging }),
    ...(definition.isGrouped && { grouped: true, ...groupSettings(definition.groups) }),
  };
  const isThere = deadQueue === "" || names.includes(deadQueue);
  return [...(isThere ? [] : [ofDead]), own].map((body) => ({ id: "createQueue", body }));
}

/** Those that differ from the defaults. */
function groupSettings({ leasedMax, rate, waitingMax, order, onDead }: GroupRules) {
  return {
    ...(leasedMax !== "" && { group_leased_max: Number(leasedMax) }),
    ...(rate !== "" && { group_rate: rate }),
    ...(waitingMax !== "" && { group_waiting_max: Number(waitingMax) }),
    ...(order !== usual.groups.order && { group_order: order }),
    ...(onDead !== usual.groups.onDead && { group_on_dead: onDead }),
  };
}

function nameOf({ name, deadQueue }: Definition): string {
  if (deadQueue === none) return "";
  return deadQueue === ownDeadQueue ? `${name}-dead` : deadQueue;
}

/** All or none: if the queue is refused, its new, empty dead queue is deleted again. */
async function create(calls: readonly Call<"createQueue">[]): Promise<void> {
  const made: string[] = [];
  try {
    for (const { id, body } of calls) {
      await ask(id, body);
      made.push(body.queue_name);
    }
  } catch (cause) {
    if (cause instanceof Refused) {
      for (const queue_name of made)
        await ask("deleteQueue", { queue_name, force: false }).catch(() => undefined);
    }
    throw cause;
  }
}

export function CreateQueue({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [definition, setDefinition] = useState(usual);
  const { name, attemptsMax } = definition;
  const names = useQueueNames();
  const calls = callsOf(definition, names);
  const { mutate, isPending, error } = useMutation({
    mutationFn: create,
    // Those that were made: a poll meanwhile may have found the first of them.
    onSuccess: (_, made) => {
      const created = made.map(({ body }) => body.queue_name).toReversed();
      showToast(`created ${created.join(" and ")}`);
      onClose();
    },
    onSettled: pollNow,
  });
  const set = (change: Partial<Definition>) => setDefinition({ ...definition, ...change });
  return (
    <ChangeDialog
      title="Create a queue"
      action={name === "" ? "Create" : `Create ${name}`}
      calls={calls}
      isAsking={isPending}
      isReady={name !== "" && attemptsMax !== ""}
      refused={error}
      onSubmit={() => mutate(calls)}
      onClose={onClose}
    >
      <Field label="Name" value={name} onChange={(text) => set({ name: text })} isFirst />
      <Field
        label="Lease timeout"
        value={definition.leaseTimeout}
        onChange={(leaseTimeout) => set({ leaseTimeout })}
      />
      <Field
        label="Expire timeout"
        value={definition.expireTimeout}
        onChange={(expireTimeout) => set({ expireTimeout })}
      />
      <Field
        label="Max attempts"
        value={attemptsMax}
        hint={attemptsMax === "" ? "0 = no limit" : ""}
        onChange={(text) => set({ attemptsMax: text.replace(/\D/g, "") })}
      />
      <DeadQueueField
        definition={definition}
        names={names}
        onChange={(deadQueue) => set({ deadQueue })}
      />
      <Field
        label="Priority aging"
        value={definition.priorityAging}
        hint="a waiting item gains a priority level each time; never = strict priorities"
        onChange={(priorityAging) => set({ priorityAging })}
      />
      <GroupFields
        isGrouped={definition.isGrouped}
        groups={definition.groups}
        onChange={(change) => set(change)}
      />
    </ChangeDialog>
  );
}

interface GroupFieldsProps extends Pick<Definition, "isGrouped" | "groups"> {
  readonly onChange: (change: Partial<Definition>) => void;
}

function GroupFields({ isGrouped, groups, onChange }: GroupFieldsProps): ReactNode {
  const set = (change: Partial<GroupRules>) => onChange({ groups: { ...groups, ...change } });
  const digits = (text: string) => text.replace(/\D/g, "");
  return (
    <>
      <fieldset className="opts">
        <legend className="vh">Groups</legend>
        <Option isChosen={isGrouped} onChoose={(is) => onChange({ isGrouped: is })}>
          <StateGlyph name="clients" />
          <span>
            groups take turns <small>fixed once the queue is created; it has one partition</small>
          </span>
        </Option>
      </fieldset>
      {isGrouped && (
        <>
          <Field
            label="Leased per group"
            value={groups.leasedMax}
            placeholder="no limit; 1 = one at a time"
            onChange={(text) => set({ leasedMax: digits(text) })}
          />
          <Field
            label="Rate per group"
            value={groups.rate}
            placeholder="no limit, or 10/1s"
            onChange={(rate) => set({ rate })}
          />
          <Field
            label="Waiting per group"
            value={groups.waitingMax}
            placeholder="no limit"
            onChange={(text) => set({ waitingMax: digits(text) })}
          />
          <Choice
            label="Order in a group"
            value={groups.order}
            of={["loose", "strict"]}
            onChange={(order) => set({ order })}
          />
          <Choice
            label="After a dead letter"
            value={groups.onDead}
            of={["continue", "block"]}
            onChange={(onDead) => set({ onDead })}
          />
        </>
      )}
    </>
  );
}

interface DeadQueueFieldProps {
  readonly definition: Definition;
  readonly names: readonly string[];
  readonly onChange: (deadQueue: string) => void;
}

function DeadQueueField({ definition, names, onChange }: DeadQueueFieldProps): ReactNode {
  const { name, deadQueue } = definition;
  const isThere = names.includes(`${name}-dead`);
  return (
    <label className="f">
      <span>Dead queue</span>
      <select className="t" value={deadQueue} onChange={({ target: { value } }) => onChange(value)}>
        <option value={ownDeadQueue}>
          {name || "…"}-dead ({isThere ? "exists" : "created too"})
        </option>
        <option value={none}>none: failed items are removed</option>
        <QueueOptions names={names} />
      </select>
    </label>
  );
}
