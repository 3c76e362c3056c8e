// A value outside React that components subscribe to.

import { useSyncExternalStore } from "react";

export interface Observable<T> {
  get(): T;
  set(next: T): void;
  subscribe(onChange: () => void): () => void;
}

export function observable<T>(initial: T): Observable<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const notify of listeners) notify();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

/** A value derived from it; the component renders again only if that value changes. */
export function useObservablePart<T, Part>(of: Observable<T>, select: (value: T) => Part): Part {
  const get = () => select(of.get());
  return useSyncExternalStore(of.subscribe, get, get);
}

export function useObservable<T>(of: Observable<T>): T {
  return useSyncExternalStore(of.subscribe, of.get, of.get);
}
