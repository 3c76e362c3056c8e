import { memo, type ReactNode } from "react";

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isFirst?: boolean;
  readonly placeholder?: string;
  /** The unit, or a fault. */
  readonly hint?: string;
}

export function Field(props: FieldProps): ReactNode {
  const { label, value, onChange, isFirst = false, placeholder, hint } = props;
  return (
    <label className="f">
      <span>{label}</span>
      <input
        className="t"
        // biome-ignore lint/a11y/noAutofocus: the first field of a dialog gets the focus.
        autoFocus={isFirst}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {hint && <small className="muted hint">{hint}</small>}
    </label>
  );
}

interface ChoiceProps extends Pick<FieldProps, "label" | "value" | "onChange"> {
  readonly of: readonly string[];
}

/** One of a few words. */
export function Choice({ label, value, onChange, of }: ChoiceProps): ReactNode {
  return (
    <label className="f">
      <span>{label}</span>
      <select className="t" value={value} onChange={({ target }) => onChange(target.value)}>
        {of.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </label>
  );
}

interface NameFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** A change that cannot be undone is confirmed with the name of the queue. */
export function NameField({ name, value, onChange }: NameFieldProps): ReactNode {
  return (
    <label className="f to-confirm">
      <span>
        Type <bdi className="mono">{name}</bdi> to continue
      </span>
      <input
        className="t"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

interface OptionProps {
  readonly children: ReactNode;
  readonly count?: ReactNode;
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

/** One of several kinds of items that a change may affect, with its count. */
export function Option(props: OptionProps): ReactNode {
  const { children, count, isChosen, isDisabled = false, onChoose } = props;
  return (
    <label>
      <input
        type="checkbox"
        checked={isChosen}
        disabled={isDisabled}
        onChange={({ target }) => onChoose(target.checked)}
      />
      {children}
      <span className="count">{count}</span>
    </label>
  );
}

interface QueueOptionsProps {
  readonly names: readonly string[];
}

/** Up to ten thousand, so they are drawn again only when a queue is created or deleted. */
export const QueueOptions = memo(function QueueOptions({ names }: QueueOptionsProps): ReactNode {
  return names.map((name) => <option key={name}>{name}</option>);
});
