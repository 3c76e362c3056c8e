import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { pollState } from "../../state/overview-poll.ts";
import { useBackdrop, useModal } from "../dialog/use-modal.ts";
import { StateGlyph } from "../glyph/glyph.tsx";
import { type Target, targetsFor } from "./palette-targets.ts";

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const dialog = useModal();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  // Read once, when it opens: no row moves while the reader chooses.
  const queues = useMemo(() => [...(pollState.get().overview?.queues.values() ?? [])], []);
  const targets = useMemo(() => targetsFor(text, queues), [text, queues]);

  const open = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    void navigate(target.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt((at + by + targets.length) % Math.max(1, targets.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(targets[at]);
    }
  };
  return (
    <dialog
      ref={dialog}
      className="jumper"
      aria-label="Go to"
      onClose={onClose}
      {...useBackdrop(onClose)}
    >
      <input
        role="combobox"
        aria-expanded={targets.length > 0}
        aria-controls="targets"
        aria-activedescendant={targets.length > 0 ? `target-${at}` : undefined}
        aria-label="Queue, item id or page"
        placeholder="Queue, item id, page"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Targets targets={targets} at={at} onOpen={open} />
      <p className="df muted">
        <span className="grow" role="status">
          {targets.length === 0
            ? "No page or queue has this name."
            : "An id of 27 characters is searched for in every queue."}
        </span>
        <kbd>Enter</kbd> open <kbd>Esc</kbd>
      </p>
    </dialog>
  );
}

interface TargetsProps {
  readonly targets: readonly Target[];
  readonly at: number;
  readonly onOpen: (target: Target) => void;
}

function Targets({ targets, at, onOpen }: TargetsProps): ReactNode {
  return (
    <div role="listbox" id="targets" aria-label="Found">
      {targets.map((target, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field above.
        <div
          key={target.to}
          role="option"
          id={`target-${index}`}
          aria-selected={index === at}
          tabIndex={-1}
          onClick={() => onOpen(target)}
        >
          <StateGlyph name={target.glyph} />
          <b className="mono cut">
            <bdi>{target.name}</bdi>
          </b>
          <span className="muted grow cut">{target.detail}</span>
          <span className="muted">{target.what}</span>
        </div>
      ))}
    </div>
  );
}
