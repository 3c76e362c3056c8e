import type { ReactNode } from "react";

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isFirst?: boolean;
  readonly placeholder?: string;
  /** What it is in, or what is wrong with it. */
  readonly hint?: string;
}

export function Field(props: FieldProps): ReactNode {
  const { label, value, onChange, isFirst = false, placeholder, hint } = props;
  return (
    <label className="f">
      <span>{label}</span>
      <input
        className="t"
        // biome-ignore lint/a11y/noAutofocus: a dialog gives the focus to what is to be filled in.
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

interface NameFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** What cannot be undone asks for the name. */
export function NameField({ name, value, onChange }: NameFieldProps): ReactNode {
  return (
    <label className="f to-confirm">
      <span>
        Type <bdi className="mono">{name}</bdi> to go on
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

/** One of several things that a change may take, with its count. */
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
