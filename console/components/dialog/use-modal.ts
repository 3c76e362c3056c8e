import {
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";

/** A dialog that is open while it is mounted. The element that had the focus gets it back. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  const before = useRef<Element | null>(null);
  // A browser restores the focus when a dialog is closed, not when it is removed from the page.
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
 * Closes by a click on the backdrop, but not if the press began inside, as a selection of text may.
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

/** A field whose focus Chromium has restored takes no text until it is focused again. */
function giveCaretTo(field: Element | null): void {
  if (!(field instanceof HTMLInputElement) || field !== document.activeElement) return;
  field.blur();
  field.focus({ preventScroll: true });
}
