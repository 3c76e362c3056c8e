import { type RefObject, useEffect, useRef } from "react";

/** Whether the reader uses a table, so that its rows have to keep their places. */
export function useTableUse(table: RefObject<HTMLElement | null>) {
  /** By `performance.now()`. A finger that scrolls leaves neither hover nor focus. */
  const touchedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const left = new AbortController();
    const note = () => {
      touchedAt.current = performance.now();
    };
    for (const name of ["pointerdown", "pointermove", "keydown", "focusin"]) {
      table.current?.addEventListener(name, note, { signal: left.signal, passive: true });
    }
    return () => left.abort();
  }, [table]);
  return {
    /** It has the pointer, the focus or the current row. */
    isInUse: () => table.current?.matches(":hover, :focus-within, :has(tr.cur)") ?? false,
    sinceTouchMs: () => performance.now() - touchedAt.current,
  };
}
