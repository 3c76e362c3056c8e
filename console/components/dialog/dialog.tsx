// A dialog, and the dialog of a change: its fields, its calls for a shell, a refusal, and the button
// that makes the calls.

import { type ReactNode, useId } from "react";
import { type Call, curlOf } from "../../api/call.ts";
import { withVisibleMarks } from "../../format.ts";
import { Button } from "../button.tsx";
import { Refusal } from "../refusal.tsx";
import { ShellText } from "../shell-text.tsx";
import { useBackdrop, useModal } from "./use-modal.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly footer: ReactNode;
  /** Absent: nothing is sent. */
  readonly onSubmit?: () => void;
}

/** Open while it is mounted. */
export function Dialog({ title, onClose, children, footer, onSubmit }: DialogProps): ReactNode {
  const element = useModal();
  const heading = useId();
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={onClose} {...useBackdrop(onClose)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <div className="dh">
          <h2 className="big" id={heading}>
            {withVisibleMarks(title)}
          </h2>
        </div>
        <div className="db">{children}</div>
        <div className="df">{footer}</div>
      </form>
    </dialog>
  );
}

interface ChangeDialogProps extends Omit<DialogProps, "footer"> {
  /** The text of the button, with its count. */
  readonly action: string;
  readonly look?: "go" | "harm go";
  readonly calls: readonly Call[];
  readonly isAsking: boolean;
  readonly isReady?: boolean;
  readonly refused: unknown;
  readonly onSubmit: () => void;
}

export function ChangeDialog(props: ChangeDialogProps): ReactNode {
  const {
    action,
    look = "go",
    calls,
    isAsking,
    isReady = true,
    refused,
    children,
    ...rest
  } = props;
  const footer = (
    <>
      <span className="grow">
        <Refusal of={refused} />
      </span>
      <Button onClick={props.onClose}>Cancel</Button>
      <Button look={look} type="submit" disabled={isAsking || !isReady}>
        {withVisibleMarks(action)}
      </Button>
    </>
  );
  return (
    <Dialog {...rest} footer={footer}>
      {children}
      <CallsAsCurl calls={calls} />
    </Dialog>
  );
}

/** The calls of a change, for a shell. */
export function CallsAsCurl({ calls }: { readonly calls: readonly Call[] }): ReactNode {
  return (
    <details className="call">
      <summary>
        {calls.length === 1
          ? "The call that this makes"
          : `The ${calls.length} calls that this makes`}
      </summary>
      <ShellText label="As curl" text={calls.map(curlOf).join("\n\n")} />
    </details>
  );
}
