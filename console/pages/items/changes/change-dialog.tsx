import { type ReactNode, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { isForAll, useWhoAmI } from "../../../api/permissions.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { Field, NameField, QueueOptions } from "../../../components/dialog/field.tsx";
import { Countdown } from "../../../components/figures.tsx";
import { Refusal } from "../../../components/refusal.tsx";
import { itemsText } from "../../../format.ts";
import { useQueueNames } from "../../../state/overview-poll.ts";
import { type ChangeOptions, type ChangeTarget, defaultOptions, type Verb } from "./changes.ts";
import { RedriveForecast } from "./redrive-forecast.tsx";
import { useItemChange } from "./use-item-change.ts";
import { wordings } from "./wording.ts";

const priorities = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

interface ItemChangeDialogProps {
  readonly verb: Verb;
  readonly target: ChangeTarget;
  /** The open item, if the change is for it alone. */
  readonly item?: FoundItem;
  readonly options?: Partial<ChangeOptions>;
  readonly onDone?: () => void;
  readonly onClose: () => void;
}

/** The server counts the items first; the button has that count. */
export function ItemChangeDialog(props: ItemChangeDialogProps): ReactNode {
  const { verb, target, onDone, onClose } = props;
  const [options, setOptions] = useState({ ...defaultOptions, ...props.options });
  const [typed, setTyped] = useState("");
  const { calls, count, counted, dry, run, isSettled } = useItemChange(
    { verb, target, options },
    () => {
      onDone?.();
      onClose();
    },
  );
  const { verb: word, effect, none, isHarm, takesReason } = wordings[verb];
  const isByFilter = target.parts.some(({ filter }) => filter !== undefined);
  // A removal by a filter cannot be undone, and has to be confirmed with the name of the queue.
  const asksName = isHarm && isByFilter;
  const isNamed = !asksName || typed === target.queueName;
  return (
    <ChangeDialog
      title={count === undefined ? `${word} …` : `${word} ${itemsText(count)}`}
      action={count === undefined ? `${word} …` : `${word} ${itemsText(count)}`}
      look={isHarm ? "harm go" : "go"}
      calls={calls}
      isAsking={run.isPending}
      isReady={count !== undefined && count > 0 && isNamed && isSettled}
      refused={run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      {props.item && <Holder of={props.item} />}
      <p>{effect}</p>
      <Refusal of={dry.error} />
      {count === 0 && counted?.destinations.length === 0 && <p className="warn">{none}</p>}
      {takesReason && (
        <Field
          label="Reason"
          value={options.reason}
          onChange={(reason) => setOptions({ ...options, reason })}
        />
      )}
      {verb === "prioritize" && (
        <label className="f">
          <span>Priority</span>
          <select
            className="t"
            value={options.priority}
            onChange={({ target }) => setOptions({ ...options, priority: Number(target.value) })}
          >
            {priorities.map((priority) => (
              <option key={priority}>{priority}</option>
            ))}
          </select>
        </label>
      )}
      {verb === "redrive" && (
        <>
          <RedriveOptions options={options} onChange={setOptions} />
          <RedriveForecast count={count} dryRun={counted} perSecond={options.perSecond} />
        </>
      )}
      {asksName && <NameField name={target.queueName} value={typed} onChange={setTyped} />}
    </ChangeDialog>
  );
}

function Holder({ of: { holder, lease_deadline: until } }: { readonly of: FoundItem }): ReactNode {
  if (until === null) return null;
  return (
    <p>
      {holder === "" ? "A client" : <b className="mono">{holder}</b>} holds it for another{" "}
      <Countdown at={Date.parse(until)} />.
    </p>
  );
}

interface RedriveOptionsProps {
  readonly options: ChangeOptions;
  readonly onChange: (options: ChangeOptions) => void;
}

const numberOf = (text: string) => Number(text.replace(/\D/g, "").slice(0, 9));
const textOf = (number: number) => (number === 0 ? "" : String(number));

/** Destination, rate and limit. */
function RedriveOptions({ options, onChange }: RedriveOptionsProps): ReactNode {
  const names = useQueueNames();
  const me = useWhoAmI();
  return (
    <>
      <label className="f">
        <span>To</span>
        <select
          className="t long"
          value={options.to}
          onChange={({ target }) => onChange({ ...options, to: target.value })}
        >
          <option value="">
            {me === undefined || isForAll(me, "admin") ? "where each came from" : "choose a queue"}
          </option>
          <QueueOptions names={names} />
        </select>
      </label>
      <Field
        label="Per second"
        placeholder="no limit"
        value={textOf(options.perSecond)}
        onChange={(text) => onChange({ ...options, perSecond: numberOf(text) })}
      />
      <Field
        label="Items at most"
        placeholder="no limit"
        value={textOf(options.limit)}
        onChange={(text) => onChange({ ...options, limit: numberOf(text) })}
      />
    </>
  );
}
