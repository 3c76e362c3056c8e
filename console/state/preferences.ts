// What the browser keeps: choices for good, the key for the tab. It may refuse to.

import { type Observed, observed } from "./observable.ts";

function tryTo<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

const prefix = "holdfast.console.";

/** A choice between texts; the first is what holds until one is made. */
export function choice<const T extends string>(
  name: string,
  of: readonly [T, ...T[]],
): Observed<T> {
  const stored = tryTo(() => localStorage.getItem(prefix + name));
  const value = observed<T>(of.find((one) => one === stored) ?? of[0]);
  return {
    ...value,
    set(next) {
      value.set(next);
      tryTo(() => localStorage.setItem(prefix + name, next));
    },
  };
}

export const keyOfTab = {
  read: (): string | null => tryTo(() => sessionStorage.getItem(`${prefix}key`)),
  write: (key: string | null): void => {
    tryTo(() =>
      key === null
        ? sessionStorage.removeItem(`${prefix}key`)
        : sessionStorage.setItem(`${prefix}key`, key),
    );
  },
};

/** How instants are told. */
export const zone = choice("zone", ["utc", "local"]);
/** Whether single keys do something. */
export const singleKeys = choice("keys", ["on", "off"]);
