import { type ReactNode, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { isForAll } from "../../../api/permissions.ts";
import { useWhoAmI } from "../../../api/query-client.ts";
import { ChangeDialog } from "../../../components/dialog/dialog.tsx";
import { QueueOptions } from "../../../components/dialog/queue-options.tsx";
import { Countdown } from "../../../components/figures.tsx";
import { Refusal } from "../../../components/refusal.tsx";
import { itemsText } from "../../../format.ts";
import { useQueueNames } from "../../../state/overview-poll.ts";
import { type Meant, noWishes, type Verb, type Wishes } from "./changes.ts";
import { useChange } from "./use-item-change.ts";
import { wordings } from "./wording.ts";

interface ItemChangeProps {
  readonly verb: Verb;
  readonly meant: Meant;
  /** Where it is one that is open. */
  readonly item?: FoundItem;
  readonly onDone?: () => void;
  readonly onClose: () => void;
}

/** It counts first: what its button says is what the server says is meant. */
export function ItemChange(props: ItemChangeProps): ReactNode {
  const { verb, meant, onDone, onClose } = props;
  const [wishes, setWishes] = useState(noWishes);
  const [typed, setTyped] = useState("");
  const { calls, count, dry, run, isSettled } = useChange({ verb, meant, wishes }, () => {
    onDone?.();
    onClose();
  });
  const { verb: word, effect, isHarm, takesReason } = wordings[verb];
  const isByFilter = meant.parts.some(({ filter }) => filter !== undefined);
  // What is gone cannot be had back: whoever removes by a filter says of which queue.
  const asksName = isHarm && isByFilter;
  const isNamed = !asksName || typed === meant.queueName;
  const many = count === undefined || count > 1;
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
      <Effect {...props} text={many ? pluralOf(effect) : effect} />
      {dry.error !== null && <Refusal of={dry.error} />}
      {count === 0 && <p className="warn">{nothingMeant(verb)}</p>}
      {takesReason && (
        <TextField
          label="Reason"
          value={wishes.reason}
          onChange={(reason) => setWishes({ ...wishes, reason })}
        />
      )}
      {verb === "redrive" && <RedriveWishes wishes={wishes} onChange={setWishes} />}
      {asksName && (
        <TextField
          label={`To be sure, write ${meant.queueName}`}
          value={typed}
          onChange={setTyped}
        />
      )}
    </ChangeDialog>
  );
}

interface EffectProps extends Pick<ItemChangeProps, "item"> {
  readonly text: string;
}

/** Of one that is open it is known who holds it, and for how long. */
function Effect({ item, text }: EffectProps): ReactNode {
  if (!item?.lease_deadline) return <p>{text}</p>;
  return (
    <p>
      {item.holder === "" ? "Somebody" : <b className="mono">{item.holder}</b>} holds it for another{" "}
      <Countdown at={Date.parse(item.lease_deadline)} />. {text.replace(/^Somebody .*?\. /, "")}
    </p>
  );
}

function nothingMeant(verb: Verb): string {
  if (verb === "redrive") return "None of them is ready: somebody holds them, or they are gone.";
  return "None of them is there as it was: somebody holds them, or they are gone.";
}

/** The same of several. */
export function pluralOf(effect: string): string {
  const words: Readonly<Record<string, string>> = {
    "It is": "They are",
    "it is": "they are",
    "It starts": "They start",
    "It goes": "They go",
    "it goes": "they go",
    "holds it": "holds them",
    "hold it": "hold them",
    "says of it": "says of them",
    "its partition": "their partitions",
    "its holder": "their holders",
    "its first id and its reason": "their first ids and their reasons",
    goes: "go",
    carries: "carry",
    keeps: "keep",
    "a new id": "new ids",
  };
  const pattern = new RegExp(`\\b(${Object.keys(words).join("|")})\\b`, "g");
  return effect.replace(pattern, (found) => words[found] ?? found);
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isShort?: boolean;
  readonly after?: string;
}

export function TextField(props: TextFieldProps): ReactNode {
  const { label, value, onChange, isShort = false, after } = props;
  return (
    <label className="f">
      <span>{label}</span>
      <span>
        <input
          className={isShort ? "t short" : "t long"}
          autoComplete="off"
          spellCheck={false}
          {...(isShort && { inputMode: "numeric", placeholder: "no limit" })}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />{" "}
        {after}
      </span>
    </label>
  );
}

interface RedriveWishesProps {
  readonly wishes: Wishes;
  readonly onChange: (wishes: Wishes) => void;
}

const numberOf = (text: string) => Number(text.replace(/\D/g, "").slice(0, 9));
const textOf = (number: number) => (number === 0 ? "" : String(number));

/** Where to, how fast, how many at most. */
export function RedriveWishes({ wishes, onChange }: RedriveWishesProps): ReactNode {
  const names = useQueueNames();
  const me = useWhoAmI();
  return (
    <>
      <label className="f">
        <span>To</span>
        <select
          className="t long"
          value={wishes.to}
          onChange={({ target }) => onChange({ ...wishes, to: target.value })}
        >
          <option value="">
            {me === undefined || isForAll(me, "admin") ? "where each came from" : "choose a queue"}
          </option>
          <QueueOptions names={names} />
        </select>
      </label>
      <TextField
        label="At most"
        isShort
        after="a second"
        value={textOf(wishes.perSecond)}
        onChange={(text) => onChange({ ...wishes, perSecond: numberOf(text) })}
      />
      <TextField
        label="Stop after"
        isShort
        after="items"
        value={textOf(wishes.limit)}
        onChange={(text) => onChange({ ...wishes, limit: numberOf(text) })}
      />
    </>
  );
}
