import { type RefObject, useEffect } from "react";

/** Calls `leave` on a mouse press, touch or focus outside of the element, while it is open. */
export function useOutside(
  element: RefObject<HTMLElement | null>,
  { isOpen, leave }: { readonly isOpen: boolean; readonly leave: () => void },
): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const check = ({ target }: Event) => {
      if (target instanceof Node && element.current?.contains(target) === false) leave();
    };
    const events = ["mousedown", "touchstart", "focusin"] as const;
    for (const event of events) document.addEventListener(event, check);
    return () => {
      for (const event of events) document.removeEventListener(event, check);
    };
  }, [element, isOpen, leave]);
}
