// A value that parts of the page look at, and that is set from outside of React.

import { useSyncExternalStore } from "react";

export interface Observed<T> {
  get(): T;
  set(next: T): void;
  subscribe(onChange: () => void): () => void;
}

export function observed<T>(initial: T): Observed<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const tell of listeners) tell();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

/** A part of it, or what follows from it: drawn anew only where that is another. */
export function useObservedPart<T, Part>(of: Observed<T>, partOf: (value: T) => Part): Part {
  const get = () => partOf(of.get());
  return useSyncExternalStore(of.subscribe, get, get);
}

export function useObserved<T>(of: Observed<T>): T {
  return useSyncExternalStore(of.subscribe, of.get, of.get);
}
