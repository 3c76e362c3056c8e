import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ask, type Call } from "../call.ts";
import { pollNow } from "../overview-poll.ts";
import { ChangeDialog } from "../parts/dialog.tsx";
import { say } from "../said.ts";

interface Definition {
  readonly name: string;
  readonly leaseTimeout: string;
  readonly expireTimeout: string;
  readonly attemptsMax: string;
  readonly hasDeadQueue: boolean;
}

const usual: Definition = {
  name: "",
  leaseTimeout: "60m",
  expireTimeout: "24h",
  attemptsMax: "10",
  hasDeadQueue: true,
};

/** The dead queue first: the other names it. */
export function callsOf(definition: Definition): readonly Call<"createQueue">[] {
  const { name, leaseTimeout, expireTimeout, attemptsMax, hasDeadQueue } = definition;
  const deadQueue = `${name}-dead`;
  const ofDead = { queue_name: deadQueue, lease_timeout: leaseTimeout, expire_timeout: "240h" };
  const own = {
    queue_name: name,
    lease_timeout: leaseTimeout,
    expire_timeout: expireTimeout,
    max_attempts: Number(attemptsMax),
    ...(hasDeadQueue && { dead_queue: deadQueue }),
  };
  return [...(hasDeadQueue ? [ofDead] : []), own].map((body) => ({ id: "createQueue", body }));
}

export function CreateQueue({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [definition, setDefinition] = useState(usual);
  const { name, hasDeadQueue } = definition;
  const calls = callsOf(definition);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      for (const { id, body } of calls) await ask(id, body);
    },
    onSuccess: () => {
      say(hasDeadQueue ? `created ${name} and ${name}-dead` : `created ${name}`);
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
      isReady={name !== ""}
      refused={error}
      onSubmit={mutate}
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
        value={definition.attemptsMax}
        onChange={(text) => set({ attemptsMax: text.replace(/\D/g, "") })}
      />
      <label className="f">
        <span>Dead queue</span>
        <select
          className="t"
          value={String(hasDeadQueue)}
          onChange={({ target }) => set({ hasDeadQueue: target.value === "true" })}
        >
          <option value="true">{name || "…"}-dead (make it too)</option>
          <option value="false">none: failed items are removed</option>
        </select>
      </label>
    </ChangeDialog>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isFirst?: boolean;
}

function Field({ label, value, onChange, isFirst = false }: FieldProps): ReactNode {
  return (
    <label className="f">
      <span>{label}</span>
      <input
        className="t"
        // biome-ignore lint/a11y/noAutofocus: a dialog gives the focus to what is to be filled in.
        autoFocus={isFirst}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
