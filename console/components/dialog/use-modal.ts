import {
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";

/** A dialog that is open as long as it is there. What had the focus before has it after. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  const before = useRef<Element | null>(null);
  // A browser gives the focus back when a dialog is closed, not when it is taken out of the page.
  useLayoutEffect(() => {
    before.current = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      giveCaretTo(before.current);
    };
  }, []);
  useEffect(
    () => () => {
      if (before.current?.isConnected === false) document.getElementById("main")?.focus();
    },
    [],
  );
  return dialog;
}

/**
 * Closes by a press beside it: one that began inside, as a selection of text does, and ends beside it
 * is none.
 */
export function useBackdrop(onClose: () => void) {
  const isPressed = useRef(false);
  return {
    onPointerDown: ({ target, currentTarget }: PointerEvent) => {
      isPressed.current = target === currentTarget;
    },
    onClick: ({ target, currentTarget }: MouseEvent) => {
      if (isPressed.current && target === currentTarget) onClose();
    },
  };
}

/** A field that Chromium gives the focus back to takes no text: its caret stays away. */
function giveCaretTo(field: Element | null): void {
  if (!(field instanceof HTMLInputElement) || field !== document.activeElement) return;
  field.blur();
  field.focus({ preventScroll: true });
}
