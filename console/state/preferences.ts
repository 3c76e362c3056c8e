// Choices kept in local storage, and the key kept for the tab. The browser may refuse storage.

import { type Observable, observable, useObservable } from "./observable.ts";

function tryTo<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

const prefix = "holdfast.console.";

/** One of several texts; the first is the default. */
function preference<const T extends string>(name: string, of: readonly [T, ...T[]]): Observable<T> {
  const stored = tryTo(() => localStorage.getItem(prefix + name));
  const value = observable<T>(of.find((one) => one === stored) ?? of[0]);
  return {
    ...value,
    set(next) {
      value.set(next);
      tryTo(() => localStorage.setItem(prefix + name, next));
    },
  };
}

export const tabKey = {
  read: (): string | null => tryTo(() => sessionStorage.getItem(`${prefix}key`)),
  write: (key: string | null): void => {
    tryTo(() =>
      key === null
        ? sessionStorage.removeItem(`${prefix}key`)
        : sessionStorage.setItem(`${prefix}key`, key),
    );
  },
};

const timeZone = preference("zone", ["utc", "local"]);

/** The time zone of instants. */
export const useZone = () => useObservable(timeZone);

export function toggleZone(): void {
  timeZone.set(timeZone.get() === "utc" ? "local" : "utc");
}

/** Whether single-key shortcuts are on. */
export const singleKeys = preference("keys", ["on", "off"]);
