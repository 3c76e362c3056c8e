import { type ReactNode, useLayoutEffect, useRef } from "react";

interface ModalProps {
  readonly className: string;
  readonly label: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A dialog over the page. Escape and a press beside it close it, and the focus goes back to where it was. */
export function Modal({ className, label, isOpen, close, children }: ModalProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the element leaves the page: one that has left it gives no focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!isOpen || element === null) return undefined;
    element.showModal();
    return () => element.close();
  }, [isOpen]);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      className={className}
      ref={dialog}
      aria-label={label}
      // The browser tells of a dialog that it closed in a later task, in which it may
      // have been opened again. So Escape closes it here, and the tale is checked.
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget }) => !currentTarget.open && close()}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      {children}
    </dialog>
  );
}
