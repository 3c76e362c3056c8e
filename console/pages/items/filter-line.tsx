import { Fragment, type KeyboardEvent, type ReactNode, type RefObject, useState } from "react";
import { Icon } from "../../components/glyph/glyph.tsx";
import { withVisibleMarks } from "../../format.ts";
import { serverNow } from "../../state/server-time.ts";
import { type Condition, type FieldId, fieldIds, fieldOf, readTyped } from "./conditions.ts";

interface FilterLineProps {
  readonly conditions: readonly Condition[];
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onSet: (condition: Condition) => void;
  readonly onDrop: (id: FieldId) => void;
  readonly onOpen: (id: string) => void;
}

export function FilterLine(props: FilterLineProps): ReactNode {
  const { conditions, field, onSet, onDrop, onOpen } = props;
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const take = (given: string): boolean => {
    const typed = readTyped(given, serverNow());
    setFault(typed.what === "fault" ? typed.text : "");
    if (typed.what === "fault") return false;
    if (typed.what === "item") onOpen(typed.id);
    else onSet(typed.condition);
    setText("");
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const last = conditions.at(-1);
    if (event.key === "Enter" && text.trim() !== "") take(text);
    if (event.key === "Backspace" && text === "" && last !== undefined) onDrop(last.id);
    if (event.key !== "Escape") return;
    if (text === "") event.currentTarget.blur();
    else setText("");
  };
  return (
    <search className="query">
      <div className="chips">
        <Icon name="search" />
        {conditions.map((condition) => (
          <Chip key={condition.id} condition={condition} onDrop={onDrop} />
        ))}
        <label className="grow">
          <span className="vh">Filter items</span>
          <input
            ref={field}
            placeholder="add a filter, or paste an id"
            autoComplete="off"
            spellCheck={false}
            aria-invalid={fault !== ""}
            aria-describedby="filter-said"
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const pasted = event.clipboardData.getData("text");
              if (text !== "" || readTyped(pasted, serverNow()).what !== "item") return;
              event.preventDefault();
              take(pasted);
            }}
          />
        </label>
        <kbd>/</kbd>
      </div>
      <Hints
        fault={fault}
        onField={(id) => {
          setText(`${id}=`);
          field.current?.focus();
        }}
      />
    </search>
  );
}

interface HintsProps {
  readonly fault: string;
  readonly onField: (id: FieldId) => void;
}

function Hints({ fault, onField }: HintsProps): ReactNode {
  return (
    <div className="hints" id="filter-said">
      {fault !== "" && (
        <b className="bad" role="alert">
          {fault}
        </b>
      )}
      {fieldIds.map((id) => (
        <button
          key={id}
          type="button"
          tabIndex={-1}
          // The field keeps the focus, by which this is shown.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onField(id)}
        >
          {id}=<i>{fieldOf(id).hint}</i>
        </button>
      ))}
    </div>
  );
}

interface ChipProps {
  readonly condition: Condition;
  readonly onDrop: (id: FieldId) => void;
}

function Chip({ condition: { id, value, others = [] }, onDrop }: ChipProps): ReactNode {
  const { label, sign } = fieldOf(id);
  const shown = id === "before" ? value.slice(0, 16).replace("T", " ") : value;
  const texts = [shown, ...others];
  return (
    <span className="chip">
      <span>{label}</span>
      <b className="cut" title={withVisibleMarks(texts.map((text) => text || "none").join(" or "))}>
        {sign}{" "}
        {texts.map((text, at) => (
          <Fragment key={at}>
            {at > 0 && " or "}
            {text === "" ? <i>none</i> : <bdi>{text}</bdi>}
          </Fragment>
        ))}
      </b>
      <button type="button" aria-label={`Remove ${label}`} onClick={() => onDrop(id)}>
        ×
      </button>
    </span>
  );
}
